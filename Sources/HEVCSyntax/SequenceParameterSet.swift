package import NALUnits
package import VideoBase

/// The sequence parameter set, seq_parameter_set_rbsp(), H.265 7.3.2.2.1, for progressive 4:2:0 video without scaling
/// lists and PCM blocks.
///
/// The fields have the names and values of the standard.
package struct SequenceParameterSet: Sendable, Hashable {
    /// The ID of the video parameter set to which this set refers, 0…15.
    package var sps_video_parameter_set_id = 0
    /// Whether temporal sub-layers are nested. Always written as 1 if there is one sub-layer.
    package var sps_temporal_id_nesting_flag = true
    /// The profile, tier and level.
    package var profileTierLevel: ProfileTierLevel
    /// The ID of the sequence parameter set, 0…15.
    package var sps_seq_parameter_set_id = 0
    /// The coded width, a multiple of the smallest coding block.
    package var pic_width_in_luma_samples: Int
    /// The coded height, a multiple of the smallest coding block.
    package var pic_height_in_luma_samples: Int
    /// The cropping at the right edge, in units of two luma samples (4:2:0).
    package var conf_win_right_offset: Int
    /// The cropping at the bottom edge, in units of two luma samples.
    package var conf_win_bottom_offset: Int
    /// bit_depth_luma_minus8 + 8: 8, or 10 in Main 10.
    package var bit_depth_luma: Int
    /// bit_depth_chroma_minus8 + 8: 8, or 10 in Main 10.
    package var bit_depth_chroma: Int
    /// log2_max_pic_order_cnt_lsb_minus4 + 4, 4…16.
    package var log2_max_pic_order_cnt_lsb = 8
    /// The ordering information of each temporal sub-layer, from the lowest on; 1…7 elements.
    package var subLayers: [SubLayerOrdering]
    /// log2_min_luma_coding_block_size_minus3 + 3: from 3 to the log2 size of the coding tree block.
    package var log2_min_luma_coding_block_size = 3
    /// The difference between the log2 sizes of the coding tree block (CtbLog2SizeY, 4…6) and of the smallest coding
    /// block.
    package var log2_diff_max_min_luma_coding_block_size = 3
    /// log2_min_luma_transform_block_size_minus2 + 2: 2…5, less than the log2 size of the smallest coding block.
    package var log2_min_luma_transform_block_size = 2
    /// The difference between the log2 sizes of the largest and the smallest transform block.
    package var log2_diff_max_min_luma_transform_block_size = 3
    /// The maximum depth of the transform tree in inter coding units.
    package var max_transform_hierarchy_depth_inter = 0
    /// The maximum depth of the transform tree in intra coding units.
    package var max_transform_hierarchy_depth_intra = 0
    /// Whether asymmetric motion partitions are allowed.
    package var amp_enabled_flag = false
    /// Whether sample adaptive offset is allowed.
    package var sample_adaptive_offset_enabled_flag = false
    /// The reference picture sets that slices can refer to by index, at most 64.
    package var short_term_ref_pic_sets: [ShortTermReferencePictureSet] = []
    /// Whether slices may use long-term references.
    package var long_term_ref_pics_present_flag = false
    /// Whether slices may use temporal motion vector prediction.
    package var sps_temporal_mvp_enabled_flag = false
    /// Whether strong intra smoothing is used.
    package var strong_intra_smoothing_enabled_flag = false
    /// The VUI parameters, or nil if they are not present.
    package var vui: VUIParameters?

    /// Creates the parameters for a profile, a level and a visible size.
    ///
    /// - Parameters:
    ///   - size: The visible size. Both sides must be even, because 4:2:0 is cropped in steps of two samples.
    ///   - codedSize: The size that the hardware encodes: a multiple of the smallest coding block (8 by default) that
    ///     contains `size`. nil uses the smallest multiple of 8.
    package init(
        profile: CodecProfile, tier: Tier, level: Level, size: VideoSize, codedSize: VideoSize? = nil,
        subLayers: [SubLayerOrdering], vui: VUIParameters?
    ) {
        let coded = codedSize ?? size.aligned(to: 8)
        profileTierLevel = ProfileTierLevel(profile: profile, tier: tier, level: level)
        pic_width_in_luma_samples = coded.width
        pic_height_in_luma_samples = coded.height
        conf_win_right_offset = (coded.width - size.width) / 2
        conf_win_bottom_offset = (coded.height - size.height) / 2
        bit_depth_luma = profile.bitDepth
        bit_depth_chroma = bit_depth_luma
        self.subLayers = subLayers
        self.vui = vui
    }

    /// Whether the coded size is cropped.
    package var conformance_window_flag: Bool { conf_win_right_offset > 0 || conf_win_bottom_offset > 0 }

    /// The size that a decoder outputs.
    package var croppedSize: VideoSize {
        VideoSize(
            width: pic_width_in_luma_samples - conf_win_right_offset * 2,
            height: pic_height_in_luma_samples - conf_win_bottom_offset * 2)
    }

    /// CtbSizeY, (7-11): the side of a coding tree block in luma samples.
    package var ctbSize: Int { 1 << (log2_min_luma_coding_block_size + log2_diff_max_min_luma_coding_block_size) }

    /// PicWidthInCtbsY and PicHeightInCtbsY, (7-15) and (7-17).
    package var sizeInCtbs: VideoSize {
        VideoSize(
            width: pic_width_in_luma_samples.aligned(to: ctbSize) / ctbSize,
            height: pic_height_in_luma_samples.aligned(to: ctbSize) / ctbSize)
    }

    /// The NAL unit without a start code.
    package var unit: [UInt8] {
        var w = BitWriter()
        w.u(4, sps_video_parameter_set_id)
        w.u(3, subLayers.count - 1)
        // H.265 7.4.3.2.1: the flag is 1 if there is one sub-layer.
        w.flag(sps_temporal_id_nesting_flag || subLayers.count == 1)
        profileTierLevel.write(to: &w, subLayers: subLayers.count)
        writeSize(to: &w)
        w.ue(bit_depth_luma - 8)
        w.ue(bit_depth_chroma - 8)
        w.ue(log2_max_pic_order_cnt_lsb - 4)
        writeOrdering(to: &w)
        writeCodingTools(to: &w)
        writeEnd(to: &w, subLayers: subLayers.count)
        return w.unit(.sequenceParameterSet)
    }

    /// Writes the fields from sps_seq_parameter_set_id to the conformance window.
    package func writeSize(to w: inout BitWriter) {
        w.ue(sps_seq_parameter_set_id)
        w.ue(1)  // chroma_format_idc: 4:2:0
        w.ue(pic_width_in_luma_samples)
        w.ue(pic_height_in_luma_samples)
        w.flag(conformance_window_flag)
        if conformance_window_flag {
            w.ue(0)  // conf_win_left_offset
            w.ue(conf_win_right_offset)
            w.ue(0)  // conf_win_top_offset
            w.ue(conf_win_bottom_offset)
        }
    }

    /// Writes the buffering and reordering limits of every sub-layer.
    package func writeOrdering(to w: inout BitWriter) {
        w.flag(true)  // sps_sub_layer_ordering_info_present_flag
        for subLayer in subLayers { subLayer.write(to: &w) }
    }

    /// Writes the fields from vui_parameters_present_flag on.
    ///
    /// - Parameter subLayers: sps_max_sub_layers_minus1 + 1 of the set that these fields end.
    package func writeEnd(to w: inout BitWriter, subLayers: Int) {
        w.flag(vui != nil)
        vui?.write(to: &w, subLayers: subLayers)
        w.flag(false)  // sps_extension_present_flag
    }

    /// Writes the middle of the set: block sizes, coding tools and reference picture sets.
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
        if long_term_ref_pics_present_flag { w.ue(0) }  // num_long_term_ref_pics_sps: slices list the pictures
        w.flag(sps_temporal_mvp_enabled_flag)
        w.flag(strong_intra_smoothing_enabled_flag)
    }
}
