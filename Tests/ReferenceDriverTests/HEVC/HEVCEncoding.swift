@testable import ReferenceDriver
import Synchronization
import TestOracles

/// Encodes an artificial sequence with the HEVC picture encoder alone, headers included.
struct HEVCEncoding {
    var grid = HEVCGrid(width: 64, height: 64)
    var bitDepth = 8
    var frames = 1
    var qp = 30
    var qpStep = 0
    var quality = 4
    /// The number of coding tree units per slice; 0 is one slice per picture.
    var sliceLength = 0
    var tileColumns = 1
    var tileRows = 1
    var structure = Structure.intra
    /// The maximum of num_ref_idx_active.
    var references = 1
    var hasLongTerm = false
    var temporalMotion = false
    var hasSAO = false
    var sliceByteLimit: Int?
    /// Changes the fields that all jobs share.
    var configure: (inout HEVCPictureJob) -> Void = { _ in }
    /// Changes a slice.
    var configureSlice: (inout HEVCSliceJob) -> Void = { _ in }
    /// Changes a picture's job.
    var configurePicture: (_ poc: Int, inout HEVCPictureJob) -> Void = { _, _ in }
    var chooser: (any HEVCChooser)?
    /// The sources; nil is a moving texture.
    var sources: [PlanarFrame]?
    var hasNoise = false
    /// The number of threads that help the encoder.
    var helpers = 0

    enum Structure { case intra, forward, generalized, bidirectional, pyramid }

    struct Outcome {
        var stream: [UInt8] = []
        /// The NAL units of the slices of each picture, in coding order.
        var pictures: [[UInt8]] = []
        var parameterSets: [UInt8] = []
        var sources: [PlanarFrame] = []
        var reconstructions: [PlanarFrame] = []
        var results: [PictureResult] = []

        /// Returns how a decoder's pictures differ, or nil.
        func fault(_ decoder: ForeignDecoder, blockSize: Int, isLumaAlone: Bool = false) -> String? {
            let decoded = decoder.decode(stream, codec: .hevc)
            if let message = decoded.messages.first { return "\(decoder): \(message)" }
            if decoded.frames.count != reconstructions.count { return "\(decoder): \(decoded.frames.count) frames" }
            for (index, frame) in decoded.frames.enumerated() {
                if isLumaAlone && frame.luma == reconstructions[index].luma { continue }
                if let difference = reconstructions[index].difference(from: frame, blockSize: blockSize) {
                    return "\(decoder): frame \(index): \(difference)"
                }
            }
            return nil
        }
    }

    /// A job and a slice as they are configured.
    private var configured: (job: HEVCPictureJob, slice: HEVCSliceJob) {
        var job = HEVCPictureJob(
            grid: grid, source: HEVCSurface(frame(0)).source,
            reconstruction: HEVCReconstructedPicture(grid: grid, bitDepth: bitDepth), poc: 0, slices: [])
        configure(&job)
        var slice = HEVCSliceJob(
            firstCodingTree: 0, codingTreeCount: 0, type: .i, qp: qp,
            header: SliceHeaderBits(prefix: [], payload: [], bitCount: 0))
        configureSlice(&slice)
        return (job, slice)
    }

    var constrainsLargeUnits: Bool { configured.job.constrained_intra_pred_flag && grid.log2MinCodingBlock > 3 }

    /// Whether the encoder codes several rows at the same time.
    var codesRows: Bool {
        let codesRows = Mutex(false)
        var observed = self
        observed.frames = 1
        observed.structure = .intra
        let configurePicture = configurePicture
        let grid = grid
        observed.configurePicture = { poc, job in
            configurePicture(poc, &job)
            let result = HEVCPictureEncoder<UInt8>(grid).codesRows(job)
            codesRows.withLock { $0 = result }
        }
        _ = observed.run()
        return codesRows.withLock { $0 }
    }

    /// Whether there are several slices or tiles.
    var hasParts: Bool { sliceLength > 0 || tileColumns * tileRows > 1 }

    /// Whether SAO stops at borders of slices or tiles.
    var hasSAOAtBorders: Bool {
        let (job, slice) = configured
        return hasSAO
            && (sliceLength > 0 && !slice.slice_loop_filter_across_slices_enabled_flag
                || tileColumns * tileRows > 1 && !job.loop_filter_across_tiles_enabled_flag)
    }

