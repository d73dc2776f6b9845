/// seq_parameter_set_rbsp, H.265 7.3.2.2, without scaling lists and PCM.
package struct HEVCSequenceParameterSet: Equatable, Sendable {
    package var id = 0
    /// sps_video_parameter_set_id.
    package var videoID = 0
    package var maxSubLayersMinus1 = 0
    package var nestsTemporalIDs = true
    package var profileLevel = HEVCProfileLevel(profile: 1, isHighTier: false, level: 120)
    package var chromaFormatIdc = 1
    /// pic_width_in_luma_samples and pic_height_in_luma_samples.
    package var width = 0
    package var height = 0
    package var window: Window?
    package var bitDepthLuma = 8
    package var bitDepthChroma = 8
    package var log2MaxPictureOrderCountLsb = 8
    /// The values of each sub-layer, or of the highest one only.
    package var buffering = [Buffering()]
    package var log2MinCodingBlock = 3
    package var log2CodingTreeBlock = 6
    package var log2MinTransformBlock = 2
    package var log2MaxTransformBlock = 5
    package var transformDepthInter = 0
    package var transformDepthIntra = 0
    package var hasScalingLists = false
    package var amp_enabled_flag = false
    package var sample_adaptive_offset_enabled_flag = false
    package var hasPCM = false
    package var referenceSets: [HEVCReferenceSet] = []
    /// lt_ref_pic_poc_lsb_sps and used_by_curr_pic_lt_sps_flag; nil if long_term_ref_pics_present_flag is 0.
    package var longTerm: [LongTerm]?
    package var hasTemporalVectors = false
    package var strongIntraSmoothing = false
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

    /// sps_max_dec_pic_buffering_minus1, sps_max_num_reorder_pics, sps_max_latency_increase_plus1.
    package struct Buffering: Equatable, Sendable {
        package var picturesMinus1 = 0
        package var reordered = 0
        package var latencyPlus1 = 0

        package init(picturesMinus1: Int = 0, reordered: Int = 0, latencyPlus1: Int = 0) {
            self.picturesMinus1 = picturesMinus1
            self.reordered = reordered
            self.latencyPlus1 = latencyPlus1
        }

        func write(to bits: inout HeaderBitWriter) {
            bits.putUnsigned(picturesMinus1)
            bits.putUnsigned(reordered)
            bits.putUnsigned(latencyPlus1)
        }
    }

    package struct LongTerm: Equatable, Sendable {
        package var pictureOrderCountLsb: Int
        package var isUsed: Bool
    }

    package init() {}

    package var grid: HEVCGrid {
        HEVCGrid(
            width: width, height: height, log2MinCodingBlock: log2MinCodingBlock,
            log2CodingTreeBlock: log2CodingTreeBlock, log2MinTransformBlock: log2MinTransformBlock,
            log2MaxTransformBlock: log2MaxTransformBlock)
    }

    /// Returns the NAL unit with a four-byte start code.
    package func nalUnit() -> [UInt8] {
        var bits = HeaderBitWriter()
        bits.put(UInt32(videoID), 4)
        bits.put(UInt32(maxSubLayersMinus1), 3)
        bits.put(nestsTemporalIDs)
        profileLevel.write(to: &bits)
        bits.putUnsigned(id)
        bits.putUnsigned(chromaFormatIdc)
        bits.putUnsigned(width)
        bits.putUnsigned(height)
        bits.put(window != nil)
        if let window {
            for offset in [window.left, window.right, window.top, window.bottom] { bits.putUnsigned(offset) }
        }
        bits.putUnsigned(bitDepthLuma - 8)
        bits.putUnsigned(bitDepthChroma - 8)
        bits.putUnsigned(log2MaxPictureOrderCountLsb - 4)
        bits.put(buffering.count > maxSubLayersMinus1)  // sps_sub_layer_ordering_info_present_flag
        for layer in buffering { layer.write(to: &bits) }
        bits.putUnsigned(log2MinCodingBlock - 3)
        bits.putUnsigned(log2CodingTreeBlock - log2MinCodingBlock)
        bits.putUnsigned(log2MinTransformBlock - 2)
        bits.putUnsigned(log2MaxTransformBlock - log2MinTransformBlock)
        bits.putUnsigned(transformDepthInter)
        bits.putUnsigned(transformDepthIntra)
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
                bits.put(UInt32(picture.pictureOrderCountLsb), log2MaxPictureOrderCountLsb)
                bits.put(picture.isUsed)
            }
        }
        bits.put(hasTemporalVectors)
        bits.put(strongIntraSmoothing)
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
        videoID = Int(bits.get(4))
        maxSubLayersMinus1 = Int(bits.get(3))
        nestsTemporalIDs = bits.flag()
        profileLevel = HEVCProfileLevel(&bits, maxSubLayersMinus1: maxSubLayersMinus1)
        id = bits.unsigned()
        chromaFormatIdc = bits.unsigned()
        if chromaFormatIdc == 3 { _ = bits.flag() }
        width = bits.unsigned()
        height = bits.unsigned()
        if bits.flag() {
            window = Window(
                left: bits.unsigned(), right: bits.unsigned(), top: bits.unsigned(), bottom: bits.unsigned())
        }
        bitDepthLuma = 8 + bits.unsigned()
        bitDepthChroma = 8 + bits.unsigned()
        log2MaxPictureOrderCountLsb = 4 + bits.unsigned()
        buffering = ((bits.flag() ? 0 : maxSubLayersMinus1)...maxSubLayersMinus1).map { _ in
            Buffering(picturesMinus1: bits.unsigned(), reordered: bits.unsigned(), latencyPlus1: bits.unsigned())
        }
        guard !bits.failed, readBlocks(&bits) else { return nil }
        hasScalingLists = bits.flag()
        if hasScalingLists { return }
        amp_enabled_flag = bits.flag()
        sample_adaptive_offset_enabled_flag = bits.flag()
        hasPCM = bits.flag()
        if hasPCM { return }
        guard readReferences(&bits) else { return nil }
        hasTemporalVectors = bits.flag()
        strongIntraSmoothing = bits.flag()
        vuiAndExtensionBits = bits.rest(endingAt: end)
        guard !bits.failed, vuiAndExtensionBits.count >= 2, id <= 15 else { return nil }
    }

    private mutating func readBlocks(_ bits: inout HeaderBitReader) -> Bool {
        log2MinCodingBlock = 3 + bits.unsigned()
        log2CodingTreeBlock = log2MinCodingBlock + bits.unsigned()
        log2MinTransformBlock = 2 + bits.unsigned()
        log2MaxTransformBlock = log2MinTransformBlock + bits.unsigned()
        transformDepthInter = bits.unsigned()
        transformDepthIntra = bits.unsigned()
        return !bits.failed && hasValidBlockSizes && (4...16).contains(log2MaxPictureOrderCountLsb) && width > 0
            && height > 0 && width <= 1 << 16 && height <= 1 << 16
    }

    /// Whether the block sizes conform to H.265 7.4.3.2.1.
    package var hasValidBlockSizes: Bool {
        (4...6).contains(log2CodingTreeBlock) && log2MinCodingBlock <= log2CodingTreeBlock
            && log2MinTransformBlock < log2MinCodingBlock && log2MaxTransformBlock <= min(log2CodingTreeBlock, 5)
            && max(transformDepthInter, transformDepthIntra) <= log2CodingTreeBlock - log2MinTransformBlock
            && width % (1 << log2MinCodingBlock) == 0 && height % (1 << log2MinCodingBlock) == 0
    }

    private mutating func readReferences(_ bits: inout HeaderBitReader) -> Bool {
        let count = bits.unsigned()
        guard count <= 64 else { return false }
        for _ in 0..<count {
            guard let set = HEVCReferenceSet(&bits, after: referenceSets, inSliceHeader: false) else { return false }
            referenceSets.append(set)
        }
        if bits.flag() {
            let pictures = bits.unsigned()
            guard pictures <= 32 else { return false }
            longTerm = (0..<pictures).map { _ in
                LongTerm(
                    pictureOrderCountLsb: Int(bits.get(log2MaxPictureOrderCountLsb)), isUsed: bits.flag())
            }
        }
        return !bits.failed
    }
}
