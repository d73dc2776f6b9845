import CLibAV
import LibAV
import VideoBase

/// Receives the pictures of a decoder, and makes interlaced ones progressive.
struct Deinterlacing {
    private let timeBase: Rational
    /// The deinterlacer, created for the first interlaced picture.
    private var deinterlacer: Deinterlacer?
    /// Whether interlaced pictures were read.
    private(set) var isUsed = false
    /// Whether the current picture is the deinterlacer's, not the decoder's.
    private var hasPicture = false

    /// - Parameter timeBase: The unit of the pictures' times.
    init(timeBase: Rational) { self.timeBase = timeBase }

    /// The picture that `receive` returned, valid until the next `receive`. It may be on a device.
    func frame(of decoder: any PictureDecoder) -> UnsafePointer<AVFrame>? {
        unsafe UnsafePointer(hasPicture ? deinterlacer?.frame : decoder.frame)
    }

    /// Whether parts of that picture are missing or broken.
    func isDamaged(of decoder: any PictureDecoder) -> Bool { !hasPicture && decoder.frameIsDamaged }

    /// Makes the decoder's picture the current one.
    mutating func useDecodersPicture() { hasPicture = false }

    /// Receives the next picture.
    mutating func receive(from decoder: any PictureDecoder) throws -> DecoderAnswer {
        while true {
            if pull() { return .frame }
            let received = try decoder.receive()
            if case .end = received, let deinterlacer {
                _ = unsafe deinterlacer.push(nil)
                return pull() ? .frame : .end
            }
            guard case .frame = received, !decoder.frameIsDamaged, let frame = unsafe decoder.frame else { return received }
            if unsafe deinterlacer == nil && !vaenc_is_interlaced(frame) { return .frame }
            let copy = unsafe frame.pointee.format == AV_PIX_FMT_VAAPI.rawValue ? try decoder.pictureInMemory() : nil
            defer { withExtendedLifetime(copy) {} }
            let fields = unsafe copy?.frame ?? UnsafePointer(frame)
            if deinterlacer == nil {
                isUsed = true
                deinterlacer = unsafe try Deinterlacer(like: fields, timeBase: timeBase)
            }
            if unsafe deinterlacer?.push(fields) != true { return .broken }
        }
    }

    private mutating func pull() -> Bool {
        hasPicture = deinterlacer?.pull() ?? false
        return hasPicture
    }

    /// Prepares for another recording. The pictures before it are returned.
    mutating func restart() { deinterlacer = nil }
}
