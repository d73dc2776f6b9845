/// The differences between drivers in HEVC encoding that no attribute reports.
struct HEVCBehavior: Sendable {
    /// The features that the driver uses on request although VAConfigAttribEncHEVCFeatures does not report them.
    var honorsUnreported: Set<HEVCFeatures.Feature> = []
    /// Whether requests for other features that the attribute does not report are ignored. Otherwise they are rejected.
    var ignoresUnreported = false
    /// Whether the driver uses coding tree blocks of 64 samples and the deepest transform trees, independent of the
    /// client's buffers.
    var hasOwnBlocks = false
    /// Whether the driver writes access unit delimiters, parameter sets and slice headers itself, and only takes the
    /// conformance window from the client's, as Mesa 22.3.6 does.
    var writesOwnSets = false
    /// The sample_adaptive_offset_enabled_flag of the parameter sets that the driver writes itself.
    var ownSetsUseSAO = true
    /// Whether the driver reads and rewrites the client's parameter sets and slice headers, as Mesa 25 does.
    var rewritesHeaders = false
    /// The coded width and height are rounded up to multiples of these, in luma samples, independent of the client's
    /// parameter sets.
    var alignment = (width: 1, height: 1)
    /// Whether the driver makes all slices except the last equal in size if the client's slices are not.
    var equalizesSlices = false
    /// Whether the slice_sao flags must be equal in all slices of a picture.
    var needsUniformOffsets = false
}

extension HEVCBehavior {
    private func aligned(_ sequence: HEVCSequenceParameterSet) -> HEVCSequenceParameterSet {
        var sequence = sequence
        sequence.pic_width_in_luma_samples = (sequence.pic_width_in_luma_samples + alignment.width - 1) / alignment.width * alignment.width
        sequence.pic_height_in_luma_samples = (sequence.pic_height_in_luma_samples + alignment.height - 1) / alignment.height * alignment.height
        return sequence
    }

    /// Returns the parameter sets that Mesa 22.3.6 writes if a client's buffers request `sets`. They were found in its
    /// streams.
    func generatedSets(
        _ sets: (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet), _ features: HEVCFeatures,
        packed: HEVCSequenceParameterSet?, changesQP: Bool
    ) -> (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet) {
        var sequence = aligned(sets.sequence)
        sequence.setConformanceWindow(of: packed)
        sequence.log2_max_pic_order_cnt_lsb = 8
        sequence.subLayers = [.init(max_dec_pic_buffering: 2)]
        sequence.log2_min_luma_coding_block_size = 3
        setBlocks(&sequence)
        sequence.sample_adaptive_offset_enabled_flag = ownSetsUseSAO
        sequence.short_term_ref_pic_sets = [HEVCShortTermReferencePictureSet([.init(deltaPOC: -1, isUsed: true)])]
        sequence.long_term_ref_pics_present_flag = false
        sequence.long_term_ref_pics_sps = []
        leaveOutUnnamed(&sequence, features)
        sequence.vuiAndExtensionBits = HeaderBits()
        var picture = HEVCPictureParameterSet()
        picture.cabac_init_present_flag = true
        picture.constrained_intra_pred_flag = sets.picture.constrained_intra_pred_flag
        picture.transform_skip_enabled_flag = true
        picture.diff_cu_qp_delta_depth = changesQP ? 0 : nil
        picture.deblocking_filter_control_present_flag = true
        picture.deblocking_filter_override_enabled_flag = true
        picture.pps_loop_filter_across_slices_enabled_flag = sets.picture.pps_loop_filter_across_slices_enabled_flag
        return (sequence, picture)
    }

    /// Returns the client's parameter sets as Mesa 25 rewrites them.
    func rewritten(
        _ sets: (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet), _ features: HEVCFeatures, changesQP: Bool
    ) -> (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet) {
        var (sequence, picture) = (aligned(sets.sequence), sets.picture)
        setBlocks(&sequence)
        leaveOutUnnamed(&sequence, features)
        if !features.has(.signHiding) { picture.sign_data_hiding_enabled_flag = false }
        if !features.has(.transformSkip) { picture.transform_skip_enabled_flag = false }
        let isDelta = picture.diff_cu_qp_delta_depth != nil && features.has(.quantizerDelta)
        picture.diff_cu_qp_delta_depth = isDelta || changesQP ? 0 : nil
        return (sequence, picture)
    }

    /// Sets the block sizes of Mesa's encoders, which use only the smallest coding block size of the client's.
    private func setBlocks(_ sequence: inout HEVCSequenceParameterSet) {
        sequence.log2_diff_max_min_luma_coding_block_size = 6 - sequence.log2_min_luma_coding_block_size
        sequence.log2_min_luma_transform_block_size = sequence.log2_min_luma_coding_block_size - 1
        sequence.log2_diff_max_min_luma_transform_block_size = 5 - sequence.log2_min_luma_transform_block_size
        sequence.max_transform_hierarchy_depth_inter = 6 - sequence.log2MinTransformBlock
        sequence.max_transform_hierarchy_depth_intra = 6 - sequence.log2MinTransformBlock
    }

    private func leaveOutUnnamed(_ sequence: inout HEVCSequenceParameterSet, _ features: HEVCFeatures) {
        if !features.has(.asymmetricPartitions) { sequence.amp_enabled_flag = false }
        if !features.has(.sampleAdaptiveOffset) { sequence.sample_adaptive_offset_enabled_flag = false }
        if !features.has(.temporalVectors) { sequence.sps_temporal_mvp_enabled_flag = false }
        if !features.has(.strongIntraSmoothing) { sequence.strong_intra_smoothing_enabled_flag = false }
    }

    /// Returns the first coding tree unit and the number of coding tree units of each slice, of `total`: as requested,
    /// or in equal parts.
    func layout(_ asked: [(first: Int, count: Int)], of total: Int) -> [(first: Int, count: Int)] {
        let counts = asked.map(\.count)
        // The client counts coding tree units of another size.
        if counts.reduce(0, +) != total {
            let isEven = counts.dropLast().allSatisfy { $0 == counts[0] } && counts[counts.count - 1] <= counts[0]
            let size = counts.count == 1 ? total : isEven ? counts[0] : (total + counts.count - 1) / counts.count
            return stride(from: 0, to: total, by: max(size, 4)).map { ($0, min(max(size, 4), total - $0)) }
        }
        guard equalizesSlices, counts.count > 1,
            !counts.dropLast().allSatisfy({ $0 == counts[0] }) || counts[counts.count - 1] > counts[0]
        else { return asked }
        let size = max((total + counts.count - 1) / counts.count, 4)
        return stride(from: 0, to: total, by: size).map { ($0, min(size, total - $0)) }
    }
}
