internal import CLibAV
internal import DecodeDamageDetection
internal import Glibc

/// Decodes one stream with libavcodec's software decoder, one picture or field per call, on the caller's thread.
///
/// libavcodec manages its reference pictures itself, from the slice headers. This class does not wait for a picture's
/// output: `PictureTracker` finds the picture of a packet when libavcodec requests memory for it.
///
/// SAFETY: this object owns the context, the packet and the frame from `init` to `deinit`. The context has an
/// unretained pointer to the tracker, which this object keeps alive.
@safe package final class PictureDecoder: @unchecked Sendable {
    /// The reason why a decoder cannot be created.
    package struct Failure: Error {
        package let reason: String
    }

    /// The result of decoding a packet.
    package struct Outcome {
        /// The picture, or nil if nothing was decoded. It is valid until the next call.
        package var picture: DecodedPicture?
        /// Whether the picture has errors or is missing.
        package var isDamaged: Bool
        /// Whether libavcodec did not have enough memory.
        package var lacksMemory = false
    }

    private let av: UnsafePointer<VaencLibAV>
    private let tracker: PictureTracker
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var output: UnsafeMutablePointer<AVFrame>?

    private static let libraries = Int32(VaencLibAVCodec.rawValue | VaencLibAVGuest.rawValue)

    /// Whether libavcodec is installed in the major version that this build was compiled for.
    ///
    /// The check loads the library only if it is in none of the loader's usual folders.
    package static var isInstalled: Bool { vaenc_libav_is_installed(libraries) }

    package init(_ codec: DriverCodec) throws(Failure) {
        var why = [CChar](repeating: 0, count: 256)
        guard let av = unsafe vaenc_libav(Self.libraries, &why, why.count) else {
            let bytes = why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw Failure(reason: String(decoding: bytes, as: UTF8.self))
        }
        unsafe self.av = unsafe av
        guard let tracker = unsafe PictureTracker(av, marksPictures: codec.decoderHidesDamage) else {
            throw Failure(reason: "no memory for a decoder")
        }
        self.tracker = tracker
        unsafe packet = unsafe av.pointee.av_packet_alloc?()
        unsafe output = unsafe av.pointee.av_frame_alloc?()
        guard let found = unsafe av.pointee.avcodec_find_decoder?(codec.libavcodecID),
            let context = unsafe av.pointee.avcodec_alloc_context3?(found), unsafe packet != nil, unsafe output != nil
        else { throw Failure(reason: "libavcodec has no decoder for \(codec)") }
        unsafe self.context = unsafe context
        // With one thread, a picture is decoded completely before avcodec_send_packet returns.
        unsafe context.pointee.thread_count = 1
        unsafe context.pointee.thread_type = 0
        unsafe context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY | Int32(AV_CODEC_FLAG_OUTPUT_CORRUPT)
        unsafe context.pointee.flags2 |= AV_CODEC_FLAG2_SHOW_ALL
        if codec.decoderHidesDamage { unsafe context.pointee.err_recognition |= AV_EF_EXPLODE }
        // The offset disables libavcodec's messages, because the log belongs to the program that has loaded the driver.
        unsafe context.pointee.log_level_offset = 100
        unsafe context.pointee.opaque = Unmanaged.passUnretained(tracker).toOpaque()
        unsafe context.pointee.get_buffer2 = { context, frame, flags in
            guard let context = unsafe context, let frame = unsafe frame, let opaque = unsafe context.pointee.opaque else {
                return vaenc_averror(EINVAL)
            }
            return unsafe Unmanaged<PictureTracker>.fromOpaque(opaque).takeUnretainedValue().getBuffer(
                context, frame, flags)
        }
        guard unsafe av.pointee.avcodec_open2?(context, found, nil) == 0 else {
            throw Failure(reason: "libavcodec's decoder for \(codec) cannot be opened")
        }
    }

    deinit {
        unsafe av.pointee.avcodec_free_context?(&context)
        unsafe av.pointee.av_packet_free?(&packet)
        unsafe av.pointee.av_frame_free?(&output)
    }

    /// Decodes one picture or field.
    ///
    /// - Parameters:
    ///   - units: NAL units with start codes.
    ///   - continues: Whether the packet is a second field, which is decoded into the last packet's picture.
    package func decode(_ units: [UInt8], continues: Bool = false) -> Outcome {
        guard let packet = unsafe packet, let context = unsafe context,
            unsafe av.pointee.av_new_packet?(packet, Int32(clamping: units.count)) == 0
        else { return Outcome(picture: nil, isDamaged: true, lacksMemory: true) }
        unsafe units.withUnsafeBytes { source in
            guard let start = source.baseAddress, let data = unsafe packet.pointee.data else { return }
            unsafe UnsafeMutableRawPointer(data).copyMemory(from: start, byteCount: source.count)
        }
        tracker.begin(continues: continues)
        let status = unsafe av.pointee.avcodec_send_packet?(context, packet) ?? -1
        unsafe av.pointee.av_packet_unref?(packet)
        var isDamaged = status < 0
        while let output = unsafe output, unsafe av.pointee.avcodec_receive_frame?(context, output) == 0 {
            if unsafe tracker.isCurrent(output), unsafe output.pointee.decode_error_flags != 0 { isDamaged = true }
            unsafe av.pointee.av_frame_unref?(output)
        }
        if tracker.detectUnwritten() || tracker.hasErrors { isDamaged = true }
        let picture = unsafe tracker.current.flatMap { unsafe DecodedPicture($0) }
        // If the H.264 decoder has no memory for a picture, it reports a decoding error instead of ENOMEM.
        let lacksMemory = tracker.lacksMemory || vaenc_errno_of(status) == ENOMEM
        return Outcome(picture: picture, isDamaged: isDamaged || picture == nil, lacksMemory: lacksMemory)
    }

    /// Discards all references. The parameter sets stay valid.
    package func flush() {
        guard let context = unsafe context else { return }
        unsafe av.pointee.avcodec_flush_buffers?(context)
        tracker.flush()
    }
}

extension DriverCodec {
    fileprivate var libavcodecID: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        case .hevc: AV_CODEC_ID_HEVC
        }
    }

    /// Whether libavcodec's decoder reports errors only with AV_EF_EXPLODE. The H.264 decoder conceals errors, but
    /// always reports them.
    fileprivate var decoderHidesDamage: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }
}
