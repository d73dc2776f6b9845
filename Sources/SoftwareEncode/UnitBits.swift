import NALWriting

/// The bits of a NAL unit without its emulation prevention, to read and to overwrite. Zeros follow the end.
struct UnitBits {
    /// The header and the RBSP.
    private var bytes: [UInt8]
    /// Of the next bit that is read or written.
    var position = 0

    init(_ unit: some Sequence<UInt8>) { bytes = StreamHeaders.unescaped(unit) }

    var bitCount: Int { bytes.count * 8 }
    /// More was read than there is.
    var isExhausted: Bool { position > bitCount }
    /// The NAL unit with emulation prevention.
    var unit: [UInt8] { EmulationPrevention.escaped(bytes) }

    /// The position of rbsp_stop_one_bit, H.264 7.3.2.11; nil if there is no one bit.
    var stopBit: Int? {
        guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return nil }
        return last * 8 + 7 - bytes[last].trailingZeroBitCount
    }

    private func bit(at position: Int) -> Bool {
        position < bitCount && bytes[position >> 3] >> UInt8(7 - position & 7) & 1 == 1
    }

    mutating func flag() -> Bool {
        defer { position += 1 }
        return bit(at: position)
    }

    /// u(n), at most 32 bits.
    mutating func u(_ count: Int) -> Int { (0..<count).reduce(0) { value, _ in value << 1 | (flag() ? 1 : 0) } }

    /// ue(v), H.264 9.1; se(v) if only its length matters.
    @discardableResult
    mutating func ue() -> Int {
        var zeros = 0
        while zeros < 32, !isExhausted, !flag() { zeros += 1 }
        return 1 << zeros - 1 + u(zeros)
    }

    /// Overwrites `count` bits, and goes on behind them. Bits past the end are left out.
    mutating func write(_ value: Int, bits count: Int) {
        for shift in (0..<count).reversed() {
            if position < bitCount {
                let mask = UInt8(0x80) >> UInt8(position & 7)
                if value >> shift & 1 == 1 { bytes[position >> 3] |= mask } else { bytes[position >> 3] &= ~mask }
            }
            position += 1
        }
    }

    func copy(_ range: Range<Int>, to w: inout BitWriter) {
        for position in range { w.flag(bit(at: position)) }
    }
}
