internal import CVA

/// The sequence parameters of HEVC: VAEncSequenceParameterBufferHEVC. They are valid from one IRAP picture with
/// parameter sets to the next.
///
/// The fields have the names of `va_enc_hevc.h`. H.265 7.4.3.2 explains them.
package struct HEVCSequenceParameters: ParameterBuffer, Sendable, Hashable {
    /// general_profile_idc, H.265 A.3: 1 Main, 2 Main 10.
    package var general_profile_idc: UInt8
    /// general_level_idc, 30 times the level (H.265 A.4): 123 is level 4.1.
    package var general_level_idc: UInt8
    /// Whether the High tier is used, which levels from 4 on have.
    package var general_tier_flag = false
    /// The distance between I pictures, in pictures.
    package var intra_period: UInt32
    /// The distance between IDR pictures, in pictures.
    package var intra_idr_period: UInt32
    /// The number of B pictures between I or P pictures, plus 1; 0 if all pictures are I.
    package var ip_period: UInt32
    /// The bit rate in bits per second, or 0 if the rate control mode has none.
    package var bits_per_second: UInt32 = 0
    /// The coded width in luma samples, a multiple of the smallest coding block: drivers cut off the rest.
    package var pic_width_in_luma_samples: UInt16
    package var pic_height_in_luma_samples: UInt16
    package var chroma_format_idc: UInt32 = 1
    package var separate_colour_plane_flag = false
    package var bit_depth_luma_minus8: UInt32 = 0
    package var bit_depth_chroma_minus8: UInt32 = 0
    package var scaling_list_enabled_flag = false
    package var strong_intra_smoothing_enabled_flag = false
    package var amp_enabled_flag = false
    package var sample_adaptive_offset_enabled_flag = false
    package var sps_temporal_mvp_enabled_flag = false
    /// Whether no picture refers to a picture that follows it in output order.
    package var low_delay_seq = false
    /// Whether the structure is a dyadic pyramid, for which rate control may choose a QP per level.
    package var hierachical_flag = false
    package var log2_min_luma_coding_block_size_minus3: UInt8
    package var log2_diff_max_min_luma_coding_block_size: UInt8
    package var log2_min_transform_block_size_minus2: UInt8
    package var log2_diff_max_min_transform_block_size: UInt8
    package var max_transform_hierarchy_depth_inter: UInt8
    package var max_transform_hierarchy_depth_intra: UInt8
    /// The PCM parameters, or nil for pcm_enabled_flag 0.
    package var pcm: PCM?
    package var vui: VUI?
    /// Whether the palette mode of the screen content profiles is enabled, H.265 7.4.3.2.4.
    package var palette_mode_enabled_flag = false

    /// The parameters of PCM coding blocks, H.265 7.4.3.2.1.
    package struct PCM: Sendable, Hashable {
        package var pcm_sample_bit_depth_luma_minus1: UInt32
        package var pcm_sample_bit_depth_chroma_minus1: UInt32
        package var log2_min_pcm_luma_coding_block_size_minus3: UInt32
        package var log2_max_pcm_luma_coding_block_size_minus3: UInt32
        package var pcm_loop_filter_disabled_flag = false

        package init(
            pcm_sample_bit_depth_luma_minus1: UInt32, pcm_sample_bit_depth_chroma_minus1: UInt32,
            log2_min_pcm_luma_coding_block_size_minus3: UInt32, log2_max_pcm_luma_coding_block_size_minus3: UInt32
        ) {
            self.pcm_sample_bit_depth_luma_minus1 = pcm_sample_bit_depth_luma_minus1
            self.pcm_sample_bit_depth_chroma_minus1 = pcm_sample_bit_depth_chroma_minus1
            self.log2_min_pcm_luma_coding_block_size_minus3 = log2_min_pcm_luma_coding_block_size_minus3
            self.log2_max_pcm_luma_coding_block_size_minus3 = log2_max_pcm_luma_coding_block_size_minus3
        }
    }

    /// The part of the VUI (H.265 E.2.1) that the driver receives.
    package struct VUI: Sendable, Hashable {
        /// The aspect_ratio_idc, or nil if the aspect ratio is not written.
        package var aspect_ratio_idc: UInt8?
        package var sar_width: UInt32 = 0
        package var sar_height: UInt32 = 0
        package var neutral_chroma_indication_flag = false
        package var field_seq_flag = false
        /// The values of vui_num_units_in_tick and vui_time_scale, or nil if they are not written.
        package var timing: Timing?
        /// The bitstream restrictions, or nil if they are not written.
        package var restriction: Restriction?
        package init() {}
    }

    package struct Timing: Sendable, Hashable {
        /// The units of a picture, not of a field: time_scale / num_units_in_tick is the frame rate.
        package var vui_num_units_in_tick: UInt32
        package var vui_time_scale: UInt32
        package init(vui_num_units_in_tick: UInt32, vui_time_scale: UInt32) {
            self.vui_num_units_in_tick = vui_num_units_in_tick
            self.vui_time_scale = vui_time_scale
        }
    }

    /// The bitstream restrictions: bitstream_restriction_flag and the elements that depend on it.
    package struct Restriction: Sendable, Hashable {
        package var tiles_fixed_structure_flag = false
        package var motion_vectors_over_pic_boundaries_flag = true
        package var restricted_ref_pic_lists_flag = false
        package var log2_max_mv_length_horizontal: UInt32 = 15
        package var log2_max_mv_length_vertical: UInt32 = 15
        package var min_spatial_segmentation_idc: UInt16 = 0
        package var max_bytes_per_pic_denom: UInt8 = 0
        package var max_bits_per_min_cu_denom: UInt8 = 0
        package init() {}
    }

    package init(
        general_profile_idc: UInt8, general_level_idc: UInt8, intra_period: UInt32, intra_idr_period: UInt32,
        ip_period: UInt32,
        pic_width_in_luma_samples: UInt16, pic_height_in_luma_samples: UInt16,
        log2_min_luma_coding_block_size_minus3: UInt8,
        log2_diff_max_min_luma_coding_block_size: UInt8, log2_min_transform_block_size_minus2: UInt8,
        log2_diff_max_min_transform_block_size: UInt8, max_transform_hierarchy_depth_inter: UInt8,
        max_transform_hierarchy_depth_intra: UInt8
    ) {
        self.general_profile_idc = general_profile_idc
        self.general_level_idc = general_level_idc
        self.intra_period = intra_period
        self.intra_idr_period = intra_idr_period
        self.ip_period = ip_period
        self.pic_width_in_luma_samples = pic_width_in_luma_samples
        self.pic_height_in_luma_samples = pic_height_in_luma_samples
        self.log2_min_luma_coding_block_size_minus3 = log2_min_luma_coding_block_size_minus3
        self.log2_diff_max_min_luma_coding_block_size = log2_diff_max_min_luma_coding_block_size
        self.log2_min_transform_block_size_minus2 = log2_min_transform_block_size_minus2
        self.log2_diff_max_min_transform_block_size = log2_diff_max_min_transform_block_size
        self.max_transform_hierarchy_depth_inter = max_transform_hierarchy_depth_inter
        self.max_transform_hierarchy_depth_intra = max_transform_hierarchy_depth_intra
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe withBytes(lowered, as: .sequence, to: body)
    }

    var lowered: VAEncSequenceParameterBufferHEVC {
        var c = VAEncSequenceParameterBufferHEVC()
        c.general_profile_idc = general_profile_idc
        c.general_level_idc = general_level_idc
        c.general_tier_flag = general_tier_flag ? 1 : 0
        c.intra_period = intra_period
        c.intra_idr_period = intra_idr_period
        c.ip_period = ip_period
        c.bits_per_second = bits_per_second
        c.pic_width_in_luma_samples = pic_width_in_luma_samples
        c.pic_height_in_luma_samples = pic_height_in_luma_samples
        unsafe c.seq_fields.bits.chroma_format_idc = chroma_format_idc
        unsafe c.seq_fields.bits.separate_colour_plane_flag = separate_colour_plane_flag ? 1 : 0
        unsafe c.seq_fields.bits.bit_depth_luma_minus8 = bit_depth_luma_minus8
        unsafe c.seq_fields.bits.bit_depth_chroma_minus8 = bit_depth_chroma_minus8
        unsafe c.seq_fields.bits.scaling_list_enabled_flag = scaling_list_enabled_flag ? 1 : 0
        unsafe c.seq_fields.bits.strong_intra_smoothing_enabled_flag = strong_intra_smoothing_enabled_flag ? 1 : 0
        unsafe c.seq_fields.bits.amp_enabled_flag = amp_enabled_flag ? 1 : 0
        unsafe c.seq_fields.bits.sample_adaptive_offset_enabled_flag = sample_adaptive_offset_enabled_flag ? 1 : 0
        unsafe c.seq_fields.bits.sps_temporal_mvp_enabled_flag = sps_temporal_mvp_enabled_flag ? 1 : 0
        unsafe c.seq_fields.bits.low_delay_seq = low_delay_seq ? 1 : 0
        unsafe c.seq_fields.bits.hierachical_flag = hierachical_flag ? 1 : 0
        c.log2_min_luma_coding_block_size_minus3 = log2_min_luma_coding_block_size_minus3
        c.log2_diff_max_min_luma_coding_block_size = log2_diff_max_min_luma_coding_block_size
        c.log2_min_transform_block_size_minus2 = log2_min_transform_block_size_minus2
        c.log2_diff_max_min_transform_block_size = log2_diff_max_min_transform_block_size
        c.max_transform_hierarchy_depth_inter = max_transform_hierarchy_depth_inter
        c.max_transform_hierarchy_depth_intra = max_transform_hierarchy_depth_intra
        if let pcm { lower(pcm, into: &c) }
        if let vui { lower(vui, into: &c) }
        unsafe c.scc_fields.bits.palette_mode_enabled_flag = palette_mode_enabled_flag ? 1 : 0
        return c
    }

    private func lower(_ pcm: PCM, into c: inout VAEncSequenceParameterBufferHEVC) {
        unsafe c.seq_fields.bits.pcm_enabled_flag = 1
        unsafe c.seq_fields.bits.pcm_loop_filter_disabled_flag = pcm.pcm_loop_filter_disabled_flag ? 1 : 0
        c.pcm_sample_bit_depth_luma_minus1 = pcm.pcm_sample_bit_depth_luma_minus1
        c.pcm_sample_bit_depth_chroma_minus1 = pcm.pcm_sample_bit_depth_chroma_minus1
        c.log2_min_pcm_luma_coding_block_size_minus3 = pcm.log2_min_pcm_luma_coding_block_size_minus3
        c.log2_max_pcm_luma_coding_block_size_minus3 = pcm.log2_max_pcm_luma_coding_block_size_minus3
    }

    private func lower(_ vui: VUI, into c: inout VAEncSequenceParameterBufferHEVC) {
        c.vui_parameters_present_flag = 1
        if let idc = vui.aspect_ratio_idc {
            unsafe c.vui_fields.bits.aspect_ratio_info_present_flag = 1
            c.aspect_ratio_idc = idc
            c.sar_width = vui.sar_width
            c.sar_height = vui.sar_height
        }
        unsafe c.vui_fields.bits.neutral_chroma_indication_flag = vui.neutral_chroma_indication_flag ? 1 : 0
        unsafe c.vui_fields.bits.field_seq_flag = vui.field_seq_flag ? 1 : 0
        if let timing = vui.timing {
            unsafe c.vui_fields.bits.vui_timing_info_present_flag = 1
            c.vui_num_units_in_tick = timing.vui_num_units_in_tick
            c.vui_time_scale = timing.vui_time_scale
        }
        guard let restriction = vui.restriction else { return }
        unsafe c.vui_fields.bits.bitstream_restriction_flag = 1
        unsafe c.vui_fields.bits.tiles_fixed_structure_flag = restriction.tiles_fixed_structure_flag ? 1 : 0
        unsafe c.vui_fields.bits.motion_vectors_over_pic_boundaries_flag =
            restriction.motion_vectors_over_pic_boundaries_flag ? 1 : 0
        unsafe c.vui_fields.bits.restricted_ref_pic_lists_flag = restriction.restricted_ref_pic_lists_flag ? 1 : 0
        unsafe c.vui_fields.bits.log2_max_mv_length_horizontal = restriction.log2_max_mv_length_horizontal
        unsafe c.vui_fields.bits.log2_max_mv_length_vertical = restriction.log2_max_mv_length_vertical
        c.min_spatial_segmentation_idc = restriction.min_spatial_segmentation_idc
        c.max_bytes_per_pic_denom = restriction.max_bytes_per_pic_denom
        c.max_bits_per_min_cu_denom = restriction.max_bits_per_min_cu_denom
    }
}
