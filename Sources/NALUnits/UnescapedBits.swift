/// The bits of a NAL unit, or of a part of one, without its emulation prevention, to read and to overwrite. Zeros follow the end.
package struct UnescapedBits: Sendable {
    private var bytes: [UInt8]
    /// The index of the next bit that is read or written.
    package var position = 0

    package init(_ unit: ArraySlice<UInt8>) { bytes = EmulationPrevention.unescaped(unit) }
    package init(_ unit: [UInt8]) { self.init(unit[...]) }

    package var bitCount: Int { bytes.count * 8 }
    /// More was read than there is, or a code that is none. What was read last has no meaning then.
    package var isExhausted: Bool { position > bitCount }
    /// With emulation prevention.
    package var unit: [UInt8] { EmulationPrevention.escaped(bytes) }

    /// The position of rbsp_stop_one_bit, H.264 7.3.2.11; nil if there is no one bit.
    package var stopBit: Int? {
        guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return nil }
        return last * 8 + 7 - bytes[last].trailingZeroBitCount
    }

    private func bit(at position: Int) -> Bool {
        position < bitCount && bytes[position >> 3] >> UInt8(7 - position & 7) & 1 == 1
    }

    package mutating func flag() -> Bool {
        defer { position += 1 }
        return bit(at: position)
    }

    /// u(n), at most 32 bits.
    package mutating func u(_ count: Int) -> Int {
        var value = 0
        var left = count
        while left > 0 {
            // As many as the byte still has.
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

    /// ue(v), H.264 9.1, H.265 9.2; se(v) if only its length matters. A code of more than 32 zeros is none.
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

    /// Overwrites `count` bits, and goes on behind them. Bits past the end are left out.
    package mutating func write(_ value: Int, bits count: Int) {
        for shift in (0..<count).reversed() {
            if position < bitCount {
                let mask = UInt8(0x80) >> UInt8(position & 7)
                if value >> shift & 1 == 1 { bytes[position >> 3] |= mask } else { bytes[position >> 3] &= ~mask }
            }
            position += 1
        }
    }

    package func copy(_ range: Range<Int>, to w: inout BitWriter) {
        for position in range { w.flag(bit(at: position)) }
    }
}
