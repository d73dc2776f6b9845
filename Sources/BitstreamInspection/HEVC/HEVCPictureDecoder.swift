/// Simulates a decoder picture by picture: picture order, reference picture sets, lists and output, but no coding
/// trees.
struct HEVCPictureDecoder {
    /// Whether an end of sequence NAL unit arrived: the next picture must be an IRAP picture.
    var sequenceEnds = false

    private var references = HEVCReferenceBuffer()
    /// One output buffer for each HighestTid.
    private var outputs: [HEVCOutputBuffer] = []
    private var active: HEVCSequenceParameterSet?
    /// The picture order count of prevTid0Pic (8.3.1).
    private var previousTid0 = 0
    private var sequence = -1
    private var rules = HEVCPictureRules()
    /// The latest picture order counts of the sequence, ascending; enough of them to detect reordering.
    private var recentCounts: [Int] = []
    private var found: [(Violation.Rule, String)] = []

    private mutating func report(_ rule: Violation.Rule, _ message: String) { found.append((rule, message)) }

    /// Adds the picture of an access unit to `stream`.
    mutating func decode(
        _ unit: HEVCStreamReader.AccessUnit, information: [HEVCSEIMessage], sps: HEVCSequenceParameterSet,
        pps: HEVCPictureParameterSet, into stream: inout HEVCStream
    ) {
        guard let first = unit.slices.first?.header else { return }
        let index = stream.frames.count
        found = HEVCSliceRules.faults(unit, sps: sps, pps: pps)
        let nal = stream.nalUnits[unit.slices[0].nalUnit]

        // NoRaslOutputFlag (8.1.3).
        let startsSequence = nal.isIRAP && (nal.isIDR || nal.isBLA || active == nil || sequenceEnds)
        if active == nil, !nal.isIRAP { report(.accessUnit, "the first picture is not an IRAP picture") }
        if sequenceEnds, !nal.isIRAP { report(.accessUnit, "no IRAP picture follows the end of a sequence") }
        if !startsSequence, let active, active != sps {
            report(.parameterSet, "the SPS changes within a coded video sequence")
        }
        let count = first.pictureOrderCount(after: previousTid0, sps, startsSequence: startsSequence)
        if !(-(1 << 31)..<(1 << 31)).contains(count) {
            report(.pictureOrder, "PicOrderCntVal \(count) has more than 32 bits")
        }
        if startsSequence {
            sequence += 1
            recentCounts = []
            references.clear()
        }

        var frame = HEVCFrame(
            index: index, kind: Self.kind(unit.slices), nal_unit_type: nal.type, temporalID: nal.temporalID,
            pictureOrderCount: count, sequence: sequence, startsSequence: startsSequence,
            isOutput: first.pic_output_flag, slices: unit.slices, information: information, nalUnits: unit.nalUnits,
            byteCount: 0, videoByteCount: 0, sequenceSet: unit.sequenceSetIndex,
            pictureSet: unit.pictureSetIndex)
        let irap = rules.irap.map { stream.frames[$0] }
        frame.associatedIRAP = nal.isIRAP ? nil : irap?.index
        // RASL pictures are not decoded if their IRAP picture starts the sequence (8.1.3).
        let isSkipped = nal.isRASL && irap?.startsSequence != false
        if isSkipped { frame.isOutput = false }
        for nalUnit in stream.nalUnits[unit.nalUnits] {
            frame.byteCount += nalUnit.byteCount
            if nalUnit.isSlice || nalUnit.type == 38 { frame.videoByteCount += nalUnit.payload.count }
        }

        frame.referenceSet = references.apply(first, pictureOrderCount: count, sps, mayMiss: isSkipped)
        found += references.takeFaults()
        for sliceIndex in frame.slices.indices {
            let header = frame.slices[sliceIndex].header
            frame.slices[sliceIndex].lists = HEVCReferenceLists.lists(of: header, frame.referenceSet)
        }
        found += HEVCSliceRules.collocatedFaults(frame)
        found += rules.faults(of: frame, irap: irap, references, sps)
        for long in frame.referenceSet.longTerm { if let long { stream.frames[long].isLongTerm = true } }
        stream.maxReferences = max(stream.maxReferences, frame.referenceSet.all.count { $0 != nil })
        if nal.temporalID >= sps.sps_max_sub_layers {
            report(
                .temporalLayer, "TemporalId is \(nal.temporalID), but there are \(sps.sps_max_sub_layers) sub-layers")
        }
        runOutputProcess(frame, first: first, sps: sps)
        reorder(frame, sps: sps, in: &stream)

        references.add(
            HEVCReferenceBuffer.Entry(
                frame: index, pictureOrderCount: count, temporalID: nal.temporalID, nal_unit_type: nal.type))
        if nal.temporalID == 0, !nal.isLeading, !nal.isSubLayerNonReference { previousTid0 = count }
        rules.follow(frame, sps)
        active = sps
        sequenceEnds = false
        stream.frames.append(frame)
        stream.found.append(contentsOf: found.map { Violation($0.0, frame: index, $0.1) })
    }

