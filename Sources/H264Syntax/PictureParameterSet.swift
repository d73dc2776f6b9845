import NALUnits
public import VideoBase

/// pic_parameter_set_rbsp(), H.264 7.3.2.2, with one slice group. Fields have the standard's names and values.
public struct PictureParameterSet: Sendable, Hashable {
    public var pic_parameter_set_id = 0
    public var seq_parameter_set_id = 0
    /// CABAC.
    public var entropy_coding_mode_flag: Bool
    public var num_ref_idx_l0_default_active = 1
    public var num_ref_idx_l1_default_active = 1
    public var weighted_pred_flag = false
    public var weighted_bipred_idc: UInt8 = 0
    /// pic_init_qp_minus26 + 26.
    public var pic_init_qp = 26
    public var chroma_qp_index_offset = 0
    public var deblocking_filter_control_present_flag = true
    public var constrained_intra_pred_flag = false
    /// The three fields at the end, which only the High profiles have.
    public var hasHighFields: Bool
    public var transform_8x8_mode_flag: Bool
    public var second_chroma_qp_index_offset = 0

    public init(profile: CodecProfile, entropy: EntropyCoder, transform8x8: Bool, qp: Int, references: Int) {
        entropy_coding_mode_flag = entropy == .cabac
        hasHighFields = profile == .h264High
        transform_8x8_mode_flag = hasHighFields && transform8x8
        pic_init_qp = qp
        num_ref_idx_l0_default_active = max(references, 1)
    }

    /// The NAL unit, without a start code.
    public var unit: [UInt8] {
        var w = BitWriter()
        w.ue(pic_parameter_set_id)
        w.ue(seq_parameter_set_id)
        w.flag(entropy_coding_mode_flag)
        w.flag(false)  // bottom_field_pic_order_in_frame_present_flag
        w.ue(0)  // num_slice_groups_minus1
        w.ue(num_ref_idx_l0_default_active - 1)
        w.ue(num_ref_idx_l1_default_active - 1)
        w.flag(weighted_pred_flag)
        w.u(2, weighted_bipred_idc)
        w.se(pic_init_qp - 26)
        w.se(0)  // pic_init_qs_minus26
        w.se(chroma_qp_index_offset)
        w.flag(deblocking_filter_control_present_flag)
        w.flag(constrained_intra_pred_flag)
        w.flag(false)  // redundant_pic_cnt_present_flag
        if hasHighFields {
            w.flag(transform_8x8_mode_flag)
            w.flag(false)  // pic_scaling_matrix_present_flag
            w.se(second_chroma_qp_index_offset)
        }
        return w.unit(.pictureParameterSet, refIdc: 3)
    }
}
