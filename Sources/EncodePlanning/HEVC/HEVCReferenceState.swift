import VideoBase

/// Converts plans, in coding order, into HEVC's picture order counts, reference picture sets, lists and picture kinds.
///
/// A reference picture set names the pictures that a decoder keeps. These are the pictures that the plan stores, with
/// two exceptions that HEVC forbids:
/// 1. Pictures before an IRAP picture. They are forbidden as soon as its first trailing picture is coded (8.3.2).
/// 2. Pictures of temporal sub-layers that no later picture can refer to.
package struct HEVCReferenceState: Sendable {
    /// log2 of MaxPicOrderCntLsb, 4…16.
    package let log2_max_pic_order_cnt_lsb: Int
    /// Whether I pictures are CRA pictures. With long-term references they are not, because later pictures may refer to
    /// long-term references before them.
    package let hasRandomAccess: Bool
    /// The pictures that a decoder stores after the latest picture is decoded.
    private var stored: [HEVCStoredPicture] = []
    /// The coding index of the latest IDR or CRA picture.
    private var codingIndexOfIRAP = 0
    /// The display index of the latest IDR or CRA picture.
    private var displayIndexOfIRAP = 0

    /// Creates the state before the first picture.
    ///
    /// - Precondition: `log2_max_pic_order_cnt_lsb` is 4…16 (7.4.3.2.1).
    package init(longTermReferences: Int = 0, log2_max_pic_order_cnt_lsb: Int = 8) {
        precondition((4...16).contains(log2_max_pic_order_cnt_lsb), "numbering outside 7.4.3.2.1")
        hasRandomAccess = longTermReferences == 0
        self.log2_max_pic_order_cnt_lsb = log2_max_pic_order_cnt_lsb
    }

    private var maxLsb: Int { 1 << log2_max_pic_order_cnt_lsb }

    /// Returns the numbers of the next picture in coding order and stores the picture if it is a reference.
    ///
    /// The references of `plan` must be stored: all plans come from one planner, in order.
    package mutating func number(_ plan: FramePlan) -> HEVCPictureNumbers {
        let poc = plan.displayIndex - plan.keyDisplayIndex
        let used = Set(plan.list0 + plan.list1)
        var kind = HEVCPictureNumbers.Kind.trailing
        switch plan.type {
        case .idr: kind = .idr
        case .i: if hasRandomAccess { kind = .cra }
        case .p, .b:
            if plan.displayIndex < displayIndexOfIRAP {
                kind = .skippedLeading
            } else if plan.temporalLayer > 0 {
                kind = .subLayerAccess
            }
        }
        let kept = plan.type == .idr ? [] : kept(by: plan, kind: kind, poc: poc, used: used)
        if kind == .subLayerAccess, kept.contains(where: { $0.temporalID >= plan.temporalLayer }) { kind = .trailing }
        if kind == .idr || kind == .cra {
            codingIndexOfIRAP = plan.codingIndex
            displayIndexOfIRAP = plan.displayIndex
        }
        let numbers = numbers(plan, kind: kind, poc: poc, kept: kept, used: used)
        stored = kept
        if plan.isReference {
            var picture = StoredPicture(codingIndex: plan.codingIndex, displayIndex: plan.displayIndex, slot: plan.slot)
            picture.longTermIndex = plan.longTermIndex
            stored.append(
                HEVCStoredPicture(picture: picture, picOrderCount: poc, temporalID: plan.temporalLayer))
        }
        return numbers
    }

    /// Returns the pictures that stay in the decoder's buffer while the picture is coded, in coding order.
    private func kept(
        by plan: FramePlan, kind: HEVCPictureNumbers.Kind, poc: Int, used: Set<Int>
    ) -> [HEVCStoredPicture] {
        stored.compactMap { entry in
            // Use the plan's entry: the picture may have become a long-term reference.
            guard let picture = plan.stored.first(where: { $0.codingIndex == entry.picture.codingIndex }) else {
                return nil
            }
            var entry = entry
            entry.picture = picture
            if picture.longTermIndex != nil, entry.picOrderCount < poc { entry.isLongTerm = true }
            if used.contains(picture.codingIndex) { return entry }
            // A picture after an IRAP picture does not refer to pictures before it. Leading pictures do. They must not
            // refer to pictures before the previous IRAP picture, but those were removed when their own IRAP picture
            // was coded.
            let precedes =
                picture.codingIndex < codingIndexOfIRAP || picture.displayIndex < displayIndexOfIRAP
            if precedes, kind != .skippedLeading { return nil }
            // Temporal sub-layers are nested. Remove pictures of higher sub-layers and of the picture's own sub-layer,
            // except the lowest sub-layer.
            return entry.temporalID > 0 && entry.temporalID >= plan.temporalLayer ? nil : entry
        }
    }

    private func numbers(
        _ plan: FramePlan, kind: HEVCPictureNumbers.Kind, poc: Int, kept: [HEVCStoredPicture], used: Set<Int>
    ) -> HEVCPictureNumbers {
        func find(_ codingIndex: Int) -> HEVCStoredPicture? {
            kept.first { $0.picture.codingIndex == codingIndex }
        }
        func isUsed(_ entry: HEVCStoredPicture) -> Bool { used.contains(entry.picture.codingIndex) }
        let list0 = plan.list0.compactMap(find)
        let list1 = plan.list1.compactMap(find)
        let short = kept.filter { !$0.isLongTerm }
        let long = kept.filter(\.isLongTerm).sorted { $0.picOrderCount > $1.picOrderCount }
        // RefPicSetStCurrBefore, RefPicSetStCurrAfter and RefPicSetLtCurr (8-8, 8-10).
        let current = short.filter(isUsed)
        let before = current.filter { $0.picOrderCount < poc }.sorted { $0.picOrderCount > $1.picOrderCount }
        let after = current.filter { $0.picOrderCount > poc }.sorted { $0.picOrderCount < $1.picOrderCount }
        let lasting = long.filter(isUsed)
        let listed = list0 + list1.filter { !list0.contains($0) }
        return HEVCPictureNumbers(
            kind: kind, isReference: plan.isReference, temporalID: plan.temporalLayer, picOrderCount: poc,
            pic_order_cnt_lsb: poc & (maxLsb - 1),
            shortTerm: short.map { HEVCShortTermEntry(deltaPOC: $0.picOrderCount - poc, isUsed: isUsed($0)) },
            longTerm: long.map { entry in
                HEVCLongTermEntry(
                    poc_lsb_lt: entry.picOrderCount & (maxLsb - 1),
                    deltaPOCMsbCycle: (poc >> log2_max_pic_order_cnt_lsb)
                        - (entry.picOrderCount >> log2_max_pic_order_cnt_lsb),
                    isUsed: isUsed(entry))
            },
            list0: list0, list1: list1,
            listEntries0: Self.entries(list0, of: before + after + lasting),
            listEntries1: Self.entries(list1, of: after + before + lasting),
            stored: listed + kept.filter { !listed.contains($0) })
    }

    /// Returns the index of each picture of a list in its initial list (8.3.4); empty if the list equals the start of
    /// the initial list.
    private static func entries(_ list: [HEVCStoredPicture], of initial: [HEVCStoredPicture]) -> [Int] {
        if list.elementsEqual(initial.prefix(list.count)) { return [] }
        return list.compactMap { initial.firstIndex(of: $0) }
    }
}
