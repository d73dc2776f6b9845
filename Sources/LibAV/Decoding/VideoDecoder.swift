package import CLibAV
import DecodeDamageDetection
import Glibc
import Synchronization
package import VideoBase

/// libavcodec's decoder with its packet and frame. Only one thread may use it at a time.
@safe package final class VideoDecoder: PictureDecoder {
    /// Decoder settings that do not come from the stream.
    @safe package struct Options {
        /// Whether every fault is an error, even if players would conceal it.
        package var strict = false
        /// The value that fills a picture's memory before decoding; damaged pictures are then output too. nil does not
        /// fill it.
        package var fill: UInt8?
        /// The number of threads. nil means one for each processor, eight at most.
        package var threads: Int?
        /// Whether no picture is delayed for parallel decoding of several pictures.
        package var isRealTime = false
        /// Whether to output pictures in the order of the standard's decoded picture buffer, if a stream does not
        /// declare how far its pictures are reordered. This delays pictures.
        package var keepsOrder = false
        // SAFETY: the caller keeps the context alive until the decoder is created; from then on libavcodec holds its
        // own reference.
        /// An AVHWDeviceContext to decode on, and the number of pictures that the caller holds at once.
        package var device: (context: UnsafeMutablePointer<AVBufferRef>, held: Int)?

        package init() {}
    }

    // SAFETY: created in `init` and freed in `close`, which `deinit` calls. Only this object's methods use them.
    package let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVCodecContext>?
    package private(set) var packet: UnsafeMutablePointer<AVPacket>?
    package private(set) var frame: UnsafeMutablePointer<AVFrame>?
    /// Appends the sentinels; nil on a device, if memory is filled, and for codecs other than H.264 and HEVC.
    private var sentinels: SliceSentinels?
    private let marksMemory: Bool
    /// Records failed memory allocations of the decoder's threads.
    private let requests = MemoryRequests()
    /// The codec; nil for codecs that vaenc does not encode.
    private let standard: VideoCodec?
    /// Whether pictures are decoded into memory. On a device libavcodec returns "no memory" for lost pictures too, so
    /// the caller that decodes there checks `latestCode` instead.
    private let isInMemory: Bool
    /// Whether parts of `frame` were not decoded.
    private var isUnwritten = false
    /// The numbers of the noise of pictures that were not decoded completely, since the last key picture. Later
    /// pictures may contain copies of it.
    private var unwrittenNumbers: [UInt64] = []
    /// The picture that was output last, which replaces what was not decoded.
    private var shown: UnsafeMutablePointer<AVFrame>?
    /// Whether a thread that did not return owns this decoder forever.
    private let isAbandoned = Atomic<Bool>(false)
    /// libavcodec's return value of the latest `send` or `receive`.
    package private(set) var latestCode: Int32 = 0

    /// Opens a decoder.
    ///
    /// - Parameter parameters: The stream's parameters from a container; nil for a stream that describes itself.
    /// - Throws: If there is no memory or no thread, or if libavcodec cannot decode the stream.
    package init(
        _ codec: UnsafePointer<AVCodec>, parameters: UnsafePointer<AVCodecParameters>?, timeBase: Rational?,
        options: Options = Options(), av: UnsafePointer<VaencLibAV>
    ) throws {
        unsafe self.av = unsafe av
        let identifier = unsafe codec.pointee.id
        let detectsMissing = unsafe options.fill != nil || options.device != nil
        isInMemory = unsafe options.device == nil
        standard = VideoCodec(libavcodecID: identifier)
        marksMemory = standard != nil && !detectsMissing
        unsafe context = av.pointee.avcodec_alloc_context3!(codec)
        // libavcodec's JPEG decoder conceals damage unless AV_EF_EXPLODE is set. With this flag, the decoder of MPEG-4
        // Visual aborts the process.
        if identifier == AV_CODEC_ID_MJPEG { unsafe context?.pointee.err_recognition |= AV_EF_EXPLODE }
        unsafe packet = av.pointee.av_packet_alloc!()
        unsafe frame = av.pointee.av_frame_alloc!()
        guard let opened = unsafe context, unsafe packet != nil, unsafe frame != nil else {
            throw VaencError.noMemory("for a decoder")
        }
        if let parameters = unsafe parameters {
            guard unsafe av.pointee.avcodec_parameters_to_context!(opened, parameters) >= 0 else {
                throw VaencError.noMemory("for a decoder")
            }
        }
        if let timeBase {
            unsafe opened.pointee.pkt_timebase = AVRational(
                num: Int32(clamping: timeBase.numerator), den: Int32(clamping: timeBase.denominator))
        }
        unsafe try Self.apply(options, to: opened, av)
        if marksMemory { unsafe Self.mark(opened, requests) }
        if !detectsMissing {
            let extradata = unsafe UnsafeBufferPointer(start: opened.pointee.extradata, count: Int(opened.pointee.extradata_size))
            sentinels = unsafe SliceSentinels(identifier, extradata: Array(extradata))
        }
        let code = unsafe av.pointee.avcodec_open2!(opened, codec, nil)
        if LibAV.isNoMemory(code) { throw VaencError.noMemory("for a decoder") }
        if code == vaenc_averror_again() { throw VaencError.noThread("for a decoder") }
        if code < 0 {
            throw VaencError(
                .badInput,
                "libavcodec cannot decode this \(unsafe String(cString: codec.pointee.name)) stream (\(unsafe LibAV.message(code, av)))",
                remedy: "check that the file is complete")
        }
    }

    private static func apply(
        _ options: Options, to context: UnsafeMutablePointer<AVCodecContext>, _ av: UnsafePointer<VaencLibAV>
    ) throws {
        unsafe vaenc_carry_tags(context)
        // Decoding shares the machine with encoding. More threads than this cost memory and gain nothing.
        let usual = Int32(min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 8))
        unsafe context.pointee.thread_count = options.threads.map { Int32(clamping: max(1, $0)) } ?? usual
        if options.isRealTime { unsafe context.pointee.thread_type = FF_THREAD_SLICE }
        if options.keepsOrder { unsafe context.pointee.strict_std_compliance = FF_COMPLIANCE_STRICT }
        // Checks checksums, bitstream conformance and buffer sizes, and makes every fault an error.
        if options.strict { unsafe context.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE }
        if let fill = options.fill {
            unsafe vaenc_fill_pictures(context, fill)
            unsafe context.pointee.flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT
        }
        if let device = unsafe options.device {
            guard unsafe vaenc_decode_on(av, context, device.context, Int32(clamping: device.held)) else {
                throw VaencError.noMemory("for a decoder")
            }
            // The device itself decodes in parallel.
            unsafe context.pointee.thread_count = 1
        }
    }

    /// Makes the decoder use marked memory for pictures, and leave missing parts unchanged.
    private static func mark(_ context: UnsafeMutablePointer<AVCodecContext>, _ requests: MemoryRequests) {
        unsafe context.pointee.error_concealment = 0
        // SAFETY: the decoder owns `requests` until its context is closed. The contexts of libavcodec's threads are
        // copies with this pointer.
        unsafe context.pointee.opaque = unsafe Unmanaged.passUnretained(requests).toOpaque()
        unsafe context.pointee.get_buffer2 = { context, frame, flags in
            guard let context = unsafe context, let frame = unsafe frame, let opaque = unsafe context.pointee.opaque,
                let av = try? unsafe LibAV.load(.codec)
            else { return vaenc_averror(ENOMEM) }
            let code = unsafe av.pointee.avcodec_default_get_buffer2!(context, frame, flags)
            if LibAV.isNoMemory(code) { unsafe Unmanaged<MemoryRequests>.fromOpaque(opaque).takeUnretainedValue().noteFailure() }
            if code >= 0 { unsafe UnwrittenSampleDetector.put(in: frame, isDeep: VideoDecoder.isDeep(frame, av)) }
            return code
        }
    }

    private static func isDeep(_ frame: UnsafePointer<AVFrame>, _ av: UnsafePointer<VaencLibAV>) -> Bool {
        unsafe (av.pointee.av_pix_fmt_desc_get!(AVPixelFormat(rawValue: frame.pointee.format))?.pointee.comp.0.depth ?? 8) > 8
    }

    deinit { close() }

    /// Frees all resources; the decoder can then not be used any more. Idempotent. Does nothing after `abandon`.
    package func close() {
        if isAbandoned.load(ordering: .acquiring) { return }
        unsafe av.pointee.avcodec_free_context!(&context)
        unsafe av.pointee.av_packet_free!(&packet)
        unsafe av.pointee.av_frame_free!(&frame)
        unsafe av.pointee.av_frame_free!(&shown)
    }

    /// Leaks the decoder on purpose: a call on the device did not return, and may still use it. If the call returns
    /// later, all memory that it uses is still valid.
    package func abandon() {
        if unsafe context == nil { return }
        isAbandoned.store(true, ordering: .releasing)
        _ = unsafe Unmanaged.passRetained(self)
    }

    /// Sends `packet` and empties it, or sends the end of the stream. Returns false if the decoder rejects the packet
    /// as broken.
    /// - Throws: If there is no memory.
    package func send(end: Bool) throws -> Bool {
        if !end, let packet = unsafe packet, unsafe packet.pointee.size > 0 { unsafe sentinels?.extend(packet, av) }
        latestCode = unsafe av.pointee.avcodec_send_packet!(context, end ? nil : packet)
        if !end { unsafe av.pointee.av_packet_unref!(packet) }
        try checkMemory()
        return latestCode >= 0 || latestCode == vaenc_averror_eof()
    }

    /// Sends bytes as a packet. Returns false if the decoder rejects them as broken.
    /// - Parameter time: The value that the picture's `frameTime` will have.
    /// - Throws: If there is no memory.
    package func send(_ bytes: [UInt8], time: Int64) throws -> Bool {
        // SAFETY: av_new_packet allocates the bytes and the padding that decoders read past them.
        guard let packet = unsafe packet, unsafe av.pointee.av_new_packet!(packet, Int32(clamping: bytes.count)) >= 0 else {
            throw VaencError.noMemory("to decode a packet")
        }
        unsafe bytes.withUnsafeBytes {
            unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: $0.count).copyMemory(from: $0)
        }
        unsafe packet.pointee.pts = time
        return try send(end: false)
    }

    /// Throws if memory is missing. Decoders return the code for that in few cases only, and report the others as
    /// damage.
    private func checkMemory() throws {
        guard isInMemory else { return }
        if LibAV.isNoMemory(latestCode) || requests.takeFailure() || (isFault(latestCode) && lacksMemory) {
            throw VaencError.noMemory("to decode a picture")
        }
    }

    private func isFault(_ code: Int32) -> Bool {
        code < 0 && code != vaenc_averror_again() && code != vaenc_averror_eof()
    }

    /// Whether memory for a few pictures cannot be allocated. Damage that a decoder reports may be caused by that.
    package var lacksMemory: Bool {
        guard let context = unsafe context else { return false }
        let (width, height) = unsafe (Int(context.pointee.coded_width), Int(context.pointee.coded_height))
        return !MemoryTrial.fitsPictures(VideoSize(width: width, height: height))
    }

    /// Fills `frame` with the next picture.
    /// - Throws: If there is no memory.
    package func receive() throws -> DecoderAnswer {
        latestCode = unsafe av.pointee.avcodec_receive_frame!(context, frame)
        isUnwritten = false
        try checkMemory()
        if latestCode >= 0 {
            if marksMemory, let frame = unsafe frame {
                unsafe detectUnwritten(frame)
            }
            return .frame
        }
        if latestCode == vaenc_averror_again() { return .needsInput }
        return latestCode == vaenc_averror_eof() ? .end : .broken
    }

    /// Checks whether the frame was decoded completely, and conceals what was not. A picture that contains a part of a
    /// damaged picture that will be output later is damaged too.
    private func detectUnwritten(_ frame: UnsafeMutablePointer<AVFrame>) {
        let isDeep = unsafe Self.isDeep(frame, av)
        let found = unsafe UnwrittenSampleDetector.findings(in: frame, isDeep: isDeep, mayBeFields: mayBeFields, known: unwrittenNumbers)
        isUnwritten = found.isDamaged
        if !isUnwritten, unsafe vaenc_is_key(frame) { unwrittenNumbers = [] }
        // If more than eight pictures are copies, damage cannot be excluded.
        if let number = found.number { unwrittenNumbers = unwrittenNumbers.suffix(7) + [number] }
        if !found.blocks.isEmpty {
            // Other threads may copy from the picture at the same time. They must find all its noise, or none.
            let isShared = unsafe context.map { unsafe $0.pointee.active_thread_type & FF_THREAD_FRAME != 0 } ?? true
            if let format = unsafe av.pointee.av_pix_fmt_desc_get!(AVPixelFormat(rawValue: frame.pointee.format)),
                unsafe !isShared || av.pointee.av_frame_make_writable!(frame) >= 0
            {
                let shifts = unsafe (Int(format.pointee.log2_chroma_w), Int(format.pointee.log2_chroma_h))
                unsafe found.conceal(in: frame, from: shown, bitDepth: Int(format.pointee.comp.0.depth), chromaShifts: shifts)
            } else {
                isUnwritten = true
                return
            }
        }
        if unsafe shown == nil { unsafe shown = av.pointee.av_frame_alloc!() }
        if let shown = unsafe shown {
            unsafe av.pointee.av_frame_unref!(shown)
            _ = unsafe av.pointee.av_frame_ref!(shown, frame)
        }
    }

    package var frameIsDamaged: Bool {
        isUnwritten || frameHasErrors(besides: marksMemory ? falseErrors : 0)
    }

    /// Whether the two fields of a frame may be coded as two pictures. HEVC field pictures are never decoded as one
    /// frame.
    private var mayBeFields: Bool {
        switch standard {
        case .h264, nil: true
        case .hevc: false
        }
    }

    /// The decode_error_flags to ignore. If concealment is off, libavcodec's H.264 decoder reports a fault at the
    /// beginning of every second slice.
    private var falseErrors: Int32 {
        switch standard {
        case .h264: FF_DECODE_ERROR_DECODE_SLICES
        case .hevc, nil: 0
        }
    }

    /// The `pts` of the packet that contained the picture in `frame`.
    package var frameTime: Int64 { unsafe frame.map { unsafe $0.pointee.pts } ?? vaenc_no_pts() }

    /// A hash of all samples of the picture in `frame`. Equal samples have equal hashes in one process.
    package var frameHash: Int {
        var hasher = Hasher()
        guard let frame = unsafe frame,
            let format = unsafe av.pointee.av_pix_fmt_desc_get!(AVPixelFormat(rawValue: frame.pointee.format))?.pointee
        else { return 0 }
        let view = unsafe PictureView(frame: frame)
        let size = unsafe view.size
        let components = unsafe [format.comp.0, format.comp.1, format.comp.2, format.comp.3]
        for (index, component) in components.prefix(Int(unsafe format.nb_components)).enumerated() {
            guard let base = unsafe view.data[Int(component.plane)] else { continue }
            let isChroma = index == 1 || index == 2
            let (across, down) = unsafe isChroma ? (Int(format.log2_chroma_w), Int(format.log2_chroma_h)) : (0, 0)
            let width = (size.width + (1 << across) - 1) >> across
            let height = (size.height + (1 << down) - 1) >> down
            for row in 0..<height {
                // SAFETY: the frame holds the plane, and a row of it has `width` samples that are `step` bytes apart.
                unsafe hasher.combine(
                    bytes: UnsafeRawBufferPointer(
                        start: base + row * Int(view.strides[Int(component.plane)]), count: width * Int(component.step)))
            }
        }
        return hasher.finalize()
    }

    /// Sets the `tag` of the picture that is decoded from the packet sent next.
    package func tag(_ number: Int64) {
        if let context = unsafe context, let packet = unsafe packet { unsafe vaenc_set_tag(context, packet, number) }
    }

    package func picture() throws -> DecodedPicture { try picture(keptBy: nil) }
    package func pictureInMemory() throws -> DecodedPicture { try picture().downloaded() }

    /// Returns a reference to the picture in `frame`.
    ///
    /// - Parameter keeper: The keeper of a picture on a device; nil for a picture in memory.
    /// - Throws: If there is no memory.
    package func picture(keptBy keeper: (any PictureKeeper)?) throws -> DecodedPicture {
        guard let frame = unsafe frame else { throw VaencError(.internalFault, "a decoder has no picture to return") }
        return unsafe try DecodedPicture(frame, keeper: keeper, av)
    }

    package func flush() {
        if unsafe context != nil { unsafe av.pointee.avcodec_flush_buffers!(context) }
        if let shown = unsafe shown { unsafe av.pointee.av_frame_unref!(shown) }
        unwrittenNumbers = []
    }
}

/// Records whether memory for a picture could not be allocated. Any thread of a decoder writes it; the decoder's user
/// reads it.
private final class MemoryRequests: Sendable {
    private let hasFailed = Atomic(false)

    func noteFailure() { hasFailed.store(true, ordering: .relaxed) }

    /// Returns whether an allocation has failed since the last call.
    func takeFailure() -> Bool { hasFailed.exchange(false, ordering: .relaxed) }
}
