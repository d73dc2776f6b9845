// Macroblock types of B slices.

extension MacroblockSyntax {
    /// Which lists a quadrant predicts from: 0 list 0, 1 list 1, 2 both.
    @inline(__always) private func lists(_ quadrant: Int) -> Int {
        let references = referenceIndices.elements
        return references[4 &+ quadrant] < 0 ? 0 : (references[quadrant] < 0 ? 1 : 2)
    }

    /// mb_type of an inter macroblock, table 7-14.
    var bipredictiveType: Int {
        switch kind {
        case .skip, .direct: return 0
        case .inter16x16: return 1 &+ lists(0)
        case .inter16x8, .inter8x16:
            let upright = kind == .inter8x16
            let pair = 3 &* lists(0) &+ lists(upright ? 1 : 2)
            let types = [4, 8, 12, 10, 6, 14, 16, 18, 20] as InlineArray<9, Int>
            return types[pair] &+ (upright ? 1 : 0)
        default: return 22
        }
    }

    /// sub_mb_type, table 7-18: direct or one of the 8×8 types.
    @inline(__always) func bipredictiveSubType(_ quadrant: Int) -> Int {
        directQuadrants &>> quadrant & 1 != 0 ? 0 : 1 &+ lists(quadrant)
    }

    /// Bits of the quadrants at which a partition starts that has ref_idx and mvd of `list`.
    @inline(__always) func codedQuadrants(_ slice: EntropySlice, list: Int) -> Int {
        let quadrants = kind.partitionQuadrants
        if slice.type != .b { return quadrants }
        var coded = 0
        for quadrant in 0..<4 where referenceIndices.elements[4 &* list &+ quadrant] >= 0 { coded |= 1 &<< quadrant }
        return kind == .inter8x8 ? coded & ~directQuadrants : coded & quadrants
    }

    /// Whether transform_size_8x8_flag of an inter macroblock is in the syntax, H.264 7.3.5.
    @inline(__always) func codesTransformSize(_ slice: EntropySlice) -> Bool {
        guard codedBlockPattern & 15 != 0 && slice.transform8x8 else { return false }
        if slice.type != .b || slice.direct8x8Inference { return true }
        return kind != .direct && !(kind == .inter8x8 && directQuadrants != 0)
    }
}
