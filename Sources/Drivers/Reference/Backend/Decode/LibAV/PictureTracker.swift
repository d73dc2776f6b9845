internal import CLibAV
internal import DecodeDamageDetection
internal import Glibc

/// Where a decoder's newest picture is: it asks for memory before it decodes.
///
/// SAFETY: `newest` is the object's own frame, with references of its own to the samples; `inside` is looked at only
/// between the call that set it and the next one, while the decoder keeps it.
@safe final class PictureTracker {
    private let av: UnsafePointer<VaencLibAV>
    private var newest: UnsafeMutablePointer<AVFrame>?
    /// The decoder's own.
    private var inside: UnsafeMutablePointer<AVFrame>?
    private var isKnown = false
    /// There was no memory for a picture of the packet.
    private(set) var lacksMemory = false
    /// HEVC: memory for pictures that a decoder makes up, in the place of lost ones, is asked for after the packet's own; and
    /// what it leaves out shows by marks alone.
    private let marksPictures: Bool

    init?(_ av: UnsafePointer<VaencLibAV>, marksPictures: Bool) {
        unsafe self.av = unsafe av
        self.marksPictures = marksPictures
        guard let frame = unsafe av.pointee.av_frame_alloc?() else { return nil }
        unsafe newest = frame
    }

    deinit { unsafe av.pointee.av_frame_free?(&newest) }

    /// A packet is about to be decoded, into new memory unless it continues the last one's picture.
    func begin(continues: Bool) {
        if !continues { isKnown = false }
        lacksMemory = false
    }

    /// get_buffer2.
    func take(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ frame: UnsafeMutablePointer<AVFrame>, _ flags: Int32
    ) -> Int32 {
        let code = unsafe av.pointee.avcodec_default_get_buffer2?(context, frame, flags) ?? -1
        if vaenc_errno_of(code) == ENOMEM { lacksMemory = true }
        guard code >= 0, !(marksPictures && isKnown) else { return code }
        if marksPictures { unsafe UnwrittenSampleDetector.put(in: frame, isDeep: Self.isDeep(frame)) }
        unsafe av.pointee.av_frame_unref?(newest)
        let kept = unsafe av.pointee.av_frame_ref?(newest, frame) ?? -1
        isKnown = kept >= 0
        unsafe inside = frame
        return kept
    }

    /// The packet's picture; nil where the decoder began none.
    var current: UnsafeMutablePointer<AVFrame>? { unsafe isKnown ? newest : nil }

    /// Whether the packet's picture is what the decoder outputs as `frame`.
    func isCurrent(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        unsafe current.map { unsafe $0.pointee.data.0 == frame.pointee.data.0 } ?? false
    }

    private static func isDeep(_ frame: UnsafePointer<AVFrame>) -> Bool {
        unsafe AVPixelFormat(frame.pointee.format) == AV_PIX_FMT_YUV420P10LE
    }

    /// Parts of the packet's picture were left out.
    var hasUnwritten: Bool {
        guard marksPictures, let newest = unsafe current else { return false }
        return unsafe UnwrittenSampleDetector.remain(in: newest, isDeep: Self.isDeep(newest), mayBeFields: false)
    }

    /// What the decoder has noted on its own frame.
    var hasErrors: Bool {
        guard isKnown, vaenc_tells_errors_at_once(), let inside = unsafe inside else { return false }
        return unsafe inside.pointee.decode_error_flags != 0
    }
}
