import ArgumentParser
import MediaFiles
import Vaenc

/// Records one picture of a camera into a file.
struct PhotoJob {
    /// The object that `--json` prints.
    private struct Report: Encodable {
        var schema = 1
        var width: Int
        var height: Int
        var format: String
        var bytes: Int
        var output: String
        var capture: CaptureReport
        var notices: [String]
    }

    private let command: EncodeCommand
    private let input: String
    private let output: String

    init(_ command: EncodeCommand, input: String, output: String) {
        (self.command, self.input, self.output) = (command, input, output)
    }

    func run() throws {
        guard let format = StillPicture.Format(name: output) else { return }
        if let frames = command.inputOptions.frames, frames != 1 {
            throw VaencError.usage(
                "--frames \(frames) contradicts the output \(output)",
                remedy: "leave it out, because a still picture is one frame")
        }
        let others = [
            ("--codec", command.codec.codec != .auto), ("--bitrate", command.rate.bitrate != nil), ("--qp", command.rate.qp != nil),
            ("--audio", command.soundOptions.audio != nil), ("--audio-device", command.capture.audioDevice != nil),
            ("--duration", command.inputOptions.duration != nil),
        ]
        if let option = others.first(where: \.1)?.0 {
            throw VaencError.usage("\(option) does not apply to the still picture \(output)", remedy: "leave it out")
        }
        let interruption = Interruption()
        interruption.watch()
        let file = try StillPicture(output, format: format, overwrite: command.output.overwrite)
        guard
            let camera = try command.capture.open(
                input, options: command.inputOptions, printsNotices: !command.reporting.json)
        else { return }
        defer { camera.preview?.close() }
        interruption.whenFirst { camera.source.cancel() }
        defer { camera.source.close() }
        let picture = try SystemPixelBuffer(format: .nv12, size: camera.source.info.size)
        // SAFETY: `withUnsafePlanes` keeps the planes valid during the closure, and the source writes only inside them.
        guard unsafe try picture.withUnsafePlanes({ unsafe try camera.source.readFrame(into: $0) }) != nil else {
            throw VaencError(
                .deviceFailed, "the camera \(input) delivered no frame", remedy: "check the camera and --start")
        }
        let bytes = try file.write(picture, color: camera.source.info.color)
        guard command.reporting.json else {
            return Terminal.note("\(FileName.printable(output)): \(picture.size) \(format.rawValue), \(bytes) bytes")
        }
        let report = Report(
            width: picture.size.width, height: picture.size.height, format: format.rawValue, bytes: bytes,
            output: FileName.printable(output), capture: CaptureReport(camera.source),
            notices: [camera.dropNotice].compactMap { $0 })
        try Terminal.report(try JSON.text(report) + "\n", to: 1)
    }
}
