import NALWriting
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
        return (size, kind.codec ?? (ending == "hvcc" ? .hevc : .h264))
    }
}
