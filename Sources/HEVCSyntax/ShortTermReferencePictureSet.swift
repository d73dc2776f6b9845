import NALUnits

/// The short-term reference picture set, st_ref_pic_set(), H.265 7.3.7, without prediction from another set
/// (inter_ref_pic_set_prediction_flag 0).
///
/// It lists the short-term pictures that stay in the decoded picture buffer, by the difference of their picture order
/// counts from that of the current picture.
package struct ShortTermReferencePictureSet: Sendable, Hashable {
    /// A picture of the set.
    package struct Entry: Sendable, Hashable {
        /// DeltaPocS0 (negative) or DeltaPocS1 (positive).
        package var deltaPOC: Int
        /// Whether the current picture may refer to the picture (UsedByCurrPicS0 or UsedByCurrPicS1). If false, the
        /// picture only stays in the buffer for later pictures.
        package var isUsed: Bool

        /// Creates an entry.
        package init(deltaPOC: Int, isUsed: Bool = true) {
            self.deltaPOC = deltaPOC
            self.isUsed = isUsed
        }
    }

    /// The pictures before the current one in output order, the nearest first.
    package let negative: [Entry]
    /// The pictures after the current one in output order, the nearest first.
    package let positive: [Entry]

    /// Creates a set from entries in any order. Entries with a difference of 0 and repeated differences are ignored.
    package init(_ entries: [Entry] = []) {
        var seen: Set<Int> = [0]
        let distinct = entries.filter { seen.insert($0.deltaPOC).inserted }
        negative = distinct.filter { $0.deltaPOC < 0 }.sorted { $0.deltaPOC > $1.deltaPOC }
        positive = distinct.filter { $0.deltaPOC > 0 }.sorted { $0.deltaPOC < $1.deltaPOC }
    }

    /// NumDeltaPocs.
    package var count: Int { negative.count + positive.count }
    /// The number of pictures to which the current one may refer: the short-term part of NumPicTotalCurr (7-55).
    package var usedCount: Int { (negative + positive).count { $0.isUsed } }

    /// Writes the set.
    ///
    /// - Parameter index: stRpsIdx, which is num_short_term_ref_pic_sets in a slice segment header.
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
