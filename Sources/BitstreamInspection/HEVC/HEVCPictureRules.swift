/// The rules between a picture, its IRAP picture and the pictures that it may refer to (H.265 7.4.2.2, 8.3.2).
struct HEVCPictureRules {
    /// The index of the previous IRAP picture in coding order.
    private(set) var irap: Int?
    /// The index of the last TSA or STSA picture that applies to each sub-layer, in coding order.
    private var switchPoints: [Int: (frame: Int, isTSA: Bool)] = [:]
    /// Whether a trailing picture has followed the previous IRAP picture.
    private var hasTrailing = false
    /// TemporalId of every picture, in coding order.
    private var layers: [Int] = []
    /// PicOrderCntVal of every picture, in coding order.
    private var counts: [Int] = []
    /// The highest PicOrderCntVal in the sequence.
    private var highest = Int.min
    /// The highest PicOrderCntVal in the sequence before the previous IRAP picture; nil if that picture started the
    /// sequence.
    private var highestBeforeIRAP: Int?
    /// setOfPrevPocVals (7.4.7.1): the counts of prevTid0Pic, of its reference picture set and of the pictures after it
    /// in coding order. The keys are the LSBs, each with at most two counts.
    private var previousCounts: [Int: [Int]] = [:]
    /// The index of the last picture of a lower sub-layer, for each sub-layer; -1 for none.
    private var lastBelow = [Int](repeating: -1, count: 7)

    /// Updates the state with a picture. Call it after `faults(of:irap:_:_:_:)`.
    mutating func follow(_ frame: HEVCFrame, _ sps: HEVCSequenceParameterSet) {
        if frame.startsSequence { (highest, highestBeforeIRAP) = (Int.min, nil) }
        if frame.isIRAP {
            irap = frame.index
            hasTrailing = false
            switchPoints = [:]
            highestBeforeIRAP = frame.startsSequence ? nil : highest
        } else if !frame.isLeading {
            hasTrailing = true
        }
        highest = max(highest, frame.pictureOrderCount)
        if [2, 3].contains(frame.nal_unit_type) {
            for layer in frame.temporalID..<7 { switchPoints[layer] = (frame.index, true) }
        } else if [4, 5].contains(frame.nal_unit_type) {
            switchPoints[frame.temporalID] = (frame.index, false)
        }
        layers.append(frame.temporalID)
        for layer in (frame.temporalID + 1)..<max(7, frame.temporalID + 1) { lastBelow[layer] = frame.index }
        if frame.startsSequence { previousCounts = [:] }
        if frame.temporalID == 0, !frame.isLeading, frame.isReference {
            previousCounts = [:]
            for reference in frame.referenceSet.all { if let reference { remember(counts[reference], sps) } }
        }
        remember(frame.pictureOrderCount, sps)
        counts.append(frame.pictureOrderCount)
    }

    /// Adds a count to `previousCounts`.
    private mutating func remember(_ count: Int, _ sps: HEVCSequenceParameterSet) {
        let lsb = count & (sps.maxPictureOrderCountLsb - 1)
        let alike = previousCounts[lsb] ?? []
        if alike.count < 2, !alike.contains(count) { previousCounts[lsb] = alike + [count] }
    }

    /// Returns the violations by a picture.
    ///
    /// - Parameters:
    ///   - irap: The previous IRAP picture in coding order.
    ///   - references: The buffer after the reference picture set of `frame` was applied.
    func faults(
        of frame: HEVCFrame, irap: HEVCFrame?, _ references: HEVCReferenceBuffer, _ sps: HEVCSequenceParameterSet
    ) -> [(Violation.Rule, String)] {
        orderFaults(frame, irap)
            + referenceFaults(frame, irap: irap, references: references)
            + layerFaults(frame, references: references, sps: sps)
            + distanceFaults(frame, references)
    }

    /// Checks leading and trailing pictures (7.4.2.2).
    private func orderFaults(_ frame: HEVCFrame, _ irap: HEVCFrame?) -> [(Violation.Rule, String)] {
        var faults: [(Violation.Rule, String)] = []
        let name = HEVCNALUnit.name(of: frame.nal_unit_type)
        let count = frame.pictureOrderCount
        if frame.isIRAP {
            if !frame.startsSequence, highest >= count {
                faults.append(
                    (.pictureOrder, "\(name) of POC \(count) follows a picture of POC \(highest) in coding order"))
            }
            return faults
        }
        guard let irap else { return faults }
        let irapName = HEVCNALUnit.name(of: irap.nal_unit_type)
        if count < irap.pictureOrderCount, !frame.isLeading {
            faults.append(
                (.pictureOrder, "\(name) of POC \(count) precedes its \(irapName) of POC \(irap.pictureOrderCount)"))
        }
        if count > irap.pictureOrderCount, frame.isLeading {
            faults.append(
                (.pictureOrder, "\(name) of POC \(count) follows its \(irapName) of POC \(irap.pictureOrderCount)"))
        }
        guard frame.isLeading else { return faults }
        if hasTrailing { faults.append((.accessUnit, "\(name) follows a trailing picture in coding order")) }
        if irap.nal_unit_type == 20 || irap.nal_unit_type == 18 {
            faults.append((.accessUnit, "\(name) belongs to \(irapName), which has no leading pictures"))
        } else if frame.isRASL, irap.isIDR || irap.nal_unit_type == 17 {
            faults.append((.accessUnit, "\(name) is not allowed with \(irapName)"))
        }
        if let highestBeforeIRAP, !irap.startsSequence, count < highestBeforeIRAP {
            faults.append(
                (.pictureOrder, "\(name) of POC \(count) precedes one of POC \(highestBeforeIRAP) before \(irapName)"))
        }
        return faults
    }

