/// Processes a byte stream's NAL units, groups them into access units (H.264 7.4.1.2) and passes each to the decoder.
struct H264StreamReader: ByteStreamReader {
    /// The NAL units of a picture before it is decoded.
    struct AccessUnit {
        var nalUnits: Range<Int>
        var slices: [H264Frame.Slice] = []
        var information: [RawSEIMessage] = []
        var temporalLayer: Int?
        var sequenceSet: H264SequenceParameterSet?
        /// The index of `sequenceSet` in the stream's `sequenceSets`.
        var sequenceSetIndex = 0
        /// primary_pic_type of the access unit delimiter.
        var primary_pic_type: Int?
    }

    let bytes: [UInt8]
    private var stream = H264Stream()
    /// The distinct sets are all different sets of the stream. The dictionaries hold the current sets by id.
    private var distinctSequences = DistinctSets<H264SequenceParameterSet>()
    private var distinctPictures = DistinctSets<H264PictureParameterSet>()
    private var sequenceSets: [Int: H264SequenceParameterSet] = [:]
    private var sequenceSetIndices: [Int: Int] = [:]
    private var pictureSets: [Int: H264PictureParameterSet] = [:]
    private var budget: HeaderBudget
    private var unit: AccessUnit?
    /// The last prefix NAL unit and its temporal_id. It belongs to the slice that follows.
    private var pendingPrefix: (nalUnit: Int, temporalLayer: Int?)?
    private var decoder = H264PictureDecoder()

    /// The maximum number of bytes that are read of a slice header; larger than any valid header.
    private static let headerLimit = 4096

    /// The size of the container's record at the start of `bytes`. It holds parameter sets that precede the stream.
    private let recordBytes: Int

    init(_ bytes: [UInt8], recordBytes: Int = 0) {
        self.bytes = bytes
        self.recordBytes = recordBytes
        budget = HeaderBudget(byteCount: bytes.count)
    }