    /// The description of the configuration for a failing test.
    var summary: String {
        let (job, slice) = configured
        return "\(grid), \(bitDepth) bits, \(structure), QP \(qp) + \(qpStep), slices of \(sliceLength), tiles "
            + "\(tileColumns)×\(tileRows), SAO \(hasSAO), TMVP \(temporalMotion), long-term \(hasLongTerm); depths "
            + "\(job.max_transform_hierarchy_depth_inter) \(job.max_transform_hierarchy_depth_intra), constrained \(job.constrained_intra_pred_flag), skip "
            + "\(job.hasTransformSkip), hidden \(job.sign_data_hiding_enabled_flag), across tiles \(job.loop_filter_across_tiles_enabled_flag), delta "
            + "\(job.qpDeltaDepth ?? -1), merge level \(job.log2_parallel_merge_level), offsets \(job.cbQPOffset) "
            + "\(job.crQPOffset); slice's \(slice.cbQPOffset) \(slice.crQPOffset), deblocking off "
            + "\(slice.slice_deblocking_filter_disabled_flag) \(slice.betaOffset) \(slice.tcOffset), across \(slice.slice_loop_filter_across_slices_enabled_flag)"
    }

    private struct Kept {
        var picture: HEVCReconstructedPicture
        var poc: Int
        var isLongTerm = false
    }

    private struct Step {
        var poc: Int
        var type: SliceType
        var isReference = true
    }

    private var steps: [Step] {
        switch structure {
        case .intra: (0..<frames).map { Step(poc: $0, type: .i) }
        case .forward: (0..<frames).map { Step(poc: $0, type: $0 == 0 ? .i : .p) }
        case .generalized: (0..<frames).map { Step(poc: $0, type: $0 == 0 ? .i : .b) }
        case .bidirectional, .pyramid:
            [Step(poc: 0, type: .i)]
                + stride(from: 1, to: frames, by: 4).flatMap { first -> [Step] in
                    let last = min(first + 3, frames - 1)
                    let anchor = [Step(poc: last, type: .p)]
                    if last == first { return anchor }
                    if structure == .bidirectional || last - first < 3 {
                        return anchor + (first..<last).map { Step(poc: $0, type: .b, isReference: false) }
                    }
                    return anchor + [
                        Step(poc: first + 1, type: .b), Step(poc: first, type: .b, isReference: false),
                        Step(poc: first + 2, type: .b, isReference: false),
                    ]
                }
        }
    }

    func run() -> Outcome { bitDepth == 8 ? run(UInt8.self) : run(UInt16.self) }

    private func bounds(_ count: Int, _ parts: Int) -> [Int] {
        let parts = min(parts, count)
        return (0...parts).map { $0 * count / parts }
    }

    private func run<Sample: HEVCSample>(_ type: Sample.Type) -> Outcome {
        let encoder = HEVCPictureEncoder<Sample>(grid, pool: WorkerPool(helpers: helpers))
        encoder.chooser = chooser
        var outcome = Outcome()
        var generator = SplitMix64(state: UInt64(grid.width * 1000 + grid.height))
        outcome.sources = sources ?? (0..<frames).map { frame($0, &generator) }
        var reconstructions = [PlanarFrame?](repeating: nil, count: frames)
        var kept: [Kept] = []
        for step in steps {
            let source = HEVCSurface(outcome.sources[step.poc])
            let target = HEVCReconstructedPicture(grid: grid, bitDepth: bitDepth)
            var job = HEVCPictureJob(
                grid: grid, source: source.source, reconstruction: target, poc: step.poc, slices: [])
            job.bitDepth = bitDepth
            job.tiles = HEVCTiles(
                columnBounds: bounds(grid.columns, tileColumns), rowBounds: bounds(grid.rows, tileRows))
            job.quality = quality
            job.isReference = step.isReference
            configure(&job)
            let stream = HEVCEncodeStream(job: job, temporalMotion: temporalMotion, hasSAO: hasSAO)
            if step.poc == 0 { outcome.parameterSets = stream.parameterSets }
            if step.poc == 0 { outcome.stream += stream.parameterSets }
            let stored = kept.map { HEVCEncodeStream.Stored(poc: $0.poc, isLongTerm: $0.isLongTerm) }
            let isReference = step.isReference
            for slice in slices(step, kept, job) {
                let index = slice.collocated_from_l0_flag ? slice.list0 : slice.list1
                let collocated = index.firstIndex { $0.picture === slice.collocated } ?? 0
                var complete = slice
                complete.header = stream.slice(
                    slice, poc: step.poc, stored: stored, collocatedIndex: collocated, isReference: isReference)
                job.slices.append(complete)
            }
            if let sliceByteLimit {
                let slices = job.slices
                let poc = step.poc
                job.sliceByteLimit = SliceByteLimit(bytes: sliceByteLimit) { index, address in
                    var slice = slices[index]
                    slice.firstCodingTree = address
                    return stream.slice(slice, poc: poc, stored: stored, isReference: isReference)
                }
            }
            configurePicture(step.poc, &job)
            let result = withExtendedLifetime(source) { encoder.encode(job) }
            outcome.pictures.append(Array(result.slices.joined()))
            outcome.stream += result.slices.joined()
            outcome.results.append(result)
            reconstructions[step.poc] = copy(target, Sample.self)
            guard step.isReference else { continue }
            if hasLongTerm && kept.count == 1 { kept[0].isLongTerm = true }
            kept.append(Kept(picture: target, poc: step.poc))
            if kept.count > 4 { kept.remove(at: kept[0].isLongTerm ? 1 : 0) }
        }
        outcome.reconstructions = reconstructions.compactMap { $0 }
        return outcome
    }

