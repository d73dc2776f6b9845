internal import CLibAV
internal import DecodeDamageDetection
internal import Glibc

/// Finds the picture of the current packet. A decoder requests memory for each picture before it decodes the picture.
///
/// SAFETY: this object owns `newest` and `previous`, which have their own references to the samples. `decoderFrame` is
/// read only until the decoder gets a packet with another picture. The decoder keeps the frame until then.
@safe final class PictureTracker {
    private let av: UnsafePointer<VaencLibAV>
    /// A reference to the frame of the last picture.
    private var newest: UnsafeMutablePointer<AVFrame>?
    /// A reference to the frame of the picture before it.
    private var previous: UnsafeMutablePointer<AVFrame>?
    /// The decoder's own frame of that picture.
    private var decoderFrame: UnsafeMutablePointer<AVFrame>?
    /// Whether `newest` is the picture of the current packet.
    private var hasPicture = false
    /// Whether there was not enough memory for a picture of the current packet.
    private(set) var lacksMemory = false
    /// Whether unwritten samples are detected by a pattern, and the first request of a packet is for its picture.
    ///
    /// The HEVC decoder needs both. It reports no error for samples that it has not written. It also requests memory
    /// for substitutes of lost references, after the request for the packet's own picture.
    private let marksPictures: Bool

    init?(_ av: UnsafePointer<VaencLibAV>, marksPictures: Bool) {
        unsafe self.av = unsafe av
        self.marksPictures = marksPictures
        guard let frame = unsafe av.pointee.av_frame_alloc?() else { return nil }
        unsafe newest = frame
        if marksPictures { unsafe previous = av.pointee.av_frame_alloc?() }
    }

    deinit {
        unsafe av.pointee.av_frame_free?(&newest)
        unsafe av.pointee.av_frame_free?(&previous)
    }

    /// Prepares for the next packet. Call before the decoder gets the packet.
    ///
    /// - Parameter continues: Whether the packet is decoded into the picture of the last packet. The decoder then
    ///   requests no memory.
    func begin(continues: Bool) {
        if !continues { hasPicture = false }
        lacksMemory = false
    }

    /// Allocates the memory of a picture. libavcodec calls it as get_buffer2.
    func getBuffer(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ frame: UnsafeMutablePointer<AVFrame>, _ flags: Int32
    ) -> Int32 {
        let code = unsafe av.pointee.avcodec_default_get_buffer2?(context, frame, flags) ?? -1
        if vaenc_errno_of(code) == ENOMEM { lacksMemory = true }
        guard code >= 0, !(marksPictures && hasPicture) else { return code }
        if marksPictures { unsafe UnwrittenSampleDetector.put(in: frame, isDeep: Self.isDeep(frame)) }
        if let previous = unsafe previous {
            unsafe av.pointee.av_frame_unref?(previous)
            if let newest = unsafe newest, unsafe newest.pointee.buf.0 != nil { _ = unsafe av.pointee.av_frame_ref?(previous, newest) }
        }
        unsafe av.pointee.av_frame_unref?(newest)
        let status = unsafe av.pointee.av_frame_ref?(newest, frame) ?? -1
        hasPicture = status >= 0
        unsafe decoderFrame = frame
        return status
    }

    /// The picture of the current packet, or nil if the decoder has not begun one.
    var current: UnsafeMutablePointer<AVFrame>? { unsafe hasPicture ? newest : nil }

    /// Whether the decoder's output `frame` is the picture of the current packet.
    func isCurrent(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        unsafe current.map { unsafe $0.pointee.data.0 == frame.pointee.data.0 } ?? false
    }

    private static func isDeep(_ frame: UnsafePointer<AVFrame>) -> Bool {
        unsafe AVPixelFormat(frame.pointee.format) == AV_PIX_FMT_YUV420P10LE
    }

    /// Returns whether parts of the current packet's picture were not written, and replaces them by those of the picture
    /// decoded before it.
    func detectUnwritten() -> Bool {
        guard marksPictures, let newest = unsafe current else { return false }
        let isDeep = unsafe Self.isDeep(newest)
        let found = unsafe UnwrittenSampleDetector.findings(in: newest, isDeep: isDeep, mayBeFields: false)
        if !found.blocks.isEmpty { unsafe found.conceal(in: newest, from: previous, bitDepth: isDeep ? 10 : 8, chromaShifts: (1, 1)) }
        return found.isDamaged
    }

    /// Forgets the picture before, for another stream.
    func flush() {
        if let previous = unsafe previous { unsafe av.pointee.av_frame_unref?(previous) }
        if let newest = unsafe newest { unsafe av.pointee.av_frame_unref?(newest) }
        hasPicture = false
    }

    /// Whether the decoder has set error flags on its own frame. A picture that is output later has no other report.
    var hasErrors: Bool {
        guard hasPicture, !marksPictures || vaenc_keeps_hevc_frames(), let decoderFrame = unsafe decoderFrame else { return false }
        return unsafe decoderFrame.pointee.decode_error_flags != 0
    }
}
