internal import CVA

// The checks of H.264 parameter buffers before their values are used.
//
// SAFETY: each bit-field union of VA-API's buffers consists of an integer and one structure of bit fields over the same
// bits, so that every value is valid.

extension VAEncSequenceParameterBufferH264 {
    /// The level_idc values of table A-1; 9 is level 1b.
    private static let levels: [UInt8] = [9, 10, 11, 12, 13, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62]

    /// Checks the ranges of the values. `StreamState.setSize` checks the picture size.
    func check(_ environment: Environment) throws {
        let fields = unsafe seq_fields.bits
        try require(seq_parameter_set_id <= 31, "seq_parameter_set_id \(seq_parameter_set_id) exceeds 31")
        try environment.prefer(Self.levels.contains(level_idc), .level, "level_idc \(level_idc)")
        let hasTiming = unsafe vui_parameters_present_flag != 0 && vui_fields.bits.timing_info_present_flag != 0
        try environment.prefer(
            !hasTiming || num_units_in_tick > 0 && time_scale > 0, .timing,
            "num_units_in_tick \(num_units_in_tick) and time_scale \(time_scale)")
        try require(
            fields.chroma_format_idc == 1 && bit_depth_luma_minus8 == 0 && bit_depth_chroma_minus8 == 0,
            "only 8-bit 4:2:0 is encoded")
        try require(
            fields.frame_mbs_only_flag == 1 && fields.mb_adaptive_frame_field_flag == 0, "only frames are encoded")
        try require(fields.seq_scaling_matrix_present_flag == 0, "scaling matrices are not supported")
        try require(
            fields.log2_max_frame_num_minus4 <= 12 && fields.log2_max_pic_order_cnt_lsb_minus4 <= 12
                && fields.pic_order_cnt_type <= 2, "frame_num or picture order count fields out of range")
        try require(max_num_ref_frames <= 16, "max_num_ref_frames \(max_num_ref_frames) exceeds 16")
    }

    /// Checks that max_num_ref_frames allows the reference frames of the picture.
    func checkReferences(
        of picture: VAEncPictureParameterBufferH264, _ slices: [VAEncSliceParameterBufferH264], _ environment: Environment
    ) throws {
        let frames = FixedArray.values(picture.ReferenceFrames, as: VAPictureH264.self, count: 16).filter(\.isValid)
        let isPredicted = slices.contains { $0.slice_type % 5 != 2 }
        try environment.prefer(
            !isPredicted || max_num_ref_frames >= max(frames.count, 1), .referenceCount,
            "a picture has \(frames.count) reference frames, but max_num_ref_frames is \(max_num_ref_frames)")
    }
}

extension VAEncPictureParameterBufferH264 {
    var isIDR: Bool { unsafe pic_fields.bits.idr_pic_flag != 0 }

    /// Checks the ranges of the values, and that the profile and the encoder support them.
    func check(_ config: Config.Choice, sequence: VAEncSequenceParameterBufferH264) throws {
        let fields = unsafe pic_fields.bits
        try require(pic_init_qp <= 51, "pic_init_qp \(pic_init_qp) exceeds 51")
        try require(
            (-12...12).contains(chroma_qp_index_offset) && (-12...12).contains(second_chroma_qp_index_offset),
            "a chroma QP offset is outside -12…12")
        try require(
            seq_parameter_set_id == sequence.seq_parameter_set_id,
            "the picture's seq_parameter_set_id is \(seq_parameter_set_id), the sequence's"
                + " \(sequence.seq_parameter_set_id)")
        try require(
            Int(num_ref_idx_l0_active_minus1) < 32 && Int(num_ref_idx_l1_active_minus1) < 32,
            "num_ref_idx_active outside 1…32")
        let frameNumBits = unsafe 4 + sequence.seq_fields.bits.log2_max_frame_num_minus4
        try require(UInt32(frame_num) >> frameNumBits == 0, "frame_num \(frame_num) exceeds \(frameNumBits) bits")
        try require(fields.idr_pic_flag == 0 || frame_num == 0, "an IDR picture has frame_num \(frame_num)")
        try require(
            fields.idr_pic_flag == 0 || fields.reference_pic_flag != 0, "an IDR picture is not a reference")
        try require(fields.weighted_pred_flag == 0 && fields.weighted_bipred_idc == 0, "weighted prediction is not supported")
        try require(fields.pic_scaling_matrix_present_flag == 0, "scaling matrices are not supported")
        let profile = config.entry.profile
        try require(
            profile != VAProfileH264ConstrainedBaseline || fields.entropy_coding_mode_flag == 0,
            "CABAC in Constrained Baseline profile")
        try require(
            profile == VAProfileH264High || fields.transform_8x8_mode_flag == 0, "8×8 transform outside High profile")
        let field = UInt32(VA_PICTURE_H264_TOP_FIELD | VA_PICTURE_H264_BOTTOM_FIELD)
        try require((CurrPic.flags & field).nonzeroBitCount != 1, "only frames are encoded")
    }
}

extension VAEncSliceParameterBufferH264 {
    /// Checks the ranges of the slice's values and whether the encoder supports them.
    func check(picture: VAEncPictureParameterBufferH264, _ config: Config.Choice) throws {
        try require(slice_type <= 7 && slice_type % 5 <= 2, "slice_type \(slice_type)")
        try require(slice_type % 5 != 1 || config.entry.maximumReferences.list1 > 0, "B slices are not supported")
        try require(
            slice_type % 5 != 1 || direct_spatial_mv_pred_flag != 0, "temporal direct prediction is not supported")
        let isIDR = unsafe picture.pic_fields.bits.idr_pic_flag != 0
        try require(!isIDR || slice_type % 5 == 2, "an IDR picture has a slice that is not I")
        try require(
            pic_parameter_set_id == picture.pic_parameter_set_id,
            "the slice's pic_parameter_set_id is \(pic_parameter_set_id), the picture's \(picture.pic_parameter_set_id)"
        )
        // Per-macroblock parameters are not supported. Clients set VA_INVALID_ID or leave the field 0.
        try require(macroblock_info == VA_INVALID_ID || macroblock_info == 0, "per-macroblock parameters")
        let qp = Int(picture.pic_init_qp) + Int(slice_qp_delta)
        try require((0...51).contains(qp), "a slice's QP \(qp) is out of range")
        try require(cabac_init_idc <= 2, "cabac_init_idc \(cabac_init_idc)")
        try require(
            disable_deblocking_filter_idc <= 2, "disable_deblocking_filter_idc \(disable_deblocking_filter_idc)")
        try require(
            (-6...6).contains(slice_alpha_c0_offset_div2) && (-6...6).contains(slice_beta_offset_div2),
            "a deblocking offset is outside -6…6")
        try require(
            num_ref_idx_l0_active_minus1 < 32 && num_ref_idx_l1_active_minus1 < 32, "num_ref_idx_active outside 1…32")
    }
}

extension VAPictureH264 {
    /// Whether the entry contains a picture.
    var isValid: Bool { picture_id != VA_INVALID_ID && flags & UInt32(VA_PICTURE_H264_INVALID) == 0 }
}
