/// What an encoder is given of a picture, by codec.
enum EncodeWork: Sendable {
    case h264(H264Work)
    case hevc(HEVCWork)

    var reconstruction: Reconstruction {
        switch self {
        case .h264(let work): .h264(work.job.reconstruction)
        case .hevc(let work): .hevc(work.job.reconstruction, order: work.job.poc)
        }
    }

    /// The luma samples of the client's picture.
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

/// How a picture is to be encoded this time.
struct EncodePassParameters {
    /// In all slices; nil: their own QPs.
    var qp: Int?
    /// 16×16 areas to a row of `activity` and `qpDeltas`.
    var columns: Int
    /// Added to the QP of each area, in raster order, within `qpLimits`; and what is added after, without limits.
    var activity: [Int]?
    var qpLimits = 0...51
    var qpDeltas: [Int]?
    /// Bytes of a slice; 0: no limit.
    var maximumSliceBytes = 0

    /// Whether areas have QPs of their own.
    var hasAreaQPs: Bool { activity != nil || qpDeltas != nil }

    /// The QP of an area; beyond the last columns and rows they count.
    func areaQP(x: Int, y: Int, sliceQP: Int) -> Int {
        let rows = (activity ?? qpDeltas ?? []).count / columns
        let area = min(y, rows - 1) * columns + min(x, columns - 1)
        var qp = sliceQP
        if let activity { qp = min(max(qp + activity[area], qpLimits.lowerBound), qpLimits.upperBound) }
        return min(max(qp + (qpDeltas?[area] ?? 0), 0), 51)
    }
}

/// An H.264 picture's job, and what is rewritten in its slice headers.
struct H264Work: Sendable {
    var job: PictureJob
    /// What stands in the slice headers, so that another QP can.
    var sliceFields: [SliceFields]
    /// pic_init_qp of the picture parameter set.
    var initialQP: Int

    func job(_ orders: EncodePassParameters) -> PictureJob {
        var job = job
        if let qp = orders.qp {
            for index in job.slices.indices {
                job.slices[index].qp = qp
                job.slices[index].header = job.slices[index].header.replacing(
                    sliceFields[index].qpDelta, signed: qp - initialQP)
            }
        }
        if orders.hasAreaQPs {
            var qps = [UInt8](repeating: 0, count: job.widthInMacroblocks * job.heightInMacroblocks)
            for slice in job.slices {
                for address in slice.firstMacroblock..<slice.firstMacroblock + slice.macroblockCount {
                    qps[address] = UInt8(
                        orders.areaQP(
                            x: address % job.widthInMacroblocks, y: address / job.widthInMacroblocks,
                            sliceQP: slice.qp))
                }
            }
            job.macroblockQPs = qps
        }
        if orders.maximumSliceBytes > 0 {
            let headers = zip(job.slices, sliceFields).map { ($0.header, $1.firstMacroblock) }
            job.sliceByteLimit = SliceByteLimit(bytes: orders.maximumSliceBytes) { slice, firstMacroblock in
                headers[slice].0.continued(headers[slice].1, at: firstMacroblock)
            }
        }
        return job
    }
}
