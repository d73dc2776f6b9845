import ReferenceDriver
import TestOracles

/// Encodes a made-up sequence with the picture encoder alone, headers included: what the pixel tests hand to decoders.
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
    /// Pictures from one intra picture to the next.
    var period = 100
    var content = Content.motion

    enum Content: Int, CaseIterable { case motion, noise, extremes, stillness }

    struct Outcome {
        var stream: [UInt8]
        var sources: [PlanarFrame]
        var reconstructions: [PlanarFrame]
        var results: [PictureResult]
    }

    /// Random frames, or a texture that moves by fractions of a sample, with a cut in the middle.
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
                        // Quarter samples of a tilted zigzag, and another layer that stands still.
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

    private var sequence: SequenceHeader {
        var sequence = SequenceHeader()
        sequence.profileIdc = transform8x8 || chromaOffsets.0 != chromaOffsets.1 ? 100 : 77
        sequence.pictureOrderCountType = 2
        sequence.maxNumRefFrames = references
        sequence.widthInMacroblocks = (width + 15) / 16
        sequence.heightInMapUnits = (height + 15) / 16
        let right = (16 * sequence.widthInMacroblocks - width) / 2
        let bottom = (16 * sequence.heightInMapUnits - height) / 2
        if right + bottom > 0 { sequence.cropping = .init(right: right, bottom: bottom) }
        return sequence
    }

    private var picture: PictureHeader {
        var picture = PictureHeader()
        picture.cabac = cabac
        picture.deblockingControlPresent = true
        picture.constrainedIntraPrediction = constrainedIntra
        picture.chromaQPIndexOffset = chromaOffsets.0
        if sequence.profileIdc == 100 {
            picture.highFields = .init(transform8x8: transform8x8, secondChromaQPIndexOffset: chromaOffsets.1)
        }
        return picture
    }

    func run() -> Outcome {
        var generator = SplitMix64(state: UInt64(width * 1000 + height))
        let (sequence, picture) = (sequence, picture)
        let (columns, rows) = (sequence.widthInMacroblocks, sequence.heightInMapUnits)
        let encoder = PictureEncoder(widthInMacroblocks: columns, heightInMacroblocks: rows)
        var pool = (0...references).map { _ in
            ReconstructedPicture(widthInMacroblocks: columns, heightInMacroblocks: rows)
        }
        var list: [ReconstructedPicture] = []
        var outcome = Outcome(
            stream: sequence.nalUnit() + picture.nalUnit(), sources: [], reconstructions: [], results: [])
        var frameNum = 0
        for index in 0..<frames {
            let source = frame(index, &generator)
            let isIntra = index % period == 0
            if isIntra {
                pool += list
                list = []
                frameNum = 0
            }
            let target = pool.removeLast()
            let luma = LaneStorage<UInt8>(count: width * height, repeating: 0)
            let chroma = LaneStorage<UInt8>(count: width * height / 2, repeating: 0)
            for (i, byte) in source.nv12.enumerated() {
                if i < luma.count { luma.lane[i] = byte } else { chroma.lane[i - luma.count] = byte }
            }
            let job = PictureJob(
                widthInMacroblocks: columns, heightInMacroblocks: rows,
                source: SourcePicture(
                    luma: luma.lane, chroma: chroma.lane, lumaPitch: width, chromaPitch: width, width: width,
                    height: height),
                reconstruction: target, transform8x8: transform8x8, constrainedIntraPrediction: constrainedIntra,
                chromaQPIndexOffset: chromaOffsets.0, secondChromaQPIndexOffset: chromaOffsets.1, quality: quality,
                slices: sliceJobs(index, isIntra, frameNum, list, sequence, picture))
            let result = withExtendedLifetime((luma, chroma)) { encoder.encode(job) }
            outcome.stream += result.slices.joined()
            outcome.results.append(result)
            outcome.sources.append(source)
            outcome.reconstructions.append(copy(target))
            list.insert(target, at: 0)
            if list.count > references { pool.append(list.removeLast()) }
            frameNum = (frameNum + 1) % 16
        }
        return outcome
    }

    private func sliceJobs(
        _ index: Int, _ isIntra: Bool, _ frameNum: Int, _ list: [ReconstructedPicture], _ sequence: SequenceHeader,
        _ picture: PictureHeader
    ) -> [SliceJob] {
        let total = sequence.widthInMacroblocks * sequence.heightInMapUnits
        let count = min(slices, total)
        return (0..<count).map { part in
            let first = total * part / count
            var header = SliceHeader()
            header.isIDR = isIntra
            header.nalRefIdc = 1
            header.idrPicId = index / period % 2
            header.rawType = Int((isIntra ? SliceType.i : .p).rawValue)
            header.frameNum = frameNum
            header.firstMacroblock = first
            header.referenceCounts = [list.count, 0]
            header.overridesReferenceCounts = list.count > 1
            header.cabacInitIdc = isIntra ? 0 : index % 3
            header.qpDelta = qp - 26
            // Mode 3 of this test mixes the three.
            header.disableDeblockingFilterIdc = filterMode == 3 ? part % 3 : filterMode
            header.alphaC0OffsetDiv2 = filterOffsets.0
            header.betaOffsetDiv2 = filterOffsets.1
            return SliceJob(
                firstMacroblock: first, macroblockCount: total * (part + 1) / count - first, type: isIntra ? .i : .p,
                qp: qp, list0: list, list1: [], cabac: cabac, cabacInitIdc: header.cabacInitIdc,
                disableDeblockingFilterIdc: header.disableDeblockingFilterIdc, filterOffsetA: 2 * filterOffsets.0,
                filterOffsetB: 2 * filterOffsets.1, header: header.bits(sequence: sequence, picture: picture))
        }
    }

    private func copy(_ picture: ReconstructedPicture) -> PlanarFrame {
        var bytes: [UInt8] = []
        let row = LaneStorage<UInt8>(count: width, repeating: 0)
        let other = LaneStorage<UInt8>(count: width, repeating: 0)
        for y in 0..<height {
            picture.copyLumaRow(y, count: width, to: row.lane)
            for x in 0..<width { bytes.append(row.lane[x]) }
        }
        for plane in 0..<2 {
            for y in 0..<height / 2 {
                picture.copyChromaRow(y, count: width / 2, toCb: row.lane, cr: other.lane)
                for x in 0..<width / 2 { bytes.append(plane == 0 ? row.lane[x] : other.lane[x]) }
            }
        }
        return PlanarFrame(width: width, height: height, bytes: bytes)!
    }
}
