import CLibAV
import LibAV

/// Layouts of raw pictures, and of blocks of sound, which containers have to tell.
extension OutputFormat {
    /// Whether a format that holds the codec of a track can tell how the track's packets are laid out.
    func holdsLayout(of track: MediaTrack, _ container: UnsafePointer<AVOutputFormat>) -> Bool {
        let parameters = unsafe track.stream.pointee.codecpar!
        // Decoders read the size of a block in the header, which NUT has none of.
        if self == .mkv, ["adpcm_ms", "adpcm_ima_wav"].contains(track.codecName) { return unsafe parameters.pointee.block_align > 0 }
        guard unsafe parameters.pointee.codec_id == AV_CODEC_ID_RAWVIDEO else { return true }
        switch self {
        // libavformat names most layouts so that readers, its own too, take them for others, and leaves some pictures out.
        case .mov: return false
        case .mkv:
            // The layout's four-character code is all that it is told by.
            let tag = unsafe parameters.pointee.codec_tag
            return unsafe tag != 0 && track.av.pointee.av_codec_get_id!(container.pointee.codec_tag, tag) == AV_CODEC_ID_RAWVIDEO
        default: return true
        }
    }
}

extension MediaTrack {
    /// libavutil's name of the layout of pictures; empty where it has none.
    var pixelFormatName: String {
        // SAFETY: the name is static.
        unsafe av.pointee.av_get_pix_fmt_name!(AVPixelFormat(rawValue: stream.pointee.codecpar.pointee.format)).map {
            unsafe String(cString: $0)
        } ?? ""
    }
}
