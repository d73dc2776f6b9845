/// How drivers differ with HEVC in what no attribute says.
struct HEVCManners: Sendable {
    /// The driver writes its own delimiters, parameter sets and slice headers, and reads the conformance window only of
    /// the client's: Mesa 22.3.6.
    var writesOwnSets = false
    /// Of those sets: sample_adaptive_offset_enabled_flag.
    var hasOwnOffsets = true
    /// Clients' sets and slice headers are read and written anew: Mesa 25.
    var rewritesHeaders = false
    /// Coded sizes are multiples of these, whatever the client's sets say.
    var alignment = (width: 1, height: 1)
    /// Slices that are not of one size, the last excepted, are laid out anew.
    var evensSlices = false
    /// slice_sao flags must not change inside a picture.
    var needsUniformOffsets = false
}

extension HEVCManners {
    private func aligned(_ sequence: HEVCSequenceHeader) -> HEVCSequenceHeader {
        var sequence = sequence
        sequence.width = (sequence.width + alignment.width - 1) / alignment.width * alignment.width
        sequence.height = (sequence.height + alignment.height - 1) / alignment.height * alignment.height
        return sequence
    }

    /// The sets that Mesa 22.3.6 writes where a client's buffers ask for `sets`, as seen in its streams.
    func own(
        _ sets: (sequence: HEVCSequenceHeader, picture: HEVCPictureHeader), window: HEVCSequenceHeader.Window?,
        changesQP: Bool
    ) -> (sequence: HEVCSequenceHeader, picture: HEVCPictureHeader) {
        var sequence = aligned(sets.sequence)
        sequence.window = window
        sequence.log2MaxPictureOrderCountLsb = 8
        sequence.buffering = [.init(picturesMinus1: 1)]
        sequence.log2MinCodingBlock = 3
        sequence.log2CodingTreeBlock = 6
        sequence.log2MinTransformBlock = 2
        sequence.log2MaxTransformBlock = 5
        sequence.transformDepthInter = 4
        sequence.transformDepthIntra = 4
        sequence.allowsAsymmetric = true
        sequence.hasOffsets = hasOwnOffsets
        sequence.referenceSets = [HEVCReferenceSet([.init(delta: -1, isUsed: true)])]
        sequence.longTerm = nil
        sequence.hasTemporalVectors = false
        sequence.strongIntraSmoothing = false
        sequence.tail = HeaderBits()
        var picture = HEVCPictureHeader()
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
        _ sets: (sequence: HEVCSequenceHeader, picture: HEVCPictureHeader), changesQP: Bool
    ) -> (sequence: HEVCSequenceHeader, picture: HEVCPictureHeader) {
        var picture = sets.picture
        if changesQP { picture.qpDeltaDepth = picture.qpDeltaDepth ?? 0 }
        return (aligned(sets.sequence), picture)
    }

    /// First coding tree units and counts of slices: as asked for, or laid out evenly.
    func layout(_ asked: [(first: Int, count: Int)]) -> [(first: Int, count: Int)] {
        let counts = asked.map(\.count)
        guard evensSlices, counts.count > 1,
            !counts.dropLast().allSatisfy({ $0 == counts[0] }) || counts[counts.count - 1] > counts[0]
        else { return asked }
        let total = counts.reduce(0, +)
        let size = max((total + counts.count - 1) / counts.count, 4)
        return stride(from: 0, to: total, by: size).map { ($0, min(size, total - $0)) }
    }
}
