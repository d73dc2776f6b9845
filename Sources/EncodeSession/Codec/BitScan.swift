/// Reads the bits of an RBSP that a driver wrote. Past its end it reads zeros.
struct BitScan: Sendable {
    private let rbsp: [UInt8]
    private(set) var position = 0
    /// Whether reading went past the end.
    private(set) var ended = false

    /// Removes the emulation prevention.
    ///
    /// - Parameter payload: The escaped payload of a NAL unit, without its header.
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

    /// Reads ue(v). Also skips se(v), which has the same length.
    mutating func ue() -> Int {
        var zeros = 0
        while !ended, zeros < 32, !flag() { zeros += 1 }
        return 1 << zeros - 1 + u(zeros)
    }
}
