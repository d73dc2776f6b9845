/// A picture that passed all checks: what to encode, and what stands around it in the stream.
struct PlannedPicture: Sendable {
    var encode: PictureJob
    /// NAL units before and after the slices, with their start codes.
    var leading: [[UInt8]]
    var trailing: [[UInt8]]
    /// What stands in the slice headers of `encode`, so that another QP can.
    var sliceFields: [SliceFields]
    /// pic_init_qp of the picture parameter set.
    var initialQP: Int
    /// Added to the QP of each macroblock, in raster order.
    var qpDeltas: [Int]?
    /// Bytes of a slice; 0: no limit.
    var maximumSliceBytes: Int
    /// Nil where the client gives the QPs.
    var rate: RatedPicture?
    /// Each macroblock's QP follows what it shows.
    var adaptsMacroblocks = false
    /// What that adds, once it is known.
    var activity: [Int]?
    /// No slices: only what stands around them.
    var isSkipped: Bool
    /// Bits above which the coded buffer's status says so; 0 for no limit.
    var maximumFrameBits: Int
    var record: PictureRecord
}

extension PlannedPicture {
    /// The picture to encode at its slices' QPs, or with `qp` in all of them.
    func job(qp: Int? = nil) -> PictureJob {
        var job = encode
        for index in job.slices.indices {
            guard let qp else { break }
            job.slices[index].qp = qp
            job.slices[index].header = job.slices[index].header.replacing(
                sliceFields[index].qpDelta, signed: qp - initialQP)
        }
        if qpDeltas != nil || activity != nil {
            let limits = rate.map { $0.settings.minimumQP...$0.settings.maximumQP } ?? 0...51
            var qps = [UInt8](repeating: 0, count: job.widthInMacroblocks * job.heightInMacroblocks)
            for slice in job.slices {
                for address in slice.firstMacroblock..<slice.firstMacroblock + slice.macroblockCount {
                    var qp = slice.qp
                    if let activity { qp = min(max(qp + activity[address], limits.lowerBound), limits.upperBound) }
                    qps[address] = UInt8(min(max(qp + (qpDeltas?[address] ?? 0), 0), 51))
                }
            }
            job.macroblockQPs = qps
        }
        if maximumSliceBytes > 0 {
            let headers = zip(job.slices, sliceFields).map { ($0.header, $1.firstMacroblock) }
            job.sliceByteLimit = SliceByteLimit(bytes: maximumSliceBytes) { slice, firstMacroblock in
                headers[slice].0.continued(headers[slice].1, at: firstMacroblock)
            }
        }
        return job
    }
}

/// What VAENC_REFERENCE_RECON says of a picture.
struct PictureRecord: Sendable {
    /// `IDR`, `I`, `P` or `B`.
    var type: String
    var pictureOrderCount: Int
    /// The visible part, in luma samples.
    var crop: CroppedArea
}

/// Frame cropping in luma samples.
struct CroppedArea: Sendable, Equatable {
    var left: Int
    var top: Int
    var width: Int
    var height: Int
}
