/// NAL units behind four-byte big-endian lengths, as MP4 and MOV hold them (ISO/IEC 14496-15).
public enum LengthPrefixed {
    /// Appends a length and a NAL unit (header byte first, escaped).
    public static func append(_ unit: some Collection<UInt8>, to sample: inout [UInt8]) {
        appendLength(unit.count, to: &sample)
        sample.append(contentsOf: unit)
    }

    /// Where the NAL units lie in a sample; nil where the lengths do not add up to it.
    public static func units(in sample: Span<UInt8>) -> [Range<Int>]? {
        var units: [Range<Int>] = []
        var index = 0
        while index < sample.count {
            guard sample.count - index >= 4 else { return nil }
            let length = (0..<4).reduce(0) { $0 << 8 | Int(sample[index + $1]) }
            guard length > 0, length <= sample.count - index - 4 else { return nil }
            units.append(index + 4..<index + 4 + length)
            index += 4 + length
        }
        return units
    }

    /// A byte stream as a sample. In place where every start code has four bytes and nothing lies between the units,
    /// which is how vaenc's encoders write; otherwise the sample is built anew.
    public static func convert(annexB stream: inout [UInt8]) {
        let units = AnnexB.units(in: stream.span)
        var expected = 0
        for unit in units {
            guard unit.lowerBound == expected + 4 else { break }
            expected = unit.upperBound
        }
        if expected == stream.count {
            for unit in units { put(unit.count, at: unit.lowerBound - 4, in: &stream) }
        } else {
            var sample: [UInt8] = []
            sample.reserveCapacity(stream.count + units.count)
            for unit in units { append(stream[unit], to: &sample) }
            stream = sample
        }
    }

    /// A sample as a byte stream, in place. False, with nothing changed, where the lengths do not add up.
    public static func convertToAnnexB(_ sample: inout [UInt8]) -> Bool {
        guard let units = units(in: sample.span) else { return false }
        for unit in units { put(1, at: unit.lowerBound - 4, in: &sample) }
        return true
    }

    private static func appendLength(_ length: Int, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
    }

    private static func put(_ value: Int, at index: Int, in bytes: inout [UInt8]) {
        for (offset, shift) in [24, 16, 8, 0].enumerated() {
            bytes[index + offset] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }
}
