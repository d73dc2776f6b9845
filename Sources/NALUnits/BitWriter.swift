/// Writes syntax elements most significant bit first, as the descriptors of H.264 7.2 and 9.1 say.
///
/// The bytes are an RBSP: emulation prevention comes afterwards. A value that does not fit its descriptor is a
/// programming error and stops the program: values are checked where they enter the syntax types.
public struct BitWriter: Sendable {
    /// The finished bytes; bits that do not fill a byte wait in `pending`.
    private var whole: [UInt8] = []
    /// The waiting bits, in the low `pendingCount` bits.
    private var pending: UInt64 = 0
    private var pendingCount = 0

    public init(reservingCapacity capacity: Int = 64) { whole.reserveCapacity(capacity) }

    /// Bits written so far.
    public var bitCount: Int { whole.count * 8 + pendingCount }
    public var isByteAligned: Bool { pendingCount == 0 }

    /// What was written, the last byte filled up with zero bits.
    public var bytes: [UInt8] {
        pendingCount == 0 ? whole : whole + [UInt8(truncatingIfNeeded: pending << (8 - UInt64(pendingCount)))]
    }

    /// u(n): an unsigned integer in `bits` bits, 0…32 of them.
    public mutating func u(_ bits: Int, _ value: some BinaryInteger) {
        precondition(
            bits >= 0 && bits <= 32 && value >= 0 && UInt64(value) >> UInt64(bits) == 0, "u(\(bits)): \(value)")
        pending = pending << UInt64(bits) | UInt64(value)
        pendingCount += bits
        while pendingCount >= 8 {
            pendingCount -= 8
            whole.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
        }
        pending &= (1 << UInt64(pendingCount)) - 1
    }

    /// u(1).
    public mutating func flag(_ value: Bool) { u(1, value ? 1 : 0) }

    /// ue(v): unsigned Exp-Golomb, 0…2³²−2.
    public mutating func ue(_ value: some BinaryInteger) {
        precondition(value >= 0 && value <= UInt64(UInt32.max) - 1, "ue(v): \(value)")
        let code = UInt64(value) + 1
        let length = 64 - code.leadingZeroBitCount
        u(length - 1, 0)
        u(length, code)
    }

    /// se(v): signed Exp-Golomb, −(2³¹−1)…2³¹−1; positive values come first.
    public mutating func se(_ value: some BinaryInteger) {
        precondition(value >= -Int64(Int32.max) && value <= Int64(Int32.max), "se(v): \(value)")
        let value = Int64(value)
        ue(value > 0 ? 2 * value - 1 : -2 * value)
    }

    /// te(v): truncated Exp-Golomb for values in 0…`maximum`, `maximum` at least 1.
    public mutating func te(_ value: some BinaryInteger, maximum: Int) {
        precondition(maximum >= 1 && value >= 0 && value <= maximum, "te(v) up to \(maximum): \(value)")
        if maximum == 1 { flag(value == 0) } else { ue(value) }
    }

    /// Whole bytes, at a byte-aligned position or not.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        if isByteAligned { whole.append(contentsOf: bytes) } else { for byte in bytes { u(8, byte) } }
    }

    /// rbsp_trailing_bits(), H.264 7.3.2.11: a one, then zeros up to the next byte.
    public mutating func trailingBits() {
        flag(true)
        if pendingCount > 0 { u(8 - pendingCount, 0) }
    }
}
