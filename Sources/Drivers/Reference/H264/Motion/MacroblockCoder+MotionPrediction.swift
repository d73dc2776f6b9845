// Motion vector prediction, H.264 8.4.1. The encoder uses no partitions smaller than 8×8, so motion is stored by 8×8
// block.

/// Indices into `motionCache` and `referenceCache`: the four 8×8 blocks of the macroblock and their neighbors, four to
/// a row. A reference of −2 means not available, −1 means intra or list not used.
enum MotionCache {
    static let aboveLeft = 0
    static let above = 1
    static let aboveRight = 3
    static let left = 4
    static let first = 5
    /// The block right of the macroblock, which is never available.
    static let outside = 7
    static let count = 12

    /// Returns the index of an 8×8 block of the macroblock.
    @inline(__always) static func quadrant(_ index: Int) -> Int { first &+ (index & 1) &+ (index &>> 1) &* 4 }
}

extension MotionVector {
    @inline(__always) init(_ x: Int, _ y: Int) {
        self.init(x: Int16(truncatingIfNeeded: x), y: Int16(truncatingIfNeeded: y))
    }

    /// Whether both components are in −1…1, in quarter samples (see colZeroFlag, H.264 8.4.1.2.2).
    @inline(__always) var isStill: Bool { x >= -1 && x <= 1 && y >= -1 && y <= 1 }

    @inline(__always) static func - (a: MotionVector, b: MotionVector) -> MotionVector {
        MotionVector(x: a.x &- b.x, y: a.y &- b.y)
    }
}

extension MacroblockCoder {
    /// Fills the cache with the neighbors of the macroblock, and marks its own blocks as not available yet.
    mutating func loadMotionNeighbors() {
        let rowLength = width &* 2
        let origin = y &* 2 &* rowLength &+ x &* 2 &+ tables.blocks &* list
        @inline(__always) func load(_ cacheIndex: Int, _ index: Int, _ available: Bool) {
            referenceCache[cacheIndex] = available ? tables.reference[index] : -2
            motionCache[cacheIndex] = available ? tables.motion[index] : .zero
        }
        load(MotionCache.aboveLeft, origin &- rowLength &- 1, hasTopLeft)
        load(MotionCache.above, origin &- rowLength, hasTop)
        load(MotionCache.above + 1, origin &- rowLength &+ 1, hasTop)
        load(MotionCache.aboveRight, origin &- rowLength &+ 2, hasTopRight)
        load(MotionCache.left, origin &- 1, hasLeft)
        load(MotionCache.left + 4, origin &+ rowLength &- 1, hasLeft)
        for i in 0..<4 { referenceCache[MotionCache.quadrant(i)] = -2 }
        referenceCache[MotionCache.outside] = -2
        referenceCache[MotionCache.outside + 4] = -2
    }

    /// Sets the motion of the 8×8 blocks whose bits are set in `blocks`.
    @inline(__always) mutating func setMotion(_ blocks: Int, _ motion: MotionVector, reference: Int) {
        for i in 0..<4 where blocks &>> i & 1 != 0 {
            motionCache[MotionCache.quadrant(i)] = motion
            referenceCache[MotionCache.quadrant(i)] = Int8(truncatingIfNeeded: reference)
        }
    }

    @inline(__always) private mutating func median(_ a: Int16, _ b: Int16, _ c: Int16) -> Int16 {
        max(min(a, b), min(max(a, b), c))
    }

    /// Returns the prediction of a partition, 8.4.1.3. `a`, `b`, `c` and `d` are the cache indices of its neighbors A,
    /// B, C and D.
    @inline(__always) private mutating func predict(_ reference: Int, a: Int, b: Int, c: Int, d: Int) -> MotionVector {
        let refIdx = Int8(truncatingIfNeeded: reference)
        let third = referenceCache[c] == -2 ? d : c
        let referenceA = referenceCache[a]
        let referenceB = referenceCache[b]
        let referenceC = referenceCache[third]
        if referenceB == -2 && referenceC == -2 && referenceA != -2 { return motionCache[a] }
        let matchA = referenceA == refIdx
        let matchB = referenceB == refIdx
        let matchC = referenceC == refIdx
        if matchA != matchB {
            if !matchC { return motionCache[matchA ? a : b] }
        } else if matchC && !matchA {
            return motionCache[third]
        }
        let (p, q, r) = (motionCache[a], motionCache[b], motionCache[third])
        return MotionVector(x: median(p.x, q.x, r.x), y: median(p.y, q.y, r.y))
    }

    /// Returns mvpLX of a 16×16 partition.
    mutating func predict16x16(_ reference: Int) -> MotionVector {
        predict(
            reference, a: MotionCache.left, b: MotionCache.above, c: MotionCache.aboveRight, d: MotionCache.aboveLeft)
    }

    /// Returns mvpLX of the upper (0) or lower (1) 16×8 partition.
    mutating func predict16x8(_ index: Int, _ reference: Int) -> MotionVector {
        let refIdx = Int8(truncatingIfNeeded: reference)
        if index == 0 {
            if referenceCache[MotionCache.above] == refIdx { return motionCache[MotionCache.above] }
            return predict16x16(reference)
        }
        if referenceCache[MotionCache.left + 4] == refIdx { return motionCache[MotionCache.left + 4] }
        return predict(
            reference, a: MotionCache.left + 4, b: MotionCache.first, c: MotionCache.outside, d: MotionCache.left)
    }

    /// Returns mvpLX of the left (0) or right (1) 8×16 partition.
    mutating func predict8x16(_ index: Int, _ reference: Int) -> MotionVector {
        let refIdx = Int8(truncatingIfNeeded: reference)
        if index == 0 {
            if referenceCache[MotionCache.left] == refIdx { return motionCache[MotionCache.left] }
            return predict(
                reference, a: MotionCache.left, b: MotionCache.above, c: MotionCache.above + 1,
                d: MotionCache.aboveLeft)
        }
        let third = referenceCache[MotionCache.aboveRight] == -2 ? MotionCache.above : MotionCache.aboveRight
        if referenceCache[third] == refIdx { return motionCache[third] }
        return predict(
            reference, a: MotionCache.first, b: MotionCache.above + 1, c: MotionCache.aboveRight, d: MotionCache.above)
    }

    /// Returns mvpLX of an 8×8 sub-macroblock.
    mutating func predict8x8(_ index: Int, _ reference: Int) -> MotionVector {
        let cacheIndex = MotionCache.quadrant(index)
        // The block above right of block 3 comes later in coding order. The block above right of block 2 is block 1.
        let aboveRight = index == 3 ? MotionCache.outside : cacheIndex &- 3
        return predict(reference, a: cacheIndex &- 1, b: cacheIndex &- 4, c: aboveRight, d: cacheIndex &- 5)
    }

    /// Returns the vector of P_Skip, 8.4.1.1.
    mutating func predictSkip() -> MotionVector {
        if !hasLeft || !hasTop { return .zero }
        let left = MotionCache.left
        let above = MotionCache.above
        if referenceCache[left] == 0 && motionCache[left] == .zero { return .zero }
        if referenceCache[above] == 0 && motionCache[above] == .zero { return .zero }
        return predict16x16(0)
    }
}
