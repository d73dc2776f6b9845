import VideoBase

/// The first line of a YUV4MPEG2 stream.
struct Y4MHeader {
    static let magic = Array("YUV4MPEG2".utf8)
    static let frameLine = Array("FRAME\n".utf8)
    /// The maximum length of a line in bytes. A file with a longer line is rejected.
    static let longestLine = 4096

    var size = VideoSize(width: 0, height: 0)
    var rate = Rational(25, 1)
    var aspect: Rational?
    /// The layout; nil for samples that only libavformat's demuxer can read.
    var format: PixelFormat? = .i420
    var isInterlaced = false
    var color = ColorDescription.unspecified

    /// Reads the line from a stream that is at its start. Returns it without the line end.
    /// - Throws: `badInput`.
    static func line(_ reader: ByteReader) throws -> [UInt8] {
        var line: [UInt8] = []
        while true {
            let byte = try reader.read(1)
            if byte == [UInt8(ascii: "\n")] { break }
            line += byte
            if byte.isEmpty || line.count > Self.longestLine {
                throw Self.broken(reader.name, "its first line has no end")
            }
        }
        return line
    }

    /// Parses the line.
    /// - Throws: `badInput` with the fault.
    init(line: String, name: String) throws {
        func broken(_ what: String) -> VaencError { Self.broken(name, what) }
        let words = line.split(separator: " ")
        guard words.first == "YUV4MPEG2" else { throw broken("it does not begin with YUV4MPEG2") }
        for word in words.dropFirst() {
            let value = word.dropFirst()
            switch word.first {
            case "W":
                guard let width = Int(value), width > 0 else { throw broken("the width “\(value)”") }
                size.width = width
            case "H":
                guard let height = Int(value), height > 0 else { throw broken("the height “\(value)”") }
                size.height = height
            case "F":
                guard let ratio = Self.ratio(value), ratio.numerator > 0, ratio.denominator > 0 else {
                    throw broken("the frame rate “\(value)”")
                }
                rate = ratio.reduced
            case "A":
                guard let ratio = Self.ratio(value) else { throw broken("the sample aspect ratio “\(value)”") }
                if ratio.numerator > 0, ratio.denominator > 0 { aspect = ratio.asSampleAspect }
            case "I":
                switch value.first {
                case "?", "p": break
                case "t", "b": isInterlaced = true
                case "m":
                    throw VaencError(
                        .badInput,
                        "\(name) mixes interlaced and progressive pictures, which libavformat does not read from Y4M",
                        remedy: "write it with It or Ib, or deinterlace it first")
                default: throw broken("the interlacing “\(value)”")
                }
            case "C":
                format = Self.format(value)
                guard format != nil || Self.isForeign(value) else {
                    throw VaencError(
                        .badInput, "\(name) has the sample format C\(value), which vaenc does not read",
                        remedy: "convert it to 4:2:0, 4:2:2, 4:4:4 or mono")
                }
            case "X":
                if value == "COLORRANGE=FULL" { color.fullRange = true }
                if value == "COLORRANGE=LIMITED" { color.fullRange = false }
            default: throw broken("the parameter “\(word)”")
            }
        }
        if size.width == 0 { throw broken("no width") }
        if size.height == 0 { throw broken("no height") }
        guard size.isWithinLimits else {
            throw VaencError(
                .badInput, "\(name) has pictures of \(size)", remedy: "sizes are \(VideoSize.limitWords)")
        }
    }

    private static func broken(_ name: String, _ what: String) -> VaencError {
        VaencError(
            .badInput, "\(name) has a broken Y4M header (\(what))",
            remedy: "write the file again; its first line should look like YUV4MPEG2 W640 H360 F25:1 Ip C420jpeg")
    }

    private static func ratio(_ text: Substring) -> Rational? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let n = Int32(parts[0]), let d = Int32(parts[1]), n >= 0, d >= 0 else { return nil }
        // The format writes “unknown” as 0:0.
        return d == 0 ? (n == 0 ? Rational(0, 1) : nil) : Rational(Int(n), Int(d))
    }

    /// Whether libavformat's demuxer reads a sample format that `PixelFormat` does not have.
    private static func isForeign(_ name: Substring) -> Bool {
        if name == "411" { return true }
        let depths = ["9", "10", "12", "14", "16"]
        return ["420p", "422p", "444p", "mono"].contains { start in depths.contains { name == start + $0 } }
    }

    private static func format(_ name: Substring) -> PixelFormat? {
        switch name {
        case "420", "420jpeg", "420mpeg2", "420paldv": .i420
        case "422": .i422
        case "444": .i444
        case "mono": .gray
        case "420p10": .i420p10
        default: nil
        }
    }
}
