/// Follows an HEVC stream: computes picture order, and checks that every picture has the pictures that its reference
/// picture set lists as used.
package struct HEVCFollower: StreamFollower {
    /// vps_video_parameter_set_id of each VPS that arrived. Decoders reject an SPS whose VPS is missing, whatever the
    /// VPS contains.
    private var videoSets: Set<Int> = []
    private var sequenceSets: [Int: HEVCSequenceParameterSet] = [:]
    private var pictureSets: [Int: HEVCPictureParameterSet] = [:]
    /// Whether a parameter set could not be read. A decoder may support such a set, so slices that cannot be read are
    /// not reported as faults.
    private var hasUnreadableSet = false
    private var references = HEVCReferenceBuffer()
    private var active: HEVCSequenceParameterSet?
    /// The picture order count of prevTid0Pic (8.3.1).
    private var previousTid0 = 0
    private var hasStarted = false
    private var sequenceEnds = false
    /// NoRaslOutputFlag of the last IRAP picture (8.1.3): whether it started a sequence, so that its RASL pictures
    /// cannot be decoded.
    private var noRaslOutputFlag = true
    private var count = 0
    private var picture = Picture()
    /// A complete picture whose successor has already begun. The caller ends it before the successor.
    private var ended: Picture?

    private struct Picture {
        var unit: HEVCNALUnit?
        var first: HEVCSliceSegmentHeader?
        var sequenceSet: HEVCSequenceParameterSet?
        var latest: HEVCSliceSegmentHeader?
        var hasFirstSlice = false
        var isIntra = true
        var fault: FollowedUnit.Fault?
    }

    /// The maximum number of bytes that are read of a slice header; larger than any valid header.
    private static let headerLimit = 8192

    package init() {}

    package mutating func take(_ bytes: [UInt8]) -> FollowedUnit {
        let bytes = Self.trimmed(bytes)
        let location = AnnexB.Unit(whole: 0..<bytes.count, payload: 0..<bytes.count)
        guard let unit = HEVCNALUnit(location, in: bytes) else { return .broken }
        if unit.nuh_layer_id > 0 { return .other }
        switch unit.type {
        case 0...9, 16...21: return takeSlice(unit, bytes)
        case 35, 39, 41...44, 48...55: return .leading
        case 32:
            if bytes.count > 2 { videoSets.insert(Int(bytes[2] >> 4)) }
            return .leading
        case 33, 34:
            takeSet(unit, AnnexB.unescape(bytes.dropFirst(2)))
            return .leading
        case 36, 37:
            sequenceEnds = true
            return .sequenceEnd
        case 38, 40: return .trailing
        default: return .other
        }
    }

    private mutating func takeSet(_ unit: HEVCNALUnit, _ rbsp: [UInt8]) {
        do {
            if unit.type == 33 {
                let set = try HEVCSequenceParameterSet(rbsp: rbsp)
                // libavcodec discards an SPS whose VPS has not arrived.
                guard videoSets.contains(set.sps_video_parameter_set_id) else {
                    sequenceSets[set.sps_seq_parameter_set_id] = nil
                    return
                }
                sequenceSets[set.sps_seq_parameter_set_id] = set
                hasUnreadableSet = false
            } else {
                let sets = sequenceSets
                let set = try HEVCPictureParameterSet(rbsp: rbsp) { sets[$0] }
                pictureSets[set.pps_pic_parameter_set_id] = set
            }
        } catch {
            hasUnreadableSet = true
        }
    }

    /// Returns whether a slice belongs to the next picture, whose first slice is missing: its picture order count
    /// differs, or its address is not after that of the latest slice (7.4.2.4.5).
    private func follows(_ unit: HEVCNALUnit, _ bytes: [UInt8]) -> Bool {
        guard let first = picture.first, let latest = picture.latest else { return false }
        let (pictures, sequences) = (pictureSets, sequenceSets)
        var reader = BitReader(AnnexB.unescape(bytes.dropFirst(2), limit: Self.headerLimit))
        guard
            let header = try? HEVCSliceSegmentHeader(
                &reader, unit: unit, previous: latest, pictureSet: { pictures[$0] }, sequenceSet: { sequences[$0] })
        else { return false }
        return header.slice_segment_address <= latest.slice_segment_address
            || !header.dependent_slice_segment_flag && header.slice_pic_order_cnt_lsb != first.slice_pic_order_cnt_lsb
    }

    private mutating func takeSlice(_ unit: HEVCNALUnit, _ bytes: [UInt8]) -> FollowedUnit {
        // The first bit after the NAL unit header is first_slice_segment_in_pic_flag.
        let starts = bytes.count > 2 && bytes[2] & 0x80 != 0
        let startsPicture = starts || follows(unit, bytes) || picture.unit.map { $0.type != unit.type || $0.temporalID != unit.temporalID } ?? true
        if startsPicture, picture.unit != nil {
            ended = picture
            picture = Picture()
        }
        if picture.unit == nil { picture.unit = unit }
        if starts { picture.hasFirstSlice = true }
        let (pictures, sequences) = (pictureSets, sequenceSets)
        var reader = BitReader(AnnexB.unescape(bytes.dropFirst(2), limit: Self.headerLimit))
        do {
            let header = try HEVCSliceSegmentHeader(
                &reader, unit: unit, previous: picture.latest, pictureSet: { pictures[$0] }, sequenceSet: { sequences[$0] })
            if picture.first == nil {
                picture.first = header
                picture.sequenceSet = pictures[header.slice_pic_parameter_set_id].flatMap { sequences[$0.pps_seq_parameter_set_id] }
            }
            picture.latest = header
            if header.slice_type != .i { picture.isIntra = false }
            return .slice(startsPicture: startsPicture, fault: nil)
        } catch {
            if hasUnreadableSet { return .slice(startsPicture: startsPicture, fault: nil) }
            var id = BitReader(AnnexB.unescape(bytes.dropFirst(2), limit: 64))
            _ = id.flag()
            if unit.isIRAP { _ = id.flag() }
            let set = pictures[id.unsigned()]
            let setsExist = set.map { sequences[$0.pps_seq_parameter_set_id] != nil } ?? false
            let fault: FollowedUnit.Fault = setsExist ? .unreadable : .noParameterSets
            if picture.fault == nil { picture.fault = fault }
            return .slice(startsPicture: startsPicture, fault: fault)
        }
    }

    package mutating func endPicture(isBroken: Bool) -> FollowedPicture {
        let picture = ended ?? picture
        if ended == nil { self.picture = Picture() }
        ended = nil
        var result = FollowedPicture()
        guard let unit = picture.unit else {
            result.obstacle = .damaged
            return result
        }
        result.isKey = unit.isIRAP
        result.isLeading = unit.isLeading
        if picture.fault == .noParameterSets {
            result.obstacle = .noParameterSets
            return result
        }
        guard let first = picture.first, let sps = picture.sequenceSet else {
            result.obstacle = hasUnreadableSet && !isBroken ? nil : .damaged
            return result
        }
        let startsSequence = unit.isIRAP && (unit.isIDR || unit.isBLA || !hasStarted || sequenceEnds)
        if !hasStarted, !unit.isIRAP {
            result.obstacle = .beforeStart
            return result
        }
        if unit.isIRAP {
            noRaslOutputFlag = startsSequence
            result.restartsDecoding = active.map { $0 != sps } ?? false
        }
        let order = first.pictureOrderCount(after: previousTid0, sps, startsSequence: startsSequence)
        if startsSequence { references.clear() }
        if unit.temporalID == 0, !unit.isLeading, !unit.isSubLayerNonReference { previousTid0 = order }
        result.isShown = first.pic_output_flag
        if unit.isRASL, noRaslOutputFlag {
            result.obstacle = .beforeStart
            return result
        }
        let set = references.apply(first, pictureOrderCount: order, sps, mayMiss: true)
        _ = references.takeFaults()
        let used = set.stCurrBefore + set.stCurrAfter + set.ltCurr
        if isBroken || picture.fault != nil || !picture.hasFirstSlice {
            result.obstacle = .damaged
        } else if !picture.isIntra, !unit.isIRAP, used.contains(where: { $0 == nil }) {
            result.obstacle = .missingReference
        }
        sequenceEnds = false
        guard result.obstacle == nil else { return result }
        hasStarted = true
        active = sps
        references.add(
            HEVCReferenceBuffer.Entry(
                frame: count, pictureOrderCount: order, temporalID: unit.temporalID, nal_unit_type: unit.type))
        count += 1
        return result
    }

    /// Does nothing: no message is kept.
    package mutating func forgetMessages() {}

    package mutating func restart() {
        references.clear()
        (picture, ended) = (Picture(), nil)
        hasStarted = false
        sequenceEnds = false
        noRaslOutputFlag = true
    }
}

extension HEVCSliceSegmentHeader {
    /// Returns PicOrderCntVal (8.3.1).
    ///
    /// - Parameter previous: PicOrderCntVal of prevTid0Pic.
    func pictureOrderCount(after previous: Int, _ sps: HEVCSequenceParameterSet, startsSequence: Bool) -> Int {
        let lsb = slice_pic_order_cnt_lsb
        if startsSequence { return lsb }
        let most = sps.maxPictureOrderCountLsb
        let previousLsb = previous & (most - 1)
        var msb = previous - previousLsb
        if lsb < previousLsb, previousLsb - lsb >= most / 2 { msb += most }
        if lsb > previousLsb, lsb - previousLsb > most / 2 { msb -= most }
        return msb + lsb
    }
}
