import EncodePlanning
import HEVCSyntax
import VAAPI
import VideoBase

extension HEVCPictureParameters {
    /// Creates VAEncPictureParameterBufferHEVC from the picture's numbers, its reference picture set, the picture
    /// parameter set and the output buffer.
    init(
        _ plan: FramePlan, _ numbers: HEVCPictureNumbers, _ headers: HEVCStreamHeaders, reconstructions: [Surface],
        output: CodedBuffer
    ) {
        let pps = headers.pps
        self.init(
            current: HEVCPicture(
                reconstructions[plan.slot], pictureOrderCount: Int32(truncatingIfNeeded: numbers.picOrderCount),
                role: .none),
            references: numbers.stored.map { HEVCPicture($0, numbers, reconstructions) }, codedBuffer: output,
            nalUnitType: numbers.nalUnitType.rawValue, isIDR: plan.type == .idr, codingType: plan.type.codingType,
            isReference: numbers.isReference)
        // List 0 begins with the first stored picture.
        if headers.sps.sps_temporal_mvp_enabled_flag, !numbers.list0.isEmpty { collocatedReference = 0 }
        picInitQP = UInt8(pps.init_qp)
        diffCUQPDeltaDepth = UInt8(pps.diff_cu_qp_delta_depth ?? 0)
        cuQPDelta = pps.diff_cu_qp_delta_depth != nil
        cbQPOffset = Int8(pps.pps_cb_qp_offset)
        crQPOffset = Int8(pps.pps_cr_qp_offset)
        log2ParallelMergeLevelMinus2 = UInt8(pps.log2_parallel_merge_level - 2)
        numRefIdxL0DefaultActiveMinus1 = UInt8(pps.num_ref_idx_default_active[0] - 1)
        numRefIdxL1DefaultActiveMinus1 = UInt8(pps.num_ref_idx_default_active[1] - 1)
        slicePicParameterSetID = UInt8(pps.pps_pic_parameter_set_id)
        signDataHiding = pps.sign_data_hiding_enabled_flag
        constrainedIntraPred = pps.constrained_intra_pred_flag
        transformSkip = pps.transform_skip_enabled_flag
        loopFilterAcrossSlices = pps.pps_loop_filter_across_slices_enabled_flag
    }
}

extension HEVCPicture {
    /// Creates the entry of a stored picture, with its role in the current picture's reference picture set.
    init(_ stored: HEVCStoredPicture, _ numbers: HEVCPictureNumbers, _ reconstructions: [Surface]) {
        let isUsed = numbers.list0.contains(stored) || numbers.list1.contains(stored)
        let role: Role =
            switch (stored.isLongTerm, isUsed) {
            case (true, true): .longTerm
            case (true, false): .longTermKept
            case (false, true): stored.picOrderCount < numbers.picOrderCount ? .shortTermBefore : .shortTermAfter
            case (false, false): .none
            }
        self.init(
            reconstructions[stored.picture.slot],
            pictureOrderCount: Int32(truncatingIfNeeded: stored.picOrderCount), role: role)
    }
}

extension PictureType {
    /// The coding type. It also applies to P pictures that are coded with B slices.
    fileprivate var codingType: HEVCPictureParameters.CodingType {
        switch self {
        case .idr, .i: .i
        case .p: .p
        case .b: .b
        }
    }
}
