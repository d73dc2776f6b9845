/// Estimates how many bits transform levels cost. The estimate adapts to the coded macroblocks in the way CABAC
/// contexts do: it counts, for each scan index, how often a level is nonzero and how often it is the last one, and for
/// each context how often a level is larger than 1.
struct LevelModel {
    /// The block kinds with separate contexts. The contexts of all kinds for inter macroblocks come first, followed by
    /// those for intra macroblocks.
    enum Kind: Int { case luma4x4, luma8x8, luma16x16AC, chromaAC }

    private static let significant = 0
    private static let last = 64
    private static let above = 128
    private static let perKind = 144
    static let contextCount = 8 * perKind

    /// The probability of a 1 in each context, in 65536ths.
    let chances: ElementPointer<UInt16>
    /// The cost of an event in 256ths of a bit, indexed by its probability in 256ths.
    let costs: ElementPointer<UInt16>

    init(chances: ElementPointer<UInt16>, costs: ElementPointer<UInt16>) {
        self.chances = chances
        self.costs = costs
    }

    /// Sets all probabilities to their initial values and fills the table of costs.
    func reset() {
        for kind in 0..<8 {
            let base = kind * Self.perKind
            for i in 0..<64 {
                chances[base + Self.significant + i] = i < 6 ? 30000 : 15000
                chances[base + Self.last + i] = UInt16(6000 + 400 * i)
            }
            for i in 0..<16 { chances[base + Self.above + i] = 20000 }
        }
        for i in 0..<256 {
            // Computes −log₂((i + ½) / 256) by repeated squaring.
            var value = (Double(i) + 0.5) / 256
            var bits = 0.0
            while value < 0.5 {
                value *= 2
                bits += 1
            }
            var fraction = 0.5
            for _ in 0..<12 {
                value *= value
                if value < 0.5 {
                    value *= 2
                    bits += fraction
                }
                fraction /= 2
            }
            costs[i] = UInt16(bits * 256)
        }
    }

    @inline(__always) static func base(_ kind: Kind, intra: Bool) -> Int {
        (kind.rawValue &+ (intra ? 4 : 0)) &* perKind
    }

    @inline(__always) private func cost(_ context: Int, _ bit: Bool) -> Int {
        let chance = Int(chances[context]) &>> 8
        return Int(costs[bit ? chance : 255 &- chance])
    }

    @inline(__always) func significantCost(_ base: Int, _ index: Int, _ bit: Bool) -> Int {
        cost(base &+ Self.significant &+ index, bit)
    }

    @inline(__always) func lastCost(_ base: Int, _ index: Int, _ bit: Bool) -> Int {
        cost(base &+ Self.last &+ index, bit)
    }

    /// The number of levels of ±1, and of larger levels, after the current one in scan order. Levels are coded from the
    /// last to the first.
    struct LaterLevels {
        var ones = 0
        var more = 0

        @inline(__always) mutating func add(_ level: Int) {
            if level == 1 { ones &+= 1 } else if level > 1 { more &+= 1 }
        }

        /// The context of the first bin of coeff_abs_level_minus1, and the context of the other bins.
        @inline(__always) var first: Int { more > 0 ? 0 : 1 &+ Swift.min(3, ones) }
        @inline(__always) var others: Int { 5 &+ Swift.min(4, more) }
    }

    /// Returns the cost of a nonzero level with its sign, in 256ths of a bit.
    @inline(__always) func levelCost(_ base: Int, _ level: Int, _ later: LaterLevels) -> Int {
        let first = base &+ Self.above &+ later.first
        if level == 1 { return 256 &+ cost(first, false) }
        let others = base &+ Self.above &+ later.others
        let sum = 256 &+ cost(first, true)
        let prefix = Swift.min(level &- 2, 13)
        let bits = sum &+ prefix &* cost(others, true)
        if level < 15 { return bits &+ cost(others, false) }
        let rest = level &- 14
        return bits &+ 256 &* (2 &* (Int.bitWidth &- 1 &- rest.leadingZeroBitCount) &+ 1)
    }

    /// Returns the cost of a block's levels in 256ths of a bit. `levels` is in scan order, and `nonZero` of the levels
    /// are nonzero.
    @inline(never) func blockCost(
        _ levels: ElementPointer<Int16>, from first: Int, count: Int, nonZero: Int, kind: Kind, intra: Bool
    ) -> Int {
        let base = Self.base(kind, intra: intra)
        var bits = 0
        var left = nonZero
        var i = first
        while left > 0 && i < count {
            let isSignificant = levels[i] != 0
            if i < count &- 1 {
                bits &+= significantCost(base, i, isSignificant)
                if isSignificant { bits &+= lastCost(base, i, left == 1) }
            }
            if isSignificant { left &-= 1 }
            i &+= 1
        }
        var later = LaterLevels()
        while i > first {
            i &-= 1
            if levels[i] == 0 { continue }
            let level = abs(Int(levels[i]))
            bits &+= levelCost(base, level, later)
            later.add(level)
        }
        return bits
    }

    @inline(__always) private func adapt(_ context: Int, _ bit: Bool) {
        let chance = Int(chances[context])
        chances[context] = UInt16(
            truncatingIfNeeded: bit ? chance &+ ((65535 &- chance) &>> 5) : chance &- (chance &>> 5))
    }

    /// Adapts the probabilities to the levels of a coded block. `levels` is in scan order, and `nonZero` of the levels
    /// are nonzero.
    func learn(_ levels: ElementPointer<Int16>, from first: Int, count: Int, nonZero: Int, kind: Kind, intra: Bool) {
        let base = Self.base(kind, intra: intra)
        var left = nonZero
        var i = first
        while left > 0 && i < count {
            let isSignificant = levels[i] != 0
            if i < count &- 1 {
                adapt(base &+ Self.significant &+ i, isSignificant)
                if isSignificant { adapt(base &+ Self.last &+ i, left == 1) }
            }
            if isSignificant { left &-= 1 }
            i &+= 1
        }
        var later = LaterLevels()
        while i > first {
            i &-= 1
            if levels[i] == 0 { continue }
            let level = Swift.min(abs(Int(levels[i])), 15)
            adapt(base &+ Self.above &+ later.first, level > 1)
            if level > 1 {
                let others = base &+ Self.above &+ later.others
                for _ in 0..<level &- 2 { adapt(others, true) }
                if level < 15 { adapt(others, false) }
            }
            later.add(level)
        }
    }
}
