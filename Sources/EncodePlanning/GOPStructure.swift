/// The structure of a stream: picture types, references and layers.
///
/// Not every combination is possible. `consistent` resolves contradictions, and `fitted` applies a device's limits.
package struct GOPStructure: Sendable, Hashable {
    /// The number of frames from an intra picture to the next; nil: only the first frame and forced frames are intra
    /// pictures.
    package var keyInterval: Int?
    /// The number of pictures that a P picture may predict from, at least 1: the length of its list 0.
    package var references: Int
    /// Makes every `idrInterval`-th intra picture an IDR picture.
    package var idrInterval = 1
    /// Whether B pictures shown before an I picture may predict from pictures before it (open GOP). IDR pictures always
    /// begin a closed GOP.
    package var isOpen = false
    /// The number of B pictures between two other pictures, 0…7.
    package var bFrames = 0
    /// Whether B pictures predict from B pictures. This needs at least two B pictures in a row.
    package var isPyramid = false
    /// The maximum number of levels of B pictures that other pictures predict from; nil: the number that follows from
    /// `bFrames`.
    package var pyramidLevels: Int?
    /// The number of list 0 pictures that a B picture may predict from, at most `references`; nil: `references`.
    package var referencesB: Int?
    /// The number of list 1 pictures that a B picture may predict from.
    package var references1 = 1
    /// The number of layers of a temporal hierarchy, 1…4.
    package var temporalLayers = 1
    /// The number of long-term references, 0…`references`. All key frames and every `longTermInterval`-th picture
    /// become long-term references. If the number is 1, that happens only while no long-term reference is acknowledged.
    package var longTermReferences = 0
    /// The minimum number of frames from a long-term reference to the next.
    package var longTermInterval = 8
    /// The number of steps of a rolling intra refresh, which replaces the key frames after the first; nil: no intra
    /// refresh.
    package var intraRefreshSteps: Int?

    /// Creates a structure. All other properties keep their defaults.
    ///
    /// - Precondition: `keyInterval` (if any) and `references` are at least 1.
    package init(keyInterval: Int?, references: Int) {
        precondition((keyInterval ?? 1) >= 1 && references >= 1, "a GOP has a positive length and number of references")
        self.keyInterval = keyInterval
        self.references = references
    }

    /// The number of levels of B pictures that other pictures predict from.
    package var bReferenceLevels: Int {
        guard isPyramid, bFrames >= 2 else { return 0 }
        let levels = Int.bitWidth - 1 - bFrames.leadingZeroBitCount
        return min(levels, max(pyramidLevels ?? levels, 0))
    }

    /// The number of references in the decoded picture buffer: max_num_ref_frames, also used as
    /// max_dec_frame_buffering.
    ///
    /// A P picture needs its list. B pictures need the pictures before and after them, and one picture of each level
    /// above. Only the sliding window manages a temporal hierarchy, so a decoder that never receives the upper layers
    /// keeps the same pictures. Therefore the window reaches back to the latest picture of the lowest layer.
    package var storage: Int {
        let least = max(bFrames > 0 ? 2 : 1, temporalLayers > 2 ? 1 << (temporalLayers - 2) : 1)
        return max(references - longTermReferences, least) + longTermReferences + bReferenceLevels
    }

    /// The number of reconstructed pictures that must be stored at once: the references and the picture being coded.
    package var slotCount: Int { storage + 1 }
    /// The maximum number of frames that wait for a later frame before they are coded.
    package var delay: Int { bFrames }
    /// The maximum number of pictures that precede a picture in decoding order and follow it in output order:
    /// max_num_reorder_frames.
    package var reorderDepth: Int { bFrames > 0 ? 1 + bReferenceLevels : 0 }
    /// Whether dropping the upper temporal layers leaves gaps in frame_num: gaps_in_frame_num_value_allowed_flag.
    package var allowsFrameNumGaps: Bool { temporalLayers > 2 }

    /// The structure with all values in range and contradictions resolved.
    ///
    /// A rolling intra refresh uses one reference and excludes all other features. With two temporal layers, B pictures
    /// form the upper layer, and no picture predicts from them. With more layers there are no B pictures.
    package var consistent: GOPStructure {
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

    /// Returns the structure reduced to these maximum lengths of the lists and of the decoded picture buffer.
    ///
    /// The reduction affects references first, then pyramid levels, temporal layers, long-term references and B
    /// pictures.
    package func fitted(list0: Int, listB0: Int? = nil, list1: Int, storage limit: Int) -> GOPStructure {
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
