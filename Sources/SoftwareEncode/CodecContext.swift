import CLibAV
import LibAV
import Threads
import VideoBase

/// One stream of libx264 or libx265 in libavcodec, from its first picture to its end. One thread at a time.
@safe final class CodecContext {
    // SAFETY: created in init, freed in deinit, and used only by this object's methods.
    private let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private let codec: VideoCodec
    /// Whether libavcodec writes captions and user data through the library, which then includes them in its rate
    /// control. Not with libx265: captions are new in FFmpeg 6, and FFmpeg 5.1 accepts user data (udu_sei) but does not
    /// write it.
    private let writesCaptions: Bool
    private let writesUserData: Bool
    /// libx265 reuses the memory of a picture for later ones, and allocates memory for offsets only if the first
    /// picture has offsets. Therefore all pictures have them, or none.
    private let alwaysHasRegions: Bool
    private let memory: EncoderMemory?
    /// The number of pictures that were passed in.
    private var sent = 0

    /// The parameter sets and the library's identification message, in Annex B form.
    let headers: [UInt8]

    static func find(_ name: String) throws(VaencError) -> (
        codec: UnsafePointer<AVCodec>, av: UnsafePointer<VaencLibAV>
    ) {
        // SAFETY: codec descriptions are static.
        let av = unsafe try LibAV.load(.codec)
        guard let codec = unsafe av.pointee.avcodec_find_encoder_by_name!(name) else {
            throw VaencError(
                .unavailable, "this FFmpeg has no \(name) encoder",
                remedy: "install Debian's own libavcodec\(vaenc_libav_major(LibAV.Parts.codec.rawValue)), which "
                    + "includes it")
        }
        return unsafe (codec, av)
    }

    init(_ settings: EncoderSettings) throws {
        let (codec, av) = unsafe try Self.find(settings.encoderName)
        unsafe self.av = unsafe av
        self.codec = settings.codec
        let memory = EncoderMemory(settings)
        self.memory = memory
        switch settings.library {
        case .x264: alwaysHasRegions = false
        case .x265: alwaysHasRegions = settings.takesRegions
        }
        unsafe context = av.pointee.avcodec_alloc_context3!(codec)
        unsafe frame = av.pointee.av_frame_alloc!()
        unsafe packet = av.pointee.av_packet_alloc!()
        guard let context = unsafe context, unsafe frame != nil, unsafe packet != nil else {
            (headers, writesCaptions, writesUserData) = ([], false, false)
            throw VaencError.noMemory("for \(settings.encoderName)")
        }
        unsafe Self.fill(context, settings)
        let parameters = settings.library.settingsOption
        // Versions support different options. If an option exists and is not set, its default could change the stream
        // unnoticed.
        for option in settings.options + [(name: parameters, value: settings.joinedParameters)] {
            let code = unsafe av.pointee.av_opt_set!(context.pointee.priv_data, option.name, option.value, 0)
            // The option strings are well-formed. If libavutil reports one as invalid, it had no memory to parse it
            // (av_dict_parse_string).
            if LibAV.isNoMemory(code) || code < 0 && option.name == parameters {
                (headers, writesCaptions, writesUserData) = ([], false, false)
                throw VaencError.noMemory("for \(settings.encoderName)")
            }
        }
        switch settings.library {
        case .x264:
            writesCaptions = unsafe av.pointee.av_opt_set!(context.pointee.priv_data, "a53cc", "1", 0) >= 0
            writesUserData = unsafe av.pointee.av_opt_set!(context.pointee.priv_data, "udu_sei", "1", 0) >= 0
        case .x265: (writesCaptions, writesUserData) = (false, false)
        }
        _ = LibAV.takeLog()
        let (code, words): (Int32, String)
        switch unsafe Self.open(context, codec: codec, settings: settings, memory: memory, av: av) {
        case .done(let result, let log): (code, words) = (result, log)
        case .lacksMemory(let error):
            headers = []
            throw error
        case .lacksThreads(let isStuck):
            // The library keeps waiting and still uses the context.
            if isStuck { unsafe self.context = nil }
            headers = []
            throw VaencError.noThread("for \(settings.encoderName)")
        }
        if code < 0 {
            headers = []
            if LibAV.isNoMemory(code) || words.contains("malloc of size") { throw VaencError.noMemory("for \(settings.encoderName)") }
            if Self.isNoMemory(words) {
                // libx264 also gives no reason if it cannot start its threads.
                throw VaencError(
                    .unavailable, "no memory or no thread for \(settings.encoderName)",
                    remedy: "close other programs, or raise the memory and process limits (ulimit -v, ulimit -u)")
            }
            if code == vaenc_averror_again() || words.contains("Resource temporarily unavailable") {
                throw VaencError.noThread("for \(settings.encoderName)")
            }
            throw VaencError(
                .unavailable, "\(settings.encoderName) cannot encode pictures of \(settings.codedSize) with these settings (\(words))",
                remedy: "use another size (`outputSize`), `profile`, `level` or rate")
        }
        let extradata = unsafe Array(
            UnsafeBufferPointer(start: context.pointee.extradata, count: Int(context.pointee.extradata_size)))
        headers = StreamHeaders.annexB(headers: extradata, settings.codec)
    }

