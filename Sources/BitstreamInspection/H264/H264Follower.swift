/// Follows an H.264 stream: finds which slices form a picture, and whether frames were lost between two pictures
/// (frame_num, 7.4.3).
package struct H264Follower: StreamFollower {
    private var sequenceSets: [Int: H264SequenceParameterSet] = [:]
    private var pictureSets: [Int: H264PictureParameterSet] = [:]
    /// Whether a parameter set could not be read. A decoder may support such a set, so slices that cannot be read are
    /// not reported as faults.
    private var hasUnreadableSet = false
    private var active: H264SequenceParameterSet?
    /// PrevRefFrameNum (7.4.3); nil before the first picture.
    private var previousFrameNumber: Int?
    /// Whether reference frames were lost and decoding has not restarted since.
    private var isLost = false
    private var references = LostReferences()
    private var order = PictureOrder()
    /// Whether a picture at which decoding may begin has arrived.
    private var hasBegun = false
    /// The picture order count of the picture at which decoding began, if that picture is not an IDR picture. Nil after
    /// the next picture at which decoding may begin.
    private var firstOrder: Int?
    /// The first field of a frame whose second field may follow.
    private var openField: H264SliceHeader?
    private var picture = Picture()
    /// A complete picture whose successor has already begun. The caller ends it before the successor.
    private var ended: Picture?
    /// An SEI NAL unit that arrived during a picture. Its messages belong to the next picture.
    private var pending: [UInt8]?

    private struct Picture {
        var hasSlice = false
        var isIDR = false
        var isReference = false
        /// Whether the slice with first_mb_in_slice 0 has arrived; slices may arrive in any order.
        var hasFirstSlice = false
        /// The headers of slices: the first one, and each whose reference lists differ from those of the one before.
        var slices: [H264SliceHeader] = []
        var first: H264SliceHeader? { slices.first }
        var sequenceSet: H264SequenceParameterSet?
        var fault: FollowedUnit.Fault?
        var hasRecoveryPoint = false
    }

    /// The maximum number of bytes that are read of a slice header; larger than any valid header.
    private static let headerLimit = 4096
    /// The maximum number of slices of a picture whose reference lists are kept.
    private static let listLimit = 256

    package init() {}

    package mutating func take(_ bytes: [UInt8]) -> FollowedUnit {
        let bytes = Self.trimmed(bytes)
        let location = AnnexB.Unit(whole: 0..<bytes.count, payload: 0..<bytes.count)
        guard let unit = H264NALUnit(location, in: bytes) else { return .broken }
        switch unit.type {
        case 1, 5: return takeSlice(unit, bytes)
        // Data partitions are not read: only a decoder of slice data can tell which partitions are missing.
        case 2...4: return .slice(startsPicture: unit.type == 2, fault: nil)
        case 6:
            if !picture.hasSlice { readMessages(bytes) } else { pending = bytes }
            return .leading
        case 7, 8:
            takeSet(unit, AnnexB.unescape(bytes.dropFirst()))
            return .leading
        case 9, 13, 15, 16...18: return .leading
        case 10, 11: return .sequenceEnd
        case 12: return .trailing
        default: return .other
        }
    }

    private mutating func readMessages(_ bytes: [UInt8]) {
        let recoveryPoint = 6
        guard let messages = try? RawSEIMessage.messages(rbsp: AnnexB.unescape(bytes.dropFirst())) else { return }
        if messages.contains(where: { $0.type == recoveryPoint }) { picture.hasRecoveryPoint = true }
    }

    private mutating func takeSet(_ unit: H264NALUnit, _ rbsp: [UInt8]) {
        do {
            if unit.type == 7 {
                let set = try H264SequenceParameterSet(rbsp: rbsp)
                sequenceSets[set.seq_parameter_set_id] = set
                hasUnreadableSet = false
            } else {
                let sets = sequenceSets
                let set = try H264PictureParameterSet(rbsp: rbsp) { sets[$0]?.chroma_format_idc }
                pictureSets[set.pic_parameter_set_id] = set
            }
        } catch {
            hasUnreadableSet = true
        }
    }

    private func active(_ header: H264SliceHeader) -> H264SequenceParameterSet? {
        pictureSets[header.pic_parameter_set_id].flatMap { sequenceSets[$0.seq_parameter_set_id] }
    }

    private mutating func takeSlice(_ unit: H264NALUnit, _ bytes: [UInt8]) -> FollowedUnit {
        var reader = BitReader(AnnexB.unescape(bytes.dropFirst(), limit: Self.headerLimit))
        let (pictures, sequences) = (pictureSets, sequenceSets)
        do {
            let header = try H264SliceHeader(
                &reader, unit: unit, pictureSet: { pictures[$0] }, sequenceSet: { sequences[$0] })
            let starts =
                picture.first.map {
                    header.redundant_pic_cnt == 0
                        && header.startsPicture(after: $0, pic_order_cnt_type: active(header)?.pic_order_cnt_type ?? 0)
                } ?? true
            if starts, picture.hasSlice { startPicture() }
            picture.hasSlice = true
            if header.first_mb_in_slice == 0 { picture.hasFirstSlice = true }
            if picture.first == nil {
                picture.slices = [header]
                picture.sequenceSet = active(header)
                picture.isIDR = header.isIDR
                picture.isReference = header.nal_ref_idc != 0
            } else if let last = picture.slices.last, header.redundant_pic_cnt == 0, !header.hasLists(of: last), picture.slices.count < Self.listLimit
            {
                picture.slices.append(header)
            }
            return .slice(startsPicture: starts, fault: nil)
        } catch {
            // Without the parameter sets, only first_mb_in_slice 0 can be recognized.
            let starts = !picture.hasSlice || bytes.count > 1 && bytes[1] & 0x80 != 0
            if starts, picture.hasSlice { startPicture() }
            picture.hasSlice = true
            picture.isReference = picture.isReference || unit.nal_ref_idc != 0
            if hasUnreadableSet { return .slice(startsPicture: starts, fault: nil) }
            var id = BitReader(AnnexB.unescape(bytes.dropFirst(), limit: 64))
            _ = (id.unsigned(), id.unsigned())
            let set = pictures[id.unsigned()]
            let setsExist = set.map { sequences[$0.seq_parameter_set_id] != nil } ?? false
            let fault: FollowedUnit.Fault = setsExist ? .unreadable : .noParameterSets
            if picture.fault == nil { picture.fault = fault }
            return .slice(startsPicture: starts, fault: fault)
        }
    }

    private mutating func startPicture() {
        ended = picture
        picture = Picture()
    }

    package mutating func endPicture(isBroken: Bool) -> FollowedPicture {
        let done = ended ?? picture
        if ended == nil { picture = Picture() }
        ended = nil
        defer {
            if let pending, !picture.hasSlice { readMessages(pending) }
            pending = nil
        }
        var result = FollowedPicture()
        result.isKey = done.isIDR
        if done.fault == .noParameterSets {
            result.obstacle = .noParameterSets
            if done.isReference { loseUnreadable() }
            return result
        }
        guard let first = done.first, let sps = done.sequenceSet else {
            result.obstacle = hasUnreadableSet && !isBroken ? nil : .damaged
            if done.isReference, result.obstacle != nil { loseUnreadable() }
            return result
        }
        result.isSecondField = isSecondField(first)
        let count = order.decode(first, sps).frame
        result.isLeading = leads(first, count, hasRecoveryPoint: done.hasRecoveryPoint)
        openField = first.field_pic_flag && !result.isSecondField ? first : nil
        let isGap = hasGap(first, sps)
        if first.isIDR || (done.hasRecoveryPoint && (isLost || isGap)) {
            result.restartsDecoding = isLost || isGap && !first.isIDR || active.map { $0 != sps } ?? false
            if isLost || isGap {
                references.restart()
                previousFrameNumber = nil
            }
            isLost = false
        } else if isGap {
            isLost = true
            result.followsLoss = true
        }
        let isComplete = !isBroken && done.fault == nil && done.hasFirstSlice
        let use = references.take(
            done.slices, sps, after: previousFrameNumber, pictureOrderCount: count, isComplete: isComplete)
        if !isComplete {
            result.obstacle = .damaged
            if done.isReference { isLost = true }
        } else if references.isUnknown ? isLost : use == .certain {
            result.obstacle = .missingReference
        }
        result.mayShowLoss = use == .possible
        if done.isReference || previousFrameNumber == nil {
            previousFrameNumber = first.includesForgetAll ? 0 : first.frame_num
        }
        if result.obstacle == nil { active = sps }
        return result
    }

    /// Records a reference picture whose header could not be read.
    private mutating func loseUnreadable() {
        guard previousFrameNumber != nil else { return }
        isLost = true
        references.loseUnreadable()
    }

    /// Returns whether a picture is displayed before the recovery point at which decoding began.
    ///
    /// - Parameter count: Its picture order count.
    private mutating func leads(_ header: H264SliceHeader, _ count: Int, hasRecoveryPoint: Bool) -> Bool {
        if header.isIDR || hasRecoveryPoint {
            firstOrder = hasBegun || header.isIDR ? nil : count
            hasBegun = true
            return false
        }
        defer { if header.includesForgetAll { firstOrder = nil } }
        return firstOrder.map { count < $0 } ?? false
    }

    private func isSecondField(_ header: H264SliceHeader) -> Bool {
        guard let openField, header.field_pic_flag else { return false }
        return header.frame_num == openField.frame_num && header.bottom_field_flag != openField.bottom_field_flag
            && header.pic_parameter_set_id == openField.pic_parameter_set_id
    }

    /// Returns whether frame_num increases by more than one and the stream does not allow gaps: frames were lost.
    private func hasGap(_ header: H264SliceHeader, _ sps: H264SequenceParameterSet) -> Bool {
        guard let previous = previousFrameNumber, !header.isIDR, !sps.gaps_in_frame_num_value_allowed_flag else { return false }
        return header.frame_num != previous && header.frame_num != (previous + 1) % sps.maxFrameNum
    }

    package mutating func forgetMessages() {
        if !picture.hasSlice { picture.hasRecoveryPoint = false }
    }

    package mutating func restart() {
        (picture, ended, pending, openField) = (Picture(), nil, nil, nil)
        previousFrameNumber = nil
        (order, hasBegun, firstOrder) = (PictureOrder(), false, nil)
        isLost = false
        references.restart()
    }
}