    /// Checks the pictures in the reference picture sets of IRAP, trailing and RADL pictures (8.3.2).
    private func referenceFaults(
        _ frame: HEVCFrame, irap: HEVCFrame?, references: HEVCReferenceBuffer
    ) -> [(Violation.Rule, String)] {
        var faults: [(Violation.Rule, String)] = []
        let name = HEVCNALUnit.name(of: frame.nal_unit_type)
        if frame.isCRA, !references.current.isEmpty {
            faults.append((.referenceList, "a CRA picture's reference picture set contains pictures that it may use"))
        }
        if frame.isIRAP, !frame.isIDR, !frame.startsSequence, let irap {
            for entry in references.all
            where entry.frame < irap.index || entry.pictureOrderCount < irap.pictureOrderCount {
                faults.append(
                    (
                        .referenceList,
                        "\(name)'s set contains POC \(entry.pictureOrderCount) from before the previous IRAP picture"
                    ))
            }
        }
        if let irap, !frame.isIRAP, !frame.isLeading {
            for entry in references.all
            where entry.frame < irap.index || entry.pictureOrderCount < irap.pictureOrderCount {
                faults.append(
                    (
                        .referenceList,
                        "a trailing picture's set contains POC \(entry.pictureOrderCount) from before its IRAP picture"
                    ))
            }
        }
        if frame.isRADL, let irap {
            for entry in references.current where entry.isRASL || entry.frame < irap.index {
                faults.append(
                    (
                        .referenceList,
                        "a RADL picture's set contains POC \(entry.pictureOrderCount), which is not decodable"
                    ))
            }
        }
        return faults
    }

    /// Checks temporal sub-layers (8.3.2).
    private func layerFaults(
        _ frame: HEVCFrame, references: HEVCReferenceBuffer, sps: HEVCSequenceParameterSet
    ) -> [(Violation.Rule, String)] {
        var faults: [(Violation.Rule, String)] = []
        let name = HEVCNALUnit.name(of: frame.nal_unit_type)
        let own = frame.temporalID
        func fault(_ entry: HEVCReferenceBuffer.Entry, _ why: String) {
            faults.append(
                (.temporalLayer, "\(name) of sub-layer \(own) can refer to POC \(entry.pictureOrderCount) \(why)"))
        }
        for entry in references.current {
            if entry.temporalID > own { fault(entry, "of sub-layer \(entry.temporalID)") }
            if entry.temporalID == own, entry.isSubLayerNonReference {
                fault(entry, "of its own sub-layer, a sub-layer non-reference picture")
            }
            if [4, 5].contains(frame.nal_unit_type), entry.temporalID == own { fault(entry, "of its own sub-layer") }
            // After a TSA picture, no picture refers to an earlier picture of the same or a higher sub-layer. After an
            // STSA picture, no picture of its sub-layer refers to an earlier picture of that sub-layer.
            if let point = switchPoints[own], entry.frame < point.frame, entry.temporalID >= layers[point.frame] {
                fault(entry, "from before the \(point.isTSA ? "TSA" : "STSA") picture")
            }
            let lower = lastBelow[min(entry.temporalID, 6)]
            if sps.sps_temporal_id_nesting_flag, lower > entry.frame {
                fault(
                    entry,
                    "although sub-layers are nested and picture \(lower) of sub-layer \(layers[lower]) is "
                        + "between")
            }
        }
        if [2, 3].contains(frame.nal_unit_type) {
            for entry in references.all where entry.temporalID >= own {
                faults.append(
                    (
                        .temporalLayer,
                        "\(name)'s set contains POC \(entry.pictureOrderCount) of sub-layer \(entry.temporalID)"
                    ))
            }
        }
        return faults
    }

    /// Checks that long-term pictures identified by LSBs alone have unique LSBs (7.4.7.1), and that short-term pictures
    /// are near in picture order (8.3.1).
    private func distanceFaults(_ frame: HEVCFrame, _ references: HEVCReferenceBuffer) -> [(Violation.Rule, String)] {
        var faults: [(Violation.Rule, String)] = []
        for picture in frame.slices.first?.header.longTermReferences ?? [] where picture.deltaPOCMsbCycle == nil {
            let alike = previousCounts[picture.poc_lsb_lt] ?? []
            if alike.count > 1 {
                faults.append(
                    (
                        .marking,
                        "delta_poc_msb_present_flag is 0 for LSB \(picture.poc_lsb_lt), which POC \(alike.sorted()) have"
                    ))
            }
        }
        let longTerm = frame.referenceSet.longTerm
        for entry in references.all where !longTerm.contains(entry.frame) {
            let distance = abs(entry.pictureOrderCount - frame.pictureOrderCount)
            if distance >= 1 << 15 {
                faults.append((.pictureOrder, "POC \(entry.pictureOrderCount) is \(distance) away"))
            }
        }
        return faults
    }
}
