// Macroblock types of B slices.

extension MacroblockSyntax {
    /// Returns the lists that a quadrant predicts from: 0 list 0, 1 list 1, 2 both.
    @inline(__always) private func lists(_ quadrant: Int) -> Int {
        let references = referenceIndices
        return references[4 &+ quadrant] < 0 ? 0 : (references[quadrant] < 0 ? 1 : 2)
    }

    /// mb_type of an inter macroblock in a B slice, table 7-14.
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

    /// Returns sub_mb_type in a B slice, table 7-18: direct, or one of the 8×8 types.
    @inline(__always) func bipredictiveSubType(_ quadrant: Int) -> Int {
        directQuadrants &>> quadrant & 1 != 0 ? 0 : 1 &+ lists(quadrant)
    }

    /// Returns the bits of the quadrants at which a partition with ref_idx and mvd of `list` starts.
    @inline(__always) func codedQuadrants(_ slice: EntropySlice, list: Int) -> Int {
        let quadrants = kind.partitionQuadrants
        if slice.type != .b { return quadrants }
        var coded = 0
        for quadrant in 0..<4 where referenceIndices[4 &* list &+ quadrant] >= 0 { coded |= 1 &<< quadrant }
        return kind == .inter8x8 ? coded & ~directQuadrants : coded & quadrants
    }

    /// Returns whether the syntax of an inter macroblock contains transform_size_8x8_flag, H.264 7.3.5.
    @inline(__always) func codesTransformSize(_ slice: EntropySlice) -> Bool {
        guard codedBlockPattern & 15 != 0 && slice.transform8x8 else { return false }
        if slice.type != .b || slice.direct_8x8_inference_flag { return true }
        return kind != .direct && !(kind == .inter8x8 && directQuadrants != 0)
    }
}
