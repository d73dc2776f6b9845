import EncodePlanning
import H264Syntax
import NALUnits
import VAAPI
import VideoBase

extension H264PictureParameters {
    /// Creates VAEncPictureParameterBufferH264 from the picture's numbers, the stored references, the picture parameter
    /// set and the output buffer.
    init(
        _ plan: FramePlan, _ numbers: H264PictureNumbers, pps: PictureParameterSet, reconstructions: [Surface],
        output: CodedBuffer
    ) {
        self.init(
            CurrPic: H264Picture(
                reconstructions[plan.slot], frame_idx: UInt32(numbers.frame_num),
                reference: numbers.nal_ref_idc == 0 ? .none : .shortTerm,
                TopFieldOrderCnt: Int32(truncatingIfNeeded: numbers.picOrderCount),
                BottomFieldOrderCnt: Int32(truncatingIfNeeded: numbers.picOrderCount)),
            ReferenceFrames: numbers.stored.map { H264Picture($0, reconstructions) }, coded_buf: output,
            frame_num: UInt16(numbers.frame_num), idr_pic_flag: plan.type == .idr,
            reference_pic_flag: numbers.nal_ref_idc == 0 ? 0 : 1,
            entropy_coding_mode_flag: pps.entropy_coding_mode_flag)
        pic_parameter_set_id = UInt8(pps.pic_parameter_set_id)
        seq_parameter_set_id = UInt8(pps.seq_parameter_set_id)
        pic_init_qp = UInt8(pps.pic_init_qp)
        num_ref_idx_l0_active_minus1 = UInt8(pps.num_ref_idx_default_active[0] - 1)
        num_ref_idx_l1_active_minus1 = UInt8(pps.num_ref_idx_default_active[1] - 1)
        chroma_qp_index_offset = Int8(pps.chroma_qp_index_offset)
        second_chroma_qp_index_offset = Int8(pps.second_chroma_qp_index_offset)
        weighted_pred_flag = pps.weighted_pred_flag
        weighted_bipred_idc = UInt32(pps.weighted_bipred_idc)
        constrained_intra_pred_flag = pps.constrained_intra_pred_flag
        transform_8x8_mode_flag = pps.transform_8x8_mode_flag
        deblocking_filter_control_present_flag = pps.deblocking_filter_control_present_flag
    }
}

extension H264Picture {
    /// Creates the entry of a stored reference.
    init(_ stored: H264StoredPicture, _ reconstructions: [Surface]) {
        self.init(
            reconstructions[stored.picture.slot], frame_idx: UInt32(stored.longTermIndex ?? stored.frame_num),
            reference: stored.longTermIndex == nil ? .shortTerm : .longTerm,
            TopFieldOrderCnt: Int32(truncatingIfNeeded: stored.picOrderCount),
            BottomFieldOrderCnt: Int32(truncatingIfNeeded: stored.picOrderCount))
    }
}