    private enum Opening {
        /// libavcodec's return code, and its message for an error.
        case done(Int32, String)
        case lacksMemory(VaencError)
        /// - Parameter isStuck: Whether the call does not return.
        case lacksThreads(isStuck: Bool)
    }

    /// Opens the library. libx265 waits forever for a thread that it could not start. Therefore the required number of
    /// threads is tried first. If the call still does not return, the thread that made it is abandoned after 30 s.
    /// The call normally takes milliseconds.
    private static func open(
        _ context: UnsafeMutablePointer<AVCodecContext>, codec: UnsafePointer<AVCodec>, settings: EncoderSettings,
        memory: EncoderMemory?, av: UnsafePointer<VaencLibAV>
    ) -> Opening {
        // SAFETY: this thread waits for the other thread. If that one does not return, this thread does not use the
        // context.
        nonisolated(unsafe) let context = unsafe context
        nonisolated(unsafe) let codec = unsafe codec
        nonisolated(unsafe) let av = unsafe av
        let open: @Sendable () -> (code: Int32, words: String) = {
            let code = unsafe av.pointee.avcodec_open2!(context, codec, nil)
            return unsafe (code, code < 0 ? LibAV.ownMessage(code, av) : "")
        }
        switch settings.library {
        case .x264:
            let (code, words) = open()
            return .done(code, words)
        case .x265: break
        }
        guard ThreadTrial.canStart(ThreadTrial.libx265Count) else { return .lacksThreads(isStuck: false) }
        // Check memory after the threads: the stacks of the tried threads are still allocated, and the library can use
        // them.
        if let memory, let error = memory.lack(of: memory.forOnePicture) { return .lacksMemory(error) }
        do {
            guard let (code, words) = try DedicatedThread.run("vaenc-open", atMostNanoseconds: 30_000_000_000, open) else {
                return .lacksThreads(isStuck: true)
            }
            return .done(code, words)
        } catch {
            return .lacksThreads(isStuck: false)
        }
    }

    deinit {
        unsafe av.pointee.avcodec_free_context!(&context)
        unsafe av.pointee.av_frame_free!(&frame)
        unsafe av.pointee.av_packet_free!(&packet)
    }

    private static func fill(_ context: UnsafeMutablePointer<AVCodecContext>, _ settings: EncoderSettings) {
        let c = settings.configuration
        let rate = c.frameRate.reduced
        let (n, d) = (Int32(clamping: rate.numerator), Int32(clamping: rate.denominator))
        unsafe context.pointee.width = Int32(settings.codedSize.width)
        unsafe context.pointee.height = Int32(settings.codedSize.height)
        unsafe context.pointee.pix_fmt = settings.bufferFormat.avFormat
        // Pictures are numbered. The user's times are assigned to the packets later.
        unsafe context.pointee.time_base = AVRational(num: d, den: n)
        unsafe context.pointee.framerate = AVRational(num: n, den: d)
        unsafe context.pointee.thread_count = 0
        // The parameter sets are delivered separately, before the first picture.
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        unsafe context.pointee.color_primaries = AVColorPrimaries(rawValue: UInt32(settings.color.primaries))
        unsafe context.pointee.color_trc = AVColorTransferCharacteristic(rawValue: UInt32(settings.color.transfer))
        unsafe context.pointee.colorspace = AVColorSpace(rawValue: UInt32(settings.color.matrix))
        unsafe context.pointee.color_range =
            c.display.color.fullRange.map { $0 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG } ?? AVCOL_RANGE_UNSPECIFIED
        unsafe set(settings.libraryLimits(settings.limits), on: context)
        if settings.limits.initialPercent > 0 {
            unsafe context.pointee.rc_initial_buffer_occupancy =
                Int32(clamping: settings.limits.bufferSize * 10 * settings.limits.initialPercent)
        }
        if let aspect = c.display.sampleAspectRatio?.reduced {
            unsafe context.pointee.sample_aspect_ratio = AVRational(
                num: Int32(clamping: aspect.numerator), den: Int32(clamping: aspect.denominator))
        }
    }

