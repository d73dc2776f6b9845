import ReferenceDriver
import TestOracles

/// Encodes an artificial sequence with the picture encoder alone, headers included, for the tests with decoders.
struct PixelsEncoding {
    var width = 64
    var height = 48
    var frames = 5
    var cabac = true
    var transform8x8 = true
    var slices = 1
    var references = 1
    var quality = 4
    var qp = 28
    var filterMode = 0
    var filterOffsets = (0, 0)
    var constrainedIntra = false
    var chromaOffsets = (0, 0)
    /// The number of pictures from one intra picture to the next.
    var period = 100
    var content = Content.motion
    /// The number of B pictures between two others.
    var bipredictive = 0
    /// How pictures refer to B pictures.
    var layers = Layers.flat
    var direct_8x8_inference_flag = true
    /// Returns the QP_Y of a macroblock by picture and address, if it differs from the picture's.
    var macroblockQP: ((_ picture: Int, _ address: Int) -> UInt8)?
    /// Returns the part of the picture that intra refresh refreshes.
    var refresh: ((_ picture: Int) -> IntraRefresh?)?

    /// The maximum number of bytes of a slice.
    var sliceBytes: Int?
    /// The largest number of threads that encode a picture.
    var threads = 1

    /// B pictures are no references, or a reference is in the middle of the others, or all are references.
    enum Layers: Int, CaseIterable { case flat, pyramid, references }

    enum Content: Int, CaseIterable { case motion, noise, extremes, stillness }

    struct Outcome {
        var stream: [UInt8]
        var sources: [PlanarFrame]
        var reconstructions: [PlanarFrame]
        var results: [PictureResult]

        /// Decodes and compares; returns how the pictures differ, or nil.
        func fault(_ decoder: ForeignDecoder) -> String? {
            let decoded = decoder.decode(stream)
            if let message = decoded.messages.first { return "\(decoder): \(message)" }
            if decoded.frames.count != reconstructions.count { return "\(decoder): \(decoded.frames.count) frames" }
            for (index, frame) in decoded.frames.enumerated() where frame != reconstructions[index] {
                return "\(decoder): frame \(index) is not the reconstruction"
            }
            return nil
        }
    }

