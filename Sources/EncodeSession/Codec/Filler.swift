import H264Syntax
import HEVCSyntax
import NALUnits
import VideoBase

/// Filler data, which fills pictures up to a constant rate.
enum Filler {
    /// The fewest bytes of a filler NAL unit with its start code: header and trailing bits.
    static func minBytes(_ codec: VideoCodec) -> Int {
        AnnexB.startCode.count + unit(byteCount: 0, temporalLayer: 0, codec).count
    }

    /// Returns a filler NAL unit of `count` bytes, without a start code. It follows a picture's slices.
    static func unit(byteCount count: Int, temporalLayer: Int, _ codec: VideoCodec) -> [UInt8] {
        switch codec {
        case .h264: H264Syntax.FillerData.unit(byteCount: count)
        case .hevc: HEVCSyntax.FillerData.unit(byteCount: count, temporalID: temporalLayer)
        }
    }
}
