/// The numbers of pictures that a display processed, and of copies and mappings of their samples
/// (VAENC_REFERENCE_COUNTS).
///
/// Reads and writes of the decoder, the encoder and the processor do not count as copies. The display's monitor guards
/// the counts.
final class CopyCounts: @unchecked Sendable {
    /// The number of decoded pictures.
    var decoded = 0
    /// The number of encoded pictures.
    var encoded = 0
    /// The number of pictures that the video processor wrote.
    var processed = 0
    /// The number of times that a client mapped a surface through a derived image.
    var maps = 0
    /// The number of copies by vaGetImage.
    var getImage = 0
    /// The number of copies by vaPutImage.
    var putImage = 0
    /// The number of copies by vaDeriveImage, if the image is a copy and not a view of the surface.
    var deriveImage = 0
    /// The number of copies when memory is imported; always 0, because the surface uses the imported memory itself.
    var importing = 0
    /// The number of copies when a surface is exported; always 0, because the descriptors refer to the surface's own
    /// memory.
    var exporting = 0

    /// The counts as a JSON object on one line.
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
