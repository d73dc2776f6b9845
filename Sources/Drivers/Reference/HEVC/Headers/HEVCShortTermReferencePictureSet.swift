/// st_ref_pic_set, H.265 7.3.7: the short-term reference pictures that stay in the decoded picture buffer, by
/// difference of PicOrderCntVal.
package struct HEVCShortTermReferencePictureSet: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        /// DeltaPocS0 or DeltaPocS1.
        package var deltaPOC: Int
        /// used_by_curr_pic_s0_flag or used_by_curr_pic_s1_flag.
        package var isUsed: Bool

        package init(deltaPOC: Int, isUsed: Bool) {
            self.deltaPOC = deltaPOC
            self.isUsed = isUsed
        }
    }

    /// The pictures before and after the current one in output order, each list sorted by increasing distance.
    package var negative: [Entry] = []
    package var positive: [Entry] = []

    package init() {}

    /// Creates a set from entries in any order.
    package init(_ entries: [Entry]) {
        negative = entries.filter { $0.deltaPOC < 0 }.sorted { $0.deltaPOC > $1.deltaPOC }
        positive = entries.filter { $0.deltaPOC > 0 }.sorted { $0.deltaPOC < $1.deltaPOC }
    }

    var usedCount: Int { (negative + positive).count { $0.isUsed } }

    /// Writes the set without prediction from another set. `index` is stRpsIdx: the set's index in the sequence
    /// parameter set, or in a slice header the number of sets in the sequence parameter set.
    func write(to bits: inout HeaderBitWriter, index: Int) {
        if index != 0 { bits.put(false) }  // inter_ref_pic_set_prediction_flag
        bits.putUnsigned(negative.count)
        bits.putUnsigned(positive.count)
        for (entries, sign) in [(negative, -1), (positive, 1)] {
            var last = 0
            for entry in entries {
                bits.putUnsigned(sign * (entry.deltaPOC - last) - 1)
                bits.put(entry.isUsed)
                last = entry.deltaPOC
            }
        }
    }

    /// Reads the set that follows `others`. In a slice header, `others` are all sets of the sequence parameter set.
    /// Returns nil if a value is out of range.
    package init?(_ bits: inout HeaderBitReader, after others: [HEVCShortTermReferencePictureSet], inSliceHeader: Bool) {
        let index = others.count
        if index != 0 && bits.flag() {
            let distance = inSliceHeader ? bits.unsigned() + 1 : 1
            guard distance <= index, !bits.failed else { return nil }
            readPredicted(&bits, from: others[index - distance])
        } else {
            let counts = [bits.unsigned(), bits.unsigned()]
            guard !bits.failed, counts.allSatisfy({ $0 <= 16 }) else { return nil }
            for (side, sign) in [-1, 1].enumerated() {
                var delta = 0
                for _ in 0..<counts[side] {
                    delta += sign * (bits.unsigned() + 1)
                    let entry = Entry(deltaPOC: delta, isUsed: bits.flag())
                    if side == 0 { negative.append(entry) } else { positive.append(entry) }
                }
            }
        }
        guard !bits.failed, negative.count + positive.count <= 16,
            (negative + positive).allSatisfy({ abs($0.deltaPOC) <= 1 << 15 })
        else { return nil }
    }

    /// Reads a set with inter_ref_pic_set_prediction_flag equal to 1: (7-61) and (7-62).
    private mutating func readPredicted(_ bits: inout HeaderBitReader, from other: HEVCShortTermReferencePictureSet) {
        let isNegative = bits.flag()
        let shift = (isNegative ? -1 : 1) * (bits.unsigned() + 1)
        let count = other.negative.count + other.positive.count
        var uses: [Bool] = []
        var keeps: [Bool] = []
        for _ in 0...count {
            let isUsed = bits.flag()
            uses.append(isUsed)
            keeps.append(isUsed || bits.flag())
        }
        /// The distances of the other set, followed by that of its own picture, in the order of the flags.
        let distances = (other.negative + other.positive).map { $0.deltaPOC + shift } + [shift]
        let moved = distances.indices.filter { keeps[$0] }.map { Entry(deltaPOC: distances[$0], isUsed: uses[$0]) }
        self = HEVCShortTermReferencePictureSet(moved)
    }
}
