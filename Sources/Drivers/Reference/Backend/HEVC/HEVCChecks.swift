internal import CVA

// The checks of HEVC parameter buffers before their values are used.
//
// SAFETY: each bit-field union of VA-API's buffers consists of an integer and one structure of bit fields over the same
// bits, so that every value is valid.

extension VAEncSequenceParameterBufferHEVC {
    /// The general_level_idc of the levels of A.4.1, and of level 8.5, which has no limits.
    private static let levels: [UInt8] = [30, 60, 63, 90, 93, 120, 123, 150, 153, 156, 180, 183, 186, 255]

    /// Sets general_profile_idc to the config's profile. Some clients set another, and real drivers use the config's.
    mutating func setProfile(of context: Context) throws {
        let profile: UInt8 = context.config.entry.bitDepth > 8 ? 2 : 1
        try context.environment.prefer(
            general_profile_idc == profile, .profile,
            "general_profile_idc \(general_profile_idc) does not match a config of \(context.config.entry.bitDepth) "
                + "bits")
        general_profile_idc = profile
    }

    /// Checks the ranges of the values and whether the encoder supports them. `StreamState.setSize` checks the picture
    /// size.
    func check(_ context: Context, _ behavior: HEVCBehavior) throws {
        let fields = unsafe seq_fields.bits
        let entry = context.config.entry
        let environment = context.environment
        try environment.prefer(Self.levels.contains(general_level_idc), .level, "general_level_idc \(general_level_idc)")
        let hasTiming = unsafe vui_parameters_present_flag != 0 && vui_fields.bits.vui_timing_info_present_flag != 0
        try environment.prefer(
            !hasTiming || vui_num_units_in_tick > 0 && vui_time_scale > 0, .timing,
            "vui_num_units_in_tick \(vui_num_units_in_tick) and vui_time_scale \(vui_time_scale)")
        try require(general_tier_flag <= 1, "general_tier_flag \(general_tier_flag)")
        try environment.prefer(
            general_tier_flag == 0 || general_level_idc >= 120, .level,
            "general_tier_flag \(general_tier_flag) at general_level_idc \(general_level_idc)")
        let depth = UInt32(entry.bitDepth - 8)
        try require(
            fields.chroma_format_idc == 1 && fields.separate_colour_plane_flag == 0
                && fields.bit_depth_luma_minus8 == fields.bit_depth_chroma_minus8
                && [0, depth].contains(fields.bit_depth_luma_minus8),
            "only 4:2:0 of \(entry.bitDepth) bits is encoded in this config")
        try environment.prefer(
            fields.bit_depth_luma_minus8 == depth, .bitDepth,
            "bit_depth_luma_minus8 \(fields.bit_depth_luma_minus8) does not match a config of \(entry.bitDepth) bits")
        try require(fields.scaling_list_enabled_flag == 0, "scaling lists are not supported")
        try require(fields.pcm_enabled_flag == 0, "PCM is not supported")
        let features = HEVCFeatures(entry, behavior)
        try features.check(.asymmetricPartitions, fields.amp_enabled_flag != 0)
        try features.check(.sampleAdaptiveOffset, fields.sample_adaptive_offset_enabled_flag != 0)
        try features.check(.temporalVectors, fields.sps_temporal_mvp_enabled_flag != 0)
        try features.check(.strongIntraSmoothing, fields.strong_intra_smoothing_enabled_flag != 0)
        try HEVCBlockSizes(entry).check(HEVCSequenceParameterSet(self), behavior)
    }
}

extension VAEncPictureParameterBufferHEVC {
    var isIDR: Bool { unsafe pic_fields.bits.idr_pic_flag != 0 }

    /// Sets nal_unit_type to that of the packed slice header, as in real drivers that copy the client's headers into
    /// the stream. Without a packed header, a type that contradicts idr_pic_flag is replaced.
    mutating func setUnitType(packed: [RenderedHeader], _ environment: Environment) throws {
        let slice = packed.first { $0.type == UInt32(VAEncPackedHeaderSlice.rawValue) }
        let isKnown = isIDR == (nal_unit_type == 19 || nal_unit_type == 20)
        guard let type = slice?.sliceType(.hevc) ?? (isKnown ? nil : isIDR ? 19 : 1), type != nal_unit_type else { return }
        try environment.tolerate(
            .unitType,
            .invalidParameter("nal_unit_type \(nal_unit_type) does not match the picture's nal_unit_type \(type)"))
        nal_unit_type = type
    }

