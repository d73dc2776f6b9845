/// Processes a byte stream's NAL units, groups them into access units (H.265 7.4.2.4.4) and passes each to the decoder.
struct HEVCStreamReader: ByteStreamReader {
    /// The NAL units of a picture before it is decoded.
    struct AccessUnit {
        var nalUnits: Range<Int>
        var slices: [HEVCFrame.Slice] = []
        var information: [(raw: RawSEIMessage, isSuffix: Bool)] = []
        var sequenceSet: HEVCSequenceParameterSet?
        var pictureSet: HEVCPictureParameterSet?
        /// The index of `sequenceSet` in the stream's `sequenceSets`.
        var sequenceSetIndex = 0
        /// The index of `pictureSet` in the stream's `pictureSets`.
        var pictureSetIndex = 0
        /// pic_type and TemporalId of the access unit delimiter.
        var delimiter: (type: Int, temporalID: Int)?
    }

    let bytes: [UInt8]
    private var stream = HEVCStream()
    /// The distinct sets are all different sets of the stream. The dictionaries hold the current sets by id.
    private var distinctVideos = DistinctSets<HEVCVideoParameterSet>()
    private var distinctSequences = DistinctSets<HEVCSequenceParameterSet>()
    private var distinctPictures = DistinctSets<HEVCPictureParameterSet>()
    private var videoSets: [Int: HEVCVideoParameterSet] = [:]
    private var sequenceSets: [Int: HEVCSequenceParameterSet] = [:]
    private var sequenceSetIndices: [Int: Int] = [:]
    private var pictureSets: [Int: HEVCPictureParameterSet] = [:]
    private var pictureSetIndices: [Int: Int] = [:]
    private var budget: HeaderBudget
    private var unit: AccessUnit?
    private var decoder = HEVCPictureDecoder()
    private var hasOtherLayers = false
    /// The ids of each SPS and PPS whose tiles were checked together.
    private var checkedTiles: Set<[Int]> = []

    /// The maximum number of bytes that are read of a slice header; larger than any valid header in Main and Main 10.
    /// Entry points take up to 2 KB: one of at most four bytes for each of 528 rows of coding tree blocks (level 6.2).
    private static let headerLimit = 8192

    /// The size of the container's record at the start of `bytes`. It holds parameter sets that precede the stream.
    private let recordBytes: Int

    init(_ bytes: [UInt8], recordBytes: Int = 0) {
        self.bytes = bytes
        self.recordBytes = recordBytes
        budget = HeaderBudget(byteCount: bytes.count)
    }

    mutating func read() -> HEVCStream {
        takeUnits()
        finish()
        decoder.end(&stream)
        stream.videoSets = distinctVideos.elements
        stream.sequenceSets = distinctSequences.elements
        stream.pictureSets = distinctPictures.elements
        if stream.frames.isEmpty { report(.syntax, "the stream has no picture") }
        return stream
    }

    mutating func report(_ rule: Violation.Rule, _ message: String) {
        stream.found.append(Violation(rule, frame: unit == nil ? nil : stream.frames.count, message))
    }

    /// Returns whether `count` more slices or messages may be read. If not, reports it once.
    private mutating func mayTake(_ count: Int = 1) -> Bool {
        switch budget.take(count) {
        case .take: return true
        case .report(let message): report(.unsupported, message)
        case .leave: break
        }
        return false
    }

    mutating func expect(_ count: Int) { stream.nalUnits.reserveCapacity(count) }

    private func payload(_ nal: HEVCNALUnit, limit: Int? = nil) -> [UInt8] {
        AnnexB.unescape(bytes[nal.payload].dropFirst(2), limit: limit)
    }

