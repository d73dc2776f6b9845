import NALUnits
import VideoBase

extension MediaInput {
    /// Whether an input is a stream of NAL units behind lengths, as `vaenc convert` writes it: by its first bytes, where it is
    /// called `.avcc` or `.hvcc`, or has no extension (standard input too) and lengths of four bytes.
    static func lengthPrefixed(_ reader: ByteReader) throws -> (size: LengthSize, codec: VideoCodec)? {
        let ending = MediaOutput.pathExtension(reader.name)
        let isNamed = ["avcc", "hvcc"].contains(ending)
        guard isNamed || ending.isEmpty else { return nil }
        // One that is cut short is still one, if its name says so.
        let count = isNamed ? nil : reader.length.map { $0 - reader.position }
        guard let kind = StreamKind(head: try reader.peek(4096), byteCount: count),
            case .lengthPrefixed(let size) = kind.framing, isNamed || size == .four
        else { return nil }
        return (size, kind.codec ?? VideoCodec.allCases.first { $0.recordName.lowercased() == ending } ?? .h264)
    }

    /// Whether an input is an H.264 byte stream with prefix NAL units or subset SPSs (types 14 and 15, annexes F and G).
    ///
    /// libavformat's probe counts each of them against H.264: a stream with more of them than parameter sets and IDR pictures
    /// in its first bytes, as a short one with temporal layers, is not recognized, or is taken for MP3.
    static func isScalableStream(_ reader: ByteReader) throws -> Bool {
        let head = try reader.peek(4096)
        guard let kind = StreamKind(head: head), kind.framing == .annexB, case .h264? = kind.codec else { return false }
        let headers = AnnexB.units(in: head.span).map { head[$0.lowerBound] }
        // forbidden_zero_bit; a stream begins with an SPS or a delimiter.
        guard let first = headers.first, [7, 9].contains(first & 31), !headers.contains(where: { $0 & 0x80 != 0 }) else {
            return false
        }
        return headers.contains { [14, 15].contains($0 & 31) }
    }
}
