/// The job for an HEVC picture, and the syntax from which its slice headers are rewritten.
struct HEVCWork: Sendable {
    var job: HEVCPictureJob
    /// The headers of the job's slices.
    var headers: [HEVCSliceSegmentHeader]
    var sequence: HEVCSequenceParameterSet
    var picture: HEVCPictureParameterSet
    /// Whether an SEI message with a hash of the decoded picture follows the picture.
    var writesHash: Bool

    func job(_ pass: EncodePassParameters) -> HEVCPictureJob {
        var job = job
        var headers = headers
        if let qp = pass.qp {
            for index in job.slices.indices {
                job.slices[index].qp = qp
                headers[index].slice_qp_delta = qp - picture.init_qp
                job.slices[index].header = bits(headers[index], job.slices[index].header.prefix)
            }
        }
        if pass.hasAreaQPs && job.qpDeltaDepth != nil { job.areaQPs = areaQPs(job, pass) }
        if pass.maximumSliceBytes > 0 {
            let (headers, slices) = (headers, job.slices)
            job.sliceByteLimit = SliceByteLimit(bytes: pass.maximumSliceBytes) { slice, address in
                var header = headers[slice]
                header.slice_segment_address = address
                return bits(header, [0, 0, 1] + slices[slice].header.prefix.suffix(2))
            }
        }
        return job
    }

    private func bits(_ header: HEVCSliceSegmentHeader, _ prefix: [UInt8]) -> SliceHeaderBits {
        var bits = header.bits(sequence: sequence, picture: picture)
        bits.prefix = prefix
        return bits
    }

    /// Returns the QP of each 16×16 area, based on the QP of the slice that contains its coding tree unit.
    private func areaQPs(_ job: HEVCPictureJob, _ pass: EncodePassParameters) -> [Int8] {
        let grid = job.grid
        var sliceQPs = [Int](repeating: 0, count: grid.codingTrees)
        for slice in job.slices {
            let first = job.tiles.tileScan[slice.firstCodingTree]
            for tileScanIndex in first..<first + slice.codingTreeCount {
                sliceQPs[job.tiles.rasterScan[tileScanIndex]] = slice.qp
            }
        }
        let shift = grid.log2CodingTreeBlock - 4
        return (0..<grid.areaRows * grid.areaColumns).map { area in
            let (x, y) = (area % grid.areaColumns, area / grid.areaColumns)
            return Int8(
                pass.areaQP(
                    x: x, y: y, sliceQP: sliceQPs[(y >> shift) * grid.columns + (x >> shift)]))
        }
    }
}