    private static func set(_ limits: RateLimits, on context: UnsafeMutablePointer<AVCodecContext>) {
        unsafe context.pointee.bit_rate = Int64(limits.bitrate) * 1000
        unsafe context.pointee.rc_max_rate = Int64(limits.maxRate) * 1000
        unsafe context.pointee.rc_buffer_size = Int32(clamping: limits.bufferSize * 1000)
    }

    /// Changes the rates from the next picture on: libx264 compares the context's fields with its own before each
    /// picture.
    func change(_ limits: RateLimits) { unsafe Self.set(limits, on: context!) }

    /// Passes a picture to the encoder, which may keep using its memory. `buffer` is released when the encoder releases
    /// the memory.
    func send(
        _ buffer: SoftwarePixelBuffer, index: Int64, forceKey: Bool, regions: [RegionOfInterest] = [],
        captions: [UInt8] = [], userData: [[UInt8]] = []
    ) throws {
        if let own = self.memory { try own.check(own.needed(forPicture: sent)) }
        let memory = buffer.memory
        let frame = unsafe self.frame!
        // SAFETY: the AVBuffer owns a reference to `buffer`, and the planes point into its memory.
        let owner = unsafe Unmanaged.passRetained(buffer)
        unsafe frame.pointee.buf.0 = av.pointee.av_buffer_create!(
            memory.base.assumingMemoryBound(to: UInt8.self), memory.byteCount,
            { opaque, _ in unsafe Unmanaged<SoftwarePixelBuffer>.fromOpaque(opaque!).release() }, owner.toOpaque(), 0)
        if unsafe frame.pointee.buf.0 == nil {
            unsafe owner.release()
            throw VaencError.noMemory("for a picture")
        }
        let planes = unsafe memory.planes
        let view = unsafe PictureView(planes)
        unsafe frame.pointee.data.0 = view.data[0]
        unsafe frame.pointee.data.1 = view.data[1]
        unsafe frame.pointee.data.2 = view.data[2]
        unsafe frame.pointee.linesize.0 = view.strides[0]
        unsafe frame.pointee.linesize.1 = view.strides[1]
        unsafe frame.pointee.linesize.2 = view.strides[2]
        let size = memory.size.aligned(to: 2)
        unsafe frame.pointee.width = Int32(size.width)
        unsafe frame.pointee.height = Int32(size.height)
        unsafe frame.pointee.format = view.format.rawValue
        unsafe frame.pointee.pts = index
        unsafe frame.pointee.pict_type = forceKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        defer { unsafe av.pointee.av_frame_unref!(frame) }
        if writesCaptions, !captions.isEmpty { unsafe try attach(captions, AV_FRAME_DATA_A53_CC, to: frame) }
        if writesUserData { for data in userData { unsafe try attach(data, AV_FRAME_DATA_SEI_UNREGISTERED, to: frame) } }
        let isEmpty = regions.isEmpty && alwaysHasRegions
        unsafe try attach(isEmpty ? [RegionOfInterest(x: 0, y: 0, width: 16, height: 16, qpDelta: 0)] : regions, to: frame)
        let code = unsafe av.pointee.avcodec_send_frame!(context, frame)
        if code < 0 { throw failure(code) }
        sent += 1
    }

    /// Returns the messages that the library does not write for a picture.
    func unwritten(captions: [UInt8], userData: [[UInt8]], dynamicHDR: [UInt8]) -> PictureMessages {
        PictureMessages(
            captions: writesCaptions ? [] : captions, userData: writesUserData ? [] : userData, dynamicHDR: dynamicHDR)
    }

    // SAFETY: the frame owns the side data. Writes stay within the requested size.
    private func attach(_ bytes: [UInt8], _ type: AVFrameSideDataType, to frame: UnsafeMutablePointer<AVFrame>) throws {
        guard let data = unsafe av.pointee.av_frame_new_side_data!(frame, type, bytes.count) else {
            throw VaencError.noMemory("for a picture")
        }
        unsafe UnsafeMutableRawBufferPointer(start: data.pointee.data, count: bytes.count).copyBytes(from: bytes)
    }

