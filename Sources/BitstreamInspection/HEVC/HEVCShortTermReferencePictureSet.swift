/// st_ref_pic_set() (H.265 7.3.7), after its prediction from another set (7-61, 7-62).
package struct HEVCShortTermReferencePictureSet: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        /// DeltaPocS0 or DeltaPocS1: the difference from the current picture's PicOrderCntVal.
        package var deltaPOC: Int
        /// UsedByCurrPicS0 or UsedByCurrPicS1.
        package var isUsed: Bool
    }

    /// The pictures with a negative difference (S0), the nearest first.
    package var negative: [Entry] = []
    /// The pictures with a positive difference (S1), the nearest first.
    package var positive: [Entry] = []

    /// NumDeltaPocs.
    package var count: Int { negative.count + positive.count }
    package var entries: [Entry] { negative + positive }

    init() {}

    /// Reads a set.
    ///
    /// - Parameters:
    ///   - index: stRpsIdx; `sets.count` in a slice segment header.
    ///   - sets: The preceding sets of the SPS.
    ///   - limit: sps_max_dec_pic_buffering_minus1 of the highest sub-layer.
    /// - Throws: `Malformed` if the set cannot be read or exceeds `limit`.
    init(
        _ reader: inout BitReader, index: Int, isInSlice: Bool, sets: [HEVCShortTermReferencePictureSet], limit: Int
    ) throws(Malformed) {
        if index > 0, reader.flag() {
            let delta_idx = isInSlice ? try reader.unsigned("delta_idx_minus1", in: 0...(index - 1)) + 1 : 1
            let delta_rps_sign = reader.flag()
            let abs_delta_rps = try reader.unsigned("abs_delta_rps_minus1", in: 0...32767) + 1
            let source = sets[index - delta_idx]
            predict(&reader, from: source, delta: delta_rps_sign ? -abs_delta_rps : abs_delta_rps)
        } else {
            let num_negative_pics = try reader.unsigned("num_negative_pics", in: 0...limit)
            let num_positive_pics = try reader.unsigned("num_positive_pics", in: 0...(limit - num_negative_pics))
            var poc = 0
            for _ in 0..<num_negative_pics {
                poc -= try reader.unsigned("delta_poc_s0_minus1", in: 0...32767) + 1
                negative.append(Entry(deltaPOC: poc, isUsed: reader.flag()))
            }
            poc = 0
            for _ in 0..<num_positive_pics {
                poc += try reader.unsigned("delta_poc_s1_minus1", in: 0...32767) + 1
                positive.append(Entry(deltaPOC: poc, isUsed: reader.flag()))
            }
        }
        try reader.checkEnd("st_ref_pic_set()")
        guard count <= limit else {
            throw Malformed("the reference picture set has \(count) pictures, but the buffer holds \(limit)")
        }
    }

    /// Predicts the set from another one (inter_ref_pic_set_prediction_flag 1). The candidates are the pictures of
    /// `source` and the picture that `source` belongs to; `delta` (deltaRps) is added to the difference of each.
    private mutating func predict(_ reader: inout BitReader, from source: HEVCShortTermReferencePictureSet, delta: Int) {
        // The syntax contains the candidates in this order: S0, S1, and the picture of the source set (difference 0).
        var moved: [Entry] = []
        for index in 0...source.count {
            let used_by_curr_pic_flag = reader.flag()
            let use_delta_flag = used_by_curr_pic_flag || reader.flag()
            guard use_delta_flag else { continue }
            let base = index < source.count ? source.entries[index].deltaPOC : 0
            moved.append(Entry(deltaPOC: base + delta, isUsed: used_by_curr_pic_flag))
        }
        negative = moved.filter { $0.deltaPOC < 0 }.sorted { $0.deltaPOC > $1.deltaPOC }
        positive = moved.filter { $0.deltaPOC > 0 }.sorted { $0.deltaPOC < $1.deltaPOC }
    }
}
