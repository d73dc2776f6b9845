import VideoBase

/// Turns plans, in coding order, into HEVC's picture order counts, reference picture sets, lists and picture kinds.
///
/// A reference picture set names all that a decoder keeps, so it is what the plan has stored — less what HEVC forbids
/// to keep: what precedes an IRAP picture, once a picture behind it is coded (8.3.2), and pictures of temporal
/// sub-layers that nothing refers to any more.
public struct HEVCNumbering: Sendable {
    /// log2 of MaxPicOrderCntLsb, 4…16.
    public let log2_max_pic_order_cnt_lsb: Int
    /// I pictures are CRA pictures. With long-term references they are not: pictures behind them may refer to those.
    public let hasRandomAccess: Bool
    /// What a decoder has once the latest picture is decoded.
    private var stored: [HEVCStoredPicture] = []
    /// The latest IDR or CRA picture.
    private var codingIndexOfIRAP = 0
    private var displayIndexOfIRAP = 0

    public init(longTermReferences: Int = 0, log2_max_pic_order_cnt_lsb: Int = 8) {
        precondition((4...16).contains(log2_max_pic_order_cnt_lsb), "numbering outside 7.4.3.2.1")
        hasRandomAccess = longTermReferences == 0
        self.log2_max_pic_order_cnt_lsb = log2_max_pic_order_cnt_lsb
    }

    private var maxLsb: Int { 1 << log2_max_pic_order_cnt_lsb }

    /// The numbers of the next picture in coding order. Its references must be stored: the plan comes from the same
    /// buffer of references.
    public mutating func number(_ plan: FramePlan) -> HEVCPictureNumbers {
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
        let kept = plan.type == .idr ? [] : kept(by: plan, kind, poc, used)
        if kind == .subLayerAccess, kept.contains(where: { $0.temporalID >= plan.temporalLayer }) { kind = .trailing }
        if kind == .idr || kind == .cra {
            codingIndexOfIRAP = plan.codingIndex
            displayIndexOfIRAP = plan.displayIndex
        }
        let numbers = numbers(plan, kind, poc, kept, used)
        stored = kept
        if plan.isReference {
            var picture = StoredPicture(codingIndex: plan.codingIndex, displayIndex: plan.displayIndex, slot: plan.slot)
            picture.longTermIndex = plan.longTermIndex
            stored.append(
                HEVCStoredPicture(picture: picture, picOrderCount: poc, temporalID: plan.temporalLayer))
        }
        return numbers
    }

    /// What stays in the decoder's buffer while the picture is coded, the pictures coded first in front.
    private func kept(
        by plan: FramePlan, _ kind: HEVCPictureNumbers.Kind, _ poc: Int, _ used: Set<Int>
    ) -> [HEVCStoredPicture] {
        stored.compactMap { entry in
            // As the plan has it now: it may have become a long-term reference.
            guard let picture = plan.stored.first(where: { $0.codingIndex == entry.picture.codingIndex }) else {
                return nil
            }
            var entry = entry
            entry.picture = picture
            if picture.longTermIndex != nil, entry.picOrderCount < poc { entry.isLongTerm = true }
            if used.contains(picture.codingIndex) { return entry }
            // Nothing behind an IRAP picture reaches over it. What leading pictures, which do, may not reach over is the
            // IRAP picture before theirs, and theirs has seen to that.
            let precedes =
                picture.codingIndex < codingIndexOfIRAP || picture.displayIndex < displayIndexOfIRAP
            if precedes, kind != .skippedLeading { return nil }
            // Sub-layers nest: what is above the picture's own stays behind, and so does its own but for the lowest.
            return entry.temporalID > 0 && entry.temporalID >= plan.temporalLayer ? nil : entry
        }
    }

    private func numbers(
        _ plan: FramePlan, _ kind: HEVCPictureNumbers.Kind, _ poc: Int, _ kept: [HEVCStoredPicture], _ used: Set<Int>
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

    /// The places of a list's pictures in its initial order (8.3.4); none where they stand so already.
    private static func entries(_ list: [HEVCStoredPicture], of initial: [HEVCStoredPicture]) -> [Int] {
        if list.elementsEqual(initial.prefix(list.count)) { return [] }
        return list.compactMap { initial.firstIndex(of: $0) }
    }
}
