package import CLibAV
package import VideoBase

extension VideoCodec {
    /// libavcodec's number of the codec.
    package var libavcodecID: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        case .hevc: AV_CODEC_ID_HEVC
        }
    }

    /// nil for the codecs that vaenc does not produce.
    package init?(libavcodecID id: AVCodecID) {
        guard let codec = Self.allCases.first(where: { $0.libavcodecID == id }) else { return nil }
        self = codec
    }
}
