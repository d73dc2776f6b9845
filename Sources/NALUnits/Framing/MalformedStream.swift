public import VideoBase

/// Bytes that are not the NAL units, or the record of a decoder's configuration, that they are said to be.
public struct MalformedStream: DescribedError, Hashable {
    public enum Fault: Sendable, Hashable {
        /// Something else than zero bytes and a start code at the beginning of a byte stream (H.264 B.1), or nothing.
        case noStartCode
        /// Two start codes with no NAL unit between them, or one at the end.
        case emptyUnit
        /// A length of 0, or a NAL unit of nothing but zero bytes, which no byte stream can hold.
        case zeroLength
        /// The end comes inside a length.
        case truncatedLength
        /// The end comes inside a NAL unit: after `there` of its bytes.
        case truncatedUnit(there: Int, of: Int)
        /// A NAL unit that is longer than its length can say or than the reader was told to hold.
        case unitTooLong(Int, longest: Int)
        /// A NAL unit with 00 00 01 in it, which emulation prevention forbids: as a byte stream it would be two.
        case startCodeInUnit
        /// An avcC or hvcC record; what is wrong with it.
        case record(String)
    }

    public var fault: Fault
    /// In bytes from the beginning of the stream or record: of the length, the start code, the NAL unit's first byte.
    public var offset: Int

    public init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
    }

    public var category: ErrorCategory { .badInput }

    public var message: String {
        switch fault {
        case .noStartCode: "no start code at byte \(offset)"
        case .emptyUnit: "the start code at byte \(offset) has no NAL unit behind it"
        case .zeroLength: "a NAL unit of no bytes at byte \(offset)"
        case .truncatedLength: "the stream ends inside the length at byte \(offset)"
        case .truncatedUnit(let there, let whole):
            "the stream ends inside the NAL unit at byte \(offset), which has \(there) of \(whole) bytes"
        case .unitTooLong(let count, let longest):
            "the NAL unit at byte \(offset) has \(count) bytes, and at most \(longest) can be told"
        case .startCodeInUnit: "the NAL unit at byte \(offset) holds a start code"
        case .record(let words): "\(words) (byte \(offset) of the record)"
        }
    }

    public var remedy: String? {
        switch fault {
        case .noStartCode, .emptyUnit: "check that it is an Annex B byte stream"
        case .zeroLength, .truncatedLength, .truncatedUnit:
            "check that the stream is whole, and how many bytes its lengths have"
        case .unitTooLong(_, let longest):
            longest < AnnexB.longestUnit
                ? "choose longer lengths (`lengthSize`)" : "check that the stream is whole, and how it is framed"
        case .startCodeInUnit: "check how many bytes the stream's lengths have"
        case .record: "check that it is an avcC or hvcC record"
        }
    }
}
