/// The byte stream format, H.264 and H.265 Annex B: each NAL unit follows a start code.
public enum AnnexB {
    /// The start code that vaenc writes before every NAL unit: zero_byte and start_code_prefix_one_3bytes.
    public static let startCode: [UInt8] = [0, 0, 0, 1]

    /// The default maximum size of a NAL unit in bytes, above which readers reject a stream. It exceeds the size of an
    /// uncompressed picture of the highest level.
    public static let longestUnit = 1 << 28

    /// Appends a start code and a NAL unit (header byte first, escaped).
    public static func append(_ unit: some Collection<UInt8>, to stream: inout [UInt8]) {
        stream.append(contentsOf: startCode)
        stream.append(contentsOf: unit)
    }

    /// Returns the ranges of the NAL units in a byte stream, without start codes and the zero bytes around them.
    ///
    /// Bytes before the first start code and empty units are skipped.
    public static func units(in stream: Span<UInt8>) -> [Range<Int>] {
        var units: [Range<Int>] = []
        var start: Int?
        var index = 0
        func close(at end: Int) {
            guard let start else { return }
            var end = end
            while end > start, stream[end - 1] == 0 { end -= 1 }
            if end > start { units.append(start..<end) }
        }
        while let pair = firstZeroPair(in: stream, from: index) {
            var end = pair + 2
            while end < stream.count, stream[end] == 0 { end += 1 }
            if end < stream.count, stream[end] == 1 {
                close(at: pair)
                start = end + 1
            }
            index = end
        }
        close(at: stream.count)
        return units
    }

    /// Returns whether a byte stream cannot represent a NAL unit: the unit contains 00 00 01 or consists only of zero
    /// bytes, so it would be read as another unit, as several, or as none.
    static func cannotHold(_ unit: Span<UInt8>) -> Bool {
        var index = 0
        while let pair = firstZeroPair(in: unit, from: index) {
            var end = pair + 2
            while end < unit.count, unit[end] == 0 { end += 1 }
            if end < unit.count ? unit[end] == 1 : pair == 0 { return true }
            index = end
        }
        return unit.count == 1 && unit[0] == 0
    }

    /// Appends a start code and a NAL unit, and adds the unit's range in the stream to `ranges`.
    public static func append(_ unit: some Collection<UInt8>, to stream: inout [UInt8], _ ranges: inout [Range<Int>]) {
        append(unit, to: &stream)
        ranges.append(stream.count - unit.count..<stream.count)
    }

    /// Returns copies of the NAL units of a byte stream.
    public static func split(_ stream: [UInt8]) -> [[UInt8]] {
        units(in: stream.span).map { Array(stream[$0]) }
    }
}
