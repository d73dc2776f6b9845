/// Writes header fields, most significant bit first.
package struct HeaderBitWriter {
    package private(set) var bytes: [UInt8] = []
    /// The number of bits written. The unused bits of the last byte are zero.
    package private(set) var bitCount = 0

    package init() {}

    /// Writes u(n): the low `count` (0…32) bits of `value`.
    package mutating func put(_ value: UInt32, _ count: Int) {
        for index in stride(from: count - 1, through: 0, by: -1) {
            if bitCount & 7 == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> UInt32(index) & 1) << UInt8(7 - bitCount & 7)
            bitCount += 1
        }
    }

    package mutating func put(_ flag: Bool) { put(flag ? 1 : 0, 1) }

    /// Writes ue(v) of 0…2³²−2, H.264 9.1.
    package mutating func putUnsigned(_ value: Int) {
        let code = UInt64(max(value, 0)) + 1
        let zeros = 63 - code.leadingZeroBitCount
        put(0, zeros)
        put(UInt32(code >> UInt64(zeros)), 1)
        put(UInt32(truncatingIfNeeded: code), zeros)
    }

    /// Writes se(v), H.264 9.1.1.
    package mutating func putSigned(_ value: Int) { putUnsigned(value > 0 ? 2 * value - 1 : -2 * value) }

    /// Writes rbsp_trailing_bits, H.264 7.3.2.11.
    package mutating func putTrailingBits() {
        put(1, 1)
        put(0, (8 - bitCount & 7) & 7)
    }
}

/// Reads header fields from an RBSP. After a read past the end, or of a code that is too long, `failed` stays true and
/// every read returns 0.
package struct HeaderBitReader {
    private let bytes: [UInt8]
    private let end: Int
    package private(set) var position = 0
    package private(set) var failed = false

    /// Reads from the first `bitCount` bits of `bytes`.
    package init(_ bytes: [UInt8], bitCount: Int) {
        self.bytes = bytes
        end = min(max(bitCount, 0), 8 * bytes.count)
    }

    /// Reads u(n) with 0…32 bits.
    package mutating func get(_ count: Int) -> UInt32 {
        guard !failed, position + count <= end else {
            failed = true
            return 0
        }
        var value: UInt32 = 0
        for _ in 0..<count {
            value = value << 1 | UInt32(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
            position += 1
        }
        return value
    }

    package mutating func flag() -> Bool { get(1) != 0 }

    /// Continues at bit `position`, which must have been read before.
    mutating func move(to position: Int) { self.position = position }

    /// Reads ue(v), H.264 9.1.
    package mutating func unsigned() -> Int {
        var zeros = 0
        while !failed && get(1) == 0 {
            zeros += 1
            if zeros > 32 { failed = true }
        }
        let rest = get(min(zeros, 32))
        return failed ? 0 : (1 << zeros) - 1 + Int(rest)
    }

    /// Reads se(v), H.264 9.1.1.
    package mutating func signed() -> Int {
        let code = unsigned()
        return code & 1 != 0 ? (code + 1) / 2 : -(code / 2)
    }
}
