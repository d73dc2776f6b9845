internal import CVA

/// Converts the reference frames of a picture parameter buffer into slice header syntax (H.265 7.3.6.1, 7.3.7).
struct HEVCDecodeReferences {
    /// A picture of the reference picture set.
    private struct Entry {
        /// The index in ReferenceFrames.
        var index: Int
        /// PicOrderCntVal.
        var order: Int
        /// Whether the current picture may use it as a reference.
        var isUsed: Bool
    }

    /// PicOrderCntVal of the current picture.
    private let order: Int
    /// The short-term pictures before the current picture in output order, nearest first.
    private var before: [Entry] = []
    /// The short-term pictures after the current picture in output order, nearest first.
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

    /// The number of pictures that the current picture may use as references (NumPicTotalCurr).
    var count: Int { (before + after + longTerm).count(where: \.isUsed) }

    /// Writes short_term_ref_pic_set_sps_flag 0, the short-term reference picture set and the long-term pictures.
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

    /// Returns the entries of ref_pic_lists_modification, which are indices in RefPicListTemp (H.265 8.3.4).
    ///
    /// If an index in `indices` is not a reference of the current picture, its entry is 0. Clients pass such indices
    /// for lost references.
    ///
    /// - Parameter indices: The slice's reference list, as indices in ReferenceFrames.
    func entries(_ indices: [UInt8], list: Int) -> [Int] {
        let initial = ((list == 0 ? before + after : after + before) + longTerm).filter(\.isUsed).map(\.index)
        return indices.map { initial.firstIndex(of: Int($0)) ?? 0 }
    }
}
