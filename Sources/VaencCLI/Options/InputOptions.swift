public import ArgumentParser
public import MediaFiles
import VideoBase

struct InputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Size of raw frames.", valueName: "WxH"))
    var inputSize: String?

    @Option(help: ArgumentHelp("Format of raw frames, or of a camera: nv12, i420, yv12, yuyv, p010, …; mjpeg.", valueName: "FORMAT"))
    var inputFormat: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Frames per second: 25, 29.97, 30000/1001.", valueName: "R"))
    var fps: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Encode at most this many frames.", valueName: "N"))
    var frames: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Skip the input up to this time.", valueName: "SECONDS"))
    var start: Double?

    @Option(parsing: .unconditional, help: ArgumentHelp("Encode this long.", valueName: "SECONDS"))
    var duration: Double?

    @Option(help: ArgumentHelp("Scale to this size.", valueName: "WxH"))
    var size: String?

    @Option(help: ArgumentHelp("How a picture of another shape is fitted to --size.", valueName: "letterbox|crop|stretch"))
    var fit: FrameFit = .letterbox

    @Option(help: ArgumentHelp("Sound: the packets as they are (where the container holds them), AAC, or none.", valueName: "copy|aac|none"))
    var audio: AudioMode?

    static func rate(_ text: String) throws -> Rational {
        if let rate = Rational(rate: text), rate.value <= 1000, rate.value >= 0.001 { return rate }
        throw VaencError.usage("--fps \(text) is not a frame rate", remedy: "write 25, 29.97 or 30000/1001")
    }

    /// - Parameter isCamera: a camera gives more formats than files, and says its size itself.
    func sourceOptions(isCamera: Bool = false) throws -> SourceOptions {
        var options = SourceOptions()
        options.inputSize = try inputSize.map { try Self.size("--input-size", $0) }
        options.outputSize = try size.map { try Self.size("--size", $0) }
        options.fit = fit
        if let inputFormat, !isCamera {
            guard let format = Self.format(inputFormat.lowercased()) else {
                throw VaencError.usage(
                    "--input-format \(inputFormat) is not known",
                    remedy: "use one of " + PixelFormat.allCases.map(\.rawValue).joined(separator: ", "))
            }
            options.inputFormat = format
        }
        options.frameRate = try fps.map(Self.rate)
        if let frames, frames < 1 { throw VaencError.usage("--frames \(frames) is less than 1", remedy: "give 1 or more") }
        if let start, !(start >= 0 && start < 1e9) {
            throw VaencError.usage("--start \(start) is out of range", remedy: "give seconds, 0 or more")
        }
        if let duration, !(duration > 0 && duration < 1e9) {
            throw VaencError.usage("--duration \(duration) is out of range", remedy: "give seconds, more than 0")
        }
        options.frameLimit = frames
        options.start = start
        options.duration = duration
        return options
    }

    private static func format(_ name: String) -> PixelFormat? { PixelFormat(rawValue: plainName(name)) }

    /// vaenc's name of a layout for FFmpeg's of the same.
    static func plainName(_ name: String) -> String {
        let others: KeyValuePairs<String, PixelFormat> = [
            "yuv420p": .i420, "yuv422p": .i422, "yuv444p": .i444, "yuv420p10le": .i420p10, "yuv420p10": .i420p10,
            "p010le": .p010, "yuyv422": .yuyv, "uyvy422": .uyvy,
        ]
        return others.first { $0.key == name }?.value.rawValue ?? name
    }

    static func size(_ option: String, _ text: String) throws -> VideoSize {
        guard let size = VideoSize(text), size.width <= 65536, size.height <= 65536 else {
            throw VaencError.usage("\(option) \(text) is not a size", remedy: "write it as 1280x720")
        }
        return size
    }
}

extension FrameFit: ExpressibleByArgument {}
extension AudioMode: ExpressibleByArgument {}