    /// Checks the ranges of the values and whether the encoder supports them. `sequence` must be checked before.
    func check(_ config: Config.Choice, _ sequence: HEVCSequenceParameterSet, _ behavior: HEVCBehavior) throws {
        let fields = unsafe pic_fields.bits
        let depth = sequence.log2CodingTreeBlock - sequence.log2MinCodingBlock
        try require(pic_init_qp <= 51, "pic_init_qp \(pic_init_qp)")
        try require(
            fields.cu_qp_delta_enabled_flag == 0 || Int(diff_cu_qp_delta_depth) <= depth,
            "diff_cu_qp_delta_depth \(diff_cu_qp_delta_depth), of \(depth)")
        try require(
            (-12...12).contains(pps_cb_qp_offset) && (-12...12).contains(pps_cr_qp_offset),
            "a chroma QP offset is outside -12…12")
        try require(
            Int(log2_parallel_merge_level_minus2) + 2 <= sequence.log2CodingTreeBlock,
            "log2_parallel_merge_level_minus2 \(log2_parallel_merge_level_minus2)")
        try require(
            num_ref_idx_l0_default_active_minus1 < 15 && num_ref_idx_l1_default_active_minus1 < 15,
            "num_ref_idx_default_active outside 1…15")
        try require(slice_pic_parameter_set_id <= 63, "slice_pic_parameter_set_id \(slice_pic_parameter_set_id)")
        try require(
            fields.weighted_pred_flag == 0 && fields.weighted_bipred_flag == 0, "weighted prediction is not supported")
        try require(fields.transquant_bypass_enabled_flag == 0, "lossless coding units are not supported")
        try require(fields.dependent_slice_segments_enabled_flag == 0, "dependent slice segments are not supported")
        try require(fields.entropy_coding_sync_enabled_flag == 0, "wavefronts are not supported")
        try require(fields.scaling_list_data_present_flag == 0, "scaling lists are not supported")
        let refersToItself = unsafe scc_fields.bits.pps_curr_pic_ref_enabled_flag != 0
        try require(!refersToItself, "the picture is its own reference")
        let features = HEVCFeatures(config.entry, behavior)
        try features.check(.signHiding, fields.sign_data_hiding_enabled_flag != 0)
        try features.check(.constrainedIntra, fields.constrained_intra_pred_flag != 0)
        try features.check(.transformSkip, fields.transform_skip_enabled_flag != 0)
        try features.check(.quantizerDelta, fields.cu_qp_delta_enabled_flag != 0)
        try checkKind()
        try checkReferences()
        try checkTiles(config, sequence.grid)
        let field = UInt32(VA_PICTURE_HEVC_FIELD_PIC | VA_PICTURE_HEVC_BOTTOM_FIELD)
        try require(decoded_curr_pic.flags & field == 0, "only frames are encoded")
        try require(
            collocated_ref_pic_index == 0xff || collocated_ref_pic_index < 15,
            "collocated_ref_pic_index \(collocated_ref_pic_index)")
    }

    /// Checks that idr_pic_flag, coding_type and the picture order count agree with the NAL unit type, table 7-1.
    private func checkKind() throws {
        let fields = unsafe pic_fields.bits
        try require(nal_unit_type <= 9 || (16...21).contains(nal_unit_type), "nal_unit_type \(nal_unit_type)")
        try require(
            isIDR == (nal_unit_type == 19 || nal_unit_type == 20),
            "idr_pic_flag \(fields.idr_pic_flag) with nal_unit_type \(nal_unit_type)")
        try require(
            !isIDR || decoded_curr_pic.pic_order_cnt == 0,
            "an IDR picture has the order "
                + "\(decoded_curr_pic.pic_order_cnt)")
        try require(!isIDR || fields.reference_pic_flag != 0, "an IDR picture is not a reference")
        try require((1...5).contains(fields.coding_type), "coding_type \(fields.coding_type)")
        try require(nal_unit_type < 16 || fields.coding_type == 1, "a random access picture is not of type I")
    }

