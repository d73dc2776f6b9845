/// The bits of a NAL unit (or of a part of one) without emulation prevention, for reading and overwriting. Reads beyond
/// the end return zeros.
package struct UnescapedBits: Sendable {
    private var bytes: [UInt8]
    /// The index of the next bit to read or write.
    package var position = 0

    package init(_ unit: ArraySlice<UInt8>) { bytes = EmulationPrevention.unescaped(unit) }
    package init(_ unit: [UInt8]) { self.init(unit[...]) }

    package var bitCount: Int { bytes.count * 8 }
    /// Whether more bits were read than exist, or an invalid code was read. The last value that was read is then
    /// meaningless.
    package var isExhausted: Bool { position > bitCount }
    /// The bytes with emulation prevention.
    package var unit: [UInt8] { EmulationPrevention.escaped(bytes) }

    /// The position of rbsp_stop_one_bit, H.264 7.3.2.11, or nil if all bits are zero.
    package var stopBit: Int? {
        guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return nil }
        return last * 8 + 7 - bytes[last].trailingZeroBitCount
    }

    /// Skips bits.
    package mutating func skip(_ count: Int) { position += count }

    private func bit(at position: Int) -> Bool {
        position < bitCount && bytes[position >> 3] >> UInt8(7 - position & 7) & 1 == 1
    }

    /// Reads u(1).
    package mutating func flag() -> Bool {
        defer { position += 1 }
        return bit(at: position)
    }

    /// Reads u(n), at most 32 bits.
    package mutating func u(_ count: Int) -> Int {
        var value = 0
        var left = count
        while left > 0 {
            // Read at most the bits that are left in the current byte.
            let room = 8 - position & 7
            let taken = min(left, room)
            let byte = position < bitCount ? Int(bytes[position >> 3]) : 0
            let mask = 1 << taken - 1
            value = value << taken | byte >> (room - taken) & mask
            position += taken
            left -= taken
        }
        return value
    }

    /// Reads ue(v), H.264 9.1, H.265 9.2, or skips se(v). A code with more than 32 leading zeros is invalid.
    @discardableResult
    package mutating func ue() -> Int {
        var zeros = 0
        while !isExhausted, !flag() {
            zeros += 1
            if zeros > 32 {
                position = bitCount + 1
                return 0
            }
        }
        return 1 << zeros - 1 + u(zeros)
    }

    /// Overwrites `count` bits and moves the position after them. Bits beyond the end are ignored.
    package mutating func write(_ value: Int, bits count: Int) {
        for shift in (0..<count).reversed() {
            if position < bitCount {
                let mask = UInt8(0x80) >> UInt8(position & 7)
                if value >> shift & 1 == 1 { bytes[position >> 3] |= mask } else { bytes[position >> 3] &= ~mask }
            }
            position += 1
        }
    }

    /// Writes the bits in a range of positions to `w`. Bits beyond the end are zero.
    package func copy(_ range: Range<Int>, to w: inout BitWriter) {
        for position in range { w.flag(bit(at: position)) }
    }
}
