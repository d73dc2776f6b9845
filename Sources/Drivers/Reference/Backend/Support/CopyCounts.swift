/// What a display did with pictures, and how often samples were copied or mapped on their way; VAENC_REFERENCE_COUNTS.
/// What the decoder, the encoder and the processor themselves read and write is not a copy. Guarded by the display's monitor.
final class CopyCounts: @unchecked Sendable {
    /// Pictures.
    var decoded = 0
    var encoded = 0
    var processed = 0
    /// Mappings of a surface's samples by the client, through derived images.
    var maps = 0
    /// Copies of a surface's samples: vaGetImage, vaPutImage, a vaDeriveImage that gives no access to the surface
    /// itself, and surfaces made from, or handed out as, other memory than their own.
    var getImage = 0
    var putImage = 0
    var deriveImage = 0
    var importing = 0
    var exporting = 0

    /// One object on one line.
    var json: String {
        """
        {"decoded": \(decoded), "encoded": \(encoded), "processed": \(processed), "maps": \(maps), \
        "copies": {"getImage": \(getImage), "putImage": \(putImage), "deriveImage": \(deriveImage), \
        "import": \(importing), "export": \(exporting)}}
        """
    }

    func append(to path: String) {
        guard let file = OutputFile(path: path, appends: true), file.write(Array("\(json)\n".utf8)) else {
            DriverProcess.shared.say("cannot write \(path): the counts are not stored")
            return
        }
    }
}
