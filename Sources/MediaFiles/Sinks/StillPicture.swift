import CLibAV
import LibAV
public import VideoBase

/// Encodes one picture with libavcodec into its own JPEG or PNG file.
public final class StillPicture {
    /// A file format of still pictures.
    public enum Format: String, Sendable, Hashable {
        /// JPEG (ITU-T T.81).
        case jpeg
        /// PNG (ISO/IEC 15948).
        case png

        /// Returns the format for a name's extension; nil for other extensions.
        public init?(name: String) {
            switch name.split(separator: "/").last?.split(separator: ".").last?.lowercased() {
            case "jpg", "jpeg": self = .jpeg
            case "png": self = .png
            default: return nil
            }
        }

        fileprivate var layout: PixelFormat { self == .jpeg ? .i420 : .rgb24 }
        fileprivate var codec: String { self == .jpeg ? "mjpeg" : "png" }
    }

    private let format: Format
    private let file: OutputFile

    /// Opens the file as `NAME.part`.
    ///
    /// - Throws: `cannotCreate`, `noPermission`.
    public init(_ path: String, format: Format, overwrite: Bool) throws {
        self.format = format
        file = try OutputFile(path: path, overwrite: overwrite)
    }

    /// Encodes the picture, which `color` describes, writes it and renames the file to its final name. Blocks.
    ///
    /// - Returns: The number of bytes.
    /// - Throws: `unavailable` if libavcodec is missing, `inputOutput`. No file is written then.
    public func write(_ picture: some PixelBuffer, color: ColorDescription) throws -> Int {
        do {
            let bytes = try Self.bytes(of: picture, format: format, color: color)
            try file.write(bytes.span)
            try file.commit()
            return bytes.count
        } catch {
            file.cancel()
            throw error
        }
    }

    /// Encodes a picture, which `color` describes, and returns the bytes of its file.
    ///
    /// - Throws: `unavailable` if libavcodec is missing or memory is exhausted.
    package static func bytes(of picture: some PixelBuffer, format: Format, color: ColorDescription) throws -> [UInt8] {
        // SAFETY: everything that is created here is freed here. The planes outlive the calls that read them.
        let av = unsafe try LibAV.load([.codec, .scale])
        guard let codec = unsafe av.pointee.avcodec_find_encoder_by_name!(format.codec) else {
            throw VaencError(
                .unavailable, "libavcodec has no \(format.codec) encoder", remedy: "install the distribution's own libavcodec")
        }
        var context = unsafe av.pointee.avcodec_alloc_context3!(codec)
        var frame = unsafe av.pointee.av_frame_alloc!()
        var packet = unsafe av.pointee.av_packet_alloc!()
        defer {
            unsafe av.pointee.avcodec_free_context!(&context)
            unsafe av.pointee.av_frame_free!(&frame)
            unsafe av.pointee.av_packet_free!(&packet)
        }
        guard let context = unsafe context, let frame = unsafe frame, let packet = unsafe packet else {
            throw VaencError.noMemory("to code a picture")
        }
        // JPEG uses BT.601 and full range (JFIF). PNG uses RGB.
        let converted = try SystemPixelBuffer(format: format.layout, size: picture.size)
        let target = ColorDescription(primaries: 1, transfer: 13, matrix: 6, fullRange: true)
        let converter = PixelConverter(color: color, target: format == .jpeg ? target : nil)
        try unsafe converted.withUnsafePlanes { planes in
            try unsafe picture.withUnsafePlanes {
                try unsafe $0.check(of: picture)
                try unsafe converter.convert($0, to: planes)
            }
            let view = unsafe PictureView(planes)
            let layout = unsafe format == .jpeg ? AV_PIX_FMT_YUVJ420P : view.format
            unsafe context.pointee.width = Int32(picture.size.width)
            unsafe context.pointee.height = Int32(picture.size.height)
            unsafe context.pointee.pix_fmt = layout
            unsafe context.pointee.color_range = AVCOL_RANGE_JPEG
            unsafe context.pointee.time_base = AVRational(num: 1, den: 25)
            // Nearly the best JPEG quality: 2 of 2…31.
            unsafe context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            unsafe context.pointee.global_quality = 2 * FF_QP2LAMBDA
            var code = unsafe av.pointee.avcodec_open2!(context, codec, nil)
            if code >= 0 {
                unsafe frame.pointee.format = layout.rawValue
                unsafe frame.pointee.width = context.pointee.width
                unsafe frame.pointee.height = context.pointee.height
                unsafe frame.pointee.quality = context.pointee.global_quality
                unsafe (frame.pointee.data.0, frame.pointee.data.1, frame.pointee.data.2) = unsafe (view.data[0], view.data[1], view.data[2])
                unsafe (frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2) = unsafe (
                    view.strides[0], view.strides[1], view.strides[2]
                )
                code = unsafe av.pointee.avcodec_send_frame!(context, frame)
            }
            if code >= 0 { code = unsafe av.pointee.avcodec_send_frame!(context, nil) }
            if code >= 0 { code = unsafe av.pointee.avcodec_receive_packet!(context, packet) }
            if code < 0 {
                throw VaencError(.internalFault, "the picture cannot be coded (\(unsafe LibAV.message(code, av)))")
            }
        }
        return unsafe [UInt8](UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
    }
}
