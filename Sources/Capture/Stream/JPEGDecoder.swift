import CLibAV
import LibAV
import VideoBase

/// Decodes a camera's JPEG pictures with libavcodec. One thread at a time.
@safe final class JPEGDecoder {
    // SAFETY: created in init, freed in deinit, and used only by this object's methods.
    private let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var scaler: Scaler?
    /// Whether the camera ends its pictures with an EOI marker (ISO/IEC 10918-1 B.2.1). Some cameras do not.
    private var endsPictures = false

    init() throws(VaencError) {
        unsafe av = try LibAV.load(.codec)
        guard let codec = unsafe av.pointee.avcodec_find_decoder!(AV_CODEC_ID_MJPEG) else {
            throw VaencError(
                .unavailable, "libavcodec has no MJPEG decoder", remedy: "use `CaptureRequest.layout` yuyv, or another FFmpeg")
        }
        unsafe context = av.pointee.avcodec_alloc_context3!(codec)
        unsafe packet = av.pointee.av_packet_alloc!()
        guard let opened = unsafe context, unsafe packet != nil else { throw Self.noMemory }
        // Decode one picture at a time without delay, and report all errors in it.
        unsafe opened.pointee.thread_count = 1
        unsafe opened.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE
        let code = unsafe av.pointee.avcodec_open2!(opened, codec, nil)
        if code < 0 {
            throw VaencError(.internalFault, "the JPEG decoder cannot be opened (\(unsafe LibAV.message(code, av)))")
        }
    }

    private static var noMemory: VaencError { VaencError.noMemory("to decode a picture") }

    deinit {
        unsafe av.pointee.avcodec_free_context!(&context)
        unsafe av.pointee.av_packet_free!(&packet)
    }

    /// Decodes a picture; nil if it is damaged: it has no SOI marker, does not decode, or lacks the EOI marker that
    /// earlier pictures had.
    func decode(_ bytes: UnsafeRawBufferPointer) throws -> DecodedPicture? {
        guard let packet = unsafe packet, bytes.count >= 4, unsafe bytes[0] == 0xff, unsafe bytes[1] == 0xd8 else { return nil }
        // For truncated data, decoders fill the rest of the picture with gray or another color.
        let hasEnd = unsafe Self.hasEnd(bytes)
        if endsPictures, !hasEnd { return nil }
        endsPictures = hasEnd
        // SAFETY: av_new_packet allocates the bytes and the padding that decoders read after them.
        guard unsafe av.pointee.av_new_packet!(packet, Int32(clamping: bytes.count)) >= 0 else { throw Self.noMemory }
        unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: bytes.count).copyMemory(from: bytes)
        _ = LibAV.takeLog()
        let sent = unsafe av.pointee.avcodec_send_packet!(context, packet)
        unsafe av.pointee.av_packet_unref!(packet)
        let picture = try DecodedPicture()
        let received = unsafe av.pointee.avcodec_receive_frame!(context, picture.frame)
        // The decoder logs a message if it conceals an error.
        let loggedMessage = LibAV.takeLog()
        guard sent >= 0, received >= 0, loggedMessage == nil, !picture.isDamaged else {
            unsafe av.pointee.avcodec_flush_buffers!(context)
            return nil
        }
        return try inKnownFormat(picture)
    }

    /// Returns whether there is an EOI marker. Coded data cannot contain it, and drivers may leave any bytes after it.
    private static func hasEnd(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = bytes.count - 1
        while offset > 2 {
            if unsafe bytes[offset] == 0xd9, unsafe bytes[offset - 1] == 0xff { return true }
            offset -= 1
        }
        return false
    }

    /// Converts layouts that `PixelFormat` does not have, such as JPEG's 4:4:0, to 4:2:2.
    private func inKnownFormat(_ picture: DecodedPicture) throws -> DecodedPicture {
        if picture.hasKnownFormat { return picture }
        let scaler = try self.scaler ?? Scaler()
        self.scaler = scaler
        let converted = try SystemPixelBuffer(format: .i422, size: picture.size)
        unsafe try converted.withUnsafePlanes { planes in
            unsafe try scaler.scale(
                PictureView(frame: picture.frame!), to: PictureView(planes),
                color: ColorDescription(primaries: 1, transfer: 13, matrix: 6, fullRange: true))
        }
        return DecodedPicture(converted)
    }
}

/// A decoded picture, in memory of libavcodec or of this process.
@safe final class DecodedPicture: @unchecked Sendable {
    // SAFETY: the frame is filled before the object is shared, is only read afterwards, and is freed in deinit.
    private(set) var frame: UnsafeMutablePointer<AVFrame>?
    private let convertedBuffer: SystemPixelBuffer?

    init() throws(VaencError) {
        convertedBuffer = nil
        unsafe frame = try LibAV.load(.codec).pointee.av_frame_alloc!()
        if unsafe frame == nil { throw VaencError.noMemory("to decode a picture") }
    }

    init(_ buffer: SystemPixelBuffer) {
        convertedBuffer = buffer
        unsafe frame = nil
    }

    deinit {
        if unsafe frame != nil, let av = try? unsafe LibAV.load(.codec) { unsafe av.pointee.av_frame_free!(&frame) }
    }

    private var pictureFormat: PixelFormat? {
        unsafe frame.flatMap { unsafe PixelFormat(av: AVPixelFormat(rawValue: $0.pointee.format)) }
    }

    var hasKnownFormat: Bool { convertedBuffer != nil || pictureFormat != nil }
    var format: PixelFormat { convertedBuffer?.format ?? pictureFormat ?? .i420 }
    var size: VideoSize {
        if let convertedBuffer { return convertedBuffer.size }
        guard let frame = unsafe frame else { return VideoSize(width: 0, height: 0) }
        return unsafe VideoSize(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
    }
    /// Whether parts of the picture were missing or damaged, and were concealed.
    var isDamaged: Bool {
        unsafe frame.map { unsafe $0.pointee.decode_error_flags != 0 || $0.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 } ?? false
    }

    func withPlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        if let convertedBuffer { return unsafe try convertedBuffer.withUnsafePlanes(body) }
        guard let frame = unsafe frame, let planes = unsafe PixelPlanes(UnsafePointer(frame)) else {
            throw VaencError(.internalFault, "a decoded JPEG picture has an unknown layout")
        }
        return unsafe try body(planes)
    }
}
