package import CLibAV
package import VideoBase

extension VideoCodec {
    /// The codec's AVCodecID.
    package var libavcodecID: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        case .hevc: AV_CODEC_ID_HEVC
        }
    }

    /// Creates a codec from libavcodec's identifier. Returns nil for codecs that vaenc does not encode.
    package init?(libavcodecID id: AVCodecID) {
        guard let codec = Self.allCases.first(where: { $0.libavcodecID == id }) else { return nil }
        self = codec
    }
}
