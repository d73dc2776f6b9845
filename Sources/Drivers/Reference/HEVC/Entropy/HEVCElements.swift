/// Binarization of syntax elements: H.265 9.3.3 and 9.3.4.2. For elements whose context depends on neighbors, the
/// caller passes ctxInc.
extension HEVCBinSink {
    // MARK: Coding quadtree and unit

    /// Codes split_cu_flag. `increment` is the number of neighbors, left and above, that are split deeper.
    @inline(__always) mutating func codeSplit(_ isSplit: Bool, increment: Int) {
        code(HEVCContexts.split &+ increment, isSplit ? 1 : 0)
    }

    /// Codes cu_skip_flag. `increment` is the number of neighbors, left and above, that are skipped.
    @inline(__always) mutating func codeSkip(_ isSkipped: Bool, increment: Int) {
        code(HEVCContexts.skip &+ increment, isSkipped ? 1 : 0)
    }

    /// Codes pred_mode_flag.
    @inline(__always) mutating func codeMode(isIntra: Bool) { code(HEVCContexts.predictionMode, isIntra ? 1 : 0) }

    /// Codes part_mode of an intra unit of the smallest size.
    @inline(__always) mutating func codeIntraPartition(_ partition: HEVCPartition) {
        code(HEVCContexts.partition, partition == .part2Nx2N ? 1 : 0)
    }

    /// Codes part_mode of an inter unit, 9.3.3.7.
    mutating func codeInterPartition(
        _ partition: HEVCPartition, log2Size: Int, isSmallest: Bool, amp_enabled_flag: Bool
    ) {
        let first = HEVCContexts.partition
        if partition == .part2Nx2N {
            code(first, 1)
            return
        }
        code(first, 0)
        let isHorizontal = partition == .part2NxN || partition == .part2NxnU || partition == .part2NxnD
        code(first + 1, isHorizontal ? 1 : 0)
        if isSmallest {
            if log2Size > 3 && !isHorizontal { code(first + 2, partition == .partNx2N ? 1 : 0) }
        } else if amp_enabled_flag {
            let isSymmetric = partition == .part2NxN || partition == .partNx2N
            code(first + 3, isSymmetric ? 1 : 0)
            if !isSymmetric { codeBypass(partition == .part2NxnD || partition == .partnRx2N ? 1 : 0, 1) }
        }
    }

    /// Codes prev_intra_luma_pred_flag.
    @inline(__always) mutating func codePreviousMode(_ isPredicted: Bool) {
        code(HEVCContexts.previousMode, isPredicted ? 1 : 0)
    }

    /// Codes mpm_idx.
    @inline(__always) mutating func codeMPMIndex(_ index: Int) {
        if index == 0 { codeBypass(0, 1) } else { codeBypass(index == 1 ? 0b10 : 0b11, 2) }
    }

    /// Codes rem_intra_luma_pred_mode.
    @inline(__always) mutating func codeRemainingMode(_ mode: Int) { codeBypass(UInt32(truncatingIfNeeded: mode), 5) }

    /// Codes intra_chroma_pred_mode.
    @inline(__always) mutating func codeChromaMode(_ mode: Int) {
        code(HEVCContexts.chromaMode, mode == 4 ? 0 : 1)
        if mode != 4 { codeBypass(UInt32(truncatingIfNeeded: mode), 2) }
    }

    /// Codes rqt_root_cbf.
    @inline(__always) mutating func codeRootFlag(_ flag: Bool) { code(HEVCContexts.rootFlag, flag ? 1 : 0) }

    // MARK: Prediction unit

    /// Codes merge_flag.
    @inline(__always) mutating func codeMergeFlag(_ flag: Bool) { code(HEVCContexts.mergeFlag, flag ? 1 : 0) }

    /// Codes merge_idx; `count` is MaxNumMergeCand.
    mutating func codeMergeIndex(_ index: Int, count: Int) {
        guard count > 1 else { return }
        code(HEVCContexts.mergeIndex, index > 0 ? 1 : 0)
        if index > 0 { codeTruncatedBypass(index - 1, largest: count - 2) }
    }

    /// Codes inter_pred_idc. `depth` is CtDepth. `hasBoth` is whether the block may use both lists, which is false if
    /// nPbW + nPbH is 12.
    mutating func codeDirection(uses0: Bool, uses1: Bool, depth: Int, hasBoth: Bool) {
        let first = HEVCContexts.direction
        if hasBoth {
            code(first + depth, uses0 && uses1 ? 1 : 0)
            if uses0 && uses1 { return }
        }
        code(first + 4, uses1 ? 1 : 0)
    }

    /// Codes ref_idx_l0 or ref_idx_l1; `count` is the number of references in the list.
    mutating func codeReference(_ index: Int, count: Int) {
        guard count > 1 else { return }
        code(HEVCContexts.reference, index > 0 ? 1 : 0)
        guard index > 0, count > 2 else { return }
        code(HEVCContexts.reference + 1, index > 1 ? 1 : 0)
        if index > 1 { codeTruncatedBypass(index - 2, largest: count - 3) }
    }