    mutating func take(_ nal: HEVCNALUnit) throws(Malformed) {
        let index = stream.nalUnits.count
        stream.nalUnits.append(nal)
        if nal.nuh_layer_id > 0 {
            if !hasOtherLayers { report(.unsupported, "layers above 0 are not checked") }
            hasOtherLayers = true
            return
        }
        // Table 7-2.
        if [32, 33, 36, 37].contains(nal.type) || nal.isIRAP, nal.temporalID != 0 {
            report(.temporalLayer, "\(nal.name) has TemporalId \(nal.temporalID)")
        }
        if nal.isTSA || nal.isSTSA, nal.temporalID == 0 { report(.temporalLayer, "\(nal.name) has TemporalId 0") }
        switch nal.type {
        case 32...35, 39, 41...44, 48...55:
            start(at: index)
            try takeHeader(nal)
        case 36, 37:
            finish(upTo: index + 1)
            decoder.sequenceEnds = true
            return
        case 38, 40, 45...47, 56...63:
            if unit?.slices.isEmpty != false { report(.accessUnit, "\(nal.name) is before the picture's first slice") }
            if nal.type == 40 {
                let messages = try RawSEIMessage.messages(rbsp: payload(nal))
                if mayTake(messages.count) { unit?.information += messages.map { ($0, true) } }
            }
        case 0...9, 16...21: try takeSlice(nal, index)
        default: report(.unsupported, "\(nal.name): a reserved slice")
        }
        if let start = unit?.nalUnits.lowerBound { unit?.nalUnits = start..<(index + 1) }
    }

    /// Handles a NAL unit that cannot follow the slices of its picture: ends the access unit if it has slices.
    private mutating func start(at index: Int) {
        if let unit, !unit.slices.isEmpty { finish(upTo: index) }
        if unit == nil { unit = AccessUnit(nalUnits: index..<index) }
    }

    private mutating func takeHeader(_ nal: HEVCNALUnit) throws(Malformed) {
        switch nal.type {
        case 32:
            let set = try HEVCVideoParameterSet(rbsp: payload(nal))
            videoSets[set.vps_video_parameter_set_id] = nil
            _ = try distinctVideos.index(of: set, byteCount: nal.payload.count)
            videoSets[set.vps_video_parameter_set_id] = set
        case 33: try takeSequenceSet(nal)
        case 34:
            let sets = sequenceSets
            let set = try HEVCPictureParameterSet(rbsp: payload(nal)) { sets[$0] }
            pictureSets[set.pps_pic_parameter_set_id] = nil
            let setIndex = try distinctPictures.index(of: set, byteCount: nal.payload.count).index
            pictureSets[set.pps_pic_parameter_set_id] = set
            pictureSetIndices[set.pps_pic_parameter_set_id] = setIndex
            if set.pps_extension_present_flag { report(.unsupported, "extensions of a PPS are not read") }
        case 35:
            if let unit, stream.nalUnits[unit.nalUnits].contains(where: { $0.payload.lowerBound >= recordBytes }) {
                report(.accessUnit, "a delimiter is not first in its access unit")
            }
            var reader = BitReader(payload(nal))
            let type = reader.bits(3)
            try reader.checkEnd("the delimiter")
            guard type <= 2 else { throw Malformed("pic_type is \(type)") }
            try reader.checkTrailing("the delimiter")
            unit?.delimiter = (type, nal.temporalID)
        case 39:
            let messages = try RawSEIMessage.messages(rbsp: payload(nal))
            if mayTake(messages.count) { unit?.information += messages.map { ($0, false) } }
        default: break
        }
    }

