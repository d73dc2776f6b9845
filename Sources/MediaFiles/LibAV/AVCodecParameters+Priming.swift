import CLibAV

extension AVCodecParameters {
    /// The number of samples before the sound, which decoders discard, and their rate in Hz; nil if there are none.
    var priming: (samples: Int, rate: Int)? {
        // Opus counts at 48 kHz at every sample rate (RFC 7845 4.2).
        let rate = unsafe codec_id == AV_CODEC_ID_OPUS ? 48_000 : sample_rate
        return unsafe initial_padding > 0 && rate > 0 ? (Int(initial_padding), Int(rate)) : nil
    }
}
