/// How drivers differ with HEVC in what no attribute says.
struct HEVCBehavior: Sendable {
    /// Features that VAConfigAttribEncHEVCFeatures does not name and that are done all the same where they are asked for.
    var honoursUnnamed: Set<HEVCFeatures.Feature> = []
    /// Other features that it does not name are left out where they are asked for; otherwise they are refused.
    var ignoresUnnamed = false
    /// Coding trees are of 64, and transform trees as deep as these allow, whatever the client's buffers say.
    var hasOwnBlocks = false
    /// The driver writes its own delimiters, parameter sets and slice headers, and reads the conformance window only of
    /// the client's: Mesa 22.3.6.
    var writesOwnSets = false
    /// Of those sets: sample_adaptive_offset_enabled_flag.
    var hasOwnOffsets = true
    /// The driver reads and rewrites the client's parameter sets and slice headers, as Mesa 25 does.
    var rewritesHeaders = false
    /// Coded sizes are multiples of these, whatever the client's sets say.
    var alignment = (width: 1, height: 1)
    /// The driver changes the slice layout if the slices, except the last, differ in size.
    var evensSlices = false
    /// slice_sao flags must not change inside a picture.
    var needsUniformOffsets = false
}

extension HEVCBehavior {
    private func aligned(_ sequence: HEVCSequenceParameterSet) -> HEVCSequenceParameterSet {
        var sequence = sequence
        sequence.width = (sequence.width + alignment.width - 1) / alignment.width * alignment.width
        sequence.height = (sequence.height + alignment.height - 1) / alignment.height * alignment.height
        return sequence
    }

    /// The sets that Mesa 22.3.6 writes where a client's buffers ask for `sets`, as seen in its streams.
    func own(
        _ sets: (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet), _ features: HEVCFeatures,
        window: HEVCSequenceParameterSet.Window?, changesQP: Bool
    ) -> (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet) {
        var sequence = aligned(sets.sequence)
        sequence.window = window
        sequence.log2MaxPictureOrderCountLsb = 8
        sequence.buffering = [.init(picturesMinus1: 1)]
        sequence.log2MinCodingBlock = 3
        setBlocks(&sequence)
        sequence.sample_adaptive_offset_enabled_flag = hasOwnOffsets
        sequence.referenceSets = [HEVCReferenceSet([.init(delta: -1, isUsed: true)])]
        sequence.longTerm = nil
        leaveOutUnnamed(&sequence, features)
        sequence.vuiAndExtensionBits = HeaderBits()
        var picture = HEVCPictureParameterSet()
        picture.hasCABACInit = true
        picture.constrainedIntraPrediction = sets.picture.constrainedIntraPrediction
        picture.hasTransformSkip = true
        picture.qpDeltaDepth = changesQP ? 0 : nil
        picture.deblocking = .init(canBeOverridden: true)
        picture.filtersAcrossSlices = sets.picture.filtersAcrossSlices
        return (sequence, picture)
    }

    /// The client's sets as Mesa 25 writes them.
    func rewritten(
        _ sets: (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet), _ features: HEVCFeatures, changesQP: Bool
    ) -> (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet) {
        var (sequence, picture) = (aligned(sets.sequence), sets.picture)
        setBlocks(&sequence)
        leaveOutUnnamed(&sequence, features)
        if !features.has(.signHiding) { picture.sign_data_hiding_enabled_flag = false }
        if !features.has(.transformSkip) { picture.hasTransformSkip = false }
        let isDelta = picture.qpDeltaDepth != nil && features.has(.quantizerDelta)
        picture.qpDeltaDepth = isDelta || changesQP ? 0 : nil
        return (sequence, picture)
    }

    /// The blocks that Mesa's encoders have: of the client's only the smallest coding block.
    private func setBlocks(_ sequence: inout HEVCSequenceParameterSet) {
        sequence.log2CodingTreeBlock = 6
        sequence.log2MinTransformBlock = sequence.log2MinCodingBlock - 1
        sequence.log2MaxTransformBlock = 5
        sequence.transformDepthInter = 6 - sequence.log2MinTransformBlock
        sequence.transformDepthIntra = 6 - sequence.log2MinTransformBlock
    }

    private func leaveOutUnnamed(_ sequence: inout HEVCSequenceParameterSet, _ features: HEVCFeatures) {
        if !features.has(.asymmetricPartitions) { sequence.amp_enabled_flag = false }
        if !features.has(.sampleAdaptiveOffset) { sequence.sample_adaptive_offset_enabled_flag = false }
        if !features.has(.temporalVectors) { sequence.hasTemporalVectors = false }
        if !features.has(.strongIntraSmoothing) { sequence.strongIntraSmoothing = false }
    }

    /// First coding tree units and counts of slices, of `total`: as asked for, or laid out evenly.
    func layout(_ asked: [(first: Int, count: Int)], of total: Int) -> [(first: Int, count: Int)] {
        let counts = asked.map(\.count)
        // Counted in coding trees of another size.
        if counts.reduce(0, +) != total {
            let isEven = counts.dropLast().allSatisfy { $0 == counts[0] } && counts[counts.count - 1] <= counts[0]
            let size = counts.count == 1 ? total : isEven ? counts[0] : (total + counts.count - 1) / counts.count
            return stride(from: 0, to: total, by: max(size, 4)).map { ($0, min(max(size, 4), total - $0)) }
        }
        guard evensSlices, counts.count > 1,
            !counts.dropLast().allSatisfy({ $0 == counts[0] }) || counts[counts.count - 1] > counts[0]
        else { return asked }
        let size = max((total + counts.count - 1) / counts.count, 4)
        return stride(from: 0, to: total, by: size).map { ($0, min(size, total - $0)) }
    }
}
