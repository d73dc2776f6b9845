package import CLibAV
import DecodeDamageDetection
import Glibc
import Synchronization
package import VideoBase

/// libavcodec's decoder with its packet and frame. One thread at a time.
@safe package final class VideoDecoder: PictureDecoder {
    /// What of a decoder's work is not said by the stream.
    @safe package struct Options {
        /// Every fault is an error, where players would conceal it.
        package var strict = false
        /// All bytes of a picture's memory before it is decoded; damaged pictures are given too.
        package var fill: UInt8?
        /// nil: as many as there are processors, eight at most.
        package var threads: Int?
        /// No picture is held back so that others can be decoded beside it.
        package var isRealTime = false
        /// Pictures are held back until the standard's own buffer puts them out, where a stream does not say how far its
        /// pictures are reordered.
        package var keepsOrder = false
        // SAFETY: the device lives as long as who gives it says, and is referred to by libavcodec from the start.
        /// An AVHWDeviceContext to decode on, and how many pictures the caller holds at once.
        package var device: (context: UnsafeMutablePointer<AVBufferRef>, held: Int)?

        package init() {}
    }

    // SAFETY: made in init, freed in deinit, used by this object's methods alone.
    package let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVCodecContext>?
    package private(set) var packet: UnsafeMutablePointer<AVPacket>?
    package private(set) var frame: UnsafeMutablePointer<AVFrame>?
    /// nil on a device, and for codecs whose decoder tells what is missing.
    private var tails: SliceSentinels?
    private let marksMemory: Bool
    /// What the decoder's threads note when they ask for a picture's memory.
    private let requests = MemoryRequests()
    /// nil for codecs that vaenc does not produce.
    private let standard: VideoCodec?
    /// On a device libavcodec says "no memory" of its pictures too, and who decodes there looks at `latestCode`.
    private let isInMemory: Bool
    /// Parts of `frame` were not decoded.
    private var isUnwritten = false
    /// A thread that did not come back has this decoder for good.
    private let isAbandoned = Atomic<Bool>(false)
    /// libavcodec's answer to the latest `send` or `receive`.
    package private(set) var latestCode: Int32 = 0

    /// - Parameter parameters: what a container says of the stream; nil for a stream that describes itself.
    package init(
        _ codec: UnsafePointer<AVCodec>, parameters: UnsafePointer<AVCodecParameters>?, timeBase: Rational?,
        _ options: Options = Options(), _ av: UnsafePointer<VaencLibAV>
    ) throws {
        unsafe self.av = unsafe av
        let identifier = unsafe codec.pointee.id
        let tellsMissing = unsafe options.fill != nil || options.device != nil
        isInMemory = unsafe options.device == nil
        standard = VideoCodec(libavcodecID: identifier)
        marksMemory = standard != nil && !tellsMissing
        unsafe context = av.pointee.avcodec_alloc_context3!(codec)
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
        if !tellsMissing {
            let extradata = unsafe UnsafeBufferPointer(start: opened.pointee.extradata, count: Int(opened.pointee.extradata_size))
            tails = unsafe SliceSentinels(identifier, extradata: Array(extradata))
        }
        let code = unsafe av.pointee.avcodec_open2!(opened, codec, nil)
        if LibAV.isNoMemory(code) { throw VaencError.noMemory("for a decoder") }
        if code == vaenc_averror_again() { throw VaencError.noThread("for a decoder") }
        if code < 0 {
            throw VaencError(
                .badInput,
                "libavcodec cannot decode this \(unsafe String(cString: codec.pointee.name)) stream (\(unsafe LibAV.message(code, av)))",
                remedy: "check that the file is whole")
        }
    }

    private static func apply(
        _ options: Options, to context: UnsafeMutablePointer<AVCodecContext>, _ av: UnsafePointer<VaencLibAV>
    ) throws {
        unsafe vaenc_carry_tags(context)
        // Decoding shares the machine with encoding: more threads than this cost memory and gain nothing.
        let usual = Int32(min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 8))
        unsafe context.pointee.thread_count = options.threads.map { Int32(clamping: max(1, $0)) } ?? usual
        let slicesAlone: Int32 = 2
        if options.isRealTime { unsafe context.pointee.thread_type = slicesAlone }
        let strictCompliance: Int32 = 1
        if options.keepsOrder { unsafe context.pointee.strict_std_compliance = strictCompliance }
        // Checksums, the bit stream's rules, buffer sizes; and errors for all of them.
        if options.strict { unsafe context.pointee.err_recognition = 1 | 2 | 4 | 8 }
        if let fill = options.fill {
            unsafe vaenc_fill_pictures(context, fill)
            let outputCorrupt: Int32 = 1 << 3
            unsafe context.pointee.flags |= outputCorrupt
        }
        if let device = unsafe options.device {
            guard unsafe vaenc_decode_on(av, context, device.context, Int32(clamping: device.held)) else {
                throw VaencError.noMemory("for a decoder")
            }
            // The device decodes side by side by itself.
            unsafe context.pointee.thread_count = 1
        }
    }

    /// Has pictures decoded into marked memory, and missing parts left as they are.
    private static func mark(_ context: UnsafeMutablePointer<AVCodecContext>, _ requests: MemoryRequests) {
        unsafe context.pointee.error_concealment = 0
        // SAFETY: the decoder keeps the object until its context is closed. The threads' contexts are copies with this pointer.
        unsafe context.pointee.opaque = unsafe Unmanaged.passUnretained(requests).toOpaque()
        unsafe context.pointee.get_buffer2 = { context, frame, flags in
            guard let context = unsafe context, let frame = unsafe frame, let opaque = unsafe context.pointee.opaque,
                let av = try? unsafe LibAV.load(.codec)
            else { return vaenc_averror(ENOMEM) }
            let code = unsafe av.pointee.avcodec_default_get_buffer2!(context, frame, flags)
            if LibAV.isNoMemory(code) { unsafe Unmanaged<MemoryRequests>.fromOpaque(opaque).takeUnretainedValue().noteRefusal() }
            if code >= 0 { unsafe UnwrittenSampleDetector.put(in: frame, isDeep: VideoDecoder.isDeep(frame, av)) }
            return code
        }
    }

    private static func isDeep(_ frame: UnsafePointer<AVFrame>, _ av: UnsafePointer<VaencLibAV>) -> Bool {
        unsafe (av.pointee.av_pix_fmt_desc_get!(AVPixelFormat(rawValue: frame.pointee.format))?.pointee.comp.0.depth ?? 8) > 8
    }

    deinit { close() }

    /// Frees everything; the decoder takes and gives nothing any more. Idempotent.
    package func close() {
        if isAbandoned.load(ordering: .acquiring) { return }
        unsafe av.pointee.avcodec_free_context!(&context)
        unsafe av.pointee.av_packet_free!(&packet)
        unsafe av.pointee.av_frame_free!(&frame)
    }

    /// Leaves everything where it is, for good: a call on the device did not come back, and may still use it. If it comes back
    /// later, it finds all that it uses.
    package func abandon() {
        if unsafe context == nil { return }
        isAbandoned.store(true, ordering: .releasing)
        _ = unsafe Unmanaged.passRetained(self)
    }

    /// Sends `packet` (and empties it), or the end of the stream. False where the decoder refuses it as broken.
    /// - Throws: where there is no memory.
    package func send(end: Bool) throws -> Bool {
        if !end, let packet = unsafe packet, unsafe packet.pointee.size > 0 { unsafe tails?.extend(packet, av) }
        latestCode = unsafe av.pointee.avcodec_send_packet!(context, end ? nil : packet)
        if !end { unsafe av.pointee.av_packet_unref!(packet) }
        try checkMemory()
        return latestCode >= 0 || latestCode == vaenc_averror_eof()
    }

    /// Sends bytes as a packet. False where the decoder refuses them as broken.
    /// - Parameter time: comes back as the picture's `frameTime`.
    package func send(_ bytes: [UInt8], time: Int64) throws -> Bool {
        // SAFETY: av_new_packet makes room for the bytes and the padding that decoders read past them.
        guard let packet = unsafe packet, unsafe av.pointee.av_new_packet!(packet, Int32(clamping: bytes.count)) >= 0 else {
            throw VaencError.noMemory("to decode a packet")
        }
        unsafe bytes.withUnsafeBytes {
            unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: $0.count).copyMemory(from: $0)
        }
        unsafe packet.pointee.pts = time
        return try send(end: false)
    }

    /// Decoders give the code for a lack of memory in few of its cases, and call others damage.
    private func checkMemory() throws {
        guard isInMemory else { return }
        if LibAV.isNoMemory(latestCode) || requests.takeRefusal() || (isFault(latestCode) && lacksMemory) {
            throw VaencError.noMemory("to decode a picture")
        }
    }

    private func isFault(_ code: Int32) -> Bool {
        code < 0 && code != vaenc_averror_again() && code != vaenc_averror_eof()
    }

    /// There is no room for a few pictures: what a decoder calls damage may be that.
    package var lacksMemory: Bool {
        guard let context = unsafe context else { return false }
        let (width, height) = unsafe (Int(context.pointee.coded_width), Int(context.pointee.coded_height))
        return !MemoryTrial.fitsPictures(VideoSize(width: width, height: height))
    }

    /// Fills `frame` with the next picture.
    /// - Throws: where there is no memory.
    package func receive() throws -> DecoderAnswer {
        latestCode = unsafe av.pointee.avcodec_receive_frame!(context, frame)
        isUnwritten = false
        try checkMemory()
        if latestCode >= 0 {
            if marksMemory, let frame = unsafe frame {
                isUnwritten = unsafe UnwrittenSampleDetector.remain(in: frame, isDeep: Self.isDeep(frame, av), mayBeFields: mayBeFields)
            }
            return .frame
        }
        if latestCode == vaenc_averror_again() { return .needsInput }
        return latestCode == vaenc_averror_eof() ? .end : .broken
    }

    package var frameIsDamaged: Bool {
        isUnwritten || frameHasErrors(besides: marksMemory ? falseErrors : 0)
    }

    /// Whether the two fields of a frame may be coded as two pictures. vaenc never decodes HEVC's field pictures as one frame.
    private var mayBeFields: Bool {
        switch standard {
        case .h264, nil: true
        case .hevc: false
        }
    }

    /// Flags of `decode_error_flags` that say nothing: if it does not conceal errors, libavcodec's H.264 decoder reports the beginning of
    /// every second slice (FF_DECODE_ERROR_DECODE_SLICES).
    private var falseErrors: Int32 {
        switch standard {
        case .h264: 8
        case .hevc, nil: 0
        }
    }

    /// The `pts` of the packet that the picture in `frame` came in.
    package var frameTime: Int64 { unsafe frame.map { unsafe $0.pointee.pts } ?? vaenc_no_pts() }

    /// A number for all samples of the picture in `frame`, the same for the same samples in this process.
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
                // SAFETY: a row of a plane that the frame holds has so many samples, `step` bytes apart.
                unsafe hasher.combine(
                    bytes: UnsafeRawBufferPointer(
                        start: base + row * Int(view.strides[Int(component.plane)]), count: width * Int(component.step)))
            }
        }
        return hasher.finalize()
    }

    /// Has `number` come back as the `tag` of the picture that is decoded from the packet sent next.
    package func tag(_ number: Int64) {
        if let context = unsafe context, let packet = unsafe packet { unsafe vaenc_set_tag(context, packet, number) }
    }

    package func picture() throws -> DecodedPicture { try picture(keptBy: nil) }
    package func pictureInMemory() throws -> DecodedPicture { try picture().downloaded() }

    /// - Parameter keeper: of a picture on a device.
    package func picture(keptBy keeper: (any PictureKeeper)?) throws -> DecodedPicture {
        guard let frame = unsafe frame else { throw VaencError(.internalFault, "a decoder was asked for a picture that it has not") }
        return unsafe try DecodedPicture(frame, keeper: keeper, av)
    }

    package func flush() { if unsafe context != nil { unsafe av.pointee.avcodec_flush_buffers!(context) } }
}

/// Whether memory for a picture was refused: noted on any thread of a decoder, asked on the one that uses it.
private final class MemoryRequests: Sendable {
    private let wereRefused = Atomic(false)

    func noteRefusal() { wereRefused.store(true, ordering: .relaxed) }

    /// Whether it was since this was asked last.
    func takeRefusal() -> Bool { wereRefused.exchange(false, ordering: .relaxed) }
}
