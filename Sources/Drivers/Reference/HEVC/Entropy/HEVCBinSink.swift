internal import Glibc

/// What takes the bins of syntax elements: the arithmetic encoder, or a count of what they would cost.
protocol HEVCBinSink {
    /// A bin with the context of that number.
    mutating func code(_ context: Int, _ bin: Int)
    /// The same for inner loops.
    mutating func codeInline(_ context: Int, _ bin: Int)
    /// Bypass bins: the low `count` bits of `value`, first the most significant; `count` is at most 16.
    mutating func codeBypass(_ value: UInt32, _ count: Int)
    /// What follows the four ones of coeff_abs_level_remaining's prefix, 9.3.3.11: Exp-Golomb of order `order`.
    mutating func codeEscape(_ value: Int, order: Int)
}

extension ArithmeticEncoder: HEVCBinSink {
    @inline(__always) mutating func code(_ context: Int, _ bin: Int) { encode(context, bin) }
    @inline(__always) mutating func codeInline(_ context: Int, _ bin: Int) { encodeInline(context, bin) }
    @inline(__always) mutating func codeBypass(_ value: UInt32, _ count: Int) { encodeBypass(value, count) }
    // By value, so that the coder stays in registers.
    @inline(__always) mutating func codeEscape(_ value: Int, order: Int) {
        self = withExpGolombBypass(value, order: order)
    }
}

/// Adds up what bins would cost while the contexts stay as they are.
struct HEVCBinCount: HEVCBinSink {
    /// Bits · 32768.
    private(set) var cost = 0
    private let states: ElementPointer<UInt8>
    private let prices: ElementPointer<UInt32>

    @inline(__always) init(states: ElementPointer<UInt8>, prices: ElementPointer<UInt32>) {
        self.states = states
        self.prices = prices
    }

    // A state is 2·pStateIdx + valMPS: where the bin is the less probable one, the price's number is odd.
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

/// What bins cost by the state of their context.
final class HEVCBinPrices: Sendable {
    static let shared = HEVCBinPrices()

    /// Bits · 32768 by 2·pStateIdx, of the more probable bin, then of the other.
    let prices = ElementStorage<UInt32>(count: 128, repeating: 0)

    private init() {
        // The states stand for probabilities of the less probable bin from 0.5 down to 0.01875 in equal ratios.
        for state in 0..<64 {
            let probability = 0.5 * pow(0.01875 / 0.5, Double(state) / 63)
            prices.elements[2 * state] = UInt32(-log2(1 - probability) * 32768 + 0.5)
            prices.elements[2 * state + 1] = UInt32(-log2(probability) * 32768 + 0.5)
        }
    }
}
