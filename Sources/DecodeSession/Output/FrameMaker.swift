import CLibAV
import LibAV
import VideoBase

/// Converts decoded pictures to the requested format and size. One thread at a time.
@safe final class FrameMaker {
    private let format: PixelFormat?
    private let size: VideoSize?
    private var scaler: Scaler?
    // SAFETY: the table is static.
    private let av: UnsafePointer<VaencLibAV>

    init(_ configuration: DecompressionConfiguration) throws {
        format = configuration.pixelFormat
        size = configuration.size
        unsafe av = try LibAV.load(.codec)
    }

    /// Returns the decoder's picture as a buffer: its own surface if it has the requested format and size, else a
    /// converted copy in memory.
    func buffer(_ decoder: ResilientDecoder) throws -> any PixelBuffer {
        let picture = try decoder.picture()
        let outputSize = size ?? picture.size
        if let surface = picture.surface, outputSize == picture.size, format ?? surface.format == surface.format,
            let buffer = try decoder.device?.buffer(of: picture)
        {
            return buffer
        }
        let source = picture.surface == nil ? picture : try decoder.pictureInMemory()
        let view = unsafe PictureView(frame: source.frame)
        let depth = unsafe av.pointee.av_pix_fmt_desc_get!(view.format).map { unsafe Int($0.pointee.comp.0.depth) } ?? 8
        let buffer = try SystemPixelBuffer(format: format ?? (depth > 8 ? .p010 : .nv12), size: outputSize)
        let scaler = try self.scaler ?? Scaler()
        self.scaler = scaler
        let declared = unsafe Self.color(source.frame)
        let color = unsafe view.format.isRGB(av) ? declared.ofRGBAsYUV(rows: picture.size.height) : declared
        // SAFETY: the picture is retained until the copy is complete.
        unsafe try buffer.withUnsafePlanes { unsafe try scaler.scale(view, to: PictureView($0), color: color) }
        withExtendedLifetime(source) {}
        return buffer
    }

    /// Returns the color description that the stream declares.
    static func color(_ frame: UnsafePointer<AVFrame>) -> ColorDescription {
        func code(_ value: UInt32) -> UInt8 { UInt8(exactly: value) ?? 2 }
        let format = unsafe AVPixelFormat(rawValue: frame.pointee.format)
        let isFull = [AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P].contains(format)
        let range = unsafe frame.pointee.color_range
        return unsafe ColorDescription(
            primaries: code(frame.pointee.color_primaries.rawValue), transfer: code(frame.pointee.color_trc.rawValue),
            matrix: code(frame.pointee.colorspace.rawValue),
            fullRange: isFull || range == AVCOL_RANGE_JPEG ? true : range == AVCOL_RANGE_MPEG ? false : nil)
    }
}
