import CLibAV
import LibAV
import VideoBase

/// Decodes a track's sound into planar floating-point samples of one rate and layout, through libavcodec and
/// libswresample. Samples that players skip according to the track, such as an encoder's delay, are left out. Only one
/// thread may use it at a time.
@safe final class AudioDecoder {
    // SAFETY: created in `init`, freed in `deinit`, and used only by this object's methods.
    private let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var resampler: OpaquePointer?
    /// The sample format, rate and channel count for which the resampler was created.
    private var shape: [Int32] = []
    private let timeBase: Rational
    /// Whether the decoder may delay the samples of a packet.
    private let hasDelay: Bool
    private var hasDecoded = false
    let rate: Int
    let channels: Int

    /// Samples of each channel, and the time of the first one, counted in samples of `rate`.
    struct Block {
        var start: Int64?
        var samples: [[Float]]
    }

    /// Opens a decoder.
    ///
    /// - Parameters:
    ///   - rate: Returns the output rate for the track's rate.
    ///   - channels: The number of output channels; nil uses the track's, eight at most.
    /// - Throws: `unavailable` if libavcodec has no decoder; `badInput` if the sound cannot be decoded.
    init(_ track: MediaTrack, rate: ((Int) -> Int), channels: Int?) throws {
        let av = unsafe try LibAV.load([.codec, .format, .resample])
        unsafe self.av = unsafe av
        timeBase = track.timeBase
        let parameters = unsafe track.stream.pointee.codecpar!
        guard let codec = unsafe av.pointee.avcodec_find_decoder!(parameters.pointee.codec_id) else {
            throw VaencError(
                .unavailable, "libavcodec has no decoder for the sound (\(track.codecName))", remedy: "leave it out with `AudioMode.none`")
        }
        let sourceRate = Int(unsafe parameters.pointee.sample_rate)
        guard Self.rates.contains(sourceRate) else { throw Self.oddRate(sourceRate) }
        self.rate = rate(sourceRate)
        hasDelay = unsafe codec.pointee.capabilities & AV_CODEC_CAP_DELAY != 0
        self.channels = channels ?? max(1, min(8, Int(unsafe parameters.pointee.ch_layout.nb_channels)))
        unsafe context = av.pointee.avcodec_alloc_context3!(codec)
        unsafe frame = av.pointee.av_frame_alloc!()
        guard let context = unsafe context, unsafe frame != nil,
            unsafe av.pointee.avcodec_parameters_to_context!(context, parameters) >= 0
        else { throw TrackPacket.noMemory }
        unsafe context.pointee.pkt_timebase = AVRational(track.timeBase)
        // A frame with a wrong checksum is marked as damaged. But FLAC reports a wrong checksum only if it is an error.
        unsafe context.pointee.err_recognition |= AV_EF_CRCCHECK
        if unsafe parameters.pointee.codec_id == AV_CODEC_ID_FLAC { unsafe context.pointee.err_recognition |= AV_EF_EXPLODE }
        let code = unsafe av.pointee.avcodec_open2!(context, codec, nil)
        if LibAV.isNoMemory(code) { throw VaencError.noMemory("to decode sound") }
        if code < 0 {
            throw VaencError(
                .badInput, "the sound (\(track.codecName)) cannot be decoded (\(unsafe LibAV.message(code, av)))",
                remedy: "copy it, or leave it out with `AudioMode.none`")
        }
    }

    /// The sample rates that can be converted. From a lower rate, a packet would become thousands of times larger.
    private static let rates = 1000...768_000

    private static func oddRate(_ rate: Int) -> VaencError {
        VaencError(
            .badInput,
            "the sound's sample rate of \(rate) Hz is out of range (\(rates.lowerBound) to \(rates.upperBound) Hz)",
            remedy: "leave it out with `AudioMode.none`")
    }

    deinit {
        unsafe av.pointee.avcodec_free_context!(&context)
        unsafe av.pointee.av_frame_free!(&frame)
        unsafe av.pointee.swr_free!(&resampler)
    }

    /// The number of packets that could not be decoded, or not completely.
    private(set) var damaged = 0

    /// Decodes a packet; nil ends the stream and returns the delayed samples.
    /// - Throws: If there is no memory, or if the sound cannot be converted.
    func decode(_ packet: TrackPacket?) throws -> [Block] {
        if let packet, packet.isEmpty {
            // Decoders treat an empty packet as the end.
            damaged += 1
            return []
        }
        var code = unsafe av.pointee.avcodec_send_packet!(context, packet?.packet)
        var isDamaged = code < 0 && packet != nil
        var blocks: [Block] = []
        while true {
            if LibAV.isNoMemory(code) { throw VaencError.noMemory("to decode sound") }
            code = unsafe av.pointee.avcodec_receive_frame!(context, frame)
            if code == vaenc_averror_again() || code == vaenc_averror_eof() { break }
            if code < 0 {
                isDamaged = true
                continue
            }
            if unsafe frameIsDamaged(frame!) { isDamaged = true }
            blocks.append(try convert())
        }
        if let packet, blocks.isEmpty, hasDecoded, !hasDelay, !packet.mayDecodeToNothing { isDamaged = true }
        if isDamaged { damaged += 1 }
        hasDecoded = hasDecoded || !blocks.isEmpty
        if packet == nil, unsafe resampler != nil { blocks.append(Block(start: nil, samples: unsafe try run(nil, 0))) }
        return blocks
    }

