// The motion search of one prediction block: whole samples first, then half and quarter samples.

/// A vector and its cost: distortion in 256ths, plus bits weighted by lambda.
struct HEVCMotionChoice: BitwiseCopyable {
    var vector = MotionVector.zero
    var list = 0
    var reference = 0
    var cost = Int.max / 4

    var isUsable: Bool { cost < Int.max / 4 }
}

/// The input of a block's motion search in one reference.
struct HEVCMotionTask<Sample: HEVCSample> {
    let part: HEVCPart
    let list: Int
    let reference: Int
    let planes: HEVCPlanes<Sample>
    let predictors: (MotionVector, MotionVector)
    /// The range of allowed vectors in quarter samples.
    let minX: Int
    let maxX: Int
    let minY: Int
    let maxY: Int
    /// The other block of a bi-predicted pair, as 14-bit values; nil for one reference.
    var pair: ElementPointer<Int16>?

    var isEmpty: Bool { minX > maxX || minY > maxY }
}

/// The approximate cost of vector differences: bits · 16 by magnitude in quarter samples.
final class HEVCVectorPrices: Sendable {
    static let shared = HEVCVectorPrices()
    static let count = 1 << 14
    let bits = ElementStorage<UInt16>(count: count, repeating: 0)

    private init() {
        // The length of an Exp-Golomb code, interpolated between its steps as an approximation of context coding.
        for i in 0..<Self.count {
            let whole = Int.bitWidth - 1 - (i + 1).leadingZeroBitCount
            let log = 16 * whole + ((i + 1) << 4) >> whole - 16
            bits.elements[i] = UInt16(2 * log + (i > 0 ? 27 : 11))
        }
    }
}

extension HEVCUnitCoder {
    /// Returns the task for a part and a reference. The allowed vectors reach 8 samples outside of the picture, and not
    /// into the area that intra refresh has not refreshed.
    func motionTask(
        _ part: HEVCPart, list: Int, reference: Int, _ predictors: (MotionVector, MotionVector)
    ) -> HEVCMotionTask<Sample> {
        let reach = 8
        var right = width &- part.x &+ reach
        var bottom = height &- part.y &+ reach
        if isGuarded {
            let limit = Int(cleanLimits[list &* HEVCMotionReferences.perList &+ reference]) &- 5
            if refresh.isRows {
                bottom = min(bottom, limit &- part.y &- part.height)
            } else {
                right = min(right, limit &- part.x &- part.width)
            }
        }
        return HEVCMotionTask(
            part: part, list: list, reference: reference, planes: planes(list, reference), predictors: predictors,
            minX: max(-4 &* (part.x &+ part.width &+ reach), -8000), maxX: min(4 &* right, 8000),
            minY: max(-4 &* (part.y &+ part.height &+ reach), -8000), maxY: min(4 &* bottom, 8000))
    }

    /// Returns whether intra refresh allows a part to use `motion`.
    func mayUse(_ motion: HEVCMotion, _ part: HEVCPart) -> Bool {
        guard isGuarded else { return true }
        for list in 0..<2 where motion.reference(list) >= 0 {
            let limit = Int(cleanLimits[list &* HEVCMotionReferences.perList &+ motion.reference(list)]) &- 5
            let vector = motion.vector(list)
            let end =
                refresh.isRows
                ? part.y &+ part.height &+ Int(vector.y) >> 2 : part.x &+ part.width &+ Int(vector.x) >> 2
            if end > limit { return false }
        }
        return true
    }

    @inline(__always) func vectorCost(_ x: Int, _ y: Int, _ task: HEVCMotionTask<Sample>) -> Int {
        let prices = HEVCVectorPrices.shared.bits.elements
        let limit = HEVCVectorPrices.count &- 1
        @inline(__always) func bits(_ p: MotionVector) -> Int {
            Int(prices[min(abs(x &- Int(p.x)), limit)]) &+ Int(prices[min(abs(y &- Int(p.y)), limit)])
        }
        return (min(bits(task.predictors.0), bits(task.predictors.1)) &* lambda) &>> 4
    }

    /// Searches the best vector of a block, starting at the best of its predictors and `others`.
    func search(_ task: HEVCMotionTask<Sample>, _ others: HEVCVectorList) -> HEVCMotionChoice {
        let part = task.part
        let stride = task.planes.stride
        let origin = task.planes.luma + (part.y &* stride &+ part.x)
        let original = source.luma + (part.y &* source.stride &+ part.x)
        let (minX, maxX) = ((task.minX &+ 3) >> 2, task.maxX >> 2)
        let (minY, maxY) = ((task.minY &+ 3) >> 2, task.maxY >> 2)
        @inline(__always) func at(_ x: Int, _ y: Int) -> Int {
            (HEVCBlockCost.sad(
                original, source.stride, origin + (y &* stride &+ x), stride, width: part.width, height: part.height)
                &<< 8) &+ vectorCost(x &* 4, y &* 4, task)
        }
        var best = Int.max
        var (bestX, bestY) = (0, 0)
        func tryVector(_ vector: MotionVector) {
            let x = min(max((Int(vector.x) &+ 2) >> 2, minX), maxX)
            let y = min(max((Int(vector.y) &+ 2) >> 2, minY), maxY)
            if best != Int.max && x == bestX && y == bestY { return }
            let cost = at(x, y)
            if cost < best { (best, bestX, bestY) = (cost, x, y) }
        }
        tryVector(task.predictors.0)
        if task.predictors.1 != task.predictors.0 { tryVector(task.predictors.1) }
        for index in 0..<others.count { tryVector(others[index]) }
        var rounds = preset.hexagons
        while rounds > 0 {
            rounds &-= 1
            let (centerX, centerY) = (bestX, bestY)
            if centerX &- 2 < minX || centerX &+ 2 > maxX || centerY &- 2 < minY || centerY &+ 2 > maxY { break }
            for i in 0..<6 {
                let offset = MotionSearch.hexagon(i)
                let cost = at(centerX &+ offset.x, centerY &+ offset.y)
                if cost < best { (best, bestX, bestY) = (cost, centerX &+ offset.x, centerY &+ offset.y) }
            }
            if bestX == centerX && bestY == centerY { break }
        }
        rounds = preset.diamonds
        // The costs around the last center; negative if they are not known.
        var around = SIMD4(repeating: -1)
        while rounds > 0 {
            rounds &-= 1
            let (centerX, centerY) = (bestX, bestY)
            around[0] = -1
            if centerX <= minX || centerX >= maxX || centerY <= minY || centerY >= maxY { break }
            for i in 0..<4 {
                let offset = MotionSearch.diamond(i)
                let cost = at(centerX &+ offset.x, centerY &+ offset.y)
                around[i] = cost
                if cost < best { (best, bestX, bestY) = (cost, centerX &+ offset.x, centerY &+ offset.y) }
            }
            if bestX == centerX && bestY == centerY { break }
        }
        return refine(
            task, bestX &* 4, bestY &* 4, wholeCost: best, around: preset.prunesSides && around[0] >= 0 ? around : nil)
    }

