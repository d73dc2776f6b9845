internal import CVA

/// A picture's references as a client names them, put as a slice header puts them (H.265 7.3.6.1, 7.3.7).
struct HEVCDecodeReferences {
    /// A picture of the reference picture set; `index` is its place in ReferenceFrames.
    private struct Entry {
        var index: Int
        var order: Int
        var isUsed: Bool
    }

    private let order: Int
    /// Nearest first.
    private var before: [Entry] = []
    private var after: [Entry] = []
    private var longTerm: [Entry] = []

    init(_ picture: VAPictureParameterBufferHEVC) {
        order = Int(picture.CurrPic.pic_order_cnt)
        for (index, frame) in FixedArray.values(picture.ReferenceFrames, as: VAPictureHEVC.self, count: 15).enumerated()
        where frame.isValid && frame.pic_order_cnt != picture.CurrPic.pic_order_cnt {
            let entry = Entry(index: index, order: Int(frame.pic_order_cnt), isUsed: frame.isUsed)
            if frame.isLongTerm {
                longTerm.append(entry)
            } else if entry.order < order {
                before.append(entry)
            } else {
                after.append(entry)
            }
        }
        before.sort { $0.order > $1.order }
        after.sort { $0.order < $1.order }
    }

    /// NumPicTotalCurr.
    var count: Int { (before + after + longTerm).count(where: \.isUsed) }

    /// short_term_ref_pic_set_sps_flag 0 and the set, then the long-term pictures.
    func put(_ bits: inout HeaderBitWriter) {
        bits.put(0, 1)
        bits.putUnsigned(before.count)
        bits.putUnsigned(after.count)
        for list in [before, after] {
            var last = order
            for entry in list {
                bits.putUnsigned(abs(entry.order - last) - 1)
                bits.put(entry.isUsed)
                last = entry.order
            }
        }
        bits.putUnsigned(longTerm.count)
        for entry in longTerm {
            bits.put(HEVCDecodeSets.lowBits(of: entry.order), HEVCDecodeSets.orderBits)
            bits.put(entry.isUsed)
            bits.put(0, 1)
        }
    }

    /// ref_pic_lists_modification's entries for a slice's list of places in ReferenceFrames: each one's place in
    /// RefPicListTemp (8.3.4). A place that names no current reference, as clients give it for lost ones, is the first.
    func entries(_ places: [UInt8], list: Int) -> [Int] {
        let initial = ((list == 0 ? before + after : after + before) + longTerm).filter(\.isUsed).map(\.index)
        return places.map { initial.firstIndex(of: Int($0)) ?? 0 }
    }
}
