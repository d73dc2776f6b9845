import NALUnits

/// st_ref_pic_set(), H.265 7.3.7, written out (inter_ref_pic_set_prediction_flag 0): the short-term pictures that stay
/// in the decoded picture buffer, by how far their picture order counts are from the current picture's.
public struct ShortTermReferencePictureSet: Sendable, Hashable {
    public struct Entry: Sendable, Hashable {
        /// DeltaPocS0 (below 0) or DeltaPocS1 (above 0).
        public var deltaPOC: Int
        /// The current picture may refer to it; false: it is only kept for later pictures.
        public var isUsed: Bool

        public init(deltaPOC: Int, isUsed: Bool = true) {
            self.deltaPOC = deltaPOC
            self.isUsed = isUsed
        }
    }

    /// The pictures before the current one in output order, the nearest first.
    public let negative: [Entry]
    /// The pictures after it, the nearest first.
    public let positive: [Entry]

    /// From entries in any order; those with a distance of 0 and second ones with the same distance are left out.
    public init(_ entries: [Entry] = []) {
        var seen: Set<Int> = [0]
        let distinct = entries.filter { seen.insert($0.deltaPOC).inserted }
        negative = distinct.filter { $0.deltaPOC < 0 }.sorted { $0.deltaPOC > $1.deltaPOC }
        positive = distinct.filter { $0.deltaPOC > 0 }.sorted { $0.deltaPOC < $1.deltaPOC }
    }

    /// NumDeltaPocs.
    public var count: Int { negative.count + positive.count }
    /// The pictures that the current one may refer to: the short-term part of NumPicTotalCurr (7-55).
    public var usedCount: Int { (negative + positive).count { $0.isUsed } }

    /// - Parameter index: stRpsIdx; num_short_term_ref_pic_sets in a slice segment header.
    func write(to w: inout BitWriter, index: Int) {
        if index != 0 { w.flag(false) }  // inter_ref_pic_set_prediction_flag
        w.ue(negative.count)
        w.ue(positive.count)
        for side in [negative, positive] {
            var previous = 0
            for entry in side {
                w.ue(abs(entry.deltaPOC - previous) - 1)  // delta_poc_s0_minus1, delta_poc_s1_minus1
                w.flag(entry.isUsed)
                previous = entry.deltaPOC
            }
        }
    }
}
