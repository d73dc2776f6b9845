/// The input of the encoder for one picture, by codec.
enum EncodeWork: Sendable {
    case h264(H264Work)
    case hevc(HEVCWork)

    var codec: DriverCodec {
        switch self {
        case .h264: .h264
        case .hevc: .hevc
        }
    }

    var reconstruction: Reconstruction {
        switch self {
        case .h264(let work): .h264(work.job.reconstruction)
        case .hevc(let work): .hevc(work.job.reconstruction, order: work.job.poc)
        }
    }

    /// The luma samples of the picture to encode.
    var sourceLuma: SourceLuma {
        switch self {
        case .h264(let work):
            let source = work.job.source
            return SourceLuma(
                bytes: source.luma, pitch: source.lumaPitch, width: source.width, height: source.height, isWide: false)
        case .hevc(let work):
            let source = work.job.source
            return SourceLuma(
                bytes: source.luma, pitch: source.lumaPitch, width: source.width, height: source.height,
                isWide: source.isP010)
        }
    }
}

/// The parameters of one encoding pass of a picture. A picture that misses a rate limit is encoded several times.
struct EncodePassParameters {
    /// The QP of all slices; nil if each slice has its own.
    var qp: Int?
    /// The number of 16×16 areas in a row of `activity` and `qpDeltas`.
    var columns: Int
    /// The QP deltas from the picture's activity, one per area in raster order. The sum of QP and delta is limited to
    /// `qpLimits`.
    var activity: [Int]?
    var qpLimits = 0...51
    /// The QP deltas that are added afterwards, without these limits.
    var qpDeltas: [Int]?
    /// The maximum size of a slice in bytes; 0: no limit.
    var maximumSliceBytes = 0

    /// Whether the QP differs between areas.
    var hasAreaQPs: Bool { activity != nil || qpDeltas != nil }

    /// Returns the QP of the area at column `x` and row `y`. Areas outside the picture use the deltas of the nearest
    /// area inside.
    func areaQP(x: Int, y: Int, sliceQP: Int) -> Int {
        let rows = (activity ?? qpDeltas ?? []).count / columns
        let area = min(y, rows - 1) * columns + min(x, columns - 1)
        var qp = sliceQP
        if let activity { qp = min(max(qp + activity[area], qpLimits.lowerBound), qpLimits.upperBound) }
        return min(max(qp + (qpDeltas?[area] ?? 0), 0), 51)
    }
}

/// The job for an H.264 picture, and the positions of the fields that are rewritten in its slice headers.
struct H264Work: Sendable {
    var job: H264PictureJob
    /// The bit positions of the rewritten fields, one element per slice.
    var sliceFields: [SliceFields]
    /// pic_init_qp of the picture parameter set.
    var initialQP: Int

    func job(_ pass: EncodePassParameters) -> H264PictureJob {
        var job = job
        if let qp = pass.qp {
            for index in job.slices.indices {
                job.slices[index].qp = qp
                job.slices[index].header = job.slices[index].header.replacing(
                    sliceFields[index].qpDelta, signed: qp - initialQP)
            }
        }
        if pass.hasAreaQPs {
            var qps = [UInt8](repeating: 0, count: job.widthInMacroblocks * job.heightInMacroblocks)
            for slice in job.slices {
                for address in slice.firstMacroblock..<slice.firstMacroblock + slice.macroblockCount {
                    qps[address] = UInt8(
                        pass.areaQP(
                            x: address % job.widthInMacroblocks, y: address / job.widthInMacroblocks,
                            sliceQP: slice.qp))
                }
            }
            job.macroblockQPs = qps
        }
        if pass.maximumSliceBytes > 0 {
            let headers = zip(job.slices, sliceFields).map { ($0.header, $1.firstMacroblock) }
            job.sliceByteLimit = SliceByteLimit(bytes: pass.maximumSliceBytes) { slice, firstMacroblock in
                headers[slice].0.continued(headers[slice].1, at: firstMacroblock)
            }
        }
        return job
    }
}
