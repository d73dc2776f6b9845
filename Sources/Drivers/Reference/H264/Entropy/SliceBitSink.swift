/// Writes bits, most significant first, in units of 32 bits. The owner provides enough memory.
struct SliceBitSink {
    private var destination: ElementPointer<UInt8>
    /// The number of bytes written to `destination`.
    private(set) var byteCount = 0
    private var accumulator: UInt64 = 0
    /// The number of bits of `accumulator` that are not yet in memory, 0…31 between calls.
    private var pending = 0

    init(_ destination: ElementPointer<UInt8>) { self.destination = destination }

    var bitCount: Int { 8 * byteCount + pending }
    var isAligned: Bool { pending & 7 == 0 }

    /// Continues in other memory, to which the owner has copied the written bytes.
    mutating func move(to destination: ElementPointer<UInt8>) { self.destination = destination }

    /// Writes the low `count` bits of `value`. The other bits must be 0; `count` is 0…32.
    @inline(__always) mutating func put(_ value: UInt32, _ count: Int) {
        accumulator = accumulator &<< UInt64(truncatingIfNeeded: count) | UInt64(value)
        pending &+= count
        if pending >= 32 {
            pending &-= 32
            let word = UInt32(truncatingIfNeeded: accumulator &>> UInt64(truncatingIfNeeded: pending))
            destination.store(byteCount, word.bigEndian)
            byteCount &+= 4
        }
    }

    /// Writes a packed code word of `EntropyTables`.
    @inline(__always) mutating func put(packed: UInt16) { put(UInt32(packed >> 8), Int(packed & 0xFF)) }

    /// Writes ue(v), H.264 9.1.
    @inline(__always) mutating func putUnsigned(_ value: Int) {
        let code = UInt32(truncatingIfNeeded: value &+ 1)
        let zeros = 31 - (code | 1).leadingZeroBitCount
        if zeros < 16 {
            put(code, 2 * zeros + 1)
        } else {
            put(0, zeros)
            put(code, zeros + 1)
        }
    }

    /// Writes se(v), H.264 9.1.1.
    @inline(__always) mutating func putSigned(_ value: Int) {
        putUnsigned(value > 0 ? 2 * value - 1 : -2 * value)
    }

    /// Writes te(v) with values 0…`range`, H.264 9.1. Writes nothing if the range is 0.
    @inline(__always) mutating func putTruncated(_ value: Int, range: Int) {
        if range > 1 {
            putUnsigned(value)
        } else if range == 1 {
            put(value == 0 ? 1 : 0, 1)
        }
    }

    /// Writes the bits of a slice header, without its prefix.
    mutating func put(_ header: SliceHeaderBits) {
        for index in 0..<(header.bitCount / 8) { put(UInt32(header.payload[index]), 8) }
        let rest = header.bitCount % 8
        if rest > 0 { put(UInt32(header.payload[header.bitCount / 8]) >> UInt32(8 - rest), rest) }
    }

    /// Writes `bit` repeatedly up to the next byte boundary.
    mutating func align(with bit: UInt32) {
        while !isAligned { put(bit, 1) }
    }

    /// Writes the pending whole bytes to memory. The stream must be byte-aligned.
    mutating func flush() {
        while pending >= 8 {
            pending -= 8
            destination[byteCount] = UInt8(truncatingIfNeeded: accumulator >> UInt64(pending))
            byteCount += 1
        }
    }
}
