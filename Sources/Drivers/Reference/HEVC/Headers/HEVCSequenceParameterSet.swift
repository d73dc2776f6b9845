/// seq_parameter_set_rbsp, H.265 7.3.2.2, without scaling lists and PCM.
package struct HEVCSequenceParameterSet: Equatable, Sendable {
    package var sps_seq_parameter_set_id = 0
    package var sps_video_parameter_set_id = 0
    package var sps_max_sub_layers = 1
    package var sps_temporal_id_nesting_flag = true
    package var profileTierLevel = HEVCProfileTierLevel(profile: 1, isHighTier: false, level: 120)
    package var chroma_format_idc = 1
    package var pic_width_in_luma_samples = 0
    package var pic_height_in_luma_samples = 0
    package var conformance_window_flag = false
    /// The conf_win offsets are in chroma samples, and 0 without conformance_window_flag.
    package var conf_win_left_offset = 0
    package var conf_win_right_offset = 0
    package var conf_win_top_offset = 0
    package var conf_win_bottom_offset = 0
    package var bit_depth_luma = 8
    package var bit_depth_chroma = 8
    package var log2_max_pic_order_cnt_lsb = 8
    /// The values of each sub-layer, or of the highest one only.
    package var subLayers = [SubLayerOrdering()]
    package var log2_min_luma_coding_block_size = 3
    package var log2_diff_max_min_luma_coding_block_size = 3
    package var log2_min_luma_transform_block_size = 2
    package var log2_diff_max_min_luma_transform_block_size = 3
    package var max_transform_hierarchy_depth_inter = 0
    package var max_transform_hierarchy_depth_intra = 0
    package var scaling_list_enabled_flag = false
    package var amp_enabled_flag = false
    package var sample_adaptive_offset_enabled_flag = false
    package var pcm_enabled_flag = false
    package var short_term_ref_pic_sets: [HEVCShortTermReferencePictureSet] = []
    package var long_term_ref_pics_present_flag = false
    package var long_term_ref_pics_sps: [LongTermPicture] = []
    package var sps_temporal_mvp_enabled_flag = false
    package var strong_intra_smoothing_enabled_flag = false
    /// The bits from vui_parameters_present_flag on, as in the stream.
    var vuiAndExtensionBits = HeaderBits()

    /// The limits that a decoder needs to output pictures in order, 7.4.3.2.1.
    package struct SubLayerOrdering: Equatable, Sendable {
        /// max_dec_pic_buffering_minus1 + 1.
        package var max_dec_pic_buffering: Int
        package var max_num_reorder_pics: Int
        package var max_latency_increase_plus1: Int

        package init(
            max_dec_pic_buffering: Int = 1, max_num_reorder_pics: Int = 0, max_latency_increase_plus1: Int = 0
        ) {
            self.max_dec_pic_buffering = max_dec_pic_buffering
            self.max_num_reorder_pics = max_num_reorder_pics
            self.max_latency_increase_plus1 = max_latency_increase_plus1
        }

        func write(to bits: inout HeaderBitWriter) {
            bits.putUnsigned(max_dec_pic_buffering - 1)
            bits.putUnsigned(max_num_reorder_pics)
            bits.putUnsigned(max_latency_increase_plus1)
        }
    }

    /// An entry of lt_ref_pic_poc_lsb_sps[] and used_by_curr_pic_lt_sps_flag[].
    package struct LongTermPicture: Equatable, Sendable {
        package var lt_ref_pic_poc_lsb_sps: Int
        package var used_by_curr_pic_lt_sps_flag: Bool
    }

    package init() {}

    /// MinCbLog2SizeY.
    package var log2MinCodingBlock: Int { log2_min_luma_coding_block_size }
    /// CtbLog2SizeY.
    package var log2CodingTreeBlock: Int { log2_min_luma_coding_block_size + log2_diff_max_min_luma_coding_block_size }
    /// MinTbLog2SizeY.
    package var log2MinTransformBlock: Int { log2_min_luma_transform_block_size }
    /// MaxTbLog2SizeY.
    package var log2MaxTransformBlock: Int {
        log2_min_luma_transform_block_size + log2_diff_max_min_luma_transform_block_size
    }

    /// Takes over the conformance window of another set, or has none if `other` is nil.
    mutating func setConformanceWindow(of other: HEVCSequenceParameterSet?) {
        conformance_window_flag = other?.conformance_window_flag ?? false
        conf_win_left_offset = other?.conf_win_left_offset ?? 0
        conf_win_right_offset = other?.conf_win_right_offset ?? 0
        conf_win_top_offset = other?.conf_win_top_offset ?? 0
        conf_win_bottom_offset = other?.conf_win_bottom_offset ?? 0
    }

    package var grid: HEVCGrid {
        HEVCGrid(
            width: pic_width_in_luma_samples, height: pic_height_in_luma_samples, log2MinCodingBlock: log2MinCodingBlock,
            log2CodingTreeBlock: log2CodingTreeBlock, log2MinTransformBlock: log2MinTransformBlock,
            log2MaxTransformBlock: log2MaxTransformBlock)
    }

    /// Returns the NAL unit with a four-byte start code.
    package func nalUnit() -> [UInt8] {
        var bits = HeaderBitWriter()
        bits.put(UInt32(sps_video_parameter_set_id), 4)
        bits.put(UInt32(sps_max_sub_layers - 1), 3)
        bits.put(sps_temporal_id_nesting_flag)
        profileTierLevel.write(to: &bits)
        bits.putUnsigned(sps_seq_parameter_set_id)
        bits.putUnsigned(chroma_format_idc)
        bits.putUnsigned(pic_width_in_luma_samples)
        bits.putUnsigned(pic_height_in_luma_samples)
        bits.put(conformance_window_flag)
        if conformance_window_flag {
            bits.putUnsigned(conf_win_left_offset)
            bits.putUnsigned(conf_win_right_offset)
            bits.putUnsigned(conf_win_top_offset)
            bits.putUnsigned(conf_win_bottom_offset)
        }
        bits.putUnsigned(bit_depth_luma - 8)
        bits.putUnsigned(bit_depth_chroma - 8)
        bits.putUnsigned(log2_max_pic_order_cnt_lsb - 4)
        bits.put(subLayers.count >= sps_max_sub_layers)  // sps_sub_layer_ordering_info_present_flag
        for subLayer in subLayers { subLayer.write(to: &bits) }
        bits.putUnsigned(log2_min_luma_coding_block_size - 3)
        bits.putUnsigned(log2_diff_max_min_luma_coding_block_size)
        bits.putUnsigned(log2_min_luma_transform_block_size - 2)
        bits.putUnsigned(log2_diff_max_min_luma_transform_block_size)
        bits.putUnsigned(max_transform_hierarchy_depth_inter)
        bits.putUnsigned(max_transform_hierarchy_depth_intra)
        bits.put(false)  // scaling_list_enabled_flag
        bits.put(amp_enabled_flag)
        bits.put(sample_adaptive_offset_enabled_flag)
        bits.put(false)  // pcm_enabled_flag
        bits.putUnsigned(short_term_ref_pic_sets.count)
        for (index, set) in short_term_ref_pic_sets.enumerated() { set.write(to: &bits, index: index) }
        bits.put(long_term_ref_pics_present_flag)
        if long_term_ref_pics_present_flag {
            bits.putUnsigned(long_term_ref_pics_sps.count)
            for picture in long_term_ref_pics_sps {
                bits.put(UInt32(picture.lt_ref_pic_poc_lsb_sps), log2_max_pic_order_cnt_lsb)
                bits.put(picture.used_by_curr_pic_lt_sps_flag)
            }
        }
        bits.put(sps_temporal_mvp_enabled_flag)
        bits.put(strong_intra_smoothing_enabled_flag)
        if vuiAndExtensionBits == HeaderBits() {
            bits.put(0, 2)  // vui_parameters_present_flag, sps_extension_present_flag
        } else {
            bits.put(vuiAndExtensionBits)
        }
        bits.putTrailingBits()
        return EmulationPrevention.escape(bits.bytes, after: [0, 0, 0, 1, 33 << 1, 1])
    }

    /// Reads an RBSP, which excludes the NAL unit header. Returns nil if it is truncated or a value is out of range. If
    /// scaling lists or PCM are enabled, the syntax after their flag is not read.
    package init?(rbsp: [UInt8]) {
        guard let end = HeaderBitReader.end(of: rbsp) else { return nil }
        var bits = HeaderBitReader(rbsp, bitCount: end)
        sps_video_parameter_set_id = Int(bits.get(4))
        sps_max_sub_layers = Int(bits.get(3)) + 1
        sps_temporal_id_nesting_flag = bits.flag()
        profileTierLevel = HEVCProfileTierLevel(&bits, maxSubLayers: sps_max_sub_layers)
        sps_seq_parameter_set_id = bits.unsigned()
        chroma_format_idc = bits.unsigned()
        if chroma_format_idc == 3 { _ = bits.flag() }
        pic_width_in_luma_samples = bits.unsigned()
        pic_height_in_luma_samples = bits.unsigned()
        conformance_window_flag = bits.flag()
        if conformance_window_flag {
            conf_win_left_offset = bits.unsigned()
            conf_win_right_offset = bits.unsigned()
            conf_win_top_offset = bits.unsigned()
            conf_win_bottom_offset = bits.unsigned()
        }
        bit_depth_luma = 8 + bits.unsigned()
        bit_depth_chroma = 8 + bits.unsigned()
        log2_max_pic_order_cnt_lsb = 4 + bits.unsigned()
        subLayers = ((bits.flag() ? 0 : sps_max_sub_layers - 1)..<sps_max_sub_layers).map { _ in
            SubLayerOrdering(
                max_dec_pic_buffering: bits.unsigned() + 1, max_num_reorder_pics: bits.unsigned(),
                max_latency_increase_plus1: bits.unsigned())
        }
        guard !bits.failed, readBlocks(&bits) else { return nil }
        scaling_list_enabled_flag = bits.flag()
        if scaling_list_enabled_flag { return }
        amp_enabled_flag = bits.flag()
        sample_adaptive_offset_enabled_flag = bits.flag()
        pcm_enabled_flag = bits.flag()
        if pcm_enabled_flag { return }
        guard readReferences(&bits) else { return nil }
        sps_temporal_mvp_enabled_flag = bits.flag()
        strong_intra_smoothing_enabled_flag = bits.flag()
        vuiAndExtensionBits = bits.rest(endingAt: end)
        guard !bits.failed, vuiAndExtensionBits.count >= 2, sps_seq_parameter_set_id <= 15 else { return nil }
    }

    private mutating func readBlocks(_ bits: inout HeaderBitReader) -> Bool {
        log2_min_luma_coding_block_size = 3 + bits.unsigned()
        log2_diff_max_min_luma_coding_block_size = bits.unsigned()
        log2_min_luma_transform_block_size = 2 + bits.unsigned()
        log2_diff_max_min_luma_transform_block_size = bits.unsigned()
        max_transform_hierarchy_depth_inter = bits.unsigned()
        max_transform_hierarchy_depth_intra = bits.unsigned()
        return !bits.failed && hasValidBlockSizes && (4...16).contains(log2_max_pic_order_cnt_lsb)
            && pic_width_in_luma_samples > 0
            && pic_height_in_luma_samples > 0 && pic_width_in_luma_samples <= 1 << 16
            && pic_height_in_luma_samples <= 1 << 16
    }

    /// Whether the block sizes conform to H.265 7.4.3.2.1.
    package var hasValidBlockSizes: Bool {
        (4...6).contains(log2CodingTreeBlock) && log2MinCodingBlock <= log2CodingTreeBlock
            && log2MinTransformBlock < log2MinCodingBlock && log2MaxTransformBlock <= min(log2CodingTreeBlock, 5)
            && max(max_transform_hierarchy_depth_inter, max_transform_hierarchy_depth_intra) <= log2CodingTreeBlock - log2MinTransformBlock
            && pic_width_in_luma_samples % (1 << log2MinCodingBlock) == 0 && pic_height_in_luma_samples % (1 << log2MinCodingBlock) == 0
    }

    private mutating func readReferences(_ bits: inout HeaderBitReader) -> Bool {
        let count = bits.unsigned()
        guard count <= 64 else { return false }
        for _ in 0..<count {
            guard
                let set = HEVCShortTermReferencePictureSet(&bits, after: short_term_ref_pic_sets, inSliceHeader: false)
            else { return false }
            short_term_ref_pic_sets.append(set)
        }
        long_term_ref_pics_present_flag = bits.flag()
        if long_term_ref_pics_present_flag {
            let pictures = bits.unsigned()
            guard pictures <= 32 else { return false }
            long_term_ref_pics_sps = (0..<pictures).map { _ in
                LongTermPicture(
                    lt_ref_pic_poc_lsb_sps: Int(bits.get(log2_max_pic_order_cnt_lsb)),
                    used_by_curr_pic_lt_sps_flag: bits.flag())
            }
        }
        return !bits.failed
    }
}
