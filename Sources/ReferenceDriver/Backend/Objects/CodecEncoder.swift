/// A context's encoder, by codec; used on the context's thread only.
enum CodecEncoder {
    case h264(PictureEncoder)

    init(_ work: EncodeWork) {
        switch work {
        case .h264(let work):
            self = .h264(
                PictureEncoder(
                    widthInMacroblocks: work.job.widthInMacroblocks, heightInMacroblocks: work.job.heightInMacroblocks))
        }
    }

    /// Encodes a picture of the codec and size that the encoder was made for.
    func encode(_ work: EncodeWork, _ orders: EncodeOrders) -> EncodedSlices {
        switch (self, work) {
        case (.h264(let encoder), .h264(let work)):
            let job = work.job(orders)
            let result = encoder.encode(job)
            let count = job.widthInMacroblocks * job.heightInMacroblocks
            let sum = result.qpSum > 0 ? result.qpSum : job.slices.reduce(0) { $0 + $1.qp * $1.macroblockCount }
            return EncodedSlices(
                units: result.slices, averageQP: (sum + count / 2) / count,
                intraShare: Double(result.intraMacroblocks) / Double(count))
        }
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
