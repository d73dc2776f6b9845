// Spatial direct prediction, H.264 8.4.1.2.2. The encoder uses no partitions smaller than 8×8. Each 8×8 block of the
// colocated picture therefore has one vector, and direct_8x8_inference_flag makes no difference.

/// The motion of a macroblock in direct prediction.
struct DirectMotion {
    /// The reference indices in list 0 and list 1, or −1 if a list is not used.
    var references = SIMD2<Int>(0, 0)
    /// The vectors of the 8×8 blocks: four of list 0, then four of list 1.
    var vectors = InlineArray<8, MotionVector>(repeating: .zero)
    /// Whether all four blocks have the same motion.
    var isUniform = true
}

extension MacroblockCoder {
    /// Loads the neighbors of both lists and derives `direct` from them.
    mutating func deriveDirect() {
        var found = DirectMotion()
        for list in 0..<2 {
            select(list)
            loadMotionNeighbors()
            found.references[list] = nearestReference()
        }
        select(0)
        if found.references[0] < 0 && found.references[1] < 0 {
            direct = DirectMotion()
            return
        }
        let still = stillQuadrants()
        for list in 0..<2 where found.references[list] >= 0 {
            select(list)
            let motion = predict16x16(found.references[list])
            let stays = found.references[list] == 0 ? still : 0
            for i in 0..<4 {
                found.vectors[4 &* list &+ i] = stays &>> i & 1 != 0 ? .zero : motion
            }
            if stays != 0 && stays != 15 && motion != .zero { found.isUniform = false }
        }
        select(0)
        direct = found
    }

    /// Returns the smallest refIdx of the neighbors, or −1 if none of them uses the list.
    @inline(__always) private mutating func nearestReference() -> Int {
        @inline(__always) func number(_ index: Int) -> UInt8 { UInt8(bitPattern: referenceCache[index]) }
        let third =
            referenceCache[MotionCache.aboveRight] == -2 ? MotionCache.aboveLeft : MotionCache.aboveRight
        let least = min(number(MotionCache.left), min(number(MotionCache.above), number(third)))
        return least < 128 ? Int(least) : -1
    }

    /// Returns the bits of the 8×8 blocks whose colZeroFlag is 1.
    private mutating func stillQuadrants() -> Int {
        guard let colocatedStillBlocks else { return 0 }
        let row = width &* 2
        let origin = y &* 2 &* row &+ x &* 2
        return Int(colocatedStillBlocks[origin]) | Int(colocatedStillBlocks[origin &+ 1]) &<< 1
            | Int(colocatedStillBlocks[origin &+ row]) &<< 2 | Int(colocatedStillBlocks[origin &+ row &+ 1]) &<< 3
    }

    /// Stores the direct motion in the caches for the 8×8 blocks whose bits are set in `blocks`.
    mutating func setDirect(_ blocks: Int) {
        for list in 0..<2 {
            select(list)
            for i in 0..<4 where blocks &>> i & 1 != 0 {
                setMotion(1 &<< i, direct.vectors[4 &* list &+ i], reference: direct.references[list])
            }
        }
        select(0)
    }

    /// Returns the motion of direct prediction of an 8×8 block.
    mutating func directMotion(_ block: Int) -> PairMotion {
        PairMotion(references: direct.references, first: direct.vectors[block], second: direct.vectors[4 &+ block])
    }

    /// Predicts luma, and also chroma if `chroma` is true, into `inter` in direct mode.
    mutating func predictDirect(chroma: Bool) {
        if direct.isUniform {
            predict(.whole, directMotion(0), chroma: chroma)
            return
        }
        for i in 0..<4 { predict(.quarter(i), directMotion(i), chroma: chroma) }
    }

    /// Predicts into `inter` in direct mode. Returns whether the residual is too small to be coded.
    mutating func trySkipDirect() -> Bool {
        predictDirect(chroma: false)
        if isWorthCoding() { return false }
        predictDirect(chroma: true)
        return codeChroma(inter, intra: false) == 0
    }
}
