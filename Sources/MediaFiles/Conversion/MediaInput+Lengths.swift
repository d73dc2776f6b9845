import NALUnits
import VideoBase

extension MediaInput {
    /// Returns the length size and codec if an input is a stream of length-prefixed NAL units, as `vaenc convert`
    /// writes it. The decision uses the first bytes. The name must end in `.avcc` or `.hvcc`; without an extension, as
    /// standard input, the lengths must have four bytes.
    static func lengthPrefixed(_ reader: ByteReader) throws -> (size: LengthSize, codec: VideoCodec)? {
        let ending = MediaOutput.pathExtension(reader.name)
        let isNamed = isLengthPrefixedName(ending)
        guard isNamed || ending.isEmpty else { return nil }
        // If the name has such an extension, a truncated stream is accepted too.
        let count = isNamed ? nil : reader.length.map { $0 - reader.position }
        guard let kind = StreamKind(head: try reader.peek(4096), byteCount: count),
            case .lengthPrefixed(let size) = kind.framing, isNamed || size == .four
        else { return nil }
        return (size, kind.codec ?? VideoCodec.allCases.first { $0.recordName.lowercased() == ending } ?? .assumedForUnknownStreams)
    }

    /// Returns whether files with this extension contain length-prefixed NAL units. In a file of another name, lengths of
    /// one or two bytes are not accepted: text can look like them.
    static func isLengthPrefixedName(_ ending: String) -> Bool { ["avcc", "hvcc"].contains(ending) }

    /// Whether an input is an H.264 byte stream with prefix NAL units or subset SPSs (types 14 and 15, annexes F and
    /// G).
    ///
    /// libavformat's probe counts each of these units against H.264. If the first bytes contain more of them than
    /// parameter sets and IDR pictures, as in a short stream with temporal layers, libavformat does not recognize the
    /// stream, or detects MP3.
    static func isScalableStream(_ reader: ByteReader) throws -> Bool {
        let head = try reader.peek(4096)
        guard let kind = StreamKind(head: head), kind.framing == .annexB else { return false }
        switch kind.codec {
        case .h264: break
        case .hevc, nil: return false
        }
        let headers = AnnexB.units(in: head.span).map { head[$0.lowerBound] }
        // forbidden_zero_bit must be 0, and a stream begins with an SPS or a delimiter.
        guard let first = headers.first, [7, 9].contains(first & 31), !headers.contains(where: { $0 & 0x80 != 0 }) else {
            return false
        }
        return headers.contains { [14, 15].contains($0 & 31) }
    }
}
