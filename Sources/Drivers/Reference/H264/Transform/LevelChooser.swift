/// Quantises a block so that distortion plus the weighed bits of its levels is least, one level at a time from the end
/// of the scan, then the place of the last level.
struct LevelChooser {
    let model: LevelModel
    /// Per coefficient: its size in 256ths of a quantiser step, the level chosen, and that level's cost.
    let sizes: ElementPointer<Int32>
    let choices: ElementPointer<Int32>
    let costs: ElementPointer<Int>

    /// What 1/256 bit weighs against a squared error in 65536ths of a squared quantiser step. λ = 0.85 · 2^((QP − 12) / 3)
    /// and a step of 0.625 · 2^(QP / 6) make it 34 at any QP; less measures better, as pictures to come predict from
    /// this one.
    static let interWeight = 19
    static let intraWeight = 24

    /// Quantises the `count` coefficients at `positions` of `c` in place, those before `first` left alone; the number of
    /// levels that are not 0. `shift` turns coefficient · numerator into 256ths of a step.
    @inline(never) func quantize(
        _ c: ElementPointer<Int16>, _ numerators: ElementPointer<UInt16>, _ positions: ElementPointer<UInt8>, shift: Int, from first: Int,
        count: Int, kind: LevelModel.Kind, intra: Bool
    ) -> Int {
        let base = LevelModel.base(kind, intra: intra)
        let weight = intra ? Self.intraWeight : Self.interWeight
        var end = -1
        var zeroed = 0
        for i in first..<count {
            let at = Int(positions[i])
            let value = Int(c[at])
            let size = ((value < 0 ? 0 &- value : value) &* Int(numerators[at])) &>> shift
            sizes[i] = Int32(truncatingIfNeeded: size)
            zeroed &+= size &* size
            if size >= 128 { end = i }
        }
        if end >= 0 {
            var trail = LevelModel.Trail()
            var i = end
            while i >= first {
                choose(i, base, weight, isEnd: i == count &- 1, &trail)
                i &-= 1
            }
            end = chooseEnd(from: first, to: end, base, weight, count: count, zeroed: zeroed)
        }
        var nonZero = 0
        for i in first..<count {
            let at = Int(positions[i])
            let level = i <= end ? Int16(truncatingIfNeeded: choices[i]) : 0
            c[at] = c[at] < 0 ? 0 &- level : level
            nonZero &+= level != 0 ? 1 : 0
        }
        return nonZero
    }

    @inline(__always) private func choose(
        _ i: Int, _ base: Int, _ weight: Int, isEnd: Bool, _ trail: inout LevelModel.Trail
    ) {
        let size = Int(sizes[i])
        let nearest = Swift.min((size &+ 128) &>> 8, Quantizer.largestLevel)
        let zeroCost = size &* size &+ (isEnd ? 0 : weight &* model.significantCost(base, i, false))
        var best = zeroCost
        var level = 0
        if nearest > 0 {
            let present = isEnd ? 0 : model.significantCost(base, i, true)
            var candidate = nearest
            while candidate > 0 && candidate &+ 1 >= nearest {
                let error = size &- candidate &<< 8
                let bits = present &+ model.levelCost(base, candidate, trail)
                let cost = error &* error &+ weight &* bits
                if cost < best {
                    best = cost
                    level = candidate
                }
                candidate &-= 1
            }
        }
        choices[i] = Int32(truncatingIfNeeded: level)
        costs[i] = best
        trail.add(level)
    }

    /// The place of the last level, −1 for none.
    @inline(__always) private func chooseEnd(
        from first: Int, to end: Int, _ base: Int, _ weight: Int, count: Int, zeroed: Int
    ) -> Int {
        var best = zeroed
        var place = -1
        // That there are levels at all costs about a bit.
        var sum = weight &* 256
        var rest = zeroed
        for i in first...end {
            let size = Int(sizes[i])
            rest &-= size &* size
            if choices[i] != 0 {
                let isEnd = i == count &- 1
                let total = sum &+ costs[i] &+ rest &+ (isEnd ? 0 : weight &* model.lastCost(base, i, true))
                if total < best {
                    best = total
                    place = i
                }
                if !isEnd { sum &+= weight &* model.lastCost(base, i, false) }
            }
            sum &+= costs[i]
        }
        return place
    }
}
