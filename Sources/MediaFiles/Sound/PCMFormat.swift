import CLibAV
import LibAV
import VideoBase

/// A format of uncompressed, interleaved sound.
public struct PCMFormat: Sendable, Hashable {
    /// The sample format.
    public enum Sample: String, Sendable, Hashable {
        /// Signed 16-bit and 32-bit integers, and floating point from -1 to 1, in this machine's byte order.
        case s16, s32, f32

        var byteCount: Int { self == .s16 ? 2 : 4 }

        fileprivate var codec: AVCodecID {
            switch self {
            case .s16: AV_CODEC_ID_PCM_S16LE
            case .s32: AV_CODEC_ID_PCM_S32LE
            case .f32: AV_CODEC_ID_PCM_F32LE
            }
        }
    }

    /// The format of the samples.
    public var sample: Sample
    /// The sample rate in Hz.
    public var rate: Int
    /// The number of channels.
    public var channels: Int

    /// Creates a format.
    public init(sample: Sample, rate: Int, channels: Int) {
        self.sample = sample
        self.rate = rate
        self.channels = channels
    }

    var frameBytes: Int { sample.byteCount * channels }

    /// Creates a track in this format, with times in samples.
    /// - Throws: `usage` if the rate or the number of channels is out of range.
    func track() throws -> MediaTrack {
        guard (1000...384_000).contains(rate), (1...8).contains(channels) else {
            throw VaencError(
                .usage, "sound of \(channels) channel\(channels == 1 ? "" : "s") at \(rate) Hz is not supported",
                remedy: "use 1 to 8 channels at 1000 to 384000 Hz")
        }
        let av = unsafe try LibAV.load([.codec, .format])
        return unsafe try MediaTrack(av) { stream in
            let parameters = unsafe stream.pointee.codecpar!
            unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
            unsafe parameters.pointee.codec_id = sample.codec
            unsafe parameters.pointee.sample_rate = Int32(rate)
            unsafe parameters.pointee.bits_per_coded_sample = Int32(sample.byteCount * 8)
            unsafe av.pointee.av_channel_layout_default!(&parameters.pointee.ch_layout, Int32(channels))
            unsafe stream.pointee.time_base = AVRational(num: 1, den: Int32(rate))
            return true
        }
    }
}