    /// Whether libavcodec concealed parts of the frame.
    private func frameIsDamaged(_ frame: UnsafePointer<AVFrame>) -> Bool {
        unsafe frame.pointee.decode_error_flags != 0 || frame.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
    }

    /// Larger times, which occur in damaged files, are clamped to this value. Sums and differences of such times do not
    /// overflow.
    private static let farthest = Int128(1) << 60

    /// Returns the frame's samples in the output format.
    private func convert() throws -> Block {
        let from = unsafe frame!
        let inputShape = unsafe [from.pointee.format, from.pointee.sample_rate, from.pointee.ch_layout.nb_channels]
        if inputShape != shape {
            unsafe try makeResampler(from)
            shape = inputShape
        }
        // The resampler first returns the samples that it holds back.
        let held = unsafe av.pointee.swr_get_delay!(resampler, Int64(rate))
        let time = unsafe from.pointee.best_effort_timestamp
        var start: Int64?
        if time != vaenc_no_pts() {
            let ticks = Int128(time) * Int128(timeBase.numerator) * Int128(rate)
            let first = Int128(MediaTime.rounded(ticks, by: Int128(timeBase.denominator))) - Int128(held)
            start = Int64(min(max(first, -Self.farthest), Self.farthest))
        }
        let planes = unsafe from.pointee.extended_data!
        let input = unsafe UnsafeMutableRawPointer(planes).assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        return Block(start: start, samples: unsafe try run(input, from.pointee.nb_samples))
    }

    private func makeResampler(_ from: UnsafeMutablePointer<AVFrame>) throws {
        let sourceRate = Int(unsafe from.pointee.sample_rate)
        guard Self.rates.contains(sourceRate) else { throw Self.oddRate(sourceRate) }
        unsafe av.pointee.swr_free!(&resampler)
        var outputLayout = unsafe AVChannelLayout()
        var layout = unsafe AVChannelLayout()
        defer {
            unsafe av.pointee.av_channel_layout_uninit!(&outputLayout)
            unsafe av.pointee.av_channel_layout_uninit!(&layout)
        }
        unsafe av.pointee.av_channel_layout_default!(&outputLayout, Int32(channels))
        if unsafe from.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            unsafe av.pointee.av_channel_layout_default!(&layout, from.pointee.ch_layout.nb_channels)
        } else {
            guard unsafe av.pointee.av_channel_layout_copy!(&layout, &from.pointee.ch_layout) >= 0 else { throw TrackPacket.noMemory }
        }
        let code = unsafe av.pointee.swr_alloc_set_opts2!(
            &resampler, &outputLayout, AV_SAMPLE_FMT_FLTP, Int32(rate), &layout,
            AVSampleFormat(rawValue: from.pointee.format), from.pointee.sample_rate, 0, nil)
        let failed = unsafe code < 0 || av.pointee.swr_init!(resampler) < 0
        if failed {
            throw VaencError(
                .badInput,
                "the sound cannot be resampled to \(rate) Hz (\(LibAV.takeLog() ?? "libswresample rejects it"))",
                remedy: "copy it, or leave it out with `AudioMode.none`")
        }
    }

    // SAFETY: each plane has room for `room` samples, which is the number that libswresample receives.
    private func run(_ input: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: Int32) throws -> [[Float]] {
        let held = unsafe av.pointee.swr_get_delay!(resampler, Int64(rate))
        let inputRate = max(1, Int64(shape.count > 1 ? shape[1] : 1))
        let room = Int(held) + Int(Int64(count) * Int64(rate) / inputRate) + 256
        guard room > 0, let limit = Int32(exactly: room) else {
            throw VaencError(.badInput, "a packet of the sound has \(count) samples", remedy: "leave it out with `AudioMode.none`")
        }
        // The size also covers the later copies in which the samples wait for more.
        try MemoryTrial.require(4 * room * channels * MemoryLayout<Float>.stride, "to decode sound")
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: room * channels)
        defer { unsafe memory.deallocate() }
        var planes: [UnsafeMutablePointer<UInt8>?] = unsafe (0..<channels).map {
            unsafe UnsafeMutableRawPointer(memory + $0 * room).assumingMemoryBound(to: UInt8.self)
        }
        let got = unsafe av.pointee.swr_convert!(resampler, &planes, limit, input, count)
        if LibAV.isNoMemory(got) { throw VaencError.noMemory("to convert sound") }
        if got < 0 { throw VaencError(.internalFault, "libswresample failed (\(unsafe LibAV.message(got, av)))") }
        return (0..<channels).map { unsafe Array(UnsafeBufferPointer(start: memory + $0 * room, count: Int(got))) }
    }
}
