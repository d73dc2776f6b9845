import VideoBase

/// Opens inputs by name.
public enum MediaInput {
    /// Opens a file, `-` (standard input) or `testsrc:WxH@FPS:FRAMES`.
    ///
    /// Progressive Y4M of the commonest layouts (known by its first bytes), raw pictures (`options.inputSize` given) and the test pattern are read by
    /// vaenc's own code; anything else through libavformat and libavcodec, which are loaded then. Scaling, and formats
    /// that are not 4:2:0 of 8 bits, load libswscale.
    /// - Throws: `DescribedError`: `noInput` for no such file, `noPermission`, `badInput` for what is not a video,
    ///   `usage` for a test pattern's or option's wrong spelling, `unavailable` without the libraries.
    public static func open(_ input: String, options: SourceOptions = SourceOptions()) throws -> any FrameSource {
        try check(options)
        if input.hasPrefix("testsrc:") { return try TestPattern(input, options: options) }
        let reader = try ByteReader(path: input)
        let start = try reader.peek(Y4MHeader.magic.count)
        if start.isEmpty { throw VaencError(.badInput, "\(reader.name) is empty", remedy: "give a file with pictures in it") }
        if start == Y4MHeader.magic { return try y4m(reader, options) }
        if let size = options.inputSize {
            return try RawSource.raw(
                reader, format: options.inputFormat ?? rawFormat(input) ?? .i420, size: size, options: options)
        }
        if options.inputFormat != nil || rawFormat(input) != nil {
            throw rawFormat(input) != nil
                ? VaencError(
                    .usage, "\(reader.name) is raw video, which does not say its size", remedy: "add `inputSize` WIDTHxHEIGHT")
                : VaencError(
                    .usage, "`inputFormat` is the layout of raw video, which does not say its size",
                    remedy: "add `inputSize` WIDTHxHEIGHT, or leave out `inputFormat` if \(reader.name) is coded video")
        }
        do { return try DecodingSource(reader, options: options) } catch var error as VaencError {
            if error.remedy == InputContext.wholeRemedy { error.remedy = InputContext.layoutRemedy }
            throw error
        }
    }

    private static func y4m(_ reader: ByteReader, _ options: SourceOptions) throws -> any FrameSource {
        let line = try Y4MHeader.line(reader)
        let header = try Y4MHeader(line: String(decoding: line, as: UTF8.self), name: reader.name)
        if let size = options.inputSize, size != header.size {
            throw VaencError(
                .usage, "\(reader.name) is Y4M of \(header.size), not \(size)", remedy: "leave out `inputSize`")
        }
        if let format = options.inputFormat, format != header.format {
            throw VaencError(
                .usage, "\(reader.name) is Y4M of \(header.format?.rawValue ?? "other samples"), not \(format.rawValue)",
                remedy: "leave out `inputFormat`")
        }
        guard let format = header.format, !header.isInterlaced else {
            reader.putBack(line + [UInt8(ascii: "\n")])
            return try DecodingSource(reader, options: options)
        }
        return try RawSource(
            reader, format: format, size: header.size, rate: header.rate,
            color: header.color, aspect: header.aspect, kind: "Y4M, \(format.rawValue)", isY4M: true,
            options: options)
    }

    private static func check(_ options: SourceOptions) throws {
        if let start = options.start, !(start >= 0 && start < 1e9) {
            throw VaencError(.usage, "`start` \(start) is out of range", remedy: "give seconds, from 0 to less than 1000000000")
        }
        if let duration = options.duration, !(duration > 0 && duration < 1e9) {
            throw VaencError(.usage, "`duration` \(duration) is out of range", remedy: "give seconds, more than 0 and less than 1000000000")
        }
        if let rate = options.frameRate, !(1...Int(Int32.max)).contains(rate.numerator) || !(1...Int(Int32.max)).contains(rate.denominator) {
            throw VaencError(
                .usage, "a frame rate of \(rate) is out of range", remedy: "give one of numbers up to \(Int32.max), as 30000/1001")
        }
        if let limit = options.frameLimit, limit < 1 { throw VaencError(.usage, "`frameLimit` \(limit) is less than 1", remedy: "give 1 or more") }
        for size in [options.inputSize, options.outputSize] {
            if let size, !size.isWithinLimits {
                throw VaencError(.usage, "a size of \(size) is out of range", remedy: "sizes are \(VideoSize.limitWords)")
            }
        }
    }

    /// Extensions of files that hold coded pictures, or say their layout, beside those that vaenc writes.
    private static let codedExtensions: Set<String> = [
        "y4m", "webm", "avi", "mpg", "mpeg", "m2v", "vob", "ogv", "ogg", "wmv", "asf", "mxf", "3gp", "3g2", "f4v", "dv", "ivf", "obu", "gif",
        "png", "jpg", "jpeg", "mjpeg", "webp", "nut", "mj2", "m4s", "266", "vvc", "av1", "part",
    ]

    /// Whether an input's name lets it hold raw pictures: standard input, and all but the extensions of files that say what they hold.
    package static func mayBeRaw(_ name: String) -> Bool {
        guard let ending = fileExtension(name) else { return true }
        return !codedExtensions.contains(ending) && (rawFormat(name) != nil || (try? MediaOutput.format(of: name)) == nil)
    }

    private static func fileExtension(_ name: String) -> String? {
        let file = name.split(separator: "/").last ?? ""
        return file.lastIndex(of: ".").map { file[file.index(after: $0)...].lowercased() }
    }

    /// The layout that a file name's extension says; nil for others.
    private static func rawFormat(_ name: String) -> PixelFormat? {
        guard let ending = fileExtension(name) else { return nil }
        if ending == "yuv" || ending == "raw" { return .i420 }
        return PixelFormat(rawValue: ending)
    }
}
