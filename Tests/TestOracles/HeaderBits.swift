/// Writes headers bit by bit, the most significant bit first.
public struct HeaderBits {
    /// The bytes written so far. The unused bits of the last byte are zeros.
    public private(set) var bytes: [UInt8] = []
    private var free = 0

    /// Creates an empty header.
    public init() {}

    /// Writes u(n): the `count` low bits of `value`.
    public mutating func put(_ value: Int, _ count: Int) {
        for bit in (0..<count).reversed() {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            free -= 1
            if value >> bit & 1 == 1 { bytes[bytes.count - 1] |= 1 << UInt8(free) }
        }
    }

    /// Writes u(1).
    public mutating func flag(_ value: Bool) { put(value ? 1 : 0, 1) }

    /// Writes ue(v).
    public mutating func ue(_ value: Int) {
        let length = Int.bitWidth - (value + 1).leadingZeroBitCount
        put(0, length - 1)
        put(value + 1, length)
    }

    /// Writes se(v).
    public mutating func se(_ value: Int) { ue(value > 0 ? 2 * value - 1 : -2 * value) }

    /// Writes rbsp_trailing_bits(): a stop bit, and zeros up to the end of the byte.
    public mutating func trailing() {
        put(1, 1)
        put(0, free)
    }

    /// Returns a NAL unit of HEVC with a start code and emulation prevention (H.265 7.3.1).
    public static func unit(_ type: Int, _ payload: [UInt8], layer: Int = 0) -> [UInt8] {
        [0, 0, 0, 1, UInt8(type << 1), UInt8(layer + 1)] + escaped(payload)
    }

    /// Returns a payload with emulation prevention (7.4.1 of both codecs).
    public static func escaped(_ payload: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var zeros = 0
        for byte in payload {
            if zeros == 2, byte <= 3 {
                result.append(3)
                zeros = 0
            }
            result.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return result
    }
}
