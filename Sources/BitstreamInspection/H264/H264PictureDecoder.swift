/// Simulates a decoder picture by picture: picture order, reference lists, marking and output, but no macroblocks.
struct H264PictureDecoder {
    /// Whether an end of sequence NAL unit arrived: the next picture must be an IDR picture.
    var sequenceEnds = false

    private var order = PictureOrder()
    private var references = H264ReferenceBuffer()
    private var output = H264OutputBuffer()
    private var active: H264SequenceParameterSet?
    /// PrevRefFrameNum (7.4.3).
    private var previousReferenceFrameNum = 0
    private var previousIDRID: Int?
    private var sequence = -1
    /// The latest picture order counts of the sequence, ascending; enough of them to detect reordering.
    private var recentCounts: [Int] = []
    private var reportedReordering = false

    private var found: [(Violation.Rule, String)] = []

    private mutating func report(_ rule: Violation.Rule, _ message: String) {
        if found.count < ViolationList.limit { found.append((rule, message)) }
    }

    /// Adds the picture of an access unit to `stream`.
    mutating func decode(
        _ unit: H264StreamReader.AccessUnit, information: [H264SEIMessage], sps: H264SequenceParameterSet,
        into stream: inout H264Stream
    ) {
        guard let first = unit.slices.first?.header else { return }
        let index = stream.frames.count
        found = []
        checkSlices(unit, sps)
        if first.field_pic_flag {
            report(.unsupported, "the picture is a field: reference lists and marking of fields are not checked")
        }
        activate(sps, first)
        checkFrameNumber(first, sps)
        let count = order.decode(first, sps)
        if !(-(1 << 31)..<(1 << 31)).contains(count.frame) {
            report(.pictureOrder, "the picture order count \(count.frame) has more than 32 bits")
        }

        var slices = unit.slices
        var layerFault: String?
        for sliceIndex in slices.indices where !first.field_pic_flag {
            var lists = H264ReferenceLists(
                buffer: references, maxFrameNum: sps.maxFrameNum, frame_num: first.frame_num,
                pictureOrderCount: count.frame)
            let entries = lists.lists(of: slices[sliceIndex].header)
            slices[sliceIndex].lists = entries.map { $0.map { $0?.frame } }
            for fault in lists.faults { report(.referenceList, fault) }
            if let layer = unit.temporalLayer,
                let higher = entries.joined().compactMap({ $0?.temporalLayer }).first(where: { $0 > layer })
            {
                layerFault = "a picture of temporal layer \(layer) can refer to one of layer \(higher)"
            }
        }
        if let layerFault { report(.temporalLayer, layerFault) }

        let startsSequence = first.isIDR || first.includesForgetAll
        if startsSequence {
            sequence += 1
            recentCounts = []
            output.flush()
        }
        let counted = first.includesForgetAll ? 0 : count.frame
        var frame = H264Frame(
            index: index, kind: Self.kind(slices), isIDR: first.isIDR, isReference: first.nal_ref_idc != 0,
            pictureOrderCount: counted, sequence: sequence, frame_num: first.frame_num,
            temporalLayer: unit.temporalLayer, slices: slices, information: information, nalUnits: unit.nalUnits,
            byteCount: 0, videoByteCount: 0, sequenceSet: unit.sequenceSetIndex)
        for nal in stream.nalUnits[unit.nalUnits] {
            frame.byteCount += nal.byteCount
            if nal.isSlice || nal.type == 12 { frame.videoByteCount += nal.payload.count }
        }
        mark(&frame, first: first, sps: sps)
        reorder(frame, sps: sps, in: &stream)
        if frame.isReference { previousReferenceFrameNum = first.includesForgetAll ? 0 : first.frame_num }
        stream.maxReferences = max(stream.maxReferences, references.entries.count)
        stream.frames.append(frame)
        stream.found.append(contentsOf: found.map { Violation($0.0, frame: index, $0.1) })
    }

    /// Flushes the output and assigns every frame its index in output order.
    mutating func end(_ stream: inout H264Stream) {
        output.flush()
        let order = stream.frames.indices.sorted {
            let (a, b) = (stream.frames[$0], stream.frames[$1])
            return (a.sequence, a.pictureOrderCount, $0) < (b.sequence, b.pictureOrderCount, $1)
        }
        for (displayIndex, index) in order.enumerated() { stream.frames[index].displayIndex = displayIndex }
    }

    private static func kind(_ slices: [H264Frame.Slice]) -> H264SliceHeader.SliceType {
        let kinds = slices.map(\.header.slice_type)
        return kinds.contains(.b) ? .b : kinds.first { !$0.isIntra } ?? .i
    }

    private mutating func activate(_ sps: H264SequenceParameterSet, _ first: H264SliceHeader) {
        if !first.isIDR {
            if active == nil { report(.accessUnit, "the first picture is not an IDR picture") }
            if let active, active != sps { report(.parameterSet, "the SPS changes without an IDR picture") }
            if sequenceEnds { report(.accessUnit, "no IDR picture follows the end of a sequence") }
            previousIDRID = nil
        } else {
            if let previousIDRID, previousIDRID == first.idr_pic_id {
                report(.syntax, "two IDR pictures in a row have the idr_pic_id \(first.idr_pic_id)")
            }
            previousIDRID = first.idr_pic_id
            if first.nal_ref_idc == 0 { report(.syntax, "an IDR picture has nal_ref_idc 0") }
        }
        active = sps
        sequenceEnds = false
    }