    // SAFETY: the frame owns the side data. Writes stay within the requested size.
    private func attach(_ regions: [RegionOfInterest], to frame: UnsafeMutablePointer<AVFrame>) throws {
        if regions.isEmpty { return }
        let stride = MemoryLayout<AVRegionOfInterest>.stride
        guard
            let data = unsafe av.pointee.av_frame_new_side_data!(
                frame, AV_FRAME_DATA_REGIONS_OF_INTEREST, regions.count * stride)
        else { throw VaencError.noMemory("for a picture") }
        let start = unsafe UnsafeMutableRawPointer(data.pointee.data!)
        for (index, region) in regions.enumerated() {
            let entry = AVRegionOfInterest(
                self_size: UInt32(stride), top: Int32(clamping: region.y), bottom: Int32(clamping: region.y + region.height),
                left: Int32(clamping: region.x), right: Int32(clamping: region.x + region.width),
                qoffset: AVRational(num: Int32(region.qpDelta), den: 51))
            unsafe start.storeBytes(of: entry, toByteOffset: index * stride, as: AVRegionOfInterest.self)
        }
    }

    /// Signals the end of the pictures. `receive` then returns the packets that the encoder has held back.
    func sendEnd() throws {
        if let memory { try memory.check(memory.needed(afterPictures: sent)) }
        let code = unsafe av.pointee.avcodec_send_frame!(context, nil)
        if code < 0, code != vaenc_averror_eof() { throw failure(code) }
    }

    struct Output {
        var bytes: [UInt8]
        var presentationIndex: Int64
        /// Whether decoding can start at the packet. Parameter sets are inserted before it.
        var isKey: Bool
        var type: PictureType
        var kind: PacketKind
        var qp: Int?
    }

    /// Returns the next packet in decoding order; nil if the encoder needs more pictures or has ended.
    func receive() throws -> Output? {
        let packet = unsafe self.packet!
        let code = unsafe av.pointee.avcodec_receive_packet!(context, packet)
        if code == vaenc_averror_again() || code == vaenc_averror_eof() { return nil }
        if code < 0 { throw failure(code) }
        defer { unsafe av.pointee.av_packet_unref!(packet) }
        let isKey = unsafe packet.pointee.flags & AV_PKT_FLAG_KEY != 0
        let data = unsafe Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
        var output = unsafe Output(
            bytes: StreamHeaders.annexB(packet: data, codec), presentationIndex: packet.pointee.pts, isKey: isKey,
            type: .p, kind: PacketKind([], codec: codec), qp: nil)
        output.kind = PacketKind(output.bytes, codec: codec)
        if isKey { output.type = output.kind.isIDR ? .idr : .i }
        var size = 0
        // AV_PKT_DATA_QUALITY_STATS: 32 bits of λ (118 per QP step), then the picture type.
        if let data = unsafe av.pointee.av_packet_get_side_data!(packet, AV_PKT_DATA_QUALITY_STATS, &size), size >= 5 {
            let bytes = unsafe UnsafeBufferPointer(start: data, count: size)
            switch codec {
            // libavcodec reports the QP of another picture for libx264.
            case .h264: break
            case .hevc:
                let lambda = Int32(truncatingIfNeeded: (0..<4).reduce(0) { unsafe $0 | Int(bytes[$1]) << (8 * $1) })
                output.qp = lambda < 0 ? nil : Int(lambda / 118)
            }
            if !output.kind.isIDR {
                let type = unsafe UInt32(bytes[4])
                output.type = type == AV_PICTURE_TYPE_B.rawValue ? .b : type == AV_PICTURE_TYPE_I.rawValue ? .i : .p
            }
        }
        return output
    }

    private func failure(_ code: Int32) -> VaencError {
        // The log may contain a line of a decoder on another thread.
        let words = unsafe LibAV.ownMessage(code, av)
        if LibAV.isNoMemory(code) || Self.isNoMemory(words) { return .noMemory("for \(codec.softwareLibrary.rawValue)") }
        return VaencError(.deviceFailed, "the software encoder failed (\(words))")
    }

    /// Returns whether a message means that memory ran out. The libraries report this only on stderr, and all other
    /// errors to libavcodec: an error without a message of the library means that memory ran out.
    static func isNoMemory(_ words: String) -> Bool {
        words.contains("malloc of size") || words == "Generic error in an external library"
    }
}