    /// Returns random frames, or a texture that moves by fractions of a sample, with a cut in the middle.
    private func frame(_ index: Int, _ generator: inout SplitMix64) -> PlanarFrame {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * 3 / 2)
        let shown = content == .stillness ? 0 : index
        let cut = shown > frames / 2 ? 57 : 0
        for plane in 0..<3 {
            let scale = plane == 0 ? 1 : 2
            for y in 0..<height / scale {
                for x in 0..<width / scale {
                    switch content {
                    case .noise: bytes.append(UInt8.random(in: 0...255, using: &generator))
                    case .extremes: bytes.append((x / 3 + y / 5 + index * (x / 16)) % 2 == 0 ? 0 : 255)
                    default:
                        // Quarter samples of a tilted zigzag, and another layer that is still.
                        let moved = (4 * scale * x - 7 * shown + cut) + 2 * (4 * scale * y + 5 * shown)
                        let wave = abs(moved & 511 - 256) / 2
                        let still = (scale * x &* 31 ^ scale * y &* 17) & 15
                        let box = abs(scale * x - 10 - 3 * shown) < 9 && abs(scale * y - 20) < 9 ? 90 : 0
                        bytes.append(UInt8(max(0, min(255, 40 + wave + still + box + plane * 9))))
                    }
                }
            }
        }
        return PlanarFrame(width: width, height: height, bytes: bytes)!
    }

    var sequence: H264SequenceParameterSet {
        var sequence = H264SequenceParameterSet()
        sequence.profile_idc = transform8x8 || chromaOffsets.0 != chromaOffsets.1 ? 100 : 77
        sequence.pic_order_cnt_type = bipredictive > 0 ? 0 : 2
        sequence.log2_max_pic_order_cnt_lsb = 8
        sequence.max_num_ref_frames = storedReferences
        sequence.direct_8x8_inference_flag = direct_8x8_inference_flag
        sequence.pic_width_in_mbs = (width + 15) / 16
        sequence.pic_height_in_map_units = (height + 15) / 16
        let right = (16 * sequence.pic_width_in_mbs - width) / 2
        let bottom = (16 * sequence.pic_height_in_map_units - height) / 2
        sequence.frame_cropping_flag = right + bottom > 0
        (sequence.frame_crop_right_offset, sequence.frame_crop_bottom_offset) = (right, bottom)
        if bipredictive > 0 {
            sequence.vui = .init(
                max_num_reorder_frames: layers == .pyramid ? 2 : 1, max_dec_frame_buffering: storedReferences)
        }
        return sequence
    }

    /// The number of frames that the decoder keeps: one more with B pictures, and one for a B reference.
    private var storedReferences: Int {
        references + (bipredictive > 0 ? 1 : 0) + (bipredictive > 0 && layers != .flat ? 1 : 0)
    }

    private var picture: H264PictureParameterSet {
        var picture = H264PictureParameterSet()
        picture.entropy_coding_mode_flag = cabac
        picture.deblocking_filter_control_present_flag = true
        picture.constrained_intra_pred_flag = constrainedIntra
        picture.chroma_qp_index_offset = chromaOffsets.0
        if sequence.profile_idc == 100 {
            picture.hasHighFields = true
            picture.transform_8x8_mode_flag = transform8x8
            picture.second_chroma_qp_index_offset = chromaOffsets.1
        }
        return picture
    }

    /// A picture in coding order.
    private struct Step {
        var index: Int
        var type: SliceType
        var isReference = true
    }

    /// A picture that later pictures may refer to.
    private struct Kept {
        var picture: H264ReconstructedPicture
        var index: Int
    }

    private var steps: [Step] {
        var steps: [Step] = []
        var index = 0
        while index < frames {
            if index % period == 0 {
                steps.append(Step(index: index, type: .i))
                index += 1
                continue
            }
            let end = min(frames, (index / period + 1) * period)
            let anchor = min(index + bipredictive, end - 1)
            steps.append(Step(index: anchor, type: .p))
            let middle = (index + anchor) / 2
            if layers == .pyramid && anchor > index { steps.append(Step(index: middle, type: .b)) }
            for between in index..<anchor where layers != .pyramid || between != middle {
                steps.append(Step(index: between, type: .b, isReference: layers == .references))
            }
            index = anchor + 1
        }
        return steps
    }

    func run() -> Outcome {
        var generator = SplitMix64(state: UInt64(width * 1000 + height))
        let (sequence, picture) = (sequence, picture)
        let (columns, rows) = (sequence.pic_width_in_mbs, sequence.pic_height_in_map_units)
        let encoder = H264PictureEncoder(
            widthInMacroblocks: columns, heightInMacroblocks: rows, pool: WorkerPool(helpers: threads - 1))
        let sources = (0..<frames).map { frame($0, &generator) }
        var reconstructions = [PlanarFrame?](repeating: nil, count: frames)
        var kept: [Kept] = []
        var outcome = Outcome(
            stream: sequence.nalUnit() + picture.nalUnit(), sources: sources, reconstructions: [], results: [])
        var frame_num = 0
        for step in steps {
            let source = sources[step.index]
            if step.type == .i {
                kept = []
                frame_num = 0
            }
            let target = H264ReconstructedPicture(widthInMacroblocks: columns, heightInMacroblocks: rows)
            let luma = ElementStorage<UInt8>(count: width * height, repeating: 0)
            let chroma = ElementStorage<UInt8>(count: width * height / 2, repeating: 0)
            for (i, byte) in source.nv12.enumerated() {
                if i < luma.count { luma.elements[i] = byte } else { chroma.elements[i - luma.count] = byte }
            }
            var job = H264PictureJob(
                widthInMacroblocks: columns, heightInMacroblocks: rows,
                source: SourcePicture(
                    luma: luma.elements, chroma: chroma.elements, lumaPitch: width, chromaPitch: width, width: width,
                    height: height),
                reconstruction: target, transform8x8: transform8x8, constrained_intra_pred_flag: constrainedIntra,
                chroma_qp_index_offset: chromaOffsets.0, second_chroma_qp_index_offset: chromaOffsets.1,
                quality: quality,
                slices: sliceJobs(step, frame_num, kept, sequence, picture))
            job.isReference = step.isReference
            job.measuresError = true
            if let macroblockQP {
                job.macroblockQPs = (0..<columns * rows).map { macroblockQP(step.index, $0) }
            }
            job.intraRefresh = refresh?(step.index)
            if let sliceBytes {
                let headers = sliceHeaders(step, frame_num, kept, sequence)
                job.sliceByteLimit = SliceByteLimit(bytes: sliceBytes) { slice, first in
                    var header = headers[slice]
                    header.first_mb_in_slice = first
                    return header.bits(sequence: sequence, picture: picture)
                }
            }
            let result = withExtendedLifetime((luma, chroma)) { encoder.encode(job) }
            outcome.stream += result.slices.joined()
            outcome.results.append(result)
            reconstructions[step.index] = copy(target)
            guard step.isReference else { continue }
            kept.insert(Kept(picture: target, index: step.index), at: 0)
            if kept.count > storedReferences { kept.removeLast() }
            frame_num = (frame_num + 1) % 16
        }
        outcome.reconstructions = reconstructions.compactMap { $0 }
        return outcome
    }

    /// Returns the initial lists of 8.2.4.2; `kept` is in decoding order, the newest first.
    private func lists(_ step: Step, _ kept: [Kept]) -> [[H264ReconstructedPicture]] {
        switch step.type {
        case .i: return [[], []]
        case .p: return [kept.prefix(references).map(\.picture), []]
        case .b:
            let before = kept.filter { $0.index < step.index }.sorted { $0.index > $1.index }
            let after = kept.filter { $0.index > step.index }.sorted { $0.index < $1.index }
            let first = before + after
            var second = after + before
            if second.count > 1 && second.map(\.index) == first.map(\.index) { second.swapAt(0, 1) }
            return [first.prefix(references).map(\.picture), second.prefix(references).map(\.picture)]
        }
    }

    /// Returns the addresses of the first macroblocks of the slices, and the number of macroblocks.
    private func sliceStarts(_ sequence: H264SequenceParameterSet) -> [Int] {
        let total = sequence.pic_width_in_mbs * sequence.pic_height_in_map_units
        let count = min(slices, total)
        return (0...count).map { total * $0 / count }
    }

    private func sliceHeaders(
        _ step: Step, _ frame_num: Int, _ kept: [Kept], _ sequence: H264SequenceParameterSet
    ) -> [H264SliceHeader] {
        let lists = lists(step, kept)
        return sliceStarts(sequence).dropLast().enumerated().map { part, first in
            var header = H264SliceHeader()
            header.isIDR = step.type == .i
            header.nal_ref_idc = step.isReference ? 1 : 0
            header.idr_pic_id = step.index / period % 2
            header.slice_type = Int(step.type.rawValue)
            header.frame_num = frame_num
            header.pic_order_cnt_lsb = 2 * (step.index % period) % 256
            header.direct_spatial_mv_pred_flag = true
            header.first_mb_in_slice = first
            header.num_ref_idx_active = [lists[0].count, lists[1].count]
            header.num_ref_idx_active_override_flag = max(lists[0].count, lists[1].count) > 1
            header.cabac_init_idc = step.type == .i ? 0 : step.index % 3
            header.slice_qp_delta = min(51, qp + (step.type == .b ? 2 : 0)) - 26
            // Mode 3 of this test mixes the three modes.
            header.disable_deblocking_filter_idc = filterMode == 3 ? part % 3 : filterMode
            header.slice_alpha_c0_offset_div2 = filterOffsets.0
            header.slice_beta_offset_div2 = filterOffsets.1
            return header
        }
    }

    private func sliceJobs(
        _ step: Step, _ frame_num: Int, _ kept: [Kept], _ sequence: H264SequenceParameterSet,
        _ picture: H264PictureParameterSet
    ) -> [H264SliceJob] {
        let lists = lists(step, kept)
        let starts = sliceStarts(sequence)
        return sliceHeaders(step, frame_num, kept, sequence).enumerated().map { part, header in
            var job = H264SliceJob(
                firstMacroblock: starts[part], macroblockCount: starts[part + 1] - starts[part], type: step.type,
                qp: header.slice_qp_delta + 26, list0: lists[0], list1: lists[1], cabac: cabac,
                cabac_init_idc: header.cabac_init_idc,
                disable_deblocking_filter_idc: header.disable_deblocking_filter_idc, filterOffsetA: 2 * filterOffsets.0,
                filterOffsetB: 2 * filterOffsets.1, header: header.bits(sequence: sequence, picture: picture))
            job.direct_8x8_inference_flag = direct_8x8_inference_flag
            return job
        }
    }

    private func copy(_ picture: H264ReconstructedPicture) -> PlanarFrame {
        var bytes: [UInt8] = []
        let row = ElementStorage<UInt8>(count: width, repeating: 0)
        let other = ElementStorage<UInt8>(count: width, repeating: 0)
        for y in 0..<height {
            picture.copyLumaRow(y, count: width, to: row.elements)
            for x in 0..<width { bytes.append(row.elements[x]) }
        }
        for plane in 0..<2 {
            for y in 0..<height / 2 {
                picture.copyChromaRow(y, count: width / 2, toCb: row.elements, cr: other.elements)
                for x in 0..<width / 2 { bytes.append(plane == 0 ? row.elements[x] : other.elements[x]) }
            }
        }
        return PlanarFrame(width: width, height: height, bytes: bytes)!
    }
}
