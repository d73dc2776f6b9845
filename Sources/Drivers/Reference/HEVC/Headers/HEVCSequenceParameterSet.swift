/// seq_parameter_set_rbsp, H.265 7.3.2.2, without scaling lists and PCM.
package struct HEVCSequenceParameterSet: Equatable, Sendable {
    package var sps_seq_parameter_set_id = 0
    package var sps_video_parameter_set_id = 0
    package var sps_max_sub_layers_minus1 = 0
    package var sps_temporal_id_nesting_flag = true
    package var profile_tier_level = HEVCProfileTierLevel(profile: 1, isHighTier: false, level: 120)
    package var chroma_format_idc = 1
    package var pic_width_in_luma_samples = 0
    package var pic_height_in_luma_samples = 0
    package var window: Window?
    package var bitDepthLuma = 8
    package var bitDepthChroma = 8
    package var log2MaxPictureOrderCountLsb = 8
    /// The values of each sub-layer, or of the highest one only.
    package var buffering = [SubLayerOrdering()]
    package var log2MinCodingBlock = 3
    package var log2CodingTreeBlock = 6
    package var log2MinTransformBlock = 2
    package var log2MaxTransformBlock = 5
    package var max_transform_hierarchy_depth_inter = 0
    package var max_transform_hierarchy_depth_intra = 0
    package var scaling_list_enabled_flag = false
    package var amp_enabled_flag = false
    package var sample_adaptive_offset_enabled_flag = false
    package var pcm_enabled_flag = false
    package var referenceSets: [HEVCShortTermReferencePictureSet] = []
    /// lt_ref_pic_poc_lsb_sps and used_by_curr_pic_lt_sps_flag; nil if long_term_ref_pics_present_flag is 0.
    package var longTerm: [LongTerm]?
    package var sps_temporal_mvp_enabled_flag = false
    package var strong_intra_smoothing_enabled_flag = false
    /// The bits from vui_parameters_present_flag on, as in the stream.
    var vuiAndExtensionBits = HeaderBits()

    /// Conformance window offsets in chroma samples.
    package struct Window: Equatable, Sendable {
        package var left = 0
        package var right = 0
        package var top = 0
        package var bottom = 0

        package init(left: Int = 0, right: Int = 0, top: Int = 0, bottom: Int = 0) {
            self.left = left
            self.right = right
            self.top = top
            self.bottom = bottom
        }
    }

    package struct SubLayerOrdering: Equatable, Sendable {
        package var sps_max_dec_pic_buffering_minus1 = 0
        package var sps_max_num_reorder_pics = 0
        package var sps_max_latency_increase_plus1 = 0

        package init(picturesMinus1: Int = 0, reordered: Int = 0, latencyPlus1: Int = 0) {
            self.sps_max_dec_pic_buffering_minus1 = picturesMinus1
            self.sps_max_num_reorder_pics = reordered
            self.sps_max_latency_increase_plus1 = latencyPlus1
        }

        func write(to bits: inout HeaderBitWriter) {
            bits.putUnsigned(sps_max_dec_pic_buffering_minus1)
            bits.putUnsigned(sps_max_num_reorder_pics)
            bits.putUnsigned(sps_max_latency_increase_plus1)
        }
    }

    package struct LongTerm: Equatable, Sendable {
        package var lt_ref_pic_poc_lsb_sps: Int
        package var used_by_curr_pic_lt_sps_flag: Bool
    }

    package init() {}

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
        bits.put(UInt32(sps_max_sub_layers_minus1), 3)
        bits.put(sps_temporal_id_nesting_flag)
        profile_tier_level.write(to: &bits)
        bits.putUnsigned(sps_seq_parameter_set_id)
        bits.putUnsigned(chroma_format_idc)
        bits.putUnsigned(pic_width_in_luma_samples)
        bits.putUnsigned(pic_height_in_luma_samples)
        bits.put(window != nil)
        if let window {
            for offset in [window.left, window.right, window.top, window.bottom] { bits.putUnsigned(offset) }
        }
        bits.putUnsigned(bitDepthLuma - 8)
        bits.putUnsigned(bitDepthChroma - 8)
        bits.putUnsigned(log2MaxPictureOrderCountLsb - 4)
        bits.put(buffering.count > sps_max_sub_layers_minus1)  // sps_sub_layer_ordering_info_present_flag
        for layer in buffering { layer.write(to: &bits) }
        bits.putUnsigned(log2MinCodingBlock - 3)
        bits.putUnsigned(log2CodingTreeBlock - log2MinCodingBlock)
        bits.putUnsigned(log2MinTransformBlock - 2)
        bits.putUnsigned(log2MaxTransformBlock - log2MinTransformBlock)
        bits.putUnsigned(max_transform_hierarchy_depth_inter)
        bits.putUnsigned(max_transform_hierarchy_depth_intra)
        bits.put(false)  // scaling_list_enabled_flag
        bits.put(amp_enabled_flag)
        bits.put(sample_adaptive_offset_enabled_flag)
        bits.put(false)  // pcm_enabled_flag
        bits.putUnsigned(referenceSets.count)
        for (index, set) in referenceSets.enumerated() { set.write(to: &bits, index: index) }
        bits.put(longTerm != nil)
        if let longTerm {
            bits.putUnsigned(longTerm.count)
            for picture in longTerm {
                bits.put(UInt32(picture.lt_ref_pic_poc_lsb_sps), log2MaxPictureOrderCountLsb)
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
        sps_max_sub_layers_minus1 = Int(bits.get(3))
        sps_temporal_id_nesting_flag = bits.flag()
        profile_tier_level = HEVCProfileTierLevel(&bits, maxSubLayersMinus1: sps_max_sub_layers_minus1)
        sps_seq_parameter_set_id = bits.unsigned()
        chroma_format_idc = bits.unsigned()
        if chroma_format_idc == 3 { _ = bits.flag() }
        pic_width_in_luma_samples = bits.unsigned()
        pic_height_in_luma_samples = bits.unsigned()
        if bits.flag() {
            window = Window(
                left: bits.unsigned(), right: bits.unsigned(), top: bits.unsigned(), bottom: bits.unsigned())
        }
        bitDepthLuma = 8 + bits.unsigned()
        bitDepthChroma = 8 + bits.unsigned()
        log2MaxPictureOrderCountLsb = 4 + bits.unsigned()
        buffering = ((bits.flag() ? 0 : sps_max_sub_layers_minus1)...sps_max_sub_layers_minus1).map { _ in
            SubLayerOrdering(picturesMinus1: bits.unsigned(), reordered: bits.unsigned(), latencyPlus1: bits.unsigned())
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
        log2MinCodingBlock = 3 + bits.unsigned()
        log2CodingTreeBlock = log2MinCodingBlock + bits.unsigned()
        log2MinTransformBlock = 2 + bits.unsigned()
        log2MaxTransformBlock = log2MinTransformBlock + bits.unsigned()
        max_transform_hierarchy_depth_inter = bits.unsigned()
        max_transform_hierarchy_depth_intra = bits.unsigned()
        return !bits.failed && hasValidBlockSizes && (4...16).contains(log2MaxPictureOrderCountLsb) && pic_width_in_luma_samples > 0
            && pic_height_in_luma_samples > 0 && pic_width_in_luma_samples <= 1 << 16 && pic_height_in_luma_samples <= 1 << 16
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
            guard let set = HEVCShortTermReferencePictureSet(&bits, after: referenceSets, inSliceHeader: false) else { return false }
            referenceSets.append(set)
        }
        if bits.flag() {
            let pictures = bits.unsigned()
            guard pictures <= 32 else { return false }
            longTerm = (0..<pictures).map { _ in
                LongTerm(
                    lt_ref_pic_poc_lsb_sps: Int(bits.get(log2MaxPictureOrderCountLsb)), used_by_curr_pic_lt_sps_flag: bits.flag())
            }
        }
        return !bits.failed
    }
}
