import VideoBase

/// Extracts the NAL units of an Annex B byte stream that arrives in pieces of any size (H.264 and H.265 Annex B).
///
/// Start codes have three bytes or more. Zero bytes before the first NAL unit and after each NAL unit belong to no
/// unit. The splitter holds at most one NAL unit and the most recent piece. It must not be used after an error.
public struct AnnexBSplitter: Sendable {
    /// The bytes that are not extracted yet. The first byte is at offset `base` of the stream.
    private var buffer: [UInt8] = []
    private var base = 0
    /// The index in `buffer` at which the current NAL unit begins, or nil before the first start code.
    private var unitStart: Int?
    /// No start code begins before this index. If a run of zero bytes begins here, it extends at least to `zerosEnd`.
    private var scanned = 0
    private var zerosEnd = 0
    private let longestUnit: Int

    /// Creates a splitter.
    ///
    /// - Parameter longestUnit: The maximum size of a NAL unit in bytes, at least 1. A stream with a larger unit is
    ///   rejected, so that data of another format does not fill the memory.
    public init(longestUnit: Int = AnnexB.longestUnit) { self.longestUnit = max(longestUnit, 1) }

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
        try scan(body)
        let done = unitStart ?? max(0, scanned)
        buffer.removeFirst(done)
        base += done
        scanned -= done
        zerosEnd -= done
        if unitStart != nil {
            unitStart = 0
            // The zero bytes at the end may not belong to the unit, so up to `longestUnit` more bytes are held.
            let held = max(scanned, buffer.count - longestUnit)
            if held > longestUnit { throw MalformedStream(.unitTooLong(held, longest: longestUnit), at: base) }
        }
    }

    /// Calls `body` for the last NAL unit. Afterwards, the splitter can read another stream.
    ///
    /// - Throws: The errors of `append`, and `noStartCode` for a stream without a start code.
    public mutating func finish(_ body: (_ unit: ArraySlice<UInt8>, _ offset: Int) throws -> Void) throws {
        defer { self = AnnexBSplitter(longestUnit: longestUnit) }
        guard let unitStart else { throw MalformedStream(.noStartCode, at: base) }
        try deliver(unitStart..<buffer.count, body)
    }

    /// Calls `body` for each NAL unit whose end is known, and moves `scanned` up to the bytes that are still open.
    private mutating func scan(_ body: (ArraySlice<UInt8>, Int) throws -> Void) throws {
        while let pair = firstZeroPair(in: buffer.span, from: scanned) {
            if unitStart == nil { try checkLeading(scanned..<pair) }
            var end = max(pair + 2, zerosEnd)
            while end < buffer.count, buffer[end] == 0 { end += 1 }
            zerosEnd = end
            guard end < buffer.count else {
                // Before the first start code, two of the zero bytes are sufficient to recognize it.
                scanned = unitStart == nil ? end - 2 : pair
                return
            }
            guard buffer[end] == 1 else {
                if unitStart == nil { throw MalformedStream(.noStartCode, at: base + end) }
                scanned = end
                continue
            }
            if let unitStart { try deliver(unitStart..<pair, body) }
            unitStart = end + 1
            scanned = end + 1
        }
        // The last byte may be the first zero byte of a pair.
        let last = buffer.last == 0 && buffer.count > scanned ? buffer.count - 1 : buffer.count
        if unitStart == nil { try checkLeading(scanned..<last) }
        scanned = max(scanned, last)
    }

    /// Throws `noStartCode` if a byte in the range before the first start code is not zero.
    private func checkLeading(_ range: Range<Int>) throws {
        if let offset = range.first(where: { buffer[$0] != 0 }) {
            throw MalformedStream(.noStartCode, at: base + offset)
        }
    }

    /// Calls `body` for the NAL unit in a range of `buffer`, without its trailing zero bytes.
    private func deliver(_ range: Range<Int>, _ body: (ArraySlice<UInt8>, Int) throws -> Void) throws {
        var end = range.upperBound
        while end > range.lowerBound, buffer[end - 1] == 0 { end -= 1 }
        let count = end - range.lowerBound
        if count == 0 { throw MalformedStream(.emptyUnit, at: base + range.lowerBound - 3) }
        if count > longestUnit { throw MalformedStream(.unitTooLong(count, longest: longestUnit), at: base + range.lowerBound) }
        try body(buffer[range.lowerBound..<end], base + range.lowerBound)
    }
}
