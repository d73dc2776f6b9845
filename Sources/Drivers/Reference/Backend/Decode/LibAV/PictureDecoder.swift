internal import CLibAV
internal import DecodeDamageDetection
internal import Glibc

/// Decodes one stream with libavcodec's own decoder, a picture or field at a time, on the caller's thread.
///
/// The decoder keeps its references by itself, from the slice headers. Its output order is of no interest: what a packet
/// was decoded into is known from where the decoder asked for memory.
///
/// SAFETY: the context, packet and frame are the object's own from `init` to `deinit`; the tracker outlives the context that
/// points to it.
@safe package final class PictureDecoder: @unchecked Sendable {
    /// Why there is no decoder.
    package struct Failure: Error {
        package let reason: String
    }

    /// What came of a packet.
    package struct Outcome {
        /// Nil where nothing was decoded. Good until the next call.
        package var picture: DecodedPicture?
        /// Some of the picture is not what was encoded.
        package var isDamaged: Bool
        /// That is for lack of memory.
        package var lacksMemory = false
    }

    private let av: UnsafePointer<VaencLibAV>
    private let tracker: PictureTracker
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var output: UnsafeMutablePointer<AVFrame>?

    private static let libraries = Int32(VaencLibAVCodec.rawValue | VaencLibAVGuest.rawValue)

    /// Whether the libavcodec that this build was compiled for is installed. Does not load it.
    package static var isInstalled: Bool { vaenc_libav_is_installed(libraries) }

    package init(_ codec: DriverCodec) throws(Failure) {
        var why = [CChar](repeating: 0, count: 256)
        guard let av = unsafe vaenc_libav(Self.libraries, &why, why.count) else {
            let bytes = why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw Failure(reason: String(decoding: bytes, as: UTF8.self))
        }
        unsafe self.av = unsafe av
        guard let tracker = unsafe PictureTracker(av, marksPictures: codec.decoderHidesDamage) else { throw Failure(reason: "no memory for a decoder") }
        self.tracker = tracker
        unsafe packet = unsafe av.pointee.av_packet_alloc?()
        unsafe output = unsafe av.pointee.av_frame_alloc?()
        guard let found = unsafe av.pointee.avcodec_find_decoder?(codec.libavcodecID),
            let context = unsafe av.pointee.avcodec_alloc_context3?(found), unsafe packet != nil, unsafe output != nil
        else { throw Failure(reason: "libavcodec has no decoder for \(codec)") }
        unsafe self.context = unsafe context
        // A picture's decoding ends with the call that begins it.
        unsafe context.pointee.thread_count = 1
        unsafe context.pointee.thread_type = 0
        unsafe context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY | Int32(AV_CODEC_FLAG_OUTPUT_CORRUPT)
        unsafe context.pointee.flags2 |= AV_CODEC_FLAG2_SHOW_ALL
        if codec.decoderHidesDamage { unsafe context.pointee.err_recognition |= AV_EF_EXPLODE }
        // The program's log is not the driver's.
        unsafe context.pointee.log_level_offset = 100
        unsafe context.pointee.opaque = Unmanaged.passUnretained(tracker).toOpaque()
        unsafe context.pointee.get_buffer2 = { context, frame, flags in
            guard let context = unsafe context, let frame = unsafe frame, let opaque = unsafe context.pointee.opaque else {
                return vaenc_averror(EINVAL)
            }
            return unsafe Unmanaged<PictureTracker>.fromOpaque(opaque).takeUnretainedValue().take(context, frame, flags)
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

    /// Decodes one picture or field: NAL units with start codes.
    /// - Parameter continues: A second field, which goes where the last packet's did.
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
        if tracker.hasErrors || tracker.hasUnwritten { isDamaged = true }
        let picture = unsafe tracker.current.flatMap { unsafe DecodedPicture($0) }
        // H.264's decoder calls a picture that it has no room for damaged.
        let lacksMemory = tracker.lacksMemory || vaenc_errno_of(status) == ENOMEM
        return Outcome(picture: picture, isDamaged: isDamaged || picture == nil, lacksMemory: lacksMemory)
    }

    /// Forgets all references; parameter sets stay.
    package func flush() {
        guard let context = unsafe context else { return }
        unsafe av.pointee.avcodec_flush_buffers?(context)
    }
}

extension DriverCodec {
    fileprivate var libavcodecID: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        case .hevc: AV_CODEC_ID_HEVC
        }
    }

    /// Whether libavcodec's decoder reports damage only if it may stop there. H.264's decoder conceals damage and reports it.
    fileprivate var decoderHidesDamage: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }
}
