public import ArgumentParser
public import MediaFiles
public import VideoBase

struct InputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Size of raw frames: \(VideoSize.limitWords).", valueName: "WxH"))
    var inputSize: String?

    @Option(help: ArgumentHelp("Format of raw frames, or of a camera: nv12, i420, yv12, yuyv, p010, …; mjpeg.", valueName: "FORMAT"))
    var inputFormat: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Frame rate of raw frames, images and bare streams: 25, 29.97, 30000/1001. It changes the playing speed of other inputs.", valueName: "R"))
    var fps: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Read at most this many frames, 1 or more.", valueName: "N"))
    var frames: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Skip the input up to this time, in seconds or as HH:MM:SS.mmm.", valueName: "TIME"))
    var start: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Read this long, in seconds or as HH:MM:SS.mmm.", valueName: "TIME"))
    var duration: String?

    @Option(help: ArgumentHelp("Scale to this size: \(VideoSize.limitWords).", valueName: "WxH"))
    var size: String?

    @Option(help: ArgumentHelp("How a picture of another shape is fitted to --size (default letterbox).", valueName: "letterbox|crop|stretch"))
    var fit: FrameFit?

    /// Returns the options for opening the input.
    ///
    /// - Parameter isCamera: Whether the input is a camera. A camera delivers more formats than files have, and
    ///   determines its own size, to which later cameras are fitted.
    func sourceOptions(isCamera: Bool = false) throws -> SourceOptions {
        try SourceOptions(
            hasOwnSize: isCamera,
            inputSize: inputSize, inputFormat: isCamera ? nil : inputFormat, fps: fps, frames: frames, start: start,
            duration: duration, size: size, fit: fit)
    }
}

/// The options of commands that write audio.
struct SoundOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Sound, of every stream: copied, encoded as AAC, or none (default: copied if the container holds it, otherwise AAC).",
            valueName: "copy|aac|none"))
    var audio: AudioMode?
}

extension FrameFit: ExpressibleByArgument {}
extension AudioMode: ExpressibleByArgument {}