    private func slices(_ step: Step, _ kept: [Kept], _ job: HEVCPictureJob) -> [HEVCSliceJob] {
        let before = kept.filter { $0.poc < step.poc }.sorted { $0.poc > $1.poc }
        let after = kept.filter { $0.poc > step.poc }.sorted { $0.poc < $1.poc }
        func list(_ pictures: [Kept]) -> [HEVCReference] {
            pictures.prefix(references).map {
                HEVCReference(picture: $0.picture, poc: $0.poc, isLongTerm: $0.isLongTerm)
            }
        }
        let list0 = step.type == .i ? [] : list(before + after)
        let list1 = step.type != .b ? [] : structure == .generalized ? list0 : list(after + before)
        let total = grid.codingTrees
        // Slices hold whole tiles, or tiles hold whole slices: with tiles, each slice has one tile, or one slice has
        // all.
        var starts = stride(from: 0, to: total, by: sliceLength == 0 ? total : sliceLength).map { $0 }
        if job.tiles.isEnabled && sliceLength > 0 {
            starts = (0..<total).filter {
                $0 == 0 || job.tiles.tileID[job.tiles.rasterScan[$0]] != job.tiles.tileID[job.tiles.rasterScan[$0 - 1]]
            }
        }
        return zip(starts, starts.dropFirst() + [total]).enumerated().map { number, range in
            var slice = HEVCSliceJob(
                firstCodingTree: job.tiles.rasterScan[range.0], codingTreeCount: range.1 - range.0, type: step.type,
                qp: min(max(qp + (step.type == .b ? 2 : 0) + number * qpStep, -6 * (bitDepth - 8)), 51), list0: list0,
                list1: list1, header: SliceHeaderBits(prefix: [], payload: [], bitCount: 0))
            slice.cbQPOffset = job.cbQPOffset
            slice.crQPOffset = job.crQPOffset
            if temporalMotion && step.type != .i {
                slice.collocated_from_l0_flag = step.type == .p || step.poc % 2 == 0
                let from = slice.collocated_from_l0_flag ? list0 : list1
                slice.collocated = from[step.poc % from.count].picture
            }
            slice.slice_sao_luma_flag = hasSAO
            slice.slice_sao_chroma_flag = hasSAO
            configureSlice(&slice)
            return slice
        }
    }

    private func copy<Sample: HEVCSample>(_ picture: HEVCReconstructedPicture, _ type: Sample.Type) -> PlanarFrame {
        let planes = picture.planes(Sample.self)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(grid.width * grid.height * 3)
        for (elements, stride, scale) in [
            (planes.luma, planes.stride, 1), (planes.cb, planes.chromaStride, 2), (planes.cr, planes.chromaStride, 2),
        ] {
            for y in 0..<grid.height / scale {
                for x in 0..<grid.width / scale {
                    let sample = UInt16(elements[y * stride + x])
                    bytes.append(UInt8(truncatingIfNeeded: sample))
                    if bitDepth > 8 { bytes.append(UInt8(sample >> 8)) }
                }
            }
        }
        return PlanarFrame(width: grid.width, height: grid.height, bitDepth: bitDepth, bytes: bytes)!
    }

    /// Returns a texture that moves by fractions of a sample over a still one, or noise.
    private func frame(_ index: Int) -> PlanarFrame {
        var generator = SplitMix64(state: 0)
        return frame(index, &generator)
    }

    private func frame(_ index: Int, _ generator: inout SplitMix64) -> PlanarFrame {
        var bytes: [UInt8] = []
        for plane in 0..<3 {
            let scale = plane == 0 ? 1 : 2
            for y in 0..<grid.height / scale {
                for x in 0..<grid.width / scale {
                    if hasNoise {
                        bytes.append(UInt8.random(in: 0...255, using: &generator))
                        continue
                    }
                    let moved = (4 * scale * x - 7 * index) + 2 * (4 * scale * y + 5 * index)
                    let wave = abs(moved & 511 - 256) / 2
                    let still = (scale * x &* 31 ^ scale * y &* 17) & 15
                    let box = abs(scale * x - 10 - 3 * index) < 9 && abs(scale * y - 20) < 9 ? 90 : 0
                    bytes.append(UInt8(max(0, min(255, 40 + wave + still + box + plane * 9))))
                }
            }
        }
        let narrow = PlanarFrame(width: grid.width, height: grid.height, bytes: bytes)!
        return bitDepth > 8 ? narrow.widenedTo10Bits : narrow
    }
}
