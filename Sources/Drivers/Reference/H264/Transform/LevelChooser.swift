/// Quantizes a block for the smallest rate-distortion cost (trellis quantization): squared error plus weighted bits. It
/// chooses one level at a time, from the end of the scan, and then the index of the last level.
struct LevelChooser {
    let model: LevelModel
    /// Three arrays with an entry per coefficient: its magnitude in 256ths of a quantizer step, the chosen level, and
    /// the cost of that level.
    let sizes: ElementPointer<Int32>
    let choices: ElementPointer<Int32>
    let costs: ElementPointer<Int>

    /// The weight of 1/256 bit against a squared error in 65536ths of a squared quantizer step.
    ///
    /// λ = 0.85 · 2^((QP − 12) / 3) and a step of 0.625 · 2^(QP / 6) give 34 at every QP. Smaller values gave better
    /// results in measurements, because later pictures predict from this one.
    static let interWeight = 19
    static let intraWeight = 24

    /// Quantizes `count` coefficients of `c` in place, in the order of `positions`. Coefficients before scan index
    /// `first` do not change. `shift` converts coefficient · numerator into 256ths of a step. Returns the number of
    /// nonzero levels.
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
            var later = LevelModel.LaterLevels()
            var i = end
            while i >= first {
                choose(i, base, weight, isEnd: i == count &- 1, &later)
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
        _ i: Int, _ base: Int, _ weight: Int, isEnd: Bool, _ later: inout LevelModel.LaterLevels
    ) {
        let size = Int(sizes[i])
        let nearest = Swift.min((size &+ 128) &>> 8, H264Quantizer.largestLevel)
        let zeroCost = size &* size &+ (isEnd ? 0 : weight &* model.significantCost(base, i, false))
        var best = zeroCost
        var level = 0
        if nearest > 0 {
            let present = isEnd ? 0 : model.significantCost(base, i, true)
            var candidate = nearest
            while candidate > 0 && candidate &+ 1 >= nearest {
                let error = size &- candidate &<< 8
                let bits = present &+ model.levelCost(base, candidate, later)
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
        later.add(level)
    }

    /// Returns the scan index of the last nonzero level, or −1 if all levels are 0.
    @inline(__always) private func chooseEnd(
        from first: Int, to end: Int, _ base: Int, _ weight: Int, count: Int, zeroed: Int
    ) -> Int {
        var best = zeroed
        var endIndex = -1
        // A block with levels costs about one bit more than a block without (coded_block_flag).
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
                    endIndex = i
                }
                if !isEnd { sum &+= weight &* model.lastCost(base, i, false) }
            }
            sum &+= costs[i]
        }
        return endIndex
    }
}