    /// Returns the distortion of the prediction with a vector, in 256ths, without bits.
    @inline(__always) func vectorDistortion(_ task: HEVCMotionTask<Sample>, _ x: Int, _ y: Int) -> Int {
        let part = task.part
        let vector = MotionVector(x: Int16(truncatingIfNeeded: x), y: Int16(truncatingIfNeeded: y))
        guard let pair = task.pair else {
            return difference(part, list: task.list, reference: task.reference, vector) &<< 8
        }
        let block = wide + HEVCInterpolation<Sample>.count
        HEVCInterpolation.luma(
            task.planes, x: part.x, y: part.y, vector, width: part.width, height: part.height,
            scratch: wide + 2 &* HEVCInterpolation<Sample>.count, to: block)
        HEVCInterPrediction.both(
            pair, block, width: part.width, height: part.height, to: trialBlock.luma, stride: trialBlock.stride)
        return difference(part, trialBlock.luma, trialBlock.stride) &<< 8
    }

    /// Refines a vector at half and quarter samples. `wholeCost` is the cost of the start vector; it is recomputed if
    /// another measure applies. If the costs of the whole vectors `around` are known, only the sides with lower costs
    /// are tried.
    func refine(
        _ task: HEVCMotionTask<Sample>, _ startX: Int, _ startY: Int, wholeCost: Int, around: SIMD4<Int>? = nil
    ) -> HEVCMotionChoice {
        var (bestX, bestY, best) = (startX, startY, wholeCost)
        if preset.hadamard || task.pair != nil {
            best = vectorDistortion(task, bestX, bestY) &+ vectorCost(bestX, bestY, task)
        }
        func tryVector(_ x: Int, _ y: Int) -> Bool {
            if x < task.minX || x > task.maxX || y < task.minY || y > task.maxY { return false }
            let bits = vectorCost(x, y, task)
            if bits >= best { return false }
            let cost = vectorDistortion(task, x, y) &+ bits
            if cost >= best { return false }
            (best, bestX, bestY) = (cost, x, y)
            return true
        }
        // The predictors cost almost no bits, so they are tried even if they are fractional.
        for vector in [task.predictors.0, task.predictors.1] where (vector.x | vector.y) & 3 != 0 {
            _ = tryVector(Int(vector.x), Int(vector.y))
        }
        var step = task.pair == nil ? 2 : 1
        if let around {
            if bestX == startX && bestY == startY {
                // Halves on the better sides first, then quarters: back if the half is better, onward otherwise.
                let sideX = around[0] < around[1] ? -1 : 1
                let sideY = around[2] < around[3] ? -1 : 1
                let turnX = tryVector(startX &+ 2 &* sideX, startY) ? 0 &- sideX : sideX
                let turnY = tryVector(bestX, startY &+ 2 &* sideY) ? 0 &- sideY : sideY
                _ = tryVector(bestX &+ turnX, bestY)
                _ = tryVector(bestX, bestY &+ turnY)
                step = 0
            } else {
                // A fractional predictor is better than all whole vectors.
                step = 1
            }
        }
        while step > 0 {
            var rounds = step == 2 ? preset.halfSteps : preset.quarterSteps
            var cameFrom = -1
            while rounds > 0 {
                rounds &-= 1
                let (centerX, centerY) = (bestX, bestY)
                var direction = -1
                for i in 0..<4 where i != cameFrom {
                    let offset = MotionSearch.diamond(i)
                    if tryVector(centerX &+ offset.x &* step, centerY &+ offset.y &* step) { direction = i }
                }
                if direction < 0 { break }
                cameFrom = direction ^ 1
            }
            step &>>= 1
        }
        return HEVCMotionChoice(
            vector: MotionVector(x: Int16(truncatingIfNeeded: bestX), y: Int16(truncatingIfNeeded: bestY)),
            list: task.list, reference: task.reference, cost: best)
    }
}

/// Up to eight start vectors of a search.
struct HEVCVectorList: BitwiseCopyable {
    private var xs = SIMD8<Int16>(repeating: 0)
    private var ys = SIMD8<Int16>(repeating: 0)
    private(set) var count = 0

    subscript(_ index: Int) -> MotionVector { MotionVector(x: xs[index], y: ys[index]) }

    mutating func add(_ vector: MotionVector) {
        if count == 8 { return }
        xs[count] = vector.x
        ys[count] = vector.y
        count &+= 1
    }
}
