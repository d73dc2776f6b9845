internal import CVA

/// The sequence parameters of HEVC: VAEncSequenceParameterBufferHEVC. They are valid from one IRAP picture with
/// parameter sets to the next.
///
/// The names are those of H.265 7.4.3.2 and `va_enc_hevc.h`, in Swift spelling.
package struct HEVCSequenceParameters: ParameterBuffer, Sendable, Hashable {
    /// general_profile_idc, H.265 A.3: 1 Main, 2 Main 10.
    package var generalProfileIDC: UInt8
    /// general_level_idc, 30 times the level (H.265 A.4): 123 is level 4.1.
    package var generalLevelIDC: UInt8
    /// Whether the High tier is used, which levels from 4 on have.
    package var generalHighTier = false
    /// The distance between I pictures, in pictures.
    package var intraPeriod: UInt32
    /// The distance between IDR pictures, in pictures.
    package var intraIDRPeriod: UInt32
    /// The number of B pictures between I or P pictures, plus 1; 0 if all pictures are I.
    package var ipPeriod: UInt32
    /// The bit rate in bits per second, or 0 if the rate control mode has none.
    package var bitsPerSecond: UInt32 = 0
    /// The coded width in luma samples, a multiple of the smallest coding block: drivers cut off the rest.
    package var picWidthInLumaSamples: UInt16
    package var picHeightInLumaSamples: UInt16
    package var chromaFormatIDC: UInt32 = 1
    package var separateColourPlane = false
    package var bitDepthLumaMinus8: UInt32 = 0
    package var bitDepthChromaMinus8: UInt32 = 0
    package var scalingListEnabled = false
    package var strongIntraSmoothing = false
    package var ampEnabled = false
    package var sampleAdaptiveOffset = false
    package var temporalMVP = false
    /// Whether no picture refers to a picture that follows it in output order.
    package var lowDelay = false
    /// Whether the structure is a dyadic pyramid, for which rate control may choose a QP per level.
    package var hierarchical = false
    package var log2MinLumaCodingBlockSizeMinus3: UInt8
    package var log2DiffMaxMinLumaCodingBlockSize: UInt8
    package var log2MinTransformBlockSizeMinus2: UInt8
    package var log2DiffMaxMinTransformBlockSize: UInt8
    package var maxTransformHierarchyDepthInter: UInt8
    package var maxTransformHierarchyDepthIntra: UInt8
    /// The PCM parameters, or nil for pcm_enabled_flag 0.
    package var pcm: PCM?
    package var vui: VUI?
    /// Whether the palette mode of the screen content profiles is enabled, H.265 7.4.3.2.4.
    package var paletteMode = false

    /// The parameters of PCM coding blocks, H.265 7.4.3.2.1.
    package struct PCM: Sendable, Hashable {
        package var sampleBitDepthLumaMinus1: UInt32
        package var sampleBitDepthChromaMinus1: UInt32
        package var log2MinLumaCodingBlockSizeMinus3: UInt32
        package var log2MaxLumaCodingBlockSizeMinus3: UInt32
        package var loopFilterDisabled = false

        package init(
            sampleBitDepthLumaMinus1: UInt32, sampleBitDepthChromaMinus1: UInt32,
            log2MinLumaCodingBlockSizeMinus3: UInt32, log2MaxLumaCodingBlockSizeMinus3: UInt32
        ) {
            self.sampleBitDepthLumaMinus1 = sampleBitDepthLumaMinus1
            self.sampleBitDepthChromaMinus1 = sampleBitDepthChromaMinus1
            self.log2MinLumaCodingBlockSizeMinus3 = log2MinLumaCodingBlockSizeMinus3
            self.log2MaxLumaCodingBlockSizeMinus3 = log2MaxLumaCodingBlockSizeMinus3
        }
    }

    /// The part of the VUI (H.265 E.2.1) that the driver receives.
    package struct VUI: Sendable, Hashable {
        /// The aspect_ratio_idc, or nil if the aspect ratio is not written.
        package var aspectRatioIDC: UInt8?
        package var sarWidth: UInt32 = 0
        package var sarHeight: UInt32 = 0
        package var neutralChromaIndication = false
        package var fieldSequence = false
        /// The values of vui_num_units_in_tick and vui_time_scale, or nil if they are not written.
        package var timing: Timing?
        /// The bitstream restrictions, or nil if they are not written.
        package var restriction: Restriction?
        package init() {}
    }

    package struct Timing: Sendable, Hashable {
        /// The units of a picture, not of a field: time_scale / num_units_in_tick is the frame rate.
        package var numUnitsInTick: UInt32
        package var timeScale: UInt32
        package init(numUnitsInTick: UInt32, timeScale: UInt32) {
            self.numUnitsInTick = numUnitsInTick
            self.timeScale = timeScale
        }
    }

    /// The bitstream restrictions: bitstream_restriction_flag and the elements that depend on it.
    package struct Restriction: Sendable, Hashable {
        package var tilesFixedStructure = false
        package var motionVectorsOverPicBoundaries = true
        package var restrictedRefPicLists = false
        package var log2MaxMVLengthHorizontal: UInt32 = 15
        package var log2MaxMVLengthVertical: UInt32 = 15
        package var minSpatialSegmentationIDC: UInt16 = 0
        package var maxBytesPerPicDenom: UInt8 = 0
        package var maxBitsPerMinCUDenom: UInt8 = 0
        package init() {}
    }

    package init(
        generalProfileIDC: UInt8, generalLevelIDC: UInt8, intraPeriod: UInt32, intraIDRPeriod: UInt32, ipPeriod: UInt32,
        picWidthInLumaSamples: UInt16, picHeightInLumaSamples: UInt16, log2MinLumaCodingBlockSizeMinus3: UInt8,
        log2DiffMaxMinLumaCodingBlockSize: UInt8, log2MinTransformBlockSizeMinus2: UInt8,
        log2DiffMaxMinTransformBlockSize: UInt8, maxTransformHierarchyDepthInter: UInt8,
        maxTransformHierarchyDepthIntra: UInt8
    ) {
        self.generalProfileIDC = generalProfileIDC
        self.generalLevelIDC = generalLevelIDC
        self.intraPeriod = intraPeriod
        self.intraIDRPeriod = intraIDRPeriod
        self.ipPeriod = ipPeriod
        self.picWidthInLumaSamples = picWidthInLumaSamples
        self.picHeightInLumaSamples = picHeightInLumaSamples
        self.log2MinLumaCodingBlockSizeMinus3 = log2MinLumaCodingBlockSizeMinus3
        self.log2DiffMaxMinLumaCodingBlockSize = log2DiffMaxMinLumaCodingBlockSize
        self.log2MinTransformBlockSizeMinus2 = log2MinTransformBlockSizeMinus2
        self.log2DiffMaxMinTransformBlockSize = log2DiffMaxMinTransformBlockSize
        self.maxTransformHierarchyDepthInter = maxTransformHierarchyDepthInter
        self.maxTransformHierarchyDepthIntra = maxTransformHierarchyDepthIntra
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe lend(lowered, as: .sequence, to: body)
    }

    var lowered: VAEncSequenceParameterBufferHEVC {
        var c = VAEncSequenceParameterBufferHEVC()
        c.general_profile_idc = generalProfileIDC
        c.general_level_idc = generalLevelIDC
        c.general_tier_flag = generalHighTier ? 1 : 0
        c.intra_period = intraPeriod
        c.intra_idr_period = intraIDRPeriod
        c.ip_period = ipPeriod
        c.bits_per_second = bitsPerSecond
        c.pic_width_in_luma_samples = picWidthInLumaSamples
        c.pic_height_in_luma_samples = picHeightInLumaSamples
        unsafe c.seq_fields.bits.chroma_format_idc = chromaFormatIDC
        unsafe c.seq_fields.bits.separate_colour_plane_flag = separateColourPlane ? 1 : 0
        unsafe c.seq_fields.bits.bit_depth_luma_minus8 = bitDepthLumaMinus8
        unsafe c.seq_fields.bits.bit_depth_chroma_minus8 = bitDepthChromaMinus8
        unsafe c.seq_fields.bits.scaling_list_enabled_flag = scalingListEnabled ? 1 : 0
        unsafe c.seq_fields.bits.strong_intra_smoothing_enabled_flag = strongIntraSmoothing ? 1 : 0
        unsafe c.seq_fields.bits.amp_enabled_flag = ampEnabled ? 1 : 0
        unsafe c.seq_fields.bits.sample_adaptive_offset_enabled_flag = sampleAdaptiveOffset ? 1 : 0
        unsafe c.seq_fields.bits.sps_temporal_mvp_enabled_flag = temporalMVP ? 1 : 0
        unsafe c.seq_fields.bits.low_delay_seq = lowDelay ? 1 : 0
        unsafe c.seq_fields.bits.hierachical_flag = hierarchical ? 1 : 0
        c.log2_min_luma_coding_block_size_minus3 = log2MinLumaCodingBlockSizeMinus3
        c.log2_diff_max_min_luma_coding_block_size = log2DiffMaxMinLumaCodingBlockSize
        c.log2_min_transform_block_size_minus2 = log2MinTransformBlockSizeMinus2
        c.log2_diff_max_min_transform_block_size = log2DiffMaxMinTransformBlockSize
        c.max_transform_hierarchy_depth_inter = maxTransformHierarchyDepthInter
        c.max_transform_hierarchy_depth_intra = maxTransformHierarchyDepthIntra
        if let pcm { lower(pcm, into: &c) }
        if let vui { lower(vui, into: &c) }
        unsafe c.scc_fields.bits.palette_mode_enabled_flag = paletteMode ? 1 : 0
        return c
    }

    private func lower(_ pcm: PCM, into c: inout VAEncSequenceParameterBufferHEVC) {
        unsafe c.seq_fields.bits.pcm_enabled_flag = 1
        unsafe c.seq_fields.bits.pcm_loop_filter_disabled_flag = pcm.loopFilterDisabled ? 1 : 0
        c.pcm_sample_bit_depth_luma_minus1 = pcm.sampleBitDepthLumaMinus1
        c.pcm_sample_bit_depth_chroma_minus1 = pcm.sampleBitDepthChromaMinus1
        c.log2_min_pcm_luma_coding_block_size_minus3 = pcm.log2MinLumaCodingBlockSizeMinus3
        c.log2_max_pcm_luma_coding_block_size_minus3 = pcm.log2MaxLumaCodingBlockSizeMinus3
    }

    private func lower(_ vui: VUI, into c: inout VAEncSequenceParameterBufferHEVC) {
        c.vui_parameters_present_flag = 1
        if let idc = vui.aspectRatioIDC {
            unsafe c.vui_fields.bits.aspect_ratio_info_present_flag = 1
            c.aspect_ratio_idc = idc
            c.sar_width = vui.sarWidth
            c.sar_height = vui.sarHeight
        }
        unsafe c.vui_fields.bits.neutral_chroma_indication_flag = vui.neutralChromaIndication ? 1 : 0
        unsafe c.vui_fields.bits.field_seq_flag = vui.fieldSequence ? 1 : 0
        if let timing = vui.timing {
            unsafe c.vui_fields.bits.vui_timing_info_present_flag = 1
            c.vui_num_units_in_tick = timing.numUnitsInTick
            c.vui_time_scale = timing.timeScale
        }
        guard let restriction = vui.restriction else { return }
        unsafe c.vui_fields.bits.bitstream_restriction_flag = 1
        unsafe c.vui_fields.bits.tiles_fixed_structure_flag = restriction.tilesFixedStructure ? 1 : 0
        unsafe c.vui_fields.bits.motion_vectors_over_pic_boundaries_flag =
            restriction.motionVectorsOverPicBoundaries ? 1 : 0
        unsafe c.vui_fields.bits.restricted_ref_pic_lists_flag = restriction.restrictedRefPicLists ? 1 : 0
        unsafe c.vui_fields.bits.log2_max_mv_length_horizontal = restriction.log2MaxMVLengthHorizontal
        unsafe c.vui_fields.bits.log2_max_mv_length_vertical = restriction.log2MaxMVLengthVertical
        c.min_spatial_segmentation_idc = restriction.minSpatialSegmentationIDC
        c.max_bytes_per_pic_denom = restriction.maxBytesPerPicDenom
        c.max_bits_per_min_cu_denom = restriction.maxBitsPerMinCUDenom
    }
}
