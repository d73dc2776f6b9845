/// The pictures marked as used for reference, and the marking by reference picture sets (H.265 8.3.2).
struct HEVCReferenceBuffer {
    struct Entry {
        /// The index of the picture in coding order.
        var frame: Int
        var pictureOrderCount: Int
        var temporalID: Int
        var nal_unit_type: Int
        var isLongTerm = false

        var isSubLayerNonReference: Bool { nal_unit_type < 16 && nal_unit_type % 2 == 0 }
        var isRASL: Bool { nal_unit_type == 8 || nal_unit_type == 9 }
    }

    private(set) var entries: [Entry] = []
    private(set) var faults: [(Violation.Rule, String)] = []
    /// The existing pictures of the last reference picture set to which its picture may refer.
    private(set) var current: [Entry] = []
    /// All existing pictures of the last reference picture set.
    private(set) var all: [Entry] = []

    mutating func takeFaults() -> [(Violation.Rule, String)] {
        defer { faults = [] }
        return faults
    }

    /// Removes all pictures, at an IRAP picture with NoRaslOutputFlag.
    mutating func clear() { entries = [] }

    mutating func add(_ entry: Entry) { entries.append(entry) }

    /// Derives the reference picture set of a picture and updates the marking.
    ///
    /// - Parameter mayMiss: Whether pictures may be missing because they precede the start of the stream (RASL, CRA).
    ///   If so, they are not reported.
    mutating func apply(
        _ header: HEVCSliceSegmentHeader, pictureOrderCount: Int, _ sps: HEVCSequenceParameterSet, mayMiss: Bool
    ) -> HEVCFrame.References {
        var set = HEVCFrame.References()
        (current, all) = ([], [])
        var kept: [Entry] = []
        func take(_ found: Int?, isUsed: Bool, asLongTerm: Bool, _ what: String) -> Int? {
            guard let found else {
                if isUsed, !mayMiss {
                    faults.append((.referenceList, "\(what) is in the reference picture set, but not in the buffer"))
                }
                return nil
            }
            var entry = entries[found]
            entry.isLongTerm = asLongTerm
            if kept.contains(where: { $0.frame == entry.frame }) {
                faults.append((.marking, "\(what) is twice in the reference picture set"))
            } else {
                kept.append(entry)
            }
            all.append(entry)
            if isUsed { current.append(entry) }
            return entry.frame
        }
        // Long-term pictures are derived first: a picture that becomes a long-term picture is no longer a short-term
        // picture.
        let mask = sps.maxPictureOrderCountLsb - 1
        for picture in header.longTermReferences {
            var found: Int?
            var name = "the long-term picture with POC LSB \(picture.poc_lsb_lt)"
            if let cycle = picture.deltaPOCMsbCycle {
                let count = pictureOrderCount - cycle * (mask + 1) - (pictureOrderCount & mask) + picture.poc_lsb_lt
                name = "the long-term picture of POC \(count)"
                found = entries.firstIndex { $0.pictureOrderCount == count }
            } else {
                let matching = entries.indices.filter { entries[$0].pictureOrderCount & mask == picture.poc_lsb_lt }
                if matching.count > 1 { faults.append((.marking, "\(name) is not the only one")) }
                found = matching.first
            }
            let frame = take(found, isUsed: picture.used_by_curr_pic_lt_flag, asLongTerm: true, name)
            if picture.used_by_curr_pic_lt_flag { set.ltCurr.append(frame) } else { set.ltFoll.append(frame) }
        }
        for entry in header.shortTermSet.entries {
            let count = pictureOrderCount + entry.deltaPOC
            let found = entries.firstIndex { !$0.isLongTerm && $0.pictureOrderCount == count }
            if found == nil, entries.contains(where: { $0.isLongTerm && $0.pictureOrderCount == count }) {
                faults.append((.marking, "POC \(count) is listed as a short-term picture, but is a long-term one"))
            }
            let frame = take(found, isUsed: entry.isUsed, asLongTerm: false, "the picture of POC \(count)")
            if !entry.isUsed {
                set.stFoll.append(frame)
            } else if entry.deltaPOC < 0 {
                set.stCurrBefore.append(frame)
            } else {
                set.stCurrAfter.append(frame)
            }
        }
        entries = kept
        return set
    }
}
