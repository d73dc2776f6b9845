public import VideoBase

/// The error of bytes that are not valid NAL units, or not a valid decoder configuration record.
public struct MalformedStream: DescribedError, Hashable {
    /// The kind of error.
    public enum Fault: Sendable, Hashable {
        /// The byte stream is empty, or does not begin with zero bytes and a start code (H.264 B.1).
        case noStartCode
        /// A start code is followed by another one, or by the end, without a NAL unit between them.
        case emptyUnit
        /// A length is 0, or a NAL unit consists only of zero bytes, which no byte stream can represent.
        case zeroLength
        /// The stream ends inside a length.
        case truncatedLength
        /// The stream ends inside a NAL unit, after `there` of its bytes.
        case truncatedUnit(there: Int, of: Int)
        /// A NAL unit is longer than its length field can represent, or than the reader's limit.
        case unitTooLong(Int, longest: Int)
        /// A NAL unit contains 00 00 01, which emulation prevention forbids. In a byte stream, it would become two
        /// units.
        case startCodeInUnit
        /// An avcC or hvcC record is invalid; the value describes the error.
        case record(String)
    }

    /// The kind of error.
    public var fault: Fault
    /// The offset of the invalid length, start code or NAL unit from the beginning of the stream or record, in bytes.
    public var offset: Int

    /// Creates an error.
    public init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
    }

    /// Always `.badInput`.
    public var category: ErrorCategory { .badInput }

    /// A description of the error with its offset.
    public var message: String {
        switch fault {
        case .noStartCode: "there is no start code at byte \(offset)"
        case .emptyUnit: "the start code at byte \(offset) is not followed by a NAL unit"
        case .zeroLength: "the NAL unit at byte \(offset) is empty"
        case .truncatedLength: "the stream ends inside the length at byte \(offset)"
        case .truncatedUnit(let there, let whole):
            "the stream ends inside the NAL unit at byte \(offset), which has \(there) of \(whole) bytes"
        case .unitTooLong(let count, let longest):
            "the NAL unit at byte \(offset) has \(count) bytes, but the length size allows at most \(longest)"
        case .startCodeInUnit: "the NAL unit at byte \(offset) contains a start code"
        case .record(let words): "\(words) (byte \(offset) of the record)"
        }
    }

    /// A remedy for the kind of error.
    public var remedy: String? {
        switch fault {
        case .noStartCode, .emptyUnit: "check that the input is an Annex B byte stream"
        case .zeroLength, .truncatedLength, .truncatedUnit:
            "check that the stream is complete, and check its length size"
        case .unitTooLong(_, let longest):
            longest < AnnexB.longestUnit
                ? "choose longer lengths (`lengthSize`)" : "check that the stream is complete, and check its framing"
        case .startCodeInUnit: "check the stream's length size"
        case .record: "check that the input is an avcC or hvcC record"
        }
    }
}
