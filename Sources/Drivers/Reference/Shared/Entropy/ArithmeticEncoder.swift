/// The arithmetic encoder of CABAC, H.264 9.3.4 (encoding process).
///
/// The specification's codILow loses a bit at each renormalisation and counts outstanding bits until a carry is
/// known. Here the lost bits pile up above the ten of codILow, go to memory by 32, and a carry is added to what
/// stands there already: the slice's bytes get their emulation prevention only afterwards.
struct ArithmeticEncoder {
    /// `queued` bits above the ten of codILow, and room for a carry.
    private var low: UInt64 = 0
    /// codIRange, 256…510 between bins.
    private var range: UInt64 = 510
    /// Bits ready to leave. The first bit of all is never sent (firstBitFlag).
    private var queued = -1
    private var destination: ElementPointer<UInt8>
    private(set) var byteCount: Int
    /// Context states (2·pStateIdx + valMPS), then `EntropyTables.arithmetic`: one base for all that a bin needs.
    private let states: ElementPointer<UInt8>

    private static let rangesStart = CABACInitialValues.contextCount
    private static let transitionsStart = rangesStart + 256
    /// Elements that the memory of states must have.
    static let stateCount = transitionsStart + 256

    /// Starts at byte `byteCount` of `destination`; `states` is as `layStates` left it, with its contexts set.
    init(destination: ElementPointer<UInt8>, byteCount: Int, states: ElementPointer<UInt8>) {
        self.destination = destination
        self.byteCount = byteCount
        self.states = states
    }

    /// Puts the tables behind the contexts.
    static func layStates(_ states: ElementPointer<UInt8>, tables: EntropyTables) {
        (states + rangesStart).copy(from: tables.arithmetic.elements, count: 512)
    }

    /// Bits written so far, to within the ten that the coder holds back.
    var bitCount: Int { 8 * byteCount + max(queued, 0) }

    /// Goes on in other memory, into which the owner has copied what was written.
    mutating func move(to destination: ElementPointer<UInt8>) { self.destination = destination }

    /// EncodeDecision for inner loops.
    @inline(__always) mutating func encodeInline(_ context: Int, _ bin: Int) {
        let state = Int(states[context])
        let rangeIndex = (state &<< 1 & 0xFC) | Int(truncatingIfNeeded: range &>> 6) & 3
        let rangeOfLPS = UInt64(states[Self.rangesStart &+ rangeIndex])
        let rangeOfMPS = range &- rangeOfLPS
        states[context] = states[Self.transitionsStart &+ (state &<< 1 | bin)]
        let isLPS = (state ^ bin) & 1 != 0
        low = isLPS ? low &+ rangeOfMPS : low
        range = isLPS ? rangeOfLPS : rangeOfMPS
        renormalise()
    }

    /// EncodeDecision.
    @inline(never) mutating func encode(_ context: Int, _ bin: Int) { encodeInline(context, bin) }

    /// EncodeBypass for the low `count` bits of `value`, first the most significant; `count` is at most 16.
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
        renormalise()
    }

    /// EncodeFlush after a terminating bin of 1, with rbsp_stop_one_bit and alignment zeros after it.
    mutating func finish() {
        // The two bits after the first of codILow, the last of them the stop bit, H.264 9.3.4.5.
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

    @inline(__always) private mutating func renormalise() {
        // A range has at most 9 bits; at 256 and above there is nothing to shift.
        let shift = (range | 1).leadingZeroBitCount &- 55
        range = range &<< UInt64(truncatingIfNeeded: shift)
        low = low &<< UInt64(truncatingIfNeeded: shift)
        queued &+= shift
        if queued >= 32 { drain() }
    }

    @inline(__always) private mutating func drain() {
        // By value: with the coder's address in a call, its fields could not stand in registers.
        (low, byteCount) = Self.drained(low, queued, destination, byteCount)
        queued &-= 32
    }

    /// Sends 32 of `queued` bits; returns `low` without them and the new count of bytes.
    @inline(never) private static func drained(
        _ low: UInt64, _ queued: Int, _ destination: ElementPointer<UInt8>, _ byteCount: Int
    ) -> (UInt64, Int) {
        let keep = UInt64(truncatingIfNeeded: queued &- 22)
        let word = low &>> keep
        propagateCarry(word &>> 32, destination, byteCount)
        destination.store(byteCount, UInt32(truncatingIfNeeded: word).bigEndian)
        return (low & ((1 &<< keep) &- 1), byteCount &+ 4)
    }

    /// Adds the carry to what stands in memory before `byteCount`.
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
