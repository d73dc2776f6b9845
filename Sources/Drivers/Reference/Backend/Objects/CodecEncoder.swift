/// The encoder of a context, for one codec, picture size and bit depth. Only the context's thread uses it.
enum CodecEncoder {
    case h264(H264PictureEncoder)
    case hevc(HEVCPictureEncoder<UInt8>)
    case hevc10(HEVCPictureEncoder<UInt16>)

    init(_ work: EncodeWork) {
        switch work {
        case .h264(let work):
            let (width, height) = (work.job.widthInMacroblocks, work.job.heightInMacroblocks)
            let isLarge = H264PictureEncoder.profitsFromThreads(widthInMacroblocks: width, heightInMacroblocks: height)
            self = .h264(
                H264PictureEncoder(
                    widthInMacroblocks: width, heightInMacroblocks: height, pool: isLarge ? WorkerPool.shared() : nil))
        case .hevc(let work):
            let pool = WorkerPool.shared()
            self =
                work.job.bitDepth > 8
                ? .hevc10(HEVCPictureEncoder(work.job.grid, pool: pool))
                : .hevc(HEVCPictureEncoder(work.job.grid, pool: pool))
        }
    }

    /// Whether this encoder can encode a picture.
    ///
    /// A new sequence may have another picture size, and in HEVC other block sizes. It then needs another encoder.
    func takes(_ work: EncodeWork) -> Bool {
        switch self {
        case .h264(let encoder):
            guard case .h264(let work) = work else { return false }
            return encoder.widthInMacroblocks == work.job.widthInMacroblocks
                && encoder.heightInMacroblocks == work.job.heightInMacroblocks
        case .hevc(let encoder):
            guard case .hevc(let work) = work else { return false }
            return encoder.grid == work.job.grid && work.job.bitDepth == 8
        case .hevc10(let encoder):
            guard case .hevc(let work) = work else { return false }
            return encoder.grid == work.job.grid && work.job.bitDepth > 8
        }
    }

    /// Encodes a picture for which `takes` is true.
    func encode(_ work: EncodeWork, _ parameters: EncodePassParameters) -> EncodedSlices {
        let nothing = EncodedSlices(units: [], averageQP: 0, intraShare: 0)
        switch self {
        case .h264(let encoder):
            guard case .h264(let work) = work else { return nothing }
            let job = work.job(parameters)
            let sum = job.slices.reduce(0) { $0 + $1.qp * $1.macroblockCount }
            return EncodedSlices(
                encoder.encode(job), areas: job.widthInMacroblocks * job.heightInMacroblocks, sliceQPSum: sum)
        case .hevc(let encoder):
            guard case .hevc(let work) = work else { return nothing }
            return encodeHEVC(work, parameters) { encoder.encode($0) }
        case .hevc10(let encoder):
            guard case .hevc(let work) = work else { return nothing }
            return encodeHEVC(work, parameters) { encoder.encode($0) }
        }
    }

    private func encodeHEVC(
        _ work: HEVCWork, _ parameters: EncodePassParameters, _ encode: (HEVCPictureJob) -> PictureResult
    ) -> EncodedSlices {
        let job = work.job(parameters)
        let areas = job.grid.areaColumns * job.grid.areaRows
        let trees = job.slices.reduce(0) { $0 + $1.codingTreeCount }
        let sum = job.slices.reduce(0) { $0 + $1.qp * $1.codingTreeCount } * areas / max(trees, 1)
        var slices = EncodedSlices(encode(job), areas: areas, sliceQPSum: sum)
        if work.writesHash {
            slices.units.append(
                PictureHash.unit(
                    .hevc(job.reconstruction, order: job.poc), layer: job.slices.first?.header.prefix.last ?? 1))
        }
        return slices
    }
}

/// The encoded slices of a picture.
struct EncodedSlices {
    /// The NAL units, with start codes.
    var units: [[UInt8]]
    var averageQP: Int
    /// The fraction of the picture that is intra-coded, from 0 to 1.
    var intraShare: Double
}

extension EncodedSlices {
    /// - Parameters:
    ///   - areas: The number of 16×16 areas in the picture.
    ///   - sliceQPSum: The sum of the slice QPs over all areas. It is used if the result has no QP sum.
    init(_ result: PictureResult, areas: Int, sliceQPSum: Int) {
        units = result.slices
        averageQP = ((result.qpSum > 0 ? result.qpSum : sliceQPSum) + areas / 2) / areas
        intraShare = Double(result.intraMacroblocks) / Double(areas)
    }
}
