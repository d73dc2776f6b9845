/// The bits of a NAL unit's payload, emulation prevention left out.
package struct UnescapedBits {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ unit: ArraySlice<UInt8>) {
        var plain: [UInt8] = []
        var zeros = 0
        for byte in unit {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            plain.append(byte)
        }
        bytes = plain
    }

    package mutating func u(_ count: Int) -> Int? {
        guard position + count <= bytes.count * 8 else { return nil }
        var value = 0
        for _ in 0..<count {
            value = value << 1 | Int(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
            position += 1
        }
        return value
    }

    /// H.265 9.2, H.264 9.1, up to 32 bits.
    package mutating func ue() -> Int? {
        var zeros = 0
        while let bit = u(1) {
            if bit == 1 { return u(zeros).map { 1 << zeros - 1 + $0 } }
            zeros += 1
            if zeros > 32 { return nil }
        }
        return nil
    }
}
