/// How a stream is built from pictures: what the planner follows.
///
/// Not every combination can be: `consistent` says what becomes of it, and `fitted` what a device's limits leave.
public struct GOPStructure: Sendable, Hashable {
    /// Frames from an intra picture to the next; nil: only the first frame and forced ones are.
    public var keyInterval: Int?
    /// Pictures that a P picture may predict from, at least 1: the length of its list 0.
    public var references: Int
    /// Every so many intra pictures is an IDR picture.
    public var idrInterval = 1
    /// B pictures before an I picture may predict from pictures before it. IDR pictures end a closed GOP always.
    public var isOpen = false
    /// B pictures between two others, 0…7.
    public var bFrames = 0
    /// B pictures predict from B pictures, which needs at least two in a row.
    public var isPyramid = false
    /// Levels of B pictures that others predict from, at most; nil: as many as the B pictures in a row give.
    public var pyramidLevels: Int?
    /// Pictures of list 0 that a B picture may predict from, at most `references`; nil: as many.
    public var referencesB: Int?
    /// Pictures of list 1 that a B picture may predict from.
    public var references1 = 1
    /// Layers of a temporal hierarchy, 1…4.
    public var temporalLayers = 1
    /// Long-term references kept, 0…`references`. All key frames and every `longTermInterval`-th picture become ones; with
    /// one, only while none is acknowledged.
    public var longTermReferences = 0
    /// Frames from a long-term reference to the next, at least.
    public var longTermInterval = 8
    /// Steps of a rolling intra refresh, which then takes the place of key frames after the first; nil: none.
    public var intraRefreshSteps: Int?

    public init(keyInterval: Int?, references: Int) {
        precondition((keyInterval ?? 1) >= 1 && references >= 1, "a GOP has a positive length and number of references")
        self.keyInterval = keyInterval
        self.references = references
    }

    /// Levels of B pictures that others predict from.
    public var bReferenceLevels: Int {
        guard isPyramid, bFrames >= 2 else { return 0 }
        let levels = Int.bitWidth - 1 - bFrames.leadingZeroBitCount
        return min(levels, max(pyramidLevels ?? levels, 0))
    }

    /// References that the decoded picture buffer holds: max_num_ref_frames, and max_dec_frame_buffering too.
    ///
    /// A P picture needs its list; B pictures the pictures before and after them, and one of each level above them. A
    /// temporal hierarchy is kept by the sliding window alone, so that a decoder which never sees the upper layers
    /// keeps the same pictures: the window reaches back to the lowest layer's latest.
    public var storage: Int {
        let least = max(bFrames > 0 ? 2 : 1, temporalLayers > 2 ? 1 << (temporalLayers - 2) : 1)
        return max(references - longTermReferences, least) + longTermReferences + bReferenceLevels
    }

    /// Reconstructions that must be kept at once: the references and the picture being coded.
    public var slotCount: Int { storage + 1 }
    /// Frames that wait for a later one before they are coded.
    public var delay: Int { bFrames }
    /// Pictures that precede any picture in decoding order and follow it in output order: max_num_reorder_frames.
    public var reorderDepth: Int { bFrames > 0 ? 1 + bReferenceLevels : 0 }
    /// Dropping the upper temporal layers leaves gaps in frame_num: gaps_in_frame_num_value_allowed_flag.
    public var allowsFrameNumGaps: Bool { temporalLayers > 2 }

    /// The structure with everything in range, and what excludes each other settled.
    ///
    /// A rolling intra refresh takes one reference and nothing else. Two temporal layers go with B pictures that none
    /// predict from (the upper layer); more layers, or fewer frames, with none.
    public var consistent: GOPStructure {
        var result = self
        result.references = min(max(references, 1), 16)
        result.bFrames = min(max(bFrames, 0), 7)
        result.references1 = max(references1, 1)
        result.referencesB = referencesB.map { min(max($0, 1), result.references) }
        result.idrInterval = max(idrInterval, 1)
        result.temporalLayers = min(max(temporalLayers, 1), 4)
        result.longTermReferences = min(max(longTermReferences, 0), result.references)
        result.longTermInterval = max(longTermInterval, 1)
        result.intraRefreshSteps = intraRefreshSteps.map { max($0, 1) }
        if result.intraRefreshSteps != nil {
            result.references = 1
            result.bFrames = 0
            result.temporalLayers = 1
            result.longTermReferences = 0
        }
        if result.temporalLayers == 2 { result.isPyramid = false }
        if result.temporalLayers > 2 { result.bFrames = 0 }
        if result.bReferenceLevels == 0 { result.isPyramid = false }
        if result.bFrames == 0 { result.isOpen = false }
        return result
    }

    /// What is left of the structure where lists and decoded picture buffer have these lengths at most.
    ///
    /// References go first, then levels of the pyramid, temporal layers, long-term references and B pictures.
    public func fitted(list0: Int, listB0: Int? = nil, list1: Int, storage limit: Int) -> GOPStructure {
        var result = self
        result.references = min(references, max(list0, 1))
        result.referencesB = min(referencesB ?? references, max(listB0 ?? list0, 1))
        if list1 < 1 { result.bFrames = 0 }
        result.references1 = min(references1, max(list1, 1))
        result = result.consistent
        while result.storage > limit {
            if result.references > max(result.longTermReferences, 1) {
                result.references -= 1
            } else if result.isPyramid {
                result.pyramidLevels = result.bReferenceLevels - 1
            } else if result.temporalLayers > 2 {
                result.temporalLayers -= 1
            } else if result.longTermReferences > 0 {
                result.longTermReferences -= 1
            } else if result.bFrames > 0 {
                result.bFrames = 0
            } else {
                break
            }
            result = result.consistent
        }
        return result
    }
}