    mutating func read() -> H264Stream {
        takeUnits()
        finish()
        decoder.end(&stream)
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

    private func payload(_ nal: H264NALUnit, limit: Int? = nil) -> [UInt8] {
        AnnexB.unescape(bytes[nal.payload].dropFirst(), limit: limit)
    }

    mutating func take(_ nal: H264NALUnit) throws(Malformed) {
        let index = stream.nalUnits.count
        stream.nalUnits.append(nal)
        switch nal.type {
        case 6...9, 15...18:
            start(at: index)
            try takeHeader(nal)
        case 14:
            // The prefix belongs to the slice that follows, in this picture or the next.
            pendingPrefix = (index, nal.scalable?.temporal_id)
            return
        case 1, 2, 5:
            try takeSlice(nal, index)
            pendingPrefix = nil
        case 10, 11:
            finish(upTo: index + 1)
            decoder.sequenceEnds = true
            return
        default: break
        }
        if let start = unit?.nalUnits.lowerBound { unit?.nalUnits = start..<(index + 1) }
    }

    /// Handles a NAL unit that cannot follow the slices of its picture (7.4.1.2.3): ends the access unit if it has
    /// slices.
    private mutating func start(at index: Int) {
        if let unit, !unit.slices.isEmpty { finish(upTo: index) }
        if unit == nil { unit = AccessUnit(nalUnits: index..<index) }
    }

    private mutating func takeHeader(_ nal: H264NALUnit) throws(Malformed) {
        switch nal.type {
        case 6:
            let messages = try RawSEIMessage.messages(rbsp: payload(nal))
            if mayTake(messages.count) { unit?.information += messages }
        case 7:
            let set = try H264SequenceParameterSet(rbsp: payload(nal))
            sequenceSets[set.seq_parameter_set_id] = nil
            let (setIndex, isNew) = try distinctSequences.index(of: set, byteCount: nal.payload.count)
            sequenceSets[set.seq_parameter_set_id] = set
            sequenceSetIndices[set.seq_parameter_set_id] = setIndex
            if isNew { checkLevel(set) }
        case 8:
            let sets = sequenceSets
            let set = try H264PictureParameterSet(rbsp: payload(nal)) { sets[$0]?.chroma_format_idc }
            pictureSets[set.pic_parameter_set_id] = nil
            _ = try distinctPictures.index(of: set, byteCount: nal.payload.count)
            pictureSets[set.pic_parameter_set_id] = set
        case 9:
            if let unit, stream.nalUnits[unit.nalUnits].contains(where: { $0.payload.lowerBound >= recordBytes }) {
                report(.accessUnit, "a delimiter is not first in its access unit")
            }
            var reader = BitReader(payload(nal))
            unit?.primary_pic_type = reader.bits(3)
            try reader.checkEnd("the delimiter")
        default: break
        }
    }

    private mutating func takeSlice(_ nal: H264NALUnit, _ index: Int) throws(Malformed) {
        var reader = BitReader(payload(nal, limit: Self.headerLimit))
        let (pictures, sequences) = (pictureSets, sequenceSets)
        let header = try H264SliceHeader(
            &reader, unit: nal, pictureSet: { pictures[$0] }, sequenceSet: { sequences[$0] })
        if header.redundant_pic_cnt > 0 || !mayTake() { return }
        let active = pictures[header.pic_parameter_set_id].flatMap { sequences[$0.seq_parameter_set_id] }
        let first = pendingPrefix?.nalUnit ?? index
        if let unit, let other = unit.slices.first?.header {
            if header.startsPicture(after: other, pic_order_cnt_type: active?.pic_order_cnt_type ?? 0) {
                finish(upTo: first)
            }
        }
        if unit == nil { unit = AccessUnit(nalUnits: first..<first) }
        if unit?.slices.isEmpty == true {
            unit?.sequenceSet = active
            unit?.sequenceSetIndex = active.flatMap { sequenceSetIndices[$0.seq_parameter_set_id] } ?? 0
            unit?.temporalLayer = pendingPrefix?.temporalLayer
        } else if unit?.temporalLayer != pendingPrefix?.temporalLayer {
            report(.temporalLayer, "slices of one picture differ in temporal_id")
        }
        unit?.slices.append(H264Frame.Slice(header: header, nalUnit: index))
    }

    /// Ends the current access unit and decodes its picture.
    private mutating func finish(upTo end: Int? = nil) {
        guard var done = unit else { return }
        done.nalUnits = done.nalUnits.lowerBound..<(end ?? stream.nalUnits.count)
        guard let sps = done.sequenceSet, !done.slices.isEmpty else {
            if end == nil { report(.accessUnit, "an access unit has no picture") }
            unit = nil
            return
        }
        var information: [H264SEIMessage] = []
        for raw in done.information {
            do {
                information.append(
                    try H264SEIMessage(raw, active: sps, sequenceSet: { [sequenceSets] in sequenceSets[$0] }))
            } catch {
                report(.syntax, "SEI: \(error.message)")
            }
        }
        unit = nil
        decoder.decode(done, information: information, sps: sps, into: &stream)
    }

    private mutating func checkLevel(_ sps: H264SequenceParameterSet) {
        guard let limits = H264LevelLimits(sps) else {
            return report(.level, "level_idc \(sps.level_idc) is not a defined level")
        }
        let name = "level \(sps.level_idc / 10).\(sps.level_idc % 10)"
        if sps.macroblocksPerFrame > limits.maxFS {
            report(.level, "a frame has \(sps.macroblocksPerFrame) macroblocks, but \(name) allows \(limits.maxFS)")
        }
        let frames = limits.maxDpbFrames(sps)
        if sps.max_num_ref_frames > frames {
            report(.level, "max_num_ref_frames is \(sps.max_num_ref_frames), but \(name) allows \(frames)")
        }
        if let timing = sps.vui?.timing, timing.fixed_frame_rate_flag {
            let rate = Double(sps.macroblocksPerFrame) / (2 * timing.tick)
            if rate > Double(limits.maxMBPS) * 1.0001 {
                report(
                    .level,
                    "there are \(Int(clamping: rate)) macroblocks a second, but \(name) allows "
                        + "\(limits.maxMBPS)")
            }
        }
        for (hrd, nal) in [(sps.vui?.nal_hrd_parameters, true), (sps.vui?.vcl_hrd_parameters, false)] {
            let factor = H264LevelLimits.rateFactor(profile: sps.profile_idc, nal: nal)
            // A.3.1: at least one schedule must respect the limits.
            guard let hrd,
                !hrd.schedules.contains(where: {
                    $0.bitrate <= factor * limits.maxBR && $0.cpbSize <= factor * limits.maxCPB
                })
            else { continue }
            report(.level, "the HRD's bit rate and buffer exceed the limits of \(name)")
        }
        if let restriction = sps.vui?.restriction {
            let size = restriction.max_dec_frame_buffering
            if size > frames { report(.level, "max_dec_frame_buffering is \(size), but \(name) allows \(frames)") }
            if size < sps.max_num_ref_frames || size < restriction.max_num_reorder_frames {
                report(
                    .pictureBuffer,
                    "max_dec_frame_buffering is \(size), less than the number of references or "
                        + "reordered frames")
            }
        }
    }
}
