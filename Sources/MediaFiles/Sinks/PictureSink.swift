public import VideoBase

/// Writes pictures as they are: Y4M, or raw planes one after the other. One thread at a time.
///
/// A file gets its name when `finish` has succeeded, and is `NAME.part` before; pipes are written in place.
public final class PictureSink {
    /// What `write` takes.
    public let format: PixelFormat
    public let size: VideoSize
    public private(set) var pictures = 0
    private let file: OutputFile
    private let isY4M: Bool
    private var row: [UInt8] = []
    private var hasEnded = false

    /// - Parameters:
    ///   - path: `.y4m`, or `-` for Y4M on standard output; `.yuv` for planes of I420, or of what the pictures have; the name
    ///     of a layout (`.nv12`, `.p010`) for that.
    ///   - info: what the pictures are.
    /// - Throws: `usage` for a name of no such format; otherwise as all outputs: `cannotCreate`, `noPermission`.
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

    /// The layout that an output's name means, for pictures of an input.
    private static func format(of path: String, _ info: SourceInfo) throws -> (PixelFormat, isY4M: Bool) {
        if path.isEmpty { throw MediaOutput.emptyName }
        let file = path.split(separator: "/").last ?? ""
        let ending = file.lastIndex(of: ".").map { file[file.index(after: $0)...].lowercased() } ?? ""
        let planar: PixelFormat = info.bitDepth > 8 ? .i420p10 : .i420
        let own = info.nativeFormat.flatMap { [.i420, .i422, .i444, .gray, .i420p10].contains($0) ? $0 : nil } ?? planar
        if path == "-" || ending == "y4m" { return (own, true) }
        if ending == "yuv" || ending == "raw" { return (own, false) }
        if let format = PixelFormat(rawValue: ending) { return (format, false) }
        try MediaOutput.refuseFolder(path)
        throw VaencError(
            .usage, "\(path) says no format of pictures",
            remedy: "name it .y4m, or .yuv, .nv12, .p010 for raw pictures")
    }

    /// Writes a picture of `format` and `size`.
    /// - Throws: `usage` for another, for planes without memory, and after `finish` or `cancel`.
    public func write(_ planes: PixelPlanes) throws {
        if hasEnded { throw VaencError(.usage, "a picture came after finish or cancel", remedy: "make another PictureSink for it") }
        guard unsafe planes.format == format, unsafe planes.size == size else {
            throw VaencError(
                .usage,
                "a picture of \(unsafe planes.size) in \(unsafe planes.format.rawValue) was given to an output of \(size) in \(format.rawValue)",
                remedy: "give pictures of the output's size and format")
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
            // SAFETY: a plane has so many rows, `pitch` bytes apart; rows without padding are one.
            let (rows, bytes) = pitch == width ? (1, width * height) : (height, width)
            for row in 0..<rows {
                let samples = unsafe UnsafeRawBufferPointer(start: base + row * pitch, count: bytes)
                unsafe try samples.withMemoryRebound(to: UInt8.self) { unsafe try file.write($0.span) }
            }
        }
        pictures += 1
    }

    /// Gives the file its name.
    public func finish() throws {
        hasEnded = true
        try file.commit()
    }

    /// Leaves nothing. Idempotent; nothing after `finish` has succeeded.
    public func cancel() {
        hasEnded = true
        file.cancel()
    }

    public var bytesWritten: Int { file.bytesWritten }
}

extension Y4MHeader {
    /// The first line of a stream of such pictures, its end included.
    static func line(of info: SourceInfo, _ format: PixelFormat) -> String {
        let layout =
            switch format {
            case .i422: "422"
            case .i444: "444"
            case .gray: "mono"
            case .i420p10: "420p10 XYSCSS=420P10"
            // Where nothing is said, chroma of H.264, HEVC and MPEG-2 lies so.
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
