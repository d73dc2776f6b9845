import VideoBase

/// Extracts the NAL units of a length-prefixed stream that arrives in pieces of any size (ISO/IEC 14496-15 5.2.3).
///
/// The splitter holds at most one NAL unit and the most recent piece. It must not be used after an error.
public struct LengthPrefixedSplitter: Sendable {
    /// The size of the length fields.
    public let lengthSize: LengthSize
    private let longestUnit: Int
    /// The bytes that are not extracted yet. The first byte begins a length, at offset `base` of the stream.
    private var buffer: [UInt8] = []
    private var base = 0

    /// Creates a splitter.
    ///
    /// - Parameter longestUnit: The maximum size of a NAL unit in bytes. A stream with a larger unit is rejected, so
    ///   that data of another format does not fill the memory.
    public init(lengthSize: LengthSize, longestUnit: Int = AnnexB.longestUnit) {
        self.lengthSize = lengthSize
        self.longestUnit = max(longestUnit, 1)
    }

    /// Adds the next bytes, and calls `body` for each NAL unit that ends in them (header byte first, escaped), with the
    /// offset of its first byte in the stream.
    ///
    /// - Throws: A `MalformedStream`, after the preceding valid units; a `VaencError` if there is not enough memory; or
    ///   an error of `body`.
    public mutating func append(
        _ bytes: some Collection<UInt8>, _ body: (_ unit: ArraySlice<UInt8>, _ offset: Int) throws -> Void
    ) throws {
        try buffer.makeRoom(for: bytes.count, "for a NAL unit")
        buffer.append(contentsOf: bytes)
        var index = 0
        while buffer.count - index >= lengthSize.rawValue {
            let start = index + lengthSize.rawValue
            let length = buffer[index..<start].reduce(0) { $0 << 8 | Int($1) }
            if length == 0 { throw MalformedStream(.zeroLength, at: base + index) }
            if length > longestUnit {
                throw MalformedStream(.unitTooLong(length, longest: longestUnit), at: base + start)
            }
            guard length <= buffer.count - start else { break }
            try body(buffer[start..<start + length], base + start)
            index = start + length
        }
        buffer.removeFirst(index)
        base += index
    }

    /// Checks that the stream ends after a complete NAL unit. Afterwards, the splitter can read another stream.
    ///
    /// - Throws: A `MalformedStream` if the stream is truncated.
    public mutating func finish() throws {
        defer { self = LengthPrefixedSplitter(lengthSize: lengthSize, longestUnit: longestUnit) }
        if buffer.isEmpty { return }
        guard buffer.count >= lengthSize.rawValue else { throw MalformedStream(.truncatedLength, at: base) }
        let length = buffer[..<lengthSize.rawValue].reduce(0) { $0 << 8 | Int($1) }
        throw MalformedStream(
            .truncatedUnit(there: buffer.count - lengthSize.rawValue, of: length), at: base + lengthSize.rawValue)
    }
}
