/// Writes syntax elements, most significant bit first, as the descriptors of H.264 7.2 and 9.1 specify.
///
/// The bytes are an RBSP; emulation prevention is applied later. A value that does not fit its descriptor is a
/// programming error and traps: values are checked when they enter the syntax types.
@usableFromInline package struct BitWriter: Sendable {
    /// The complete bytes.
    private var whole: [UInt8] = []
    /// The bits that do not fill a byte yet, in the low `pendingCount` bits.
    private var pending: UInt64 = 0
    private var pendingCount = 0

    /// Creates an empty writer.
    package init(reservingCapacity capacity: Int = 64) { whole.reserveCapacity(capacity) }

    /// The number of bits written so far.
    package var bitCount: Int { whole.count * 8 + pendingCount }
    /// Whether the next bit begins a byte.
    package var isByteAligned: Bool { pendingCount == 0 }

    /// The bytes written so far. The last byte is filled with zero bits.
    package var bytes: [UInt8] {
        pendingCount == 0 ? whole : whole + [UInt8(truncatingIfNeeded: pending << (8 - UInt64(pendingCount)))]
    }

    /// Writes u(n): an unsigned integer in `bits` bits, 0…32.
    @inlinable package mutating func u(_ bits: Int, _ value: some BinaryInteger) { write(bits, UInt64(exactly: value)) }

    /// - Parameter value: The integer; nil if it is negative or too large.
    @usableFromInline mutating func write(_ bits: Int, _ value: UInt64?) {
        guard let value, bits >= 0, bits <= 32, value >> UInt64(bits) == 0 else {
            preconditionFailure("u(\(bits)): \(value.map { "\($0)" } ?? "out of range")")
        }
        pending = pending << UInt64(bits) | value
        pendingCount += bits
        while pendingCount >= 8 {
            pendingCount -= 8
            whole.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
        }
        pending &= (1 << UInt64(pendingCount)) - 1
    }

    /// Writes u(1).
    package mutating func flag(_ value: Bool) { write(1, value ? 1 : 0) }

    /// Writes ue(v): an unsigned Exp-Golomb code, 0…2³²−2.
    @inlinable package mutating func ue(_ value: some BinaryInteger) { writeExpGolomb(UInt64(exactly: value)) }

    /// - Parameter value: The integer; nil if it is negative or too large.
    @usableFromInline mutating func writeExpGolomb(_ value: UInt64?) {
        guard let value, value <= UInt64(UInt32.max) - 1 else {
            preconditionFailure("ue(v): \(value.map { "\($0)" } ?? "out of range")")
        }
        let code = value + 1
        let length = 64 - code.leadingZeroBitCount
        write(length - 1, 0)
        write(length, code)
    }

    /// Writes se(v): a signed Exp-Golomb code, −(2³¹−1)…2³¹−1.
    @inlinable package mutating func se(_ value: some BinaryInteger) { writeSigned(Int64(exactly: value)) }

    /// - Parameter value: The integer; nil if it is too large.
    @usableFromInline mutating func writeSigned(_ value: Int64?) {
        guard let value, value >= -Int64(Int32.max), value <= Int64(Int32.max) else {
            preconditionFailure("se(v): \(value.map { "\($0)" } ?? "out of range")")
        }
        writeExpGolomb(UInt64(value > 0 ? 2 * value - 1 : -2 * value))
    }

    /// Writes te(v): a truncated Exp-Golomb code for a value in 0…`maximum`, where `maximum` is at least 1.
    package mutating func te(_ value: some BinaryInteger, maximum: Int) {
        precondition(maximum >= 1 && value >= 0 && value <= maximum, "te(v) up to \(maximum): \(value)")
        if maximum == 1 { flag(value == 0) } else { ue(value) }
    }

    /// Writes whole bytes, at any bit position.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        if isByteAligned { whole.append(contentsOf: bytes) } else { for byte in bytes { u(8, byte) } }
    }

    /// Writes rbsp_trailing_bits(), H.264 7.3.2.11: a one bit, then zero bits up to the next byte.
    package mutating func trailingBits() {
        flag(true)
        if pendingCount > 0 { u(8 - pendingCount, 0) }
    }
}
