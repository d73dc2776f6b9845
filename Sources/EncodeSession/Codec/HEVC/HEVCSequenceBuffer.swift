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
            generalProfileIDC: sps.profileTierLevel.general_profile_idc,
            generalLevelIDC: sps.profileTierLevel.general_level_idc, intraPeriod: periods.intra,
            intraIDRPeriod: periods.idr, ipPeriod: periods.ip,
            picWidthInLumaSamples: UInt16(sps.pic_width_in_luma_samples),
            picHeightInLumaSamples: UInt16(sps.pic_height_in_luma_samples),
            log2MinLumaCodingBlockSizeMinus3: UInt8(sps.log2_min_luma_coding_block_size - 3),
            log2DiffMaxMinLumaCodingBlockSize: UInt8(sps.log2_diff_max_min_luma_coding_block_size),
            log2MinTransformBlockSizeMinus2: UInt8(sps.log2_min_luma_transform_block_size - 2),
            log2DiffMaxMinTransformBlockSize: UInt8(sps.log2_diff_max_min_luma_transform_block_size),
            maxTransformHierarchyDepthInter: UInt8(sps.max_transform_hierarchy_depth_inter),
            maxTransformHierarchyDepthIntra: UInt8(sps.max_transform_hierarchy_depth_intra))
        generalHighTier = sps.profileTierLevel.general_tier_flag == .high
        if settings.rate.driverChoosesQP { bitsPerSecond = UInt32(clamping: settings.rate.bitrate) }
        bitDepthLumaMinus8 = depth
        bitDepthChromaMinus8 = depth
        strongIntraSmoothing = sps.strong_intra_smoothing_enabled_flag
        ampEnabled = sps.amp_enabled_flag
        sampleAdaptiveOffset = sps.sample_adaptive_offset_enabled_flag
        temporalMVP = sps.sps_temporal_mvp_enabled_flag
        lowDelay = settings.structure.bFrames == 0
        vui = sps.vui.map(VUI.init)
    }
}

extension HEVCSequenceParameters.VUI {
    init(_ source: VUIParameters) {
        self.init()
        if let aspect = source.display.aspectRatio {
            aspectRatioIDC = aspect.aspect_ratio_idc
            sarWidth = UInt32(aspect.sar_width)
            sarHeight = UInt32(aspect.sar_height)
        }
        if let timing = source.timing {
            self.timing = .init(numUnitsInTick: timing.num_units_in_tick, timeScale: timing.time_scale)
        }
    }
}
