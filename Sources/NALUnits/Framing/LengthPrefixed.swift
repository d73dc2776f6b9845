/// The length-prefixed format of MP4 and MOV (ISO/IEC 14496-15): each NAL unit follows its big-endian length, by
/// default of four bytes.
public enum LengthPrefixed {
    /// Appends a length of four bytes and a NAL unit (header byte first, escaped).
    public static func append(_ unit: some Collection<UInt8>, to sample: inout [UInt8]) {
        appendLength(unit.count, .four, to: &sample)
        sample.append(contentsOf: unit)
    }

    /// Returns the ranges of the NAL units in a sample.
    ///
    /// - Throws: A `MalformedStream` if the lengths do not match the sample's size.
    public static func units(
        in sample: Span<UInt8>, lengthSize: LengthSize = .four
    ) throws(MalformedStream) -> [Range<Int>] {
        var units: [Range<Int>] = []
        var index = 0
        while index < sample.count {
            let start = index + lengthSize.rawValue
            guard start <= sample.count else { throw MalformedStream(.truncatedLength, at: index) }
            let length = (index..<start).reduce(0) { $0 << 8 | Int(sample[$1]) }
            if length == 0 { throw MalformedStream(.zeroLength, at: index) }
            guard length <= sample.count - start else {
                throw MalformedStream(.truncatedUnit(there: sample.count - start, of: length), at: start)
            }
            units.append(start..<start + length)
            index = start + length
        }
        return units
    }

    /// Converts a byte stream to a sample. The conversion is done in place if every start code has four bytes and
    /// nothing lies between the units, as in the output of vaenc's encoders. Otherwise, a new sample is created.
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

    /// Converts a sample to a byte stream in which each NAL unit follows a start code of four bytes. The conversion is
    /// done in place if the lengths also have four bytes. Otherwise, a new stream is created.
    ///
    /// - Throws: A `MalformedStream`. The sample is then unchanged.
    public static func convertToAnnexB(
        _ sample: inout [UInt8], lengthSize: LengthSize = .four
    ) throws(MalformedStream) {
        let units = try units(in: sample.span, lengthSize: lengthSize)
        for unit in units where AnnexB.cannotHold(sample.span.extracting(unit)) {
            throw MalformedStream(.startCodeInUnit, at: unit.lowerBound)
        }
        if lengthSize == .four {
            for unit in units { put(1, at: unit.lowerBound - 4, in: &sample) }
        } else {
            var stream: [UInt8] = []
            stream.reserveCapacity(sample.count + units.count * (4 - lengthSize.rawValue))
            for unit in units { AnnexB.append(sample[unit], to: &stream) }
            sample = stream
        }
    }

    /// Returns the length of a NAL unit as four big-endian bytes.
    package static func length(_ count: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
    }

    /// Returns a sample with the NAL units at these ranges of `stream`.
    package static func sample(_ units: [Range<Int>], of stream: Span<UInt8>) -> [UInt8] {
        let count = units.reduce(0) { $0 + 4 + $1.count }
        // SAFETY: `write` fills exactly `count` bytes.
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            unsafe write(units, of: stream, to: UnsafeMutableRawBufferPointer(buffer))
            filled = count
        }
    }

    /// Writes the NAL units at these ranges of `stream` to memory, each after its length.
    ///
    /// - Parameter memory: The destination. It must have room for the units and four bytes for each; otherwise the call
    ///   traps.
    package static func write(_ units: [Range<Int>], of stream: Span<UInt8>, to memory: UnsafeMutableRawBufferPointer) {
        precondition(memory.count >= units.reduce(0) { $0 + 4 + $1.count }, "no space for the sample")
        var offset = 0
        for unit in units {
            unsafe memory.storeBytes(of: UInt32(truncatingIfNeeded: unit.count).bigEndian, toByteOffset: offset, as: UInt32.self)
            // SAFETY: `extracting` checks that the unit lies in the stream; the room was checked above.
            unsafe stream.extracting(unit).withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(offset + 4)...]).copyMemory(from: source)
            }
            offset += 4 + unit.count
        }
    }

    /// Appends a length. If it does not fit the field, its high bits are lost.
    package static func appendLength(_ length: Int, _ size: LengthSize, to bytes: inout [UInt8]) {
        for byte in (0..<size.rawValue).reversed() { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * byte))) }
    }

    /// Overwrites four bytes with a big-endian value.
    private static func put(_ value: Int, at index: Int, in bytes: inout [UInt8]) {
        for (offset, shift) in [24, 16, 8, 0].enumerated() {
            bytes[index + offset] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }
}
