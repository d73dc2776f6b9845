import H264Syntax
import HEVCSyntax
import NALUnits
import VideoBase

/// Bytes that keep a constant rate up.
enum Filler {
    /// The fewest bytes of a filler NAL unit with its start code: header and trailing bits.
    static func leastBytes(_ codec: VideoCodec) -> Int {
        AnnexB.startCode.count + unit(byteCount: 0, temporalLayer: 0, codec).count
    }

    /// A NAL unit of `count` bytes that goes behind a picture's slices, without a start code.
    static func unit(byteCount count: Int, temporalLayer: Int, _ codec: VideoCodec) -> [UInt8] {
        switch codec {
        case .h264: H264Syntax.FillerData.unit(byteCount: count)
        case .hevc: HEVCSyntax.FillerData.unit(byteCount: count, temporalID: temporalLayer)
        }
    }
}
