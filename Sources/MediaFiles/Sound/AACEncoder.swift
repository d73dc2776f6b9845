import CLibAV
import LibAV
import VideoBase

/// Encodes AAC-LC through libavcodec. Only one thread may use it at a time.
@safe final class AACEncoder {
    // SAFETY: created in `init`, freed in `deinit`, and used only by this object's methods.
    private let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private let rate: Int
    let track: MediaTrack

    /// The number of samples of each channel in a packet.
    let frameSize: Int

    /// The sample rates of AAC, ISO/IEC 14496-3 table 1.18.
    private static let rates = [7350, 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000]

    /// Returns the nearest AAC rate that is not below `rate`, or the highest one.
    static func rate(for rate: Int) -> Int { rates.first { $0 >= rate } ?? 96000 }

    /// Creates an encoder.
    /// - Parameter source: The track whose language, title and disposition the new track gets.
    /// - Throws: `unavailable` if libavcodec or its AAC encoder is missing, or rejects the settings.
    init(rate: Int, channels: Int, bitsPerSecond: Int, like source: MediaTrack) throws {
        let av = unsafe try LibAV.load([.codec, .format])
        unsafe self.av = unsafe av
        self.rate = rate
        guard let codec = unsafe av.pointee.avcodec_find_encoder!(AV_CODEC_ID_AAC) else {
            throw VaencError(
                .unavailable, "libavcodec has no AAC encoder", remedy: "install the distribution's own libavcodec, or use `AudioMode.none`")
        }
        var made = unsafe av.pointee.avcodec_alloc_context3!(codec)
        guard let context = unsafe made else { throw TrackPacket.noMemory }
        unsafe context.pointee.sample_rate = Int32(rate)
        unsafe context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        unsafe context.pointee.bit_rate = Int64(bitsPerSecond)
        unsafe context.pointee.time_base = AVRational(num: 1, den: Int32(rate))
        unsafe av.pointee.av_channel_layout_default!(&context.pointee.ch_layout, Int32(channels))
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        _ = LibAV.takeLog()
        let code = unsafe av.pointee.avcodec_open2!(context, codec, nil)
        if code < 0 {
            let words = unsafe LibAV.message(code, av)
            unsafe av.pointee.avcodec_free_context!(&made)
            throw VaencError(.unavailable, "the AAC encoder cannot be set up (\(words))", remedy: "use another rate, or `AudioMode.none`")
        }
        unsafe self.context = unsafe context
        unsafe packet = av.pointee.av_packet_alloc!()
        frameSize = Int(unsafe context.pointee.frame_size)
        track = unsafe try MediaTrack(av) { stream in
            unsafe stream.pointee.time_base = AVRational(num: 1, den: Int32(rate))
            unsafe stream.pointee.disposition = source.stream.pointee.disposition
            return unsafe av.pointee.avcodec_parameters_from_context!(stream.pointee.codecpar, context) >= 0
                && av.pointee.av_dict_copy!(&stream.pointee.metadata, source.stream.pointee.metadata, 0) >= 0
        }
        if unsafe packet == nil { throw TrackPacket.noMemory }
    }

    deinit {
        unsafe av.pointee.avcodec_free_context!(&context)
        unsafe av.pointee.av_packet_free!(&packet)
    }

    /// Encodes up to `frameSize` samples of each channel, which start at `start`. Only the last call may pass fewer. If
    /// `samples` is nil, the call ends the stream.
    func encode(_ samples: [ArraySlice<Float>]?, start: Int64) throws -> [TrackPacket] {
        var code: Int32
        if let samples {
            var made = unsafe av.pointee.av_frame_alloc!()
            defer { unsafe av.pointee.av_frame_free!(&made) }
            guard let frame = unsafe made else { throw TrackPacket.noMemory }
            let count = samples[0].count
            unsafe frame.pointee.nb_samples = Int32(count)
            unsafe frame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
            unsafe frame.pointee.sample_rate = Int32(rate)
            unsafe frame.pointee.pts = start
            guard unsafe av.pointee.av_channel_layout_copy!(&frame.pointee.ch_layout, &context!.pointee.ch_layout) >= 0 else {
                throw TrackPacket.noMemory
            }
            guard unsafe av.pointee.av_frame_get_buffer!(frame, 0) >= 0 else { throw TrackPacket.noMemory }
            for (channel, plane) in samples.enumerated() {
                // libavcodec rejects such samples without naming them.
                guard plane.allSatisfy(\.isFinite) else {
                    throw VaencError(
                        .badInput, "the sound has samples that are not numbers",
                        remedy: "use finite samples, or copy the sound")
                }
                // SAFETY: each of the frame's planes has room for nb_samples.
                unsafe plane.withUnsafeBytes {
                    unsafe UnsafeMutableRawPointer(frame.pointee.extended_data[channel]!)
                        .copyMemory(from: $0.baseAddress!, byteCount: $0.count)
                }
            }
            code = unsafe av.pointee.avcodec_send_frame!(context, frame)
        } else {
            code = unsafe av.pointee.avcodec_send_frame!(context, nil)
        }
        var packets: [TrackPacket] = []
        while code >= 0 || code == vaenc_averror_eof() {
            code = unsafe av.pointee.avcodec_receive_packet!(context, packet)
            if code == vaenc_averror_again() || code == vaenc_averror_eof() { return packets }
            if code < 0 { break }
            packets.append(unsafe try TrackPacket(taking: packet!, timeBase: Rational(1, rate), av))
        }
        if LibAV.isNoMemory(code) { throw VaencError.noMemory("to encode sound") }
        throw VaencError(.internalFault, "the AAC encoder failed (\(unsafe LibAV.message(code, av)))")
    }
}
