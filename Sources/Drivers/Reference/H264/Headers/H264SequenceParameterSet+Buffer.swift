package import CVA

// SAFETY: the bit-field unions of VA-API's buffers are plain integers, and each union has only one set of fields.

extension H264SequenceParameterSet {
    /// Makes the parameter set for a client's sequence buffer, for clients that send no packed parameter set.
    ///
    /// Fields, scaling lists and formats other than 8-bit 4:2:0 are never written, because the driver does not support
    /// them. The back end rejects such buffers earlier.
    package init(_ buffer: VAEncSequenceParameterBufferH264, profile: H264Profile) {
        let fields = unsafe buffer.seq_fields.bits
        profile_idc = profile.profile_idc
        constraint_flags = profile.constraint_flags
        level_idc = buffer.level_idc
        if level_idc == 9 && profile != .high {
            // Level 1b in profiles other than High, A.3.1.
            level_idc = 11
            constraint_flags |= 0b0001_0000
        }
        seq_parameter_set_id = Int(buffer.seq_parameter_set_id)
        log2_max_frame_num = min(4 + Int(fields.log2_max_frame_num_minus4), 16)
        pic_order_cnt_type = min(Int(fields.pic_order_cnt_type), 2)
        log2_max_pic_order_cnt_lsb = min(4 + Int(fields.log2_max_pic_order_cnt_lsb_minus4), 16)
        if pic_order_cnt_type == 1 {
            delta_pic_order_always_zero_flag = fields.delta_pic_order_always_zero_flag != 0
            offset_for_non_ref_pic = Int(buffer.offset_for_non_ref_pic)
            offset_for_top_to_bottom_field = Int(buffer.offset_for_top_to_bottom_field)
            let count = Int(buffer.num_ref_frames_in_pic_order_cnt_cycle)
            let offsets = FixedArray.values(buffer.offset_for_ref_frame, as: Int32.self, count: count)
            offset_for_ref_frame = offsets.map { Int($0) }
        }
        max_num_ref_frames = Int(min(buffer.max_num_ref_frames, 16))
        pic_width_in_mbs = max(Int(buffer.picture_width_in_mbs), 1)
        pic_height_in_map_units = max(Int(buffer.picture_height_in_mbs), 1)
        direct_8x8_inference_flag = fields.direct_8x8_inference_flag != 0
        frame_cropping_flag = buffer.frame_cropping_flag != 0
        if frame_cropping_flag {
            frame_crop_left_offset = Int(buffer.frame_crop_left_offset)
            frame_crop_right_offset = Int(buffer.frame_crop_right_offset)
            frame_crop_top_offset = Int(buffer.frame_crop_top_offset)
            frame_crop_bottom_offset = Int(buffer.frame_crop_bottom_offset)
        }
        if buffer.vui_parameters_present_flag != 0 {
            vui = VUIParameters(buffer, max_num_ref_frames: max_num_ref_frames)
        }
    }
}

extension H264SequenceParameterSet.VUIParameters {
    /// Makes the VUI parameters for a client's sequence buffer.
    ///
    /// The buffer has no limits of reordering. max_num_reorder_frames is 0 if the client's ip_period allows no B
    /// pictures, otherwise it is the number of reference frames.
    init(_ buffer: VAEncSequenceParameterBufferH264, max_num_ref_frames: Int) {
        self.init()
        let fields = unsafe buffer.vui_fields.bits
        if fields.aspect_ratio_info_present_flag != 0 {
            aspect_ratio_idc = buffer.aspect_ratio_idc
            sampleAspectRatio = (
                UInt16(truncatingIfNeeded: buffer.sar_width), UInt16(truncatingIfNeeded: buffer.sar_height)
            )
        }
        if fields.timing_info_present_flag != 0 {
            timing = Timing(
                num_units_in_tick: buffer.num_units_in_tick, time_scale: buffer.time_scale,
                fixed_frame_rate_flag: fields.fixed_frame_rate_flag != 0)
        }
        if fields.bitstream_restriction_flag != 0 {
            restriction = Restriction(
                motion_vectors_over_pic_boundaries_flag: fields.motion_vectors_over_pic_boundaries_flag != 0,
                log2_max_mv_length_horizontal: min(Int(fields.log2_max_mv_length_horizontal), 16),
                log2_max_mv_length_vertical: min(Int(fields.log2_max_mv_length_vertical), 16),
                max_num_reorder_frames: buffer.ip_period > 1 ? max_num_ref_frames : 0,
                max_dec_frame_buffering: max_num_ref_frames)
        }
    }
}

extension H264PictureParameterSet {
    /// Makes the parameter set for a client's picture buffer, for clients that send no packed parameter set.
    package init(_ buffer: VAEncPictureParameterBufferH264, profile: H264Profile) {
        let fields = unsafe buffer.pic_fields.bits
        pic_parameter_set_id = Int(buffer.pic_parameter_set_id)
        seq_parameter_set_id = Int(buffer.seq_parameter_set_id)
        entropy_coding_mode_flag = fields.entropy_coding_mode_flag != 0
        bottom_field_pic_order_in_frame_present_flag = fields.pic_order_present_flag != 0
        num_ref_idx_default_active = [
            min(Int(buffer.num_ref_idx_l0_active_minus1), 31) + 1,
            min(Int(buffer.num_ref_idx_l1_active_minus1), 31) + 1,
        ]
        weighted_pred_flag = fields.weighted_pred_flag != 0
        weighted_bipred_idc = min(Int(fields.weighted_bipred_idc), 2)
        pic_init_qp = Int(buffer.pic_init_qp)
        chroma_qp_index_offset = Int(buffer.chroma_qp_index_offset)
        deblocking_filter_control_present_flag = fields.deblocking_filter_control_present_flag != 0
        constrained_intra_pred_flag = fields.constrained_intra_pred_flag != 0
        redundant_pic_cnt_present_flag = fields.redundant_pic_cnt_present_flag != 0
        if profile == .high {
            hasHighFields = true
            transform_8x8_mode_flag = fields.transform_8x8_mode_flag != 0
            second_chroma_qp_index_offset = Int(buffer.second_chroma_qp_index_offset)
        }
    }
}