    /// Checks the number and sizes of tiles. The sizes of the last column and row in the buffer are not used.
    private func checkTiles(_ config: Config.Choice, _ grid: HEVCGrid) throws {
        guard unsafe pic_fields.bits.tiles_enabled_flag != 0 else { return }
        try require(config.entry.value(VAConfigAttribEncTileSupport) ?? 0 != 0, "tiles are not supported")
        let (columns, rows) = (Int(num_tile_columns_minus1) + 1, Int(num_tile_rows_minus1) + 1)
        try require(columns <= 20 && rows <= 22 && columns * rows > 1, "\(columns)x\(rows) tiles")
        guard let tiles = HEVCPictureParameterSet(self).tiles?.bounds(grid) else {
            throw Refusal.invalidParameter(
                "the tiles do not cover the picture's \(grid.columns)x\(grid.rows) coding "
                    + "trees")
        }
        // ColumnWidthInLumaSamples and RowHeightInLumaSamples of Main and Main 10, A.3.2 and A.3.3.
        func least(_ bounds: [Int]) -> Int {
            zip(bounds, bounds.dropFirst()).map { ($1 - $0) << grid.log2CodingTreeBlock }.min() ?? 0
        }
        let (width, height) = (least(tiles.columnBounds), least(tiles.rowBounds))
        try require(width >= 256 && height >= 64, "tiles of \(width)x\(height) are smaller than 256x64")
    }
}

extension VAEncSliceParameterBufferHEVC {
    /// Checks the ranges of the slice's values and whether the encoder supports them.
    func check(
        _ picture: VAEncPictureParameterBufferHEVC, _ config: Config.Choice, _ behavior: HEVCBehavior
    ) throws {
        let fields = unsafe slice_fields.bits
        try require(slice_type <= 2, "slice_type \(slice_type)")
        try require(slice_type == 2 || picture.nal_unit_type < 16, "a random access picture has a slice that is not I")
        try require(
            slice_pic_parameter_set_id == picture.slice_pic_parameter_set_id,
            "the slice's slice_pic_parameter_set_id is \(slice_pic_parameter_set_id), the picture's"
                + " \(picture.slice_pic_parameter_set_id)")
        try require(fields.dependent_slice_segment_flag == 0, "dependent slice segments are not supported")
        let qp = Int(picture.pic_init_qp) + Int(slice_qp_delta)
        try require((0...51).contains(qp), "a slice's QP \(qp) is out of range")
        for (offset, whole) in [(slice_cb_qp_offset, picture.pps_cb_qp_offset), (slice_cr_qp_offset, picture.pps_cr_qp_offset)] {
            try require(
                (-12...12).contains(offset) && (-12...12).contains(Int(offset) + Int(whole)),
                "a slice's chroma QP offset of \(offset)")
        }
        try require(
            (-6...6).contains(slice_beta_offset_div2) && (-6...6).contains(slice_tc_offset_div2),
            "a deblocking offset is outside -6…6")
        try HEVCFeatures(config.entry, behavior).check(
            .deblockingDisable, fields.slice_deblocking_filter_disabled_flag != 0)
        guard slice_type < 2 else { return }
        try require((1...5).contains(max_num_merge_cand), "max_num_merge_cand \(max_num_merge_cand)")
        let limits = config.entry.maximumReferences
        try require(slice_type == 1 || limits.list1 > 0, "B slices are not supported")
        let counts = [Int(num_ref_idx_l0_active_minus1) + 1, slice_type == 0 ? Int(num_ref_idx_l1_active_minus1) + 1 : 0]
        try require(
            counts[0] <= min(limits.list0, 15) && counts[1] <= min(limits.list1, 15),
            "\(counts[0]) and \(counts[1]) references, more than \(limits.list0) and \(limits.list1)")
    }
}
