/// Reads what drivers wrote: bits of an RBSP, zeros past its end.
struct BitScan: Sendable {
    private let rbsp: [UInt8]
    private(set) var position = 0
    /// More was read than there is.
    private(set) var ended = false

    /// - Parameter payload: of a NAL unit, behind its header, escaped.
    init(_ payload: ArraySlice<UInt8>) {
        var output: [UInt8] = []
        var zeros = 0
        for byte in payload {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            output.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        rbsp = output
    }

    func byte(at index: Int) -> UInt8 { index < rbsp.count ? rbsp[index] : 0 }

    func bit(at position: Int) -> Bool {
        position < rbsp.count * 8 && rbsp[position / 8] >> UInt8(7 - position % 8) & 1 == 1
    }

    mutating func flag() -> Bool {
        defer { skip(1) }
        return bit(at: position)
    }

    mutating func skip(_ count: Int) {
        position += count
        if position > rbsp.count * 8 { ended = true }
    }

    mutating func u(_ count: Int) -> Int { (0..<count).reduce(0) { value, _ in value << 1 | (flag() ? 1 : 0) } }

    /// ue(v), and se(v) where only its length matters.
    mutating func ue() -> Int {
        var zeros = 0
        while !ended, zeros < 32, !flag() { zeros += 1 }
        return 1 << zeros - 1 + u(zeros)
    }
}
