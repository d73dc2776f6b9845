import CLibAV
import Glibc
import LibAV
import VideoBase

/// libavcodec's decoder with its packet and frame. One thread at a time.
@safe final class VideoDecoder {
    // SAFETY: made in init, freed in deinit, used by this object's methods alone.
    let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private(set) var packet: UnsafeMutablePointer<AVPacket>?
    private(set) var frame: UnsafeMutablePointer<AVFrame>?

    /// - Parameters:
    ///   - parameters: what a container says of the stream; nil for a stream that describes itself.
    ///   - strict: every fault is an error, where players would conceal it.
    ///   - fill: all bytes of a picture's memory before it is decoded; damaged pictures are given too.
    init(
        _ codec: UnsafePointer<AVCodec>, parameters: UnsafePointer<AVCodecParameters>?, timeBase: Rational?,
        strict: Bool, fill: UInt8? = nil, _ av: UnsafePointer<VaencLibAV>
    ) throws {
        unsafe self.av = unsafe av
        unsafe context = av.pointee.avcodec_alloc_context3!(codec)
        unsafe packet = av.pointee.av_packet_alloc!()
        unsafe frame = av.pointee.av_frame_alloc!()
        guard let opened = unsafe context, unsafe packet != nil, unsafe frame != nil else {
            throw VaencError(.internalFault, "no memory for a decoder")
        }
        if let parameters = unsafe parameters {
            _ = unsafe av.pointee.avcodec_parameters_to_context!(opened, parameters)
        }
        if let timeBase {
            unsafe opened.pointee.pkt_timebase = AVRational(
                num: Int32(clamping: timeBase.numerator), den: Int32(clamping: timeBase.denominator))
        }
        // Decoding shares the machine with encoding: more threads than this cost memory and gain nothing.
        unsafe opened.pointee.thread_count = Int32(min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 8))
        // Checksums, the bit stream's rules, buffer sizes; and errors for all of them.
        if strict { unsafe opened.pointee.err_recognition = 1 | 2 | 4 | 8 }
        if let fill {
            unsafe vaenc_fill_pictures(opened, fill)
            let outputCorrupt: Int32 = 1 << 3
            unsafe opened.pointee.flags |= outputCorrupt
        }
        let code = unsafe av.pointee.avcodec_open2!(opened, codec, nil)
        if code < 0 {
            throw VaencError(
                .badInput,
                "libavcodec cannot decode this \(unsafe String(cString: codec.pointee.name)) stream (\(unsafe LibAV.message(code, av)))"
            )
        }
    }

    deinit {
        unsafe av.pointee.avcodec_free_context!(&context)
        unsafe av.pointee.av_packet_free!(&packet)
        unsafe av.pointee.av_frame_free!(&frame)
    }

    /// Sends `packet` (and empties it), or the end of the stream. False where the decoder refuses it as broken.
    func send(end: Bool = false) -> Bool {
        let code = unsafe av.pointee.avcodec_send_packet!(context, end ? nil : packet)
        if !end { unsafe av.pointee.av_packet_unref!(packet) }
        return code >= 0 || code == vaenc_averror_eof()
    }

    /// Sends bytes as a packet. False where the decoder refuses them as broken.
    /// - Parameter time: comes back as the picture's `frameTime`.
    func send(_ bytes: [UInt8], time: Int64) throws -> Bool {
        // SAFETY: av_new_packet makes room for the bytes and the padding that decoders read past them.
        guard let packet = unsafe packet, unsafe av.pointee.av_new_packet!(packet, Int32(bytes.count)) >= 0 else {
            throw VaencError(.internalFault, "no memory to decode a packet")
        }
        unsafe bytes.withUnsafeBytes {
            unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: $0.count).copyMemory(from: $0)
        }
        unsafe packet.pointee.pts = time
        return send()
    }

    enum Receiving {
        case frame
        case needsInput
        case end
        case broken
    }

    /// Fills `frame` with the next picture.
    func receive() -> Receiving {
        let code = unsafe av.pointee.avcodec_receive_frame!(context, frame)
        if code >= 0 { return .frame }
        if code == vaenc_averror_again() { return .needsInput }
        return code == vaenc_averror_eof() ? .end : .broken
    }

    /// Parts of the picture in `frame` were missing or broken, and concealed.
    var frameIsDamaged: Bool {
        let corrupt: Int32 = 1
        return unsafe frame.map { unsafe $0.pointee.decode_error_flags != 0 || $0.pointee.flags & corrupt != 0 }
            ?? false
    }

    /// The `pts` of the packet that the picture in `frame` came in.
    var frameTime: Int64 { unsafe frame.map { unsafe $0.pointee.pts } ?? vaenc_no_pts() }

    /// A number for all samples of the picture in `frame`, the same for the same samples in this process.
    var frameHash: Int {
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

    func flush() { unsafe av.pointee.avcodec_flush_buffers!(context) }
}
