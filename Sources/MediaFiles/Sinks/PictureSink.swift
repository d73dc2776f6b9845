public import VideoBase

/// Writes uncompressed pictures: Y4M, or consecutive raw planes. Only one thread may use it at a time.
///
/// A file is named `NAME.part` until `finish` succeeds. Pipes are written in place.
public final class PictureSink {
    /// The format of the pictures that `write` accepts.
    public let format: PixelFormat
    /// The size of the pictures that `write` accepts.
    public let size: VideoSize
    /// The number of pictures that were written.
    public private(set) var pictures = 0
    private let file: OutputFile
    private let isY4M: Bool
    private var row: [UInt8] = []
    private var hasEnded = false

    /// Opens the output.
    ///
    /// - Parameters:
    ///   - path: `.y4m`, or `-` for Y4M on standard output; `.yuv` for planes in the pictures' own layout if it is
    ///     planar, and otherwise in I420 of 8 or 10 bits; the name of a layout (`.nv12`, `.p010`) for that layout.
    ///   - info: The description of the pictures.
    ///   - overwrite: Whether to replace an existing file.
    /// - Throws: `usage` for a name that determines no picture format; `cannotCreate`, `noPermission`.
    public init(_ path: String, of info: SourceInfo, overwrite: Bool) throws {
        guard info.size.isWithinLimits else {
            throw VaencError(.usage, "pictures of \(info.size) cannot be written", remedy: "sizes are \(VideoSize.limitWords)")
        }
        let (format, isY4M) = try Self.format(of: path, info)
        self.format = format
        self.isY4M = isY4M
        size = info.size
        file = try OutputFile(path: path, overwrite: overwrite)
        if isY4M {
            do { try file.write(Array(Y4MHeader.line(of: info, format).utf8).span) } catch {
                file.cancel()
                throw error
            }
        }
    }

    /// Returns the layout that an output's name determines for pictures of an input.
    private static func format(of path: String, _ info: SourceInfo) throws -> (PixelFormat, isY4M: Bool) {
        if path.isEmpty { throw MediaOutput.emptyName }
        let file = path.split(separator: "/").last ?? ""
        let ending = file.lastIndex(of: ".").map { file[file.index(after: $0)...].lowercased() } ?? ""
        let planar: PixelFormat = info.bitDepth > 8 ? .i420p10 : .i420
        let layout =
            info.nativeFormat.flatMap { [.i420, .i422, .i444, .gray, .i420p10].contains($0) ? $0 : nil } ?? planar
        if path == "-" || ending == "y4m" { return (layout, true) }
        if ending == "yuv" || ending == "raw" { return (layout, false) }
        if let format = PixelFormat(rawValue: ending) { return (format, false) }
        try MediaOutput.rejectFolder(path)
        throw VaencError(
            .usage, "the name \(path) does not determine a picture format",
            remedy: "end it in .y4m, or in .yuv, .nv12 or .p010 for raw pictures; for image files, write .y4m and convert it with ffmpeg")
    }

    /// Writes a picture of `format` and `size`. Blocks.
    /// - Throws: `usage` for a picture of another format or size, for planes without memory, and after `finish` or
    ///   `cancel`; `inputOutput`.
    public func write(_ planes: PixelPlanes) throws {
        if hasEnded {
            throw VaencError(.usage, "a picture was written after finish or cancel", remedy: "use a new PictureSink")
        }
        guard unsafe planes.format == format, unsafe planes.size == size else {
            throw VaencError(
                .usage,
                "the picture is \(unsafe planes.size) in \(unsafe planes.format.rawValue), but the output is \(size) "
                    + "in \(format.rawValue)",
                remedy: "write pictures of the output's size and format")
        }
        try unsafe planes.check(format: format, size: size)
        if isY4M {
            let line = Y4MHeader.frameLine
            try file.write(line.span)
        }
        for plane in 0..<format.planeCount {
            let width = format.rowBytes(plane: plane, width: size.width)
            let height = format.rows(plane: plane, height: size.height)
            let base = unsafe UnsafeRawPointer(planes.base(plane))
            let pitch = unsafe planes.pitch(plane)
            // SAFETY: a plane has `height` rows that are `pitch` bytes apart. Rows without padding are written as one.
            let (rows, bytes) = pitch == width ? (1, width * height) : (height, width)
            for row in 0..<rows {
                let samples = unsafe UnsafeRawBufferPointer(start: base + row * pitch, count: bytes)
                unsafe try samples.withMemoryRebound(to: UInt8.self) { unsafe try file.write($0.span) }
            }
        }
        pictures += 1
    }

    /// Completes the file and renames it to its final name.
    /// - Throws: `cannotCreate`, `inputOutput`.
    public func finish() throws {
        hasEnded = true
        try file.commit()
    }

    /// Removes the unfinished file. Idempotent. Does nothing after `finish` succeeded.
    public func cancel() {
        hasEnded = true
        file.cancel()
    }

    /// The number of bytes written so far.
    public var bytesWritten: Int { file.bytesWritten }
}

extension Y4MHeader {
    /// Returns the first line of a stream of these pictures, including its line end.
    static func line(of info: SourceInfo, _ format: PixelFormat) -> String {
        let layout =
            switch format {
            case .i422: "422"
            case .i444: "444"
            case .gray: "mono"
            case .i420p10: "420p10 XYSCSS=420P10"
            // This is the default chroma location of H.264, HEVC and MPEG-2.
            default: "420mpeg2 XYSCSS=420MPEG2"
            }
        let rate = info.frameRate.reduced
        let aspect = info.sampleAspectRatio?.reduced
        let range = info.color.fullRange.map { " XCOLORRANGE=\($0 ? "FULL" : "LIMITED")" } ?? ""
        return """
            YUV4MPEG2 W\(info.size.width) H\(info.size.height) F\(rate.numerator):\(rate.denominator) Ip \
            A\(aspect?.numerator ?? 0):\(aspect?.denominator ?? 0) C\(layout)\(range)\n
            """
    }
}
