import EncodePlanning
import HEVCSyntax
import NALUnits
import VAAPI
import VideoBase

extension HEVCSequenceParameters {
    /// Creates VAEncSequenceParameterBufferHEVC from the sequence parameter set, field by field.
    init(_ headers: HEVCStreamHeaders, _ settings: EncodeSettings) {
        let sps = headers.sps
        let periods = SequencePeriods(settings.structure)
        let depth = UInt32(sps.bit_depth_luma - 8)
        self.init(
            general_profile_idc: sps.profileTierLevel.general_profile_idc,
            general_level_idc: sps.profileTierLevel.general_level_idc, intra_period: periods.intra,
            intra_idr_period: periods.idr, ip_period: periods.ip,
            pic_width_in_luma_samples: UInt16(sps.pic_width_in_luma_samples),
            pic_height_in_luma_samples: UInt16(sps.pic_height_in_luma_samples),
            log2_min_luma_coding_block_size_minus3: UInt8(sps.log2_min_luma_coding_block_size - 3),
            log2_diff_max_min_luma_coding_block_size: UInt8(sps.log2_diff_max_min_luma_coding_block_size),
            log2_min_transform_block_size_minus2: UInt8(sps.log2_min_luma_transform_block_size - 2),
            log2_diff_max_min_transform_block_size: UInt8(sps.log2_diff_max_min_luma_transform_block_size),
            max_transform_hierarchy_depth_inter: UInt8(sps.max_transform_hierarchy_depth_inter),
            max_transform_hierarchy_depth_intra: UInt8(sps.max_transform_hierarchy_depth_intra))
        general_tier_flag = sps.profileTierLevel.general_tier_flag == .high
        if settings.rate.driverChoosesQP { bits_per_second = UInt32(clamping: settings.rate.bitrate) }
        bit_depth_luma_minus8 = depth
        bit_depth_chroma_minus8 = depth
        strong_intra_smoothing_enabled_flag = sps.strong_intra_smoothing_enabled_flag
        amp_enabled_flag = sps.amp_enabled_flag
        sample_adaptive_offset_enabled_flag = sps.sample_adaptive_offset_enabled_flag
        sps_temporal_mvp_enabled_flag = sps.sps_temporal_mvp_enabled_flag
        low_delay_seq = settings.structure.bFrames == 0
        vui = sps.vui.map(VUI.init)
    }
}

extension HEVCSequenceParameters.VUI {
    init(_ source: VUIParameters) {
        self.init()
        if let aspect = source.display.aspectRatio {
            aspect_ratio_idc = aspect.aspect_ratio_idc
            sar_width = UInt32(aspect.sar_width)
            sar_height = UInt32(aspect.sar_height)
        }
        if let timing = source.timing {
            self.timing = .init(vui_num_units_in_tick: timing.num_units_in_tick, vui_time_scale: timing.time_scale)
        }
    }
}
