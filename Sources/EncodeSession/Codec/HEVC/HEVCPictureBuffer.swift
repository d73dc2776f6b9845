import EncodePlanning
import HEVCSyntax
import NALUnits
import VAAPI
import VideoBase

extension HEVCPictureParameters {
    /// Creates VAEncPictureParameterBufferHEVC from the picture's numbers, its reference picture set, the picture
    /// parameter set and the output buffer.
    init(
        _ plan: FramePlan, numbers: HEVCPictureNumbers, headers: HEVCStreamHeaders, reconstructions: [Surface],
        output: CodedBuffer
    ) {
        let pps = headers.pps
        self.init(
            decoded_curr_pic: HEVCPicture(
                reconstructions[plan.slot], pic_order_cnt: Int32(truncatingIfNeeded: numbers.picOrderCount),
                role: .none),
            // DriverQuirk.losesUnlistedReferences.
            reference_frames: numbers.stored.map {
                HEVCPicture($0, numbers: numbers, reconstructions: reconstructions)
            }, coded_buf: output,
            nal_unit_type: numbers.nal_unit_type.rawValue, idr_pic_flag: plan.type == .idr,
            coding_type: plan.type.coding_type,
            reference_pic_flag: numbers.isReference)
        // List 0 begins with the first stored picture.
        if headers.sps.sps_temporal_mvp_enabled_flag, !numbers.list0.isEmpty { collocated_ref_pic_index = 0 }
        pic_init_qp = UInt8(pps.init_qp)
        diff_cu_qp_delta_depth = UInt8(pps.diff_cu_qp_delta_depth ?? 0)
        cu_qp_delta_enabled_flag = pps.diff_cu_qp_delta_depth != nil
        pps_cb_qp_offset = Int8(pps.pps_cb_qp_offset)
        pps_cr_qp_offset = Int8(pps.pps_cr_qp_offset)
        log2_parallel_merge_level_minus2 = UInt8(pps.log2_parallel_merge_level - 2)
        num_ref_idx_l0_default_active_minus1 = UInt8(pps.num_ref_idx_default_active[0] - 1)
        num_ref_idx_l1_default_active_minus1 = UInt8(pps.num_ref_idx_default_active[1] - 1)
        slice_pic_parameter_set_id = UInt8(pps.pps_pic_parameter_set_id)
        sign_data_hiding_enabled_flag = pps.sign_data_hiding_enabled_flag
        constrained_intra_pred_flag = pps.constrained_intra_pred_flag
        transform_skip_enabled_flag = pps.transform_skip_enabled_flag
        pps_loop_filter_across_slices_enabled_flag = pps.pps_loop_filter_across_slices_enabled_flag
    }
}

extension HEVCPicture {
    /// Creates the entry of a stored picture, with its role in the current picture's reference picture set.
    init(_ stored: HEVCStoredPicture, numbers: HEVCPictureNumbers, reconstructions: [Surface]) {
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
            pic_order_cnt: Int32(truncatingIfNeeded: stored.picOrderCount), role: role)
    }
}

extension PictureType {
    /// The coding type. It also applies to P pictures that are coded with B slices.
    fileprivate var coding_type: HEVCPictureParameters.CodingType {
        switch self {
        case .idr, .i: .i
        case .p: .p
        case .b: .b
        }
    }
}