    private mutating func takeSequenceSet(_ nal: HEVCNALUnit) throws(Malformed) {
        let set = try HEVCSequenceParameterSet(rbsp: payload(nal))
        sequenceSets[set.sps_seq_parameter_set_id] = nil
        let (setIndex, isNew) = try distinctSequences.index(of: set, byteCount: nal.payload.count)
        sequenceSets[set.sps_seq_parameter_set_id] = set
        sequenceSetIndices[set.sps_seq_parameter_set_id] = setIndex
        guard isNew else { return }
        if set.sps_extension_present_flag { report(.unsupported, "extensions of an SPS are not read") }
        for fault in set.levelFaults() { report(.level, fault) }
        guard let video = videoSets[set.sps_video_parameter_set_id] else {
            return report(.parameterSet, "an SPS refers to VPS \(set.sps_video_parameter_set_id), which does not exist")
        }
        if set.sps_max_sub_layers > video.vps_max_sub_layers {
            report(.parameterSet, "the SPS has more sub-layers than its VPS")
        }
        if video.vps_temporal_id_nesting_flag, !set.sps_temporal_id_nesting_flag {
            report(.parameterSet, "sps_temporal_id_nesting_flag is 0, but vps_temporal_id_nesting_flag is 1")
        }
        if set.sps_max_sub_layers == video.vps_max_sub_layers {
            if set.profileTierLevel != video.profileTierLevel {
                report(.parameterSet, "profile_tier_level() of SPS and VPS differ")
            }
            if set.subLayers != video.subLayers { report(.parameterSet, "the buffers of SPS and VPS differ") }
        }
        if let timing = video.timing, let own = set.vui?.timing,
            (timing.num_units_in_tick, timing.time_scale) != (own.num_units_in_tick, own.time_scale)
        {
            report(.parameterSet, "timing of VUI and VPS differ")
        }
    }

    private mutating func takeSlice(_ nal: HEVCNALUnit, _ index: Int) throws(Malformed) {
        // The first bit after the NAL unit header is first_slice_segment_in_pic_flag.
        let startsPicture = bytes[nal.payload].dropFirst(2).first.map { $0 & 0x80 != 0 } ?? false
        if startsPicture, unit?.slices.isEmpty == false { finish(upTo: index) }
        var reader = BitReader(payload(nal, limit: Self.headerLimit))
        let (pictures, sequences) = (pictureSets, sequenceSets)
        let header = try HEVCSliceSegmentHeader(
            &reader, unit: nal, previous: unit?.slices.last?.header, pictureSet: { pictures[$0] },
            sequenceSet: { sequences[$0] })
        guard mayTake(1 + header.entry_point_offset.count / 64) else { return }
        if unit == nil { unit = AccessUnit(nalUnits: index..<index) }
        if unit?.slices.isEmpty == true {
            let pictureSet = pictures[header.slice_pic_parameter_set_id]
            let sequenceSet = pictureSet.flatMap { sequences[$0.pps_seq_parameter_set_id] }
            unit?.pictureSet = pictureSet
            unit?.sequenceSet = sequenceSet
            unit?.sequenceSetIndex = sequenceSet.flatMap { sequenceSetIndices[$0.sps_seq_parameter_set_id] } ?? 0
            unit?.pictureSetIndex = pictureSetIndices[header.slice_pic_parameter_set_id] ?? 0
            if let sps = sequenceSet, let pps = pictureSet,
                checkedTiles.insert([sps.sps_seq_parameter_set_id, pps.pps_pic_parameter_set_id]).inserted
            {
                for fault in sps.tileFaults(pps) { report(.level, fault) }
            }
        }
        let room = nal.payload.count - 2 - header.byteCount
        if room <= header.entry_point_offset.reduce(0, +) {
            report(
                .syntax,
                "entry points cover \(header.entry_point_offset.reduce(0, +)) bytes, but the slice data has "
                    + "\(room) bytes")
        }
        unit?.slices.append(HEVCFrame.Slice(header: header, nalUnit: index))
    }

    /// Ends the current access unit and decodes its picture.
    private mutating func finish(upTo end: Int? = nil) {
        guard var done = unit else { return }
        done.nalUnits = done.nalUnits.lowerBound..<(end ?? stream.nalUnits.count)
        guard let sps = done.sequenceSet, let pps = done.pictureSet, !done.slices.isEmpty else {
            if end == nil { report(.accessUnit, "an access unit has no picture") }
            unit = nil
            return
        }
        var information: [HEVCSEIMessage] = []
        for (raw, isSuffix) in done.information {
            do {
                information.append(
                    try HEVCSEIMessage(raw, isSuffix: isSuffix, active: sps) { [sequenceSets] in sequenceSets[$0] })
            } catch {
                report(.syntax, "SEI: \(error.message)")
            }
        }
        unit = nil
        decoder.decode(done, information: information, sps: sps, pps: pps, into: &stream)
    }
}
