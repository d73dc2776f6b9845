import Glibc
import VideoBase

/// Opens inputs by their names.
public enum MediaInput {
    /// Opens a file, an image sequence such as `img%03d.png`, `-` (standard input) or `testsrc:WxH@FPS:FRAMES`.
    ///
    /// vaenc's own code reads progressive Y4M in the most common layouts (detected by its first bytes), raw pictures
    /// (if `options.inputSize` is set) and the test pattern. libavformat and libavcodec, which are loaded for this,
    /// read anything else. Scaling, and formats other than 8-bit 4:2:0, load libswscale.
    /// - Throws: `DescribedError`: `noInput` if there is no such file, `noPermission`, `badInput` if it is not a video,
    ///   `usage` for invalid options or an invalid test pattern, `unavailable` if the libraries are missing.
    public static func open(_ input: String, options: SourceOptions = SourceOptions()) throws -> any FrameSource {
        try options.validate()
        if input.hasPrefix("testsrc:") { return try TestPattern(input, options: options) }
        let reader = try ByteReader(path: input)
        let start = try reader.peek(Y4MHeader.magic.count)
        if start.isEmpty {
            throw VaencError(.badInput, "\(reader.name) is empty", remedy: "use a file that contains pictures")
        }
        if start == Y4MHeader.magic { return try y4m(reader, options) }
        if let size = options.inputSize {
            return try RawSource.raw(
                reader, format: options.inputFormat ?? rawFormat(input) ?? .i420, size: size, options: options)
        }
        if options.inputFormat != nil || rawFormat(input) != nil {
            throw rawFormat(input) != nil
                ? VaencError(
                    .usage, "\(reader.name) is raw video, which does not state its size",
                    remedy: "set `inputSize` WIDTHxHEIGHT")
                : VaencError(
                    .usage, "`inputFormat` is the layout of raw video, which does not state its size",
                    remedy: "set `inputSize` WIDTHxHEIGHT, or leave out `inputFormat` if \(reader.name) is coded video")
        }
        do { return try DecodingSource(reader, options: options) } catch var error as VaencError {
            if error.remedy == InputContext.wholeRemedy { (error.remedy, error.subject) = (InputContext.layoutRemedy, .pictureLayout) }
            throw error
        }
    }

    /// Whether an input is a pipe, a device or a socket, whose sender may end at any time. `-`, standard input, counts as
    /// one.
    package static func isPipe(_ input: String) -> Bool {
        if input == "-" { return true }
        var status = stat()
        // SAFETY: stat fills the structure.
        guard unsafe stat(FileName.cString(input), &status) == 0 else { return false }
        return [S_IFIFO, S_IFCHR, S_IFSOCK].contains(status.st_mode & S_IFMT)
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

    /// Extensions of files with coded pictures or with a stated layout, in addition to those that vaenc writes.
    static let codedExtensions: Set<String> = [
        "y4m", "webm", "avi", "mpg", "mpeg", "m2v", "vob", "ogv", "ogg", "wmv", "asf", "mxf", "3gp", "3g2", "f4v", "dv", "ivf", "obu", "gif",
        "png", "jpg", "jpeg", "mjpeg", "webp", "nut", "mj2", "m4s", "266", "vvc", "av1", "part",
    ]

    /// Whether an input may contain raw pictures according to its name: standard input, and names without an extension
    /// that determines the content.
    package static func mayBeRaw(_ name: String) -> Bool {
        guard let ending = fileExtension(name) else { return true }
        // ./ hides a prefix that outputs may not have.
        let file = FileName.prefixAdvice(name) == nil ? name : "./" + name
        return !codedExtensions.contains(ending) && (rawFormat(name) != nil || (try? MediaOutput.format(of: file)) == nil)
    }

    private static func fileExtension(_ name: String) -> String? {
        let file = name.split(separator: "/").last ?? ""
        return file.lastIndex(of: ".").map { file[file.index(after: $0)...].lowercased() }
    }

    /// Returns the layout that a file name's extension determines; nil for other extensions.
    private static func rawFormat(_ name: String) -> PixelFormat? {
        guard let ending = fileExtension(name) else { return nil }
        if ending == "yuv" || ending == "raw" { return .i420 }
        return PixelFormat(rawValue: ending)
    }
}
