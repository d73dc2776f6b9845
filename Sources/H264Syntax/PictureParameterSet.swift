package import NALUnits
package import VideoBase

/// The picture parameter set, pic_parameter_set_rbsp(), H.264 7.3.2.2, with one slice group. The fields have the names
/// and values of the standard.
package struct PictureParameterSet: Sendable, Hashable {
    /// The ID of the picture parameter set, 0…255.
    package var pic_parameter_set_id = 0
    /// The ID of the sequence parameter set to which this set refers, 0…31.
    package var seq_parameter_set_id = 0
    /// Whether CABAC is used instead of CAVLC.
    package var entropy_coding_mode_flag: Bool
    /// num_ref_idx_l0_default_active_minus1 + 1 and num_ref_idx_l1_default_active_minus1 + 1: the default numbers of
    /// entries in lists 0 and 1.
    package var num_ref_idx_default_active = PerList(1, 1)
    /// Whether P slices use explicit weighted prediction.
    package var weighted_pred_flag = false
    /// The weighted prediction of B slices: 0 default, 1 explicit, 2 implicit.
    package var weighted_bipred_idc: UInt8 = 0
    /// pic_init_qp_minus26 + 26.
    package var pic_init_qp = 26
    /// The offset of the QP of Cb (and of Cr without the fields of the High profiles), −12…12.
    package var chroma_qp_index_offset = 0
    /// Whether slice headers contain deblocking parameters.
    package var deblocking_filter_control_present_flag = true
    /// Whether intra macroblocks predict only from intra macroblocks.
    package var constrained_intra_pred_flag = false
    /// Whether the set has the three fields at the end, which exist only in the High profiles.
    package var hasHighFields: Bool
    /// Whether macroblocks may use the 8×8 transform.
    package var transform_8x8_mode_flag: Bool
    /// The offset of the QP of Cr, −12…12.
    package var second_chroma_qp_index_offset = 0

    /// Creates a parameter set.
    ///
    /// - Parameters:
    ///   - qp: The initial QP of slices.
    ///   - references: The default number of entries in list 0.
    package init(profile: CodecProfile, entropy: EntropyCoder, transform8x8: Bool, qp: Int, references: Int) {
        entropy_coding_mode_flag = entropy == .cabac
        hasHighFields = profile.hasHighElements
        transform_8x8_mode_flag = hasHighFields && transform8x8
        pic_init_qp = qp
        num_ref_idx_default_active[0] = max(references, 1)
    }

    /// The NAL unit without a start code.
    package var unit: [UInt8] {
        var w = BitWriter()
        w.ue(pic_parameter_set_id)
        w.ue(seq_parameter_set_id)
        w.flag(entropy_coding_mode_flag)
        w.flag(false)  // bottom_field_pic_order_in_frame_present_flag
        w.ue(0)  // num_slice_groups_minus1
        w.ue(num_ref_idx_default_active[0] - 1)
        w.ue(num_ref_idx_default_active[1] - 1)
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
        return w.unit(.pictureParameterSet, nal_ref_idc: 3)
    }
}
