/// Tracks the reference frames of an H.264 stream that were lost or could not be decoded, and finds the pictures that
/// refer to them (8.2.4, 8.2.5). An encoder that knows of a loss refers to other frames, and its pictures can be decoded.
struct LostReferences {
    /// Whether a picture refers to a lost frame.
    enum Use: Comparable { case none, possible, certain }

    private var buffer = H264ReferenceBuffer()
    /// Whether frames were lost since decoding began. Without a loss, all pictures can be decoded.
    private var hasLoss = false
    /// Whether the lost frames are unknown: lists of fields are not constructed, and a picture without a readable header
    /// may have marked others.
    private(set) var isUnknown = false
    private var count = 0

    /// Forgets all frames: decoding begins at the next picture.
    mutating func restart() { self = LostReferences() }

    /// Records a picture whose header could not be read.
    mutating func loseUnreadable() { isUnknown = true }

    /// Takes the next picture.
    ///
    /// - Parameters:
    ///   - slices: The headers of its slices, of each reference list one.
    ///   - previous: PrevRefFrameNum (7.4.3); nil if decoding begins at the picture.
    ///   - isComplete: Whether all its slices can be decoded.
    /// - Returns: Whether it refers to a lost frame.
    mutating func take(
        _ slices: [H264SliceHeader], _ sps: H264SequenceParameterSet, after previous: Int?, pictureOrderCount: Int,
        isComplete: Bool
    ) -> Use {
        guard let first = slices.first else { return .none }
        if first.isIDR { restart() }
        if first.field_pic_flag { isUnknown = true }
        if isUnknown { return .none }
        if let previous, !first.isIDR, first.frame_num != previous { fillGap(after: previous, before: first.frame_num, sps) }
        let use: Use = hasLoss ? slices.map { self.use(in: $0, sps, pictureOrderCount) }.max() ?? .none : .none
        guard let marking = first.marking else { return use }
        let isLost = use == .certain || !isComplete
        if isLost { hasLoss = true }
        _ = buffer.mark(
            H264ReferenceBuffer.Entry(
                frame: isLost ? -1 : count, frame_num: first.frame_num, pictureOrderCount: pictureOrderCount),
            marking: marking,
            sps: sps)
        buffer.faults = []
        count &+= 1
        return use
    }

    /// Adds the frames that are missing before a picture.
    private mutating func fillGap(after previous: Int, before frame_num: Int, _ sps: H264SequenceParameterSet) {
        for number in H264ReferenceBuffer.missing(after: previous, before: frame_num, sps) {
            hasLoss = true
            buffer.addNonExisting(frame_num: number, sps)
        }
        buffer.faults = []
    }

    private func use(in slice: H264SliceHeader, _ sps: H264SequenceParameterSet, _ pictureOrderCount: Int) -> Use {
        if slice.slice_type.isIntra { return .none }
        var lists = H264ReferenceLists(
            buffer: buffer, maxFrameNum: sps.maxFrameNum, frame_num: slice.frame_num,
            pictureOrderCount: pictureOrderCount)
        let entries = lists.lists(of: slice)
        func isMissing(_ entry: H264ReferenceBuffer.Entry?) -> Bool { entry?.isNonExisting ?? true }
        // Where gaps are allowed, a missing frame may belong to a temporal layer that was removed. It can be in a list
        // beside others, but then no block refers to it.
        if sps.gaps_in_frame_num_value_allowed_flag {
            if entries.contains(where: { !$0.isEmpty && $0.allSatisfy(isMissing) }) { return .certain }
            return entries.joined().contains(where: isMissing) ? .possible : .none
        }
        // The initial lists of B slices have no missing frames, so that all later entries are shifted.
        let isShifted =
            slice.slice_type == .b && buffer.shortTerm.contains(where: \.isNonExisting)
            && zip(slice.modifications, entries).contains { $0?.count ?? 0 < $1.count }
        return isShifted || !lists.faults.isEmpty || entries.joined().contains(where: isMissing) ? .certain : .none
    }
}
