import MediaFiles
import VideoBase

extension SourceOptions {
    /// Parses the values of a command's options.
    ///
    /// - Parameter hasOwnSize: Whether pictures are fitted to a size even without `--size`.
    /// - Throws: `usage`.
    init(
        hasOwnSize: Bool = false, inputSize: String?, inputFormat: String?, fps: String? = nil, frames: Int?, start: String?, duration: String?,
        size: String?, fit: FrameFit?
    ) throws {
        self.init()
        self.inputSize = try inputSize.map { try Self.size("--input-size", $0) }
        outputSize = try size.map { try Self.size("--size", $0) }
        if let fit, size == nil, !hasOwnSize {
            throw VaencError.usage(
                "--fit \(fit.rawValue) has no effect without --size", remedy: "add --size, or leave it out")
        }
        self.fit = fit ?? .letterbox
        if let inputFormat {
            guard let format = Self.format(inputFormat.lowercased()) else {
                throw VaencError.usage(
                    "--input-format \(inputFormat) is not known",
                    remedy: "use one of " + PixelFormat.allCases.map(\.rawValue).joined(separator: ", "))
            }
            self.inputFormat = format
        }
        frameRate = try fps.map(Self.rate)
        if let frames, frames < 1 {
            throw VaencError.usage(
                "--frames \(frames) is less than 1", remedy: "use 1 or more")
        }
        frameLimit = frames
        self.start = try start.map(Self.start)
        self.duration = try duration.map(Self.duration)
    }

    /// Parses the value of `--start`.
    static func start(_ text: String) throws -> Duration {
        let seconds = try OptionValue.time("--start", text)
        if seconds >= 0, seconds < 1e9, let time = Duration(checkedSeconds: seconds) { return time }
        throw VaencError.usage(
            "--start \(text) is out of range", remedy: "use a time from 0 to less than 1000000000 seconds")
    }

    /// Parses the value of `--duration`.
    static func duration(_ text: String) throws -> Duration {
        let seconds = try OptionValue.time("--duration", text)
        if seconds > 0, seconds < 1e9, let time = Duration(checkedSeconds: seconds) { return time }
        throw VaencError.usage(
            "--duration \(text) is out of range", remedy: "use a time of more than 0 and less than 1000000000 seconds")
    }

    /// Parses the value of `--fps`. Returns frames per second.
    static func rate(_ text: String) throws -> Rational {
        let rate = Rational(rate: text)
        if let rate, rate.value <= 1000, rate.value >= 0.001 { return rate }
        if rate != nil || Double(text)?.isFinite == true {
            throw VaencError.usage("--fps \(text) is out of range", remedy: "use 0.001 to 1000 frames per second")
        }
        throw VaencError.usage("--fps \(text) is not a frame rate", remedy: "write 25, 29.97 or 30000/1001")
    }

    private static func format(_ name: String) -> PixelFormat? { PixelFormat(rawValue: plainName(name)) }

    /// Returns vaenc's name of a pixel layout for FFmpeg's name of the same layout. Returns other names unchanged.
    static func plainName(_ name: String) -> String {
        let others: KeyValuePairs<String, PixelFormat> = [
            "yuv420p": .i420, "yuv422p": .i422, "yuv444p": .i444, "yuv420p10le": .i420p10, "yuv420p10": .i420p10,
            "p010le": .p010, "yuyv422": .yuyv, "uyvy422": .uyvy,
        ]
        return others.first { $0.key == name }?.value.rawValue ?? name
    }

    static func size(_ option: String, _ text: String) throws -> VideoSize {
        guard let size = VideoSize(text) else {
            throw VaencError.usage("\(option) \(text) is not a size", remedy: "write WxH, such as 1280x720")
        }
        guard size.isWithinLimits else {
            throw VaencError.usage("\(option) \(text) is out of range", remedy: "sizes are \(VideoSize.limitWords)")
        }
        return size
    }
}
