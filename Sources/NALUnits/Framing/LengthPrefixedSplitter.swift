import VideoBase

/// Takes the NAL units out of a length-prefixed stream that comes in pieces of any size (ISO/IEC 14496-15 5.2.3).
///
/// It holds one NAL unit and the piece that was given last. After an error it is of no more use.
public struct LengthPrefixedSplitter: Sendable {
    public let lengthSize: LengthSize
    private let longestUnit: Int
    /// What is not yet given out; the first byte is that of a length, `base` bytes into the stream.
    private var buffer: [UInt8] = []
    private var base = 0

    /// - Parameter longestUnit: bytes of a NAL unit beyond which the stream is refused, so that one that is something
    ///   else does not fill the memory.
    public init(lengthSize: LengthSize, longestUnit: Int = AnnexB.longestUnit) {
        self.lengthSize = lengthSize
        self.longestUnit = max(longestUnit, 1)
    }

    /// Takes the next bytes, and gives each NAL unit that ends in them (header byte first, escaped), with the offset of
    /// its first byte in the stream.
    /// - Throws: `MalformedStream`, after the good units before it; `VaencError` where there is no memory; what `body` throws.
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

    /// Checks that the stream ends behind a NAL unit. Then another may begin.
    /// - Throws: `MalformedStream` where it does not.
    public mutating func finish() throws {
        defer { self = LengthPrefixedSplitter(lengthSize: lengthSize, longestUnit: longestUnit) }
        if buffer.isEmpty { return }
        guard buffer.count >= lengthSize.rawValue else { throw MalformedStream(.truncatedLength, at: base) }
        let length = buffer[..<lengthSize.rawValue].reduce(0) { $0 << 8 | Int($1) }
        throw MalformedStream(
            .truncatedUnit(there: buffer.count - lengthSize.rawValue, of: length), at: base + lengthSize.rawValue)
    }
}