    /// Checks that frame_num follows that of the last reference picture (7.4.3). If gaps are allowed, fills them.
    private mutating func checkFrameNumber(_ first: H264SliceHeader, _ sps: H264SequenceParameterSet) {
        if first.isIDR {
            if first.frame_num != 0 { report(.frameNumber, "an IDR picture has frame_num \(first.frame_num)") }
            previousReferenceFrameNum = 0
            return
        }
        let expected = (previousReferenceFrameNum + 1) % sps.maxFrameNum
        if first.frame_num == expected { return }
        if first.frame_num == previousReferenceFrameNum {
            if !first.field_pic_flag {
                report(.frameNumber, "frame_num \(first.frame_num) is the same as in the previous reference picture")
            }
            return
        }
        if !sps.gaps_in_frame_num_value_allowed_flag {
            report(.frameNumber, "frame_num jumps from \(previousReferenceFrameNum) to \(first.frame_num)")
        }
        for number in H264ReferenceBuffer.missing(after: previousReferenceFrameNum, before: first.frame_num, sps) {
            references.addNonExisting(frame_num: number, sps)
            order.skip(frame_num: number, sps)
            previousReferenceFrameNum = number
        }
        takeMarkingFaults()
    }

    private mutating func takeMarkingFaults() {
        for fault in references.faults { report(.marking, fault) }
        references.faults = []
    }

    private mutating func mark(_ frame: inout H264Frame, first: H264SliceHeader, sps: H264SequenceParameterSet) {
        if let marking = first.marking {
            let entry = references.mark(
                H264ReferenceBuffer.Entry(
                    frame: frame.index, frame_num: first.frame_num, pictureOrderCount: frame.pictureOrderCount,
                    temporalLayer: frame.temporalLayer), marking: marking, sps: sps)
            frame.long_term_frame_idx = entry.long_term_frame_idx
            frame.isLongTerm = entry.long_term_frame_idx != nil
            takeMarkingFaults()
        }
        let missing = references.entries.filter(\.isNonExisting).count
        let held = Set(references.entries.map(\.frame))
        output.store(
            frame: frame.index, pictureOrderCount: frame.pictureOrderCount, isReference: frame.isReference,
            size: max(Self.bufferSize(sps) - missing, 1)
        ) { held.contains($0) && $0 != frame.index }
        for fault in output.takeFaults() { report(.pictureBuffer, fault) }
    }

    /// Returns the capacity of the decoded picture buffer in frames (A.3.1, E.2.1).
    private static func bufferSize(_ sps: H264SequenceParameterSet) -> Int {
        sps.vui?.restriction?.max_dec_frame_buffering ?? H264LevelLimits(sps)?.maxDpbFrames(sps) ?? 16
    }

    private mutating func reorder(_ frame: H264Frame, sps: H264SequenceParameterSet, in stream: inout H264Stream) {
        let position = (recentCounts.lastIndex { $0 <= frame.pictureOrderCount } ?? -1) + 1
        if position > 0, recentCounts[position - 1] == frame.pictureOrderCount, !frame.slices[0].header.field_pic_flag {
            report(.pictureOrder, "the picture order count \(frame.pictureOrderCount) is used twice")
        }
        let depth = recentCounts.count - position
        stream.reorderDepth = max(stream.reorderDepth, depth)
        if let limit = sps.vui?.restriction?.max_num_reorder_frames, depth > limit, !reportedReordering {
            report(.pictureBuffer, "\(depth) pictures are reordered, but max_num_reorder_frames is \(limit)")
            reportedReordering = true
        }
        recentCounts.insert(frame.pictureOrderCount, at: position)
        if recentCounts.count > 64 { recentCounts.removeFirst() }
    }

    private mutating func checkSlices(_ unit: H264StreamReader.AccessUnit, _ sps: H264SequenceParameterSet) {
        let headers = unit.slices.map(\.header)
        guard let first = headers.first else { return }
        let scale = sps.mb_adaptive_frame_field_flag ? 2 : 1
        if first.first_mb_in_slice != 0 { report(.accessUnit, "the first slice starts at \(first.first_mb_in_slice)") }
        for (a, b) in zip(headers, headers.dropFirst()) where b.first_mb_in_slice <= a.first_mb_in_slice {
            if b.colour_plane_id == a.colour_plane_id, sps.profile_idc != 66, sps.profile_idc != 88 {
                report(.accessUnit, "a slice starts at \(b.first_mb_in_slice * scale), not after the previous slice")
            }
        }
        if headers.contains(where: { $0.marking != first.marking }) {
            report(.marking, "slices of one picture differ in dec_ref_pic_marking")
        }
        if headers.contains(where: \.sliceTypeHoldsForPicture),
            headers.contains(where: { $0.slice_type != first.slice_type })
        {
            report(.syntax, "slice_type means that all slices have one type, but they differ")
        }
        if let type = unit.primary_pic_type {
            // Table 7-5. Values 0 to 2 allow I; P and I; P, B and I. The others allow SI and SP too.
            let allowed: Set<H264SliceHeader.SliceType> =
                switch type {
                case 0: [.i]
                case 1: [.p, .i]
                case 2: [.p, .b, .i]
                case 3: [.si]
                case 4: [.sp, .si]
                case 5: [.i, .si]
                case 6: [.p, .i, .sp, .si]
                default: [.p, .b, .i, .sp, .si]
                }
            if headers.contains(where: { !allowed.contains($0.slice_type) }) {
                report(.accessUnit, "the delimiter's primary_pic_type \(type) does not allow the picture's slices")
            }
        }
    }
}
