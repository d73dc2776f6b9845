internal import Glibc

/// A receiver of the bins of syntax elements: the arithmetic encoder, or a counter of their estimated cost.
protocol HEVCBinSink {
    /// Codes a bin with the context of index `context`.
    mutating func code(_ context: Int, _ bin: Int)
    /// Codes a bin like `code`; always inlined, for inner loops.
    mutating func codeInline(_ context: Int, _ bin: Int)
    /// Codes bypass bins: the low `count` (at most 16) bits of `value`, most significant bit first.
    mutating func codeBypass(_ value: UInt32, _ count: Int)
    /// Codes an Exp-Golomb code of order `order` in bypass bins. In coeff_abs_level_remaining it follows the prefix of
    /// four ones, 9.3.3.11.
    mutating func codeEscape(_ value: Int, order: Int)
}

extension ArithmeticEncoder: HEVCBinSink {
    @inline(__always) mutating func code(_ context: Int, _ bin: Int) { encode(context, bin) }
    @inline(__always) mutating func codeInline(_ context: Int, _ bin: Int) { encodeInline(context, bin) }
    @inline(__always) mutating func codeBypass(_ value: UInt32, _ count: Int) { encodeBypass(value, count) }
    // Passes the coder by value, so that it stays in registers.
    @inline(__always) mutating func codeEscape(_ value: Int, order: Int) {
        self = withExpGolombBypass(value, order: order)
    }
}

/// Adds up the estimated cost of bins without updating the contexts.
struct HEVCBinCount: HEVCBinSink {
    /// The cost in 1/32768 bits.
    private(set) var cost = 0
    private let states: ElementPointer<UInt8>
    private let prices: ElementPointer<UInt32>

    @inline(__always) init(states: ElementPointer<UInt8>, prices: ElementPointer<UInt32>) {
        self.states = states
        self.prices = prices
    }

    // A state is 2·pStateIdx + valMPS. For the less probable bin, the index of the price is odd.
    @inline(__always) mutating func codeInline(_ context: Int, _ bin: Int) {
        cost &+= Int(prices[Int(states[context]) ^ bin])
    }
    @inline(__always) mutating func code(_ context: Int, _ bin: Int) { codeInline(context, bin) }
    @inline(__always) mutating func codeBypass(_ value: UInt32, _ count: Int) { cost &+= count &<< 15 }
    @inline(__always) mutating func codeEscape(_ value: Int, order: Int) {
        let size = 63 &- (value &+ 1 &<< order).leadingZeroBitCount
        cost &+= (2 &* size &- order &+ 1) &<< 15
    }
}

/// The cost of bins by the state of their context.
final class HEVCBinPrices: Sendable {
    static let shared = HEVCBinPrices()

    /// The cost in 1/32768 bits: at index 2·pStateIdx of the more probable bin, at 2·pStateIdx + 1 of the less probable
    /// bin.
    let prices = ElementStorage<UInt32>(count: 128, repeating: 0)

    private init() {
        // The states represent probabilities of the less probable bin from 0.5 down to 0.01875 in equal ratios.
        for state in 0..<64 {
            let probability = 0.5 * pow(0.01875 / 0.5, Double(state) / 63)
            prices.elements[2 * state] = UInt32(-log2(1 - probability) * 32768 + 0.5)
            prices.elements[2 * state + 1] = UInt32(-log2(probability) * 32768 + 0.5)
        }
    }
}
