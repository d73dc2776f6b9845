public import NALUnits
public import VideoBase

/// seq_parameter_set_rbsp(), H.265 7.3.2.2.1, for progressive 4:2:0 without scaling lists and PCM blocks.
///
/// Fields have the standard's names and values.
public struct SequenceParameterSet: Sendable, Hashable {
    /// 0…15.
    public var sps_video_parameter_set_id = 0
    public var sps_temporal_id_nesting_flag = true
    public var profileTierLevel: ProfileTierLevel
    /// 0…15.
    public var sps_seq_parameter_set_id = 0
    /// Multiples of the smallest coding block's side.
    public var pic_width_in_luma_samples: Int
    public var pic_height_in_luma_samples: Int
    /// In units of two luma samples (4:2:0).
    public var conf_win_right_offset: Int
    public var conf_win_bottom_offset: Int
    /// bit_depth_luma_minus8 + 8 and bit_depth_chroma_minus8 + 8: 8, or 10 in Main 10.
    public var bitDepth: Int
    /// 4…16.
    public var log2_max_pic_order_cnt_lsb = 8
    /// One for each temporal sub-layer, the lowest first; 1…7.
    public var subLayers: [SubLayerOrdering]
    /// log2_min_luma_coding_block_size_minus3 + 3: 3 up to the coding tree block's.
    public var log2_min_luma_coding_block_size = 3
    /// The coding tree block's side is 2 to this more (CtbLog2SizeY, 4…6).
    public var log2_diff_max_min_luma_coding_block_size = 3
    /// log2_min_luma_transform_block_size_minus2 + 2: 2…5, below the smallest coding block's.
    public var log2_min_luma_transform_block_size = 2
    public var log2_diff_max_min_luma_transform_block_size = 3
    public var max_transform_hierarchy_depth_inter = 0
    public var max_transform_hierarchy_depth_intra = 0
    public var amp_enabled_flag = false
    public var sample_adaptive_offset_enabled_flag = false
    /// Sets that slices may take by number, at most 64.
    public var short_term_ref_pic_sets: [ShortTermReferencePictureSet] = []
    public var long_term_ref_pics_present_flag = false
    public var sps_temporal_mvp_enabled_flag = false
    public var strong_intra_smoothing_enabled_flag = false
    public var vui: VUIParameters?

    /// The parameters that follow from profile, level and the visible size.
    ///
    /// `size` must be even on both sides: 4:2:0 has its window in steps of two. `codedSize` is what the hardware codes,
    /// a multiple of the smallest coding block (8 unless changed) that holds `size`; nil takes the smallest multiple
    /// of 8.
    public init(
        profile: CodecProfile, tier: Tier, level: Level, size: VideoSize, codedSize: VideoSize? = nil,
        subLayers: [SubLayerOrdering], vui: VUIParameters?
    ) {
        let coded = codedSize ?? size.aligned(to: 8)
        profileTierLevel = ProfileTierLevel(profile: profile, tier: tier, level: level)
        pic_width_in_luma_samples = coded.width
        pic_height_in_luma_samples = coded.height
        conf_win_right_offset = (coded.width - size.width) / 2
        conf_win_bottom_offset = (coded.height - size.height) / 2
        bitDepth = profile == .hevcMain10 ? 10 : 8
        self.subLayers = subLayers
        self.vui = vui
    }

    public var conformance_window_flag: Bool { conf_win_right_offset > 0 || conf_win_bottom_offset > 0 }

    /// What a decoder shows.
    public var croppedSize: VideoSize {
        VideoSize(
            width: pic_width_in_luma_samples - conf_win_right_offset * 2,
            height: pic_height_in_luma_samples - conf_win_bottom_offset * 2)
    }

    /// CtbSizeY, (7-11): luma samples on a coding tree block's side.
    public var ctbSize: Int { 1 << (log2_min_luma_coding_block_size + log2_diff_max_min_luma_coding_block_size) }

    /// PicWidthInCtbsY and PicHeightInCtbsY, (7-15) and (7-17).
    public var sizeInCtbs: VideoSize {
        VideoSize(
            width: pic_width_in_luma_samples.aligned(to: ctbSize) / ctbSize,
            height: pic_height_in_luma_samples.aligned(to: ctbSize) / ctbSize)
    }

    /// The NAL unit, without a start code.
    public var unit: [UInt8] {
        var w = BitWriter()
        w.u(4, sps_video_parameter_set_id)
        w.u(3, subLayers.count - 1)
        // 7.4.3.2.1: it is 1 where there is one sub-layer.
        w.flag(sps_temporal_id_nesting_flag || subLayers.count == 1)
        profileTierLevel.write(to: &w, subLayers: subLayers.count)
        writeSize(to: &w)
        w.ue(bitDepth - 8)  // bit_depth_luma_minus8
        w.ue(bitDepth - 8)  // bit_depth_chroma_minus8
        w.ue(log2_max_pic_order_cnt_lsb - 4)
        writeOrdering(to: &w)
        writeCodingTools(to: &w)
        writeEnd(to: &w, subLayers: subLayers.count)
        return w.unit(.sequenceParameterSet)
    }

    /// From sps_seq_parameter_set_id to the conformance window.
    public func writeSize(to w: inout BitWriter) {
        w.ue(sps_seq_parameter_set_id)
        w.ue(1)  // chroma_format_idc: 4:2:0
        w.ue(pic_width_in_luma_samples)
        w.ue(pic_height_in_luma_samples)
        w.flag(conformance_window_flag)
        if conformance_window_flag {
            w.ue(0)
            w.ue(conf_win_right_offset)
            w.ue(0)
            w.ue(conf_win_bottom_offset)
        }
    }

    /// What a decoder keeps, and in what order, of every sub-layer.
    public func writeOrdering(to w: inout BitWriter) {
        w.flag(true)  // sps_sub_layer_ordering_info_present_flag
        for subLayer in subLayers { subLayer.write(to: &w) }
    }

    /// From vui_parameters_present_flag on.
    ///
    /// - Parameter subLayers: sps_max_sub_layers_minus1 + 1 of the set that it ends.
    public func writeEnd(to w: inout BitWriter, subLayers: Int) {
        w.flag(vui != nil)
        vui?.write(to: &w, subLayers: subLayers)
        w.flag(false)  // sps_extension_present_flag
    }

    /// The middle of the set: block sizes, tools and reference picture sets.
    private func writeCodingTools(to w: inout BitWriter) {
        w.ue(log2_min_luma_coding_block_size - 3)
        w.ue(log2_diff_max_min_luma_coding_block_size)
        w.ue(log2_min_luma_transform_block_size - 2)
        w.ue(log2_diff_max_min_luma_transform_block_size)
        w.ue(max_transform_hierarchy_depth_inter)
        w.ue(max_transform_hierarchy_depth_intra)
        w.flag(false)  // scaling_list_enabled_flag
        w.flag(amp_enabled_flag)
        w.flag(sample_adaptive_offset_enabled_flag)
        w.flag(false)  // pcm_enabled_flag
        w.ue(short_term_ref_pic_sets.count)
        for (index, set) in short_term_ref_pic_sets.enumerated() { set.write(to: &w, index: index) }
        w.flag(long_term_ref_pics_present_flag)
        if long_term_ref_pics_present_flag { w.ue(0) }  // num_long_term_ref_pics_sps: slices name them
        w.flag(sps_temporal_mvp_enabled_flag)
        w.flag(strong_intra_smoothing_enabled_flag)
    }
}
