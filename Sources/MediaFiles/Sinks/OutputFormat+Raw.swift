import CLibAV
import LibAV

/// Layouts of raw pictures and of sound blocks that a container must describe.
extension OutputFormat {
    /// Whether the format, which holds the track's codec, can describe the layout of the track's packets.
    func holdsLayout(of track: MediaTrack, _ container: UnsafePointer<AVOutputFormat>) -> Bool {
        let parameters = unsafe track.stream.pointee.codecpar!
        // Decoders read the size of a block from the header. An input in NUT does not have it.
        if self == .mkv, ["adpcm_ms", "adpcm_ima_wav"].contains(track.codecName) { return unsafe parameters.pointee.block_align > 0 }
        guard unsafe parameters.pointee.codec_id == AV_CODEC_ID_RAWVIDEO else { return true }
        switch self {
        // libavformat writes names for most layouts that readers, including its own, interpret as other layouts, and
        // leaves out some pictures.
        case .mov: return false
        case .mkv:
            // The four-character code is the only description of the layout.
            let tag = unsafe parameters.pointee.codec_tag
            return unsafe tag != 0 && track.av.pointee.av_codec_get_id!(container.pointee.codec_tag, tag) == AV_CODEC_ID_RAWVIDEO
        default: return true
        }
    }
}

extension MediaTrack {
    /// libavutil's name of the pictures' layout; empty if it has none.
    var pixelFormatName: String {
        // SAFETY: the name is static.
        unsafe av.pointee.av_get_pix_fmt_name!(AVPixelFormat(rawValue: stream.pointee.codecpar.pointee.format)).map {
            unsafe String(cString: $0)
        } ?? ""
    }
}
