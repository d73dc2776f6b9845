/// The arithmetic encoder of CABAC, H.264 9.3.4 (encoding process).
///
/// In the standard, codILow loses a bit at each renormalization, and outstanding bits are counted until a carry is
/// known. Here these bits accumulate above the ten bits of codILow and are written to memory in units of 32. A carry is
/// added to the bytes that are already in memory. This is possible because emulation prevention is applied to the
/// slice's bytes afterwards.
struct ArithmeticEncoder {
    /// The ten bits of codILow, `queued` bits above them, and room for a carry.
    private var low: UInt64 = 0
    /// codIRange, 256…510 between bins.
    private var range: UInt64 = 510
    /// The number of bits that are ready to be written. It starts at −1, because the first bit is never written
    /// (firstBitFlag).
    private var queued = -1
    private var destination: ElementPointer<UInt8>
    private(set) var byteCount: Int
    /// Context states (2·pStateIdx + valMPS), followed by `ArithmeticTables`. With one base address, a bin needs
    /// fewer registers.
    private let states: ElementPointer<UInt8>

    /// The room for contexts: as many as H.264 has, which are more than HEVC has.
    private static let contextCapacity = 436
    private static let rangesStart = contextCapacity
    private static let transitionsStart = rangesStart + 256
    /// The number of elements that the memory of the states must have.
    static let stateCount = transitionsStart + 256

    /// Starts at byte `byteCount` of `destination`. `states` must be initialized by `layStates` and have its contexts
    /// set.
    init(destination: ElementPointer<UInt8>, byteCount: Int, states: ElementPointer<UInt8>) {
        self.destination = destination
        self.byteCount = byteCount
        self.states = states
    }

    /// Copies the tables behind the contexts.
    static func layStates(_ states: ElementPointer<UInt8>, tables: ArithmeticTables) {
        (states + rangesStart).copy(from: tables.storage.elements, count: 512)
    }

    /// The number of bits written so far. Up to ten more are still in the coder.
    var bitCount: Int { 8 * byteCount + max(queued, 0) }

    /// Continues in other memory, to which the owner has copied the written bytes.
    mutating func move(to destination: ElementPointer<UInt8>) { self.destination = destination }

    /// EncodeDecision, inlined for inner loops.
    @inline(__always) mutating func encodeInline(_ context: Int, _ bin: Int) {
        let state = Int(states[context])
        let rangeIndex = (state &<< 1 & 0xFC) | Int(truncatingIfNeeded: range &>> 6) & 3
        let rangeOfLPS = UInt64(states[Self.rangesStart &+ rangeIndex])
        let rangeOfMPS = range &- rangeOfLPS
        states[context] = states[Self.transitionsStart &+ (state &<< 1 | bin)]
        let isLPS = (state ^ bin) & 1 != 0
        low = isLPS ? low &+ rangeOfMPS : low
        range = isLPS ? rangeOfLPS : rangeOfMPS
        renormalize()
    }

    /// EncodeDecision.
    @inline(never) mutating func encode(_ context: Int, _ bin: Int) { encodeInline(context, bin) }

    /// EncodeBypass for the low `count` bits of `value`, most significant first. `count` is at most 16.
    @inline(__always) mutating func encodeBypass(_ value: UInt32, _ count: Int) {
        low = low &<< UInt64(truncatingIfNeeded: count) &+ UInt64(value) &* range
        queued &+= count
        if queued >= 32 { drain() }
    }

    /// EncodeTerminate.
    mutating func encodeTerminate(_ bin: Int) {
        range &-= 2
        if bin != 0 {
            low &+= range
            range = 2
        }
        renormalize()
    }

    /// EncodeFlush after a terminating bin of 1. Writes rbsp_stop_one_bit and the alignment zeros, too.
    mutating func finish() {
        // Writes the two bits after the first bit of codILow. The last of them is the stop bit, H.264 9.3.4.5.
        low = low >> 7 | 1
        var bits = queued + 3
        let padding = (8 - bits & 7) & 7
        low <<= UInt64(padding)
        bits += padding
        Self.propagateCarry(low >> UInt64(bits), destination, byteCount)
        while bits > 0 {
            bits -= 8
            destination[byteCount] = UInt8(truncatingIfNeeded: low >> UInt64(bits))
            byteCount += 1
        }
        queued = 0
    }

    @inline(__always) private mutating func renormalize() {
        // A range has at most 9 bits. A range of 256 or more needs no shift.
        let shift = (range | 1).leadingZeroBitCount &- 55
        range = range &<< UInt64(truncatingIfNeeded: shift)
        low = low &<< UInt64(truncatingIfNeeded: shift)
        queued &+= shift
        if queued >= 32 { drain() }
    }

    @inline(__always) private mutating func drain() {
        // The fields are passed by value. If the coder's address were passed, its fields could not stay in registers.
        (low, byteCount) = Self.drained(low, queued, destination, byteCount)
        queued &-= 32
    }

    /// Writes 32 of the `queued` bits to memory. Returns `low` without them, and the new number of bytes.
    @inline(never) private static func drained(
        _ low: UInt64, _ queued: Int, _ destination: ElementPointer<UInt8>, _ byteCount: Int
    ) -> (UInt64, Int) {
        let keep = UInt64(truncatingIfNeeded: queued &- 22)
        let word = low &>> keep
        propagateCarry(word &>> 32, destination, byteCount)
        destination.store(byteCount, UInt32(truncatingIfNeeded: word).bigEndian)
        return (low & ((1 &<< keep) &- 1), byteCount &+ 4)
    }

    /// Adds the carry to the bytes in memory before `byteCount`.
    @inline(__always) private static func propagateCarry(
        _ carry: UInt64, _ destination: ElementPointer<UInt8>, _ byteCount: Int
    ) {
        guard carry != 0 else { return }
        var index = byteCount &- 1
        while destination[index] == 0xFF {
            destination[index] = 0
            index &-= 1
        }
        destination[index] &+= 1
    }
}
