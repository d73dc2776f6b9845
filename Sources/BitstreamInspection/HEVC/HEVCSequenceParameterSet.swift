/// seq_parameter_set_rbsp() (H.265 7.3.2.2) of layer 0, without its extensions.
package struct HEVCSequenceParameterSet: Sendable, Hashable {
    /// The PCM parameters; present with pcm_enabled_flag.
    package struct PCM: Sendable, Hashable {
        package var bit_depth_luma: Int
        package var bit_depth_chroma: Int
        package var log2_min_size: Int
        package var log2_max_size: Int
        package var pcm_loop_filter_disabled_flag: Bool
    }

    /// An entry of lt_ref_pic_poc_lsb_sps[] and used_by_curr_pic_lt_sps_flag[].
    package struct LongTermPicture: Sendable, Hashable {
        package var lt_ref_pic_poc_lsb_sps: Int
        package var used_by_curr_pic_lt_sps_flag: Bool
    }

    package var sps_video_parameter_set_id: Int
    package var sps_max_sub_layers: Int
    package var sps_temporal_id_nesting_flag: Bool
    package var profileTierLevel: HEVCProfileTierLevel
    package var sps_seq_parameter_set_id: Int
    package var chroma_format_idc: Int
    package var separate_colour_plane_flag = false
    package var pic_width_in_luma_samples: Int
    package var pic_height_in_luma_samples: Int
    package var conformance_window_flag: Bool
    /// The conf_win offsets are in units of chroma samples, and 0 without conformance_window_flag.
    package var conf_win_left_offset = 0
    package var conf_win_right_offset = 0
    package var conf_win_top_offset = 0
    package var conf_win_bottom_offset = 0
    package var bit_depth_luma: Int
    package var bit_depth_chroma: Int
    package var log2_max_pic_order_cnt_lsb: Int
    /// The ordering information by HighestTid.
    package var subLayers: [HEVCSubLayerOrdering]
    package var log2_min_luma_coding_block_size: Int
    package var log2_diff_max_min_luma_coding_block_size: Int
    package var log2_min_luma_transform_block_size: Int
    package var log2_diff_max_min_luma_transform_block_size: Int
    package var max_transform_hierarchy_depth_inter: Int
    package var max_transform_hierarchy_depth_intra: Int
    package var scaling_list_enabled_flag: Bool
    package var sps_scaling_list_data_present_flag = false
    package var amp_enabled_flag: Bool
    package var sample_adaptive_offset_enabled_flag: Bool
    /// The PCM parameters; nil without pcm_enabled_flag.
    package var pcm: PCM?
    package var short_term_ref_pic_sets: [HEVCShortTermReferencePictureSet] = []
    package var long_term_ref_pics_present_flag: Bool
    package var long_term_ref_pics_sps: [LongTermPicture] = []
    package var sps_temporal_mvp_enabled_flag: Bool
    package var strong_intra_smoothing_enabled_flag: Bool
    package var vui: HEVCVUIParameters?
    package var sps_extension_present_flag: Bool

    /// MaxPicOrderCntLsb.
    package var maxPictureOrderCountLsb: Int { 1 << log2_max_pic_order_cnt_lsb }
    /// CtbLog2SizeY.
    package var ctbLog2Size: Int { log2_min_luma_coding_block_size + log2_diff_max_min_luma_coding_block_size }
    /// MaxTbLog2SizeY.
    package var maxTbLog2Size: Int { log2_min_luma_transform_block_size + log2_diff_max_min_luma_transform_block_size }
    /// CtbSizeY.
    package var ctbSize: Int { 1 << ctbLog2Size }
    /// PicWidthInCtbsY.
    package var widthInCtbs: Int { (pic_width_in_luma_samples + ctbSize - 1) / ctbSize }
    /// PicHeightInCtbsY.
    package var heightInCtbs: Int { (pic_height_in_luma_samples + ctbSize - 1) / ctbSize }
    /// PicSizeInCtbsY.
    package var sizeInCtbs: Int { widthInCtbs * heightInCtbs }
    /// PicSizeInSamplesY.
    package var sizeInSamples: Int { pic_width_in_luma_samples * pic_height_in_luma_samples }
    /// ChromaArrayType.
    package var chromaArrayType: Int { separate_colour_plane_flag ? 0 : chroma_format_idc }
    /// The ordering information of the highest sub-layer.
    package var highest: HEVCSubLayerOrdering { subLayers[subLayers.count - 1] }

    /// The width and height of the conformance window in luma samples (7.4.3.2.1).
    package var visibleSize: (width: Int, height: Int) {
        let (unitX, unitY) = (
            chroma_format_idc == 1 || chroma_format_idc == 2 ? 2 : 1, chroma_format_idc == 1 ? 2 : 1
        )
        return (
            pic_width_in_luma_samples - unitX * (conf_win_left_offset + conf_win_right_offset),
            pic_height_in_luma_samples - unitY * (conf_win_top_offset + conf_win_bottom_offset)
        )
    }

    /// Parses a sequence parameter set.
    ///
    /// - Throws: `Malformed` if the set cannot be read or has a value that is out of range.
    init(rbsp: [UInt8]) throws(Malformed) {
        var reader = BitReader(rbsp)
        sps_video_parameter_set_id = reader.bits(4)
        sps_max_sub_layers = reader.bits(3) + 1
        guard sps_max_sub_layers <= 7 else { throw Malformed("sps_max_sub_layers_minus1 is 7") }
        sps_temporal_id_nesting_flag = reader.flag()
        if sps_max_sub_layers == 1, !sps_temporal_id_nesting_flag {
            throw Malformed("sps_temporal_id_nesting_flag must be 1 with one sub-layer")
        }
        profileTierLevel = try HEVCProfileTierLevel(&reader, maxSubLayers: sps_max_sub_layers)
        sps_seq_parameter_set_id = try reader.unsigned("sps_seq_parameter_set_id", in: 0...15)
        chroma_format_idc = try reader.unsigned("chroma_format_idc", in: 0...3)
        if chroma_format_idc == 3 { separate_colour_plane_flag = reader.flag() }
        // Level 6.2 limits each side to √(8 · MaxLumaPs) (A.4.1).
        pic_width_in_luma_samples = try reader.unsigned("pic_width_in_luma_samples", in: 1...16888)
        pic_height_in_luma_samples = try reader.unsigned("pic_height_in_luma_samples", in: 1...16888)
        conformance_window_flag = reader.flag()
        if conformance_window_flag {
            conf_win_left_offset = try reader.unsigned("conf_win_left_offset", in: 0...17000)
            conf_win_right_offset = try reader.unsigned("conf_win_right_offset", in: 0...17000)
            conf_win_top_offset = try reader.unsigned("conf_win_top_offset", in: 0...17000)
            conf_win_bottom_offset = try reader.unsigned("conf_win_bottom_offset", in: 0...17000)
        }
        bit_depth_luma = try reader.unsigned("bit_depth_luma_minus8", in: 0...8) + 8
        bit_depth_chroma = try reader.unsigned("bit_depth_chroma_minus8", in: 0...8) + 8
        log2_max_pic_order_cnt_lsb = try reader.unsigned("log2_max_pic_order_cnt_lsb_minus4", in: 0...12) + 4
        subLayers = try HEVCSubLayerOrdering.read(&reader, maxSubLayers: sps_max_sub_layers)
        log2_min_luma_coding_block_size = try reader.unsigned("log2_min_luma_coding_block_size_minus3", in: 0...3) + 3
        log2_diff_max_min_luma_coding_block_size = try reader.unsigned(
            "log2_diff_max_min_luma_coding_block_size", in: 0...(6 - log2_min_luma_coding_block_size))
        log2_min_luma_transform_block_size =
            try reader.unsigned("log2_min_luma_transform_block_size_minus2", in: 0...3) + 2
        log2_diff_max_min_luma_transform_block_size = try reader.unsigned(
            "log2_diff_max_min_luma_transform_block_size", in: 0...3)
        let ctbLog2Size = log2_min_luma_coding_block_size + log2_diff_max_min_luma_coding_block_size
        let depths = 0...(ctbLog2Size - min(log2_min_luma_transform_block_size, ctbLog2Size))
        max_transform_hierarchy_depth_inter = try reader.unsigned("max_transform_hierarchy_depth_inter", in: depths)
        max_transform_hierarchy_depth_intra = try reader.unsigned("max_transform_hierarchy_depth_intra", in: depths)
        scaling_list_enabled_flag = reader.flag()
        if scaling_list_enabled_flag {
            sps_scaling_list_data_present_flag = reader.flag()
            if sps_scaling_list_data_present_flag { try HEVCScalingLists.skip(&reader) }
        }
        amp_enabled_flag = reader.flag()
        sample_adaptive_offset_enabled_flag = reader.flag()
        if reader.flag() {
            let (luma, chroma) = (reader.bits(4) + 1, reader.bits(4) + 1)
            let smallest = try reader.unsigned("log2_min_pcm_luma_coding_block_size_minus3", in: 0...2) + 3
            let largest = smallest + (try reader.unsigned("log2_diff_max_min_pcm_luma_coding_block_size", in: 0...2))
            pcm = PCM(
                bit_depth_luma: luma, bit_depth_chroma: chroma, log2_min_size: smallest, log2_max_size: largest,
                pcm_loop_filter_disabled_flag: reader.flag())
        }
        let count = try reader.unsigned("num_short_term_ref_pic_sets", in: 0...64)
        for index in 0..<count {
            short_term_ref_pic_sets.append(
                try HEVCShortTermReferencePictureSet(
                    &reader, index: index, isInSlice: false, sets: short_term_ref_pic_sets,
                    limit: (subLayers.last?.max_dec_pic_buffering ?? 1) - 1))
        }
        long_term_ref_pics_present_flag = reader.flag()
        if long_term_ref_pics_present_flag {
            for _ in 0..<(try reader.unsigned("num_long_term_ref_pics_sps", in: 0...32)) {
                long_term_ref_pics_sps.append(
                    LongTermPicture(
                        lt_ref_pic_poc_lsb_sps: reader.bits(log2_max_pic_order_cnt_lsb),
                        used_by_curr_pic_lt_sps_flag: reader.flag()))
            }
        }
        sps_temporal_mvp_enabled_flag = reader.flag()
        strong_intra_smoothing_enabled_flag = reader.flag()
        if reader.flag() { vui = try HEVCVUIParameters(&reader, maxSubLayers: sps_max_sub_layers) }
        sps_extension_present_flag = reader.flag()
        try reader.checkEnd("the SPS")
        if !sps_extension_present_flag { try reader.checkTrailing("the SPS") }
        try check()
    }

    /// Checks the constraints between values (7.4.3.2.1).
    private func check() throws(Malformed) {
        let size = visibleSize
        guard size.width > 0, size.height > 0 else { throw Malformed("the window leaves \(size.width)×\(size.height)") }
        let block = 1 << log2_min_luma_coding_block_size
        guard pic_width_in_luma_samples % block == 0, pic_height_in_luma_samples % block == 0 else {
            throw Malformed(
                "\(pic_width_in_luma_samples)×\(pic_height_in_luma_samples) is not a multiple of MinCbSizeY \(block)")
        }
        guard log2_min_luma_transform_block_size < log2_min_luma_coding_block_size else {
            throw Malformed("MinTbLog2SizeY is not less than MinCbLog2SizeY")
        }
        guard maxTbLog2Size <= min(ctbLog2Size, 5) else {
            throw Malformed("MaxTbLog2SizeY exceeds CtbLog2SizeY or 5")
        }
        guard ctbLog2Size >= 4 else { throw Malformed("coding tree blocks of 8×8 are not allowed") }
    }
}

enum HEVCScalingLists {
    /// Skips scaling_list_data() (7.3.4).
    static func skip(_ reader: inout BitReader) throws(Malformed) {
        for size in 0..<4 {
            for matrix in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
                if !reader.flag() {
                    let most = size == 3 ? matrix / 3 : matrix
                    _ = try reader.unsigned("scaling_list_pred_matrix_id_delta", in: 0...most)
                    continue
                }
                if size > 1 { _ = try reader.signed("scaling_list_dc_coef_minus8", in: -7...247) }
                for _ in 0..<min(64, 1 << (4 + 2 * size)) {
                    _ = try reader.signed("scaling_list_delta_coef", in: -128...127)
                }
            }
        }
        try reader.checkEnd("scaling_list_data()")
    }
}
