internal import CLibAV

/// The samples of a decoded picture, planar 4:2:0.
///
/// SAFETY: the planes belong to the decoder that returned the picture. The decoder keeps them until its next call.
@safe package struct DecodedPicture {
    /// The coded width in luma samples, before cropping.
    package let width: Int
    /// The coded height in luma samples, before cropping.
    package let height: Int
    /// The number of bits per sample. A sample of 8 bits has one byte. A deeper sample has two bytes, with the value in
    /// the low bits.
    package let bitDepth: Int
    /// The start of the planes Y, Cb and Cr.
    package let planes: [UnsafeMutablePointer<UInt8>]
    /// The distance between rows in bytes, for each plane.
    package let strides: [Int]

    /// Describes a decoded frame. Returns nil if the pixel format is not planar 4:2:0 with 8 or 10 bits.
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
