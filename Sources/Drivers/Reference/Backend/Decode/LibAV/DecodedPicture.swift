internal import CLibAV

/// A decoded picture's samples, planar 4:2:0.
///
/// SAFETY: the planes belong to the decoder that gave the picture, which keeps them until it is called again.
@safe package struct DecodedPicture {
    /// Coded size in luma samples, with what cropping hides.
    package let width: Int
    package let height: Int
    /// 8: a byte each; more: two bytes, the value in the low bits.
    package let bitDepth: Int
    /// Y, Cb, Cr.
    package let planes: [UnsafeMutablePointer<UInt8>]
    /// Bytes from a row to the next, by plane.
    package let strides: [Int]

    init?(_ frame: UnsafeMutablePointer<AVFrame>) {
        let data = unsafe [frame.pointee.data.0, frame.pointee.data.1, frame.pointee.data.2].compactMap { unsafe $0 }
        guard unsafe data.count == 3 else { return nil }
        switch unsafe AVPixelFormat(frame.pointee.format) {
        case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P: bitDepth = 8
        case AV_PIX_FMT_YUV420P10LE: bitDepth = 10
        default: return nil
        }
        width = unsafe Int(frame.pointee.width)
        height = unsafe Int(frame.pointee.height)
        unsafe planes = unsafe data
        strides = unsafe [frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2].map(Int.init)
    }
}
