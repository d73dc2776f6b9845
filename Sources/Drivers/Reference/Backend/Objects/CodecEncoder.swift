/// A context's encoder, by codec and what it was made for; used on the context's thread only.
enum CodecEncoder {
    case h264(PictureEncoder)
    case hevc(HEVCPictureEncoder<UInt8>)
    case hevc10(HEVCPictureEncoder<UInt16>)

    init(_ work: EncodeWork) {
        switch work {
        case .h264(let work):
            self = .h264(
                PictureEncoder(
                    widthInMacroblocks: work.job.widthInMacroblocks, heightInMacroblocks: work.job.heightInMacroblocks))
        case .hevc(let work):
            self = work.job.bitDepth > 8 ? .hevc10(HEVCPictureEncoder(work.job.grid)) : .hevc(HEVCPictureEncoder(work.job.grid))
        }
    }

    /// Whether the encoder is for pictures like this. A client may change the size, and the blocks of an HEVC sequence.
    func takes(_ work: EncodeWork) -> Bool {
        switch (self, work) {
        case (.h264(let encoder), .h264(let work)):
            encoder.widthInMacroblocks == work.job.widthInMacroblocks
                && encoder.heightInMacroblocks == work.job.heightInMacroblocks
        case (.hevc(let encoder), .hevc(let work)): encoder.grid == work.job.grid && work.job.bitDepth == 8
        case (.hevc10(let encoder), .hevc(let work)): encoder.grid == work.job.grid && work.job.bitDepth > 8
        default: false
        }
    }

    /// Encodes a picture that the encoder takes.
    func encode(_ work: EncodeWork, _ orders: EncodePassParameters) -> EncodedSlices {
        switch (self, work) {
        case (.h264(let encoder), .h264(let work)):
            let job = work.job(orders)
            let sum = job.slices.reduce(0) { $0 + $1.qp * $1.macroblockCount }
            return EncodedSlices(
                encoder.encode(job), areas: job.widthInMacroblocks * job.heightInMacroblocks, usualQPSum: sum)
        case (.hevc(let encoder), .hevc(let work)):
            return encodeHEVC(work, orders) { encoder.encode($0) }
        case (.hevc10(let encoder), .hevc(let work)):
            return encodeHEVC(work, orders) { encoder.encode($0) }
        default:
            return EncodedSlices(units: [], averageQP: 0, intraShare: 0)
        }
    }

    private func encodeHEVC(
        _ work: HEVCWork, _ orders: EncodePassParameters, _ encode: (HEVCPictureJob) -> PictureResult
    ) -> EncodedSlices {
        let job = work.job(orders)
        let areas = job.grid.areaColumns * job.grid.areaRows
        let trees = job.slices.reduce(0) { $0 + $1.codingTreeCount }
        let sum = job.slices.reduce(0) { $0 + $1.qp * $1.codingTreeCount } * areas / max(trees, 1)
        var slices = EncodedSlices(encode(job), areas: areas, usualQPSum: sum)
        if work.writesHash {
            slices.units.append(
                PictureHash.unit(
                    .hevc(job.reconstruction, order: job.poc), layer: job.slices.first?.header.prefix.last ?? 1))
        }
        return slices
    }
}

/// What came of a picture's slices.
struct EncodedSlices {
    /// NAL units with their start codes.
    var units: [[UInt8]]
    var averageQP: Int
    /// The part of the picture that is coded as intra, 0…1.
    var intraShare: Double
}

extension EncodedSlices {
    /// `areas` of 16×16 make the picture; `usualQPSum` is the sum of their QPs where none changes.
    init(_ result: PictureResult, areas: Int, usualQPSum: Int) {
        units = result.slices
        averageQP = ((result.qpSum > 0 ? result.qpSum : usualQPSum) + areas / 2) / areas
        intraShare = Double(result.intraMacroblocks) / Double(areas)
    }
}