    /// Flushes the output buffers and assigns every frame its index in output order.
    mutating func end(_ stream: inout HEVCStream) {
        for layer in outputs.indices {
            outputs[layer].flush()
            stream.found.append(contentsOf: outputs[layer].takeFaults().map { Violation(.pictureBuffer, $0) })
        }
        let order = stream.frames.indices.sorted {
            let (a, b) = (stream.frames[$0], stream.frames[$1])
            return (a.sequence, a.pictureOrderCount, $0) < (b.sequence, b.pictureOrderCount, $1)
        }
        for (displayIndex, index) in order.enumerated() { stream.frames[index].displayIndex = displayIndex }
        let shown = order.filter { stream.frames[$0].isOutput }
        if let whole = outputs.last, whole.output != shown {
            stream.found.append(
                Violation(
                    .pictureBuffer, "the bumping process outputs \(whole.output.count) pictures in another order"))
        }
    }

    private static func kind(_ slices: [HEVCFrame.Slice]) -> HEVCSliceSegmentHeader.SliceType {
        let kinds = slices.map(\.header.slice_type)
        return kinds.contains(.b) ? .b : kinds.contains(.p) ? .p : .i
    }

    /// Runs the output process (C.5.2) of decoders for every number of sub-layers.
    private mutating func runOutputProcess(
        _ frame: HEVCFrame, first: HEVCSliceSegmentHeader, sps: HEVCSequenceParameterSet
    ) {
        while outputs.count < sps.sps_max_sub_layers { outputs.append(HEVCOutputBuffer()) }
        let held = Set(references.entries.map(\.frame))
        for layer in outputs.indices where layer >= min(frame.temporalID, outputs.count - 1) {
            let limits = sps.subLayers[min(layer, sps.subLayers.count - 1)]
            if frame.startsSequence {
                // NoOutputOfPriorPicsFlag is inferred only for CRA pictures.
                let discards = frame.index > 0 && (frame.isCRA || first.no_output_of_prior_pics_flag)
                outputs[layer].startSequence(discards: discards)
            } else {
                outputs[layer].makeRoom(limits) { held.contains($0) }
            }
            outputs[layer].store(
                frame: frame.index, pictureOrderCount: frame.pictureOrderCount, isOutput: frame.isOutput, limits)
            let name = outputs.count > 1 ? "decoding sub-layers up to \(layer): " : ""
            for fault in outputs[layer].takeFaults() { report(.pictureBuffer, name + fault) }
        }
    }

    private mutating func reorder(_ frame: HEVCFrame, sps: HEVCSequenceParameterSet, in stream: inout HEVCStream) {
        let position = (recentCounts.lastIndex { $0 <= frame.pictureOrderCount } ?? -1) + 1
        if position > 0, recentCounts[position - 1] == frame.pictureOrderCount {
            report(.pictureOrder, "the picture order count \(frame.pictureOrderCount) is used twice")
        }
        let depth = recentCounts.count - position
        stream.reorderDepth = max(stream.reorderDepth, depth)
        if depth > sps.highest.max_num_reorder_pics {
            report(
                .pictureBuffer,
                "\(depth) pictures are reordered, but sps_max_num_reorder_pics is \(sps.highest.max_num_reorder_pics)")
        }
        recentCounts.insert(frame.pictureOrderCount, at: position)
        if recentCounts.count > 64 { recentCounts.removeFirst() }
    }
}

/// The construction of reference picture lists (H.265 8.3.4).
enum HEVCReferenceLists {
    /// Returns RefPicList0 and RefPicList1 of a slice.
    static func lists(of header: HEVCSliceSegmentHeader, _ set: HEVCFrame.References) -> [[Int?]] {
        let orders = [
            set.stCurrBefore + set.stCurrAfter + set.ltCurr, set.stCurrAfter + set.stCurrBefore + set.ltCurr,
        ]
        return (0..<2).map { list in
            let order = orders[list]
            let active = header.num_ref_idx_active[list]
            guard active > 0, !order.isEmpty else { return [] }
            let entries = header.list_entry[list]
            return (0..<active).map { index in
                let entry = entries.map { index < $0.count ? $0[index] : 0 } ?? index
                return order[entry % order.count]
            }
        }
    }
}