    /// Codes mvd_coding().
    mutating func codeDifference(_ difference: MotionVector) {
        let x = abs(Int(difference.x))
        let y = abs(Int(difference.y))
        code(HEVCContexts.differenceAboveZero, x > 0 ? 1 : 0)
        code(HEVCContexts.differenceAboveZero, y > 0 ? 1 : 0)
        if x > 0 { code(HEVCContexts.differenceAboveOne, x > 1 ? 1 : 0) }
        if y > 0 { code(HEVCContexts.differenceAboveOne, y > 1 ? 1 : 0) }
        if x > 1 { codeEscape(x - 2, order: 1) }
        if x > 0 { codeBypass(difference.x < 0 ? 1 : 0, 1) }
        if y > 1 { codeEscape(y - 2, order: 1) }
        if y > 0 { codeBypass(difference.y < 0 ? 1 : 0, 1) }
    }

    /// Codes mvp_l0_flag or mvp_l1_flag.
    @inline(__always) mutating func codePredictor(_ flag: Int) { code(HEVCContexts.predictor, flag) }

    // MARK: Transform tree

    /// Codes split_transform_flag.
    @inline(__always) mutating func codeTransformSplit(_ isSplit: Bool, log2Size: Int) {
        code(HEVCContexts.splitTransform &+ 5 &- log2Size, isSplit ? 1 : 0)
    }

    /// Codes cbf_luma.
    @inline(__always) mutating func codeLumaFlag(_ flag: Bool, depth: Int) {
        code(HEVCContexts.lumaFlag &+ (depth == 0 ? 1 : 0), flag ? 1 : 0)
    }

    /// Codes cbf_cb or cbf_cr.
    @inline(__always) mutating func codeChromaFlag(_ flag: Bool, depth: Int) {
        code(HEVCContexts.chromaFlag &+ depth, flag ? 1 : 0)
    }

    /// Codes cu_qp_delta_abs and cu_qp_delta_sign_flag, 9.3.3.10.
    mutating func codeQPDelta(_ delta: Int) {
        let magnitude = abs(delta)
        for index in 0..<min(magnitude, 5) { code(HEVCContexts.qpDelta + (index == 0 ? 0 : 1), 1) }
        if magnitude < 5 {
            code(HEVCContexts.qpDelta + (magnitude == 0 ? 0 : 1), 0)
        } else {
            codeEscape(magnitude - 5, order: 0)
        }
        if magnitude > 0 { codeBypass(delta < 0 ? 1 : 0, 1) }
    }

    /// Codes transform_skip_flag.
    @inline(__always) mutating func codeTransformSkip(_ flag: Bool, isChroma: Bool) {
        code(HEVCContexts.transformSkip &+ (isChroma ? 1 : 0), flag ? 1 : 0)
    }

    // MARK: Sample adaptive offset

    /// Codes sao_merge_left_flag or sao_merge_up_flag.
    @inline(__always) mutating func codeSAOMerge(_ flag: Bool) { code(HEVCContexts.saoMerge, flag ? 1 : 0) }

    /// Codes sao_type_idx_luma or sao_type_idx_chroma.
    @inline(__always) mutating func codeSAOKind(_ kind: HEVCSAOParameters.Kind) {
        code(HEVCContexts.saoType, kind == .off ? 0 : 1)
        if kind != .off { codeBypass(kind == .edge ? 1 : 0, 1) }
    }

    /// Codes the offsets, and then the band position or the edge class. The edge class is only coded if `codesClass` is
    /// true.
    mutating func codeSAOOffsets(_ component: HEVCSAOParameters.Component, bitDepth: Int, codesClass: Bool) {
        let largest = 1 << (min(bitDepth, 10) - 5) - 1
        for index in 0..<4 { codeTruncatedBypass(abs(Int(component.offsets[index])), largest: largest) }
        if component.kind == .band {
            for index in 0..<4 where component.offsets[index] != 0 {
                codeBypass(component.offsets[index] < 0 ? 1 : 0, 1)
            }
            codeBypass(UInt32(component.band), 5)
        } else if codesClass {
            codeBypass(UInt32(component.edgeClass), 2)
        }
    }

    /// Codes a truncated Rice binarization with cRiceParam 0 in bypass bins: `value` ones, then a zero if `value` is
    /// less than `largest`.
    mutating func codeTruncatedBypass(_ value: Int, largest: Int) {
        var ones = value
        while ones >= 16 {
            codeBypass(0xFFFF, 16)
            ones -= 16
        }
        let bits: UInt32 = 1 << UInt32(ones) - 1
        if value < largest { codeBypass(bits << 1, ones + 1) } else if ones > 0 { codeBypass(bits, ones) }
    }
}
