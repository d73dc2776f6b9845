import CLibAV
import LibAV
import VideoBase

/// A container with one video stream, through libavformat. One thread at a time.
@safe final class Muxer {
    /// What the container says of the stream.
    struct Stream {
        var codec: VideoCodec
        var size: VideoSize
        var frameRate: Rational
        /// Bits of a sample.
        var bitDepth: Int
        /// avcC or hvcC; empty where the stream carries the parameter sets.
        var extradata: [UInt8]
        /// HEVC samples hold parameter sets too: `hev1`.
        var keepsParameterSets: Bool
        var color: ColorDescription
        var masteringDisplay: MasteringDisplay?
        var contentLight: ContentLight?
        var sampleAspectRatio: Rational?
    }

    let io: WriteContext
    // SAFETY: made in init, freed in deinit, used by this object's methods alone; `io` outlives `context`.
    private let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private let stream: UnsafeMutablePointer<AVStream>

    /// - Parameter format: libavformat's name.
    init(format: String, _ file: OutputFile, _ wanted: Stream) throws {
        let av = unsafe try LibAV.load([.codec, .format])
        unsafe self.av = unsafe av
        guard let io = unsafe WriteContext(file, av) else { throw Self.noMemory }
        self.io = io
        var context: UnsafeMutablePointer<AVFormatContext>?
        _ = LibAV.takeLog()
        let code = unsafe av.pointee.avformat_alloc_output_context2!(&context, nil, format, nil)
        guard code >= 0, let context = unsafe context else {
            throw VaencError(
                .unavailable, "this FFmpeg cannot write \(format) (\(unsafe LibAV.message(code, av)))",
                remedy: "choose another --format")
        }
        guard let stream = unsafe av.pointee.avformat_new_stream!(context, nil) else {
            unsafe av.pointee.avformat_free_context!(context)
            throw Self.noMemory
        }
        unsafe self.context = context
        unsafe self.stream = unsafe stream
        unsafe packet = av.pointee.av_packet_alloc!()
        unsafe context.pointee.pb = io.context
        unsafe context.pointee.flags |= vaenc_flag_custom_io()
        let flushPackets: Int32 = 0x0200
        if !file.isSeekable { unsafe context.pointee.flags |= flushPackets }
        guard unsafe packet != nil, describe(wanted, isQuickTime: format == "mp4" || format == "mov") else {
            throw Self.noMemory
        }
    }

    deinit {
        unsafe av.pointee.av_packet_free!(&packet)
        unsafe av.pointee.avformat_free_context!(context)
    }

    private static let noMemory = VaencError(.internalFault, "no memory to write a container")

    private func describe(_ wanted: Stream, isQuickTime: Bool) -> Bool {
        let parameters = unsafe stream.pointee.codecpar!
        func ratio(_ value: Rational) -> AVRational {
            AVRational(num: Int32(clamping: value.reduced.numerator), den: Int32(clamping: value.reduced.denominator))
        }
        unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe parameters.pointee.codec_id = wanted.codec == .h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC
        if wanted.codec == .hevc, isQuickTime {
            // hev1 or hvc1, the first character in the low byte.
            unsafe parameters.pointee.codec_tag = wanted.keepsParameterSets ? 0x3176_6568 : 0x3163_7668
        }
        unsafe parameters.pointee.width = Int32(wanted.size.width)
        unsafe parameters.pointee.height = Int32(wanted.size.height)
        let format = wanted.bitDepth > 8 ? AV_PIX_FMT_YUV420P10LE : AV_PIX_FMT_YUV420P
        unsafe parameters.pointee.format = format.rawValue
        unsafe parameters.pointee.color_primaries = AVColorPrimaries(rawValue: UInt32(wanted.color.primaries))
        unsafe parameters.pointee.color_trc = AVColorTransferCharacteristic(rawValue: UInt32(wanted.color.transfer))
        unsafe parameters.pointee.color_space = AVColorSpace(rawValue: UInt32(wanted.color.matrix))
        unsafe parameters.pointee.color_range =
            wanted.color.fullRange.map { $0 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG } ?? AVCOL_RANGE_UNSPECIFIED
        if let aspect = wanted.sampleAspectRatio {
            unsafe parameters.pointee.sample_aspect_ratio = ratio(aspect)
            unsafe stream.pointee.sample_aspect_ratio = ratio(aspect)
        }
        unsafe stream.pointee.avg_frame_rate = ratio(wanted.frameRate)
        if let display = wanted.masteringDisplay {
            guard unsafe vaenc_set_mastering_display(av, stream, VaencMasteringDisplay(display)) else { return false }
        }
        if let light = wanted.contentLight {
            let (content, average) = (light.maxContentLight, light.maxFrameAverageLight)
            guard unsafe vaenc_set_content_light(av, stream, UInt32(content), UInt32(average)) else { return false }
        }
        if wanted.extradata.isEmpty { return true }
        let room = wanted.extradata.count + Int(vaenc_input_padding())
        guard let memory = unsafe av.pointee.av_mallocz!(room) else { return false }
        // SAFETY: `room` bytes, which the parameters own from here.
        unsafe UnsafeMutableRawBufferPointer(start: memory, count: room).copyBytes(from: wanted.extradata)
        unsafe parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        unsafe parameters.pointee.extradata_size = Int32(wanted.extradata.count)
        return true
    }

    /// Writes the header. `timescale` is asked for; the container may choose its own.
    func writeHeader(timescale: Int32, options: [(name: String, value: String)]) throws {
        unsafe stream.pointee.time_base = AVRational(num: 1, den: timescale)
        var dictionary: OpaquePointer?
        for option in options { _ = unsafe av.pointee.av_dict_set!(&dictionary, option.name, option.value, 0) }
        defer { unsafe av.pointee.av_dict_free!(&dictionary) }
        try check(unsafe av.pointee.avformat_write_header!(context, &dictionary))
    }

    /// A time in the container's ticks.
    private func ticks(_ time: MediaTime) -> Int64 {
        let base = unsafe stream.pointee.time_base
        return time.converted(to: base.den).value / Int64(base.num)
    }

    func write(_ bytes: [UInt8], presentation: MediaTime, decode: MediaTime, duration: MediaTime, isKey: Bool) throws {
        let packet = unsafe self.packet!
        // SAFETY: the packet borrows the array during the call; muxers copy what they keep.
        let code = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe packet.pointee.data = UnsafeMutablePointer(mutating: buffer.baseAddress)
            unsafe packet.pointee.size = Int32(buffer.count)
            unsafe packet.pointee.stream_index = 0
            unsafe packet.pointee.pts = ticks(presentation)
            unsafe packet.pointee.dts = min(ticks(decode), packet.pointee.pts)
            unsafe packet.pointee.duration = ticks(duration)
            unsafe packet.pointee.flags = isKey ? 1 : 0
            let code = unsafe av.pointee.av_write_frame!(context, packet)
            unsafe av.pointee.av_packet_unref!(packet)
            return code
        }
        try check(code)
    }

    func writeTrailer() throws {
        try check(unsafe av.pointee.av_write_trailer!(context))
        unsafe av.pointee.avio_flush!(io.context)
        try check(0)
    }

    private func check(_ code: Int32) throws {
        if let error = io.error { throw error }
        if code < 0 {
            throw VaencError(
                .inputOutput, "writing \(io.file.name) failed (\(unsafe LibAV.message(code, av)))",
                remedy: "choose another --format or place")
        }
    }
}
