public import ArgumentParser
public import MediaFiles
public import VideoBase

struct InputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Size of raw frames: \(VideoSize.limitWords).", valueName: "WxH"))
    var inputSize: String?

    @Option(
        help: ArgumentHelp(
            "Format of raw frames: nv12, i420, yv12, yuyv, p010, … (default: from the file's extension, otherwise i420). "
                + "With encode and capture also the format of a camera, for example mjpeg.",
            valueName: "FORMAT"))
    var inputFormat: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Frame rate of raw frames, images and bare streams, and with encode and capture of cameras, 0.001 to 1000, for "
                + "example 25, 29.97 or 30000/1001. For other inputs it changes the playback speed.",
            valueName: "R"))
    var fps: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Read at most this many frames, 1 or more.", valueName: "N"))
    var frames: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Skip the input up to this time, in seconds or as HH:MM:SS.mmm.", valueName: "TIME"))
    var start: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Duration to read, in seconds or as HH:MM:SS.mmm (default: to the end).", valueName: "TIME"))
    var duration: String?

    @Option(help: ArgumentHelp("Scale to this size: \(VideoSize.limitWords).", valueName: "WxH"))
    var size: String?

    @Option(
        help: ArgumentHelp(
            "How to fit pictures with another aspect ratio into --size (default letterbox).",
            valueName: "letterbox|crop|stretch"))
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

/// The options of commands that write sound.
struct SoundOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Copy every sound stream, encode it as AAC, or leave it out (default: copy if the container can hold it, "
                + "otherwise aac).",
            valueName: "copy|aac|none"))
    var audio: AudioMode?
}

extension FrameFit: ExpressibleByArgument {}
extension AudioMode: ExpressibleByArgument {}

extension InputOptions: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        inputSize = line.value("--input-size")
        inputFormat = line.value("--input-format")
        fps = line.value("--fps")
        frames = line.value("--frames")
        start = line.value("--start")
        duration = line.value("--duration")
        size = line.value("--size")
        fit = line.value("--fit")
    }
}

extension SoundOptions: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        audio = line.value("--audio")
    }
}
