import VideoBase

/// Takes the NAL units out of an Annex B byte stream that comes in pieces of any size (H.264 and H.265 annex B).
///
/// Start codes have three bytes or more; zero bytes before the first and behind each NAL unit belong to none. It holds
/// one NAL unit and the piece that was given last. After an error it is of no more use.
public struct AnnexBSplitter: Sendable {
    /// What is not yet given out; the first byte is `base` bytes into the stream.
    private var buffer: [UInt8] = []
    private var base = 0
    /// Where the NAL unit under way begins in `buffer`; nil before the first start code.
    private var unitStart: Int?
    /// Before here there is no start code; a run of zero bytes that begins here is known to reach to `zerosEnd`.
    private var scanned = 0
    private var zerosEnd = 0
    private let longestUnit: Int

    /// - Parameter longestUnit: bytes of a NAL unit beyond which the stream is refused, so that one that is something
    ///   else does not fill the memory; at least 1.
    public init(longestUnit: Int = AnnexB.longestUnit) { self.longestUnit = max(longestUnit, 1) }

    /// Takes the next bytes, and gives each NAL unit that ends in them (header byte first, escaped), with the offset of
    /// its first byte in the stream.
    /// - Throws: `MalformedStream`, after the good units before it; `VaencError` where there is no memory; what `body` throws.
    public mutating func append(
        _ bytes: some Collection<UInt8>, _ body: (_ unit: ArraySlice<UInt8>, _ offset: Int) throws -> Void
    ) throws {
        try buffer.makeRoom(for: bytes.count, "for a NAL unit")
        buffer.append(contentsOf: bytes)
        try scan(body)
        let done = unitStart ?? max(0, scanned)
        buffer.removeFirst(done)
        base += done
        scanned -= done
        zerosEnd -= done
        if unitStart != nil {
            unitStart = 0
            // Zero bytes at the end may be part of the unit, or not: that many more are held.
            let held = max(scanned, buffer.count - longestUnit)
            if held > longestUnit { throw MalformedStream(.unitTooLong(held, longest: longestUnit), at: base) }
        }
    }

    /// Gives the last NAL unit. Then another stream may begin.
    /// - Throws: as `append`; `noStartCode` for a stream without one.
    public mutating func finish(_ body: (_ unit: ArraySlice<UInt8>, _ offset: Int) throws -> Void) throws {
        defer { self = AnnexBSplitter(longestUnit: longestUnit) }
        guard let unitStart else { throw MalformedStream(.noStartCode, at: base) }
        try give(unitStart..<buffer.count, body)
    }

    private mutating func scan(_ body: (ArraySlice<UInt8>, Int) throws -> Void) throws {
        while let pair = firstZeroPair(in: buffer.span, from: scanned) {
            if unitStart == nil { try checkLeading(scanned..<pair) }
            var end = max(pair + 2, zerosEnd)
            while end < buffer.count, buffer[end] == 0 { end += 1 }
            zerosEnd = end
            guard end < buffer.count else {
                // Before the first start code, two of the zero bytes are enough to know it by.
                scanned = unitStart == nil ? end - 2 : pair
                return
            }
            guard buffer[end] == 1 else {
                if unitStart == nil { throw MalformedStream(.noStartCode, at: base + end) }
                scanned = end
                continue
            }
            if let unitStart { try give(unitStart..<pair, body) }
            unitStart = end + 1
            scanned = end + 1
        }
        // The last byte may be the first zero byte of a pair.
        let last = buffer.last == 0 && buffer.count > scanned ? buffer.count - 1 : buffer.count
        if unitStart == nil { try checkLeading(scanned..<last) }
        scanned = max(scanned, last)
    }

    private func checkLeading(_ range: Range<Int>) throws {
        if let place = range.first(where: { buffer[$0] != 0 }) { throw MalformedStream(.noStartCode, at: base + place) }
    }

    private func give(_ range: Range<Int>, _ body: (ArraySlice<UInt8>, Int) throws -> Void) throws {
        var end = range.upperBound
        while end > range.lowerBound, buffer[end - 1] == 0 { end -= 1 }
        let count = end - range.lowerBound
        if count == 0 { throw MalformedStream(.emptyUnit, at: base + range.lowerBound - 3) }
        if count > longestUnit { throw MalformedStream(.unitTooLong(count, longest: longestUnit), at: base + range.lowerBound) }
        try body(buffer[range.lowerBound..<end], base + range.lowerBound)
    }
}
