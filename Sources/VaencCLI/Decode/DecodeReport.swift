import MediaFiles
import VAAPI
import Vaenc
import VideoBase

/// The object that `vaenc decode --json` prints: the contract of docs/CLI.md, `"schema": 1`.
struct DecodeReport: Encodable, Sendable {
    struct Device: Encodable, Sendable {
        var kind: DeviceKind
        var path: Nullable<String>
        var driver: String
        /// The reason for the choice of this device.
        var why: String
    }

    struct Frames: Encodable, Sendable {
        var decoded: Int
        /// The number of pictures at the start that cannot be decoded.
        var skipped: Int
    }

    struct Seconds: Encodable, Sendable {
        var wall: Double
        var cpu: Double
    }

    var schema = 1
    var device: Device
    var input: String
    var width: Int
    var height: Int
    var format: PixelFormat
    var frameRate: Rational
    var frames: Frames
    var bytes: Int
    var seconds: Seconds
    /// The entry for scaling; null if the pictures keep their size.
    var scaling: Nullable<EffectiveEntry>
    /// Decisions made for the user, one line each.
    var notices: [String]
    var output: String
    var interrupted: Bool

    init(_ decoding: InputDecoding, sink: PictureSink, times: PictureTimes, output: String, isInterrupted: Bool) {
        let (source, backend) = (decoding.source, decoding.backend)
        device = Device(kind: backend.kind, path: Nullable(backend.path), driver: backend.driver, why: OptionNames.translate(backend.why))
        input = source.info.kind
        width = sink.size.width
        height = sink.size.height
        format = sink.format
        frameRate = source.info.frameRate
        frames = Frames(decoded: sink.pictures, skipped: source.picturesLeftOut)
        bytes = sink.bytesWritten
        seconds = Seconds(wall: rounded(Clock.secondsSinceStart), cpu: rounded(Clock.processorSeconds))
        scaling = Nullable(decoding.scaledAt?.translated)
        let rate =
            source.info.frameRateIsAssumed
            ? "\(source.info.kindWithoutRate) have no frame rate: "
                + "\(decimal(frameRate.value, 0)) frames per second are assumed" : nil
        let matrix = source.info.displayMatrix
        let turn =
            matrix.isEmpty
            ? nil
            : "the input is displayed \(Rotation.name(matrix)); the output cannot store this, and the pictures stay as stored"
        notices = source.info.notices + [rate, turn, times.notice, (source.info.changes + source.lateChanges).notice].compactMap { $0 }
        notices += source.lateNotices.map { FileName.printable($0) }
        notices = notices.map(OptionNames.translate)
        self.output = FileName.printable(output)
        interrupted = isInterrupted
    }
}
