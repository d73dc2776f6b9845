package import CLibAV
package import VideoBase

extension PixelFormat {
    /// libav's format for the layout. `yv12` maps to I420; `PictureView` exchanges its chroma planes.
    package var avFormat: AVPixelFormat {
        switch self {
        case .nv12: AV_PIX_FMT_NV12
        case .i420, .yv12: AV_PIX_FMT_YUV420P
        case .yuyv: AV_PIX_FMT_YUYV422
        case .uyvy: AV_PIX_FMT_UYVY422
        case .i422: AV_PIX_FMT_YUV422P
        case .i444: AV_PIX_FMT_YUV444P
        case .gray: AV_PIX_FMT_GRAY8
        case .rgb24: AV_PIX_FMT_RGB24
        case .bgra: AV_PIX_FMT_BGRA
        case .rgba: AV_PIX_FMT_RGBA
        case .p010: AV_PIX_FMT_P010LE
        case .i420p10: AV_PIX_FMT_YUV420P10LE
        }
    }

    /// Returns the layout for libav's `format`; nil if vaenc has none. The full-range `yuvj` formats map to the layouts
    /// without the range.
    package init?(av format: AVPixelFormat) {
        switch format {
        case AV_PIX_FMT_YUVJ420P: self = .i420
        case AV_PIX_FMT_YUVJ422P: self = .i422
        case AV_PIX_FMT_YUVJ444P: self = .i444
        default:
            guard let found = Self.allCases.first(where: { $0.avFormat == format && $0 != .yv12 }) else { return nil }
            self = found
        }
    }
}

/// A picture in memory as libav describes it, in any of libav's formats. Valid as long as the memory that it points to.
@unsafe package struct PictureView {
    package var format: AVPixelFormat
    package var size: VideoSize
    package var data: [UnsafeMutablePointer<UInt8>?]
    package var strides: [Int32]

    package init(_ planes: PixelPlanes) {
        unsafe format = planes.format.avFormat
        unsafe size = planes.size
        unsafe data = [nil, nil, nil, nil]
        unsafe strides = [0, 0, 0, 0]
        for plane in 0..<(unsafe planes.format.planeCount) {
            let component = unsafe planes.format == .yv12 && plane > 0 ? 3 - plane : plane
            unsafe data[component] = planes.base(plane).assumingMemoryBound(to: UInt8.self)
            unsafe strides[component] = Int32(planes.pitch(plane))
        }
    }

    package init(frame: UnsafePointer<AVFrame>) {
        unsafe format = AVPixelFormat(rawValue: frame.pointee.format)
        unsafe size = VideoSize(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
        let d = unsafe frame.pointee.data
        let l = unsafe frame.pointee.linesize
        unsafe data = [d.0, d.1, d.2, d.3]
        unsafe strides = [l.0, l.1, l.2, l.3]
    }

    /// Returns the part of the picture inside a rectangle. The rectangle's corner must be even on both axes.
    package func cropped(to part: VideoRectangle, _ av: UnsafePointer<VaencLibAV>) -> PictureView {
        var view = unsafe self
        unsafe view.size = VideoSize(width: part.width, height: part.height)
        guard let description = unsafe av.pointee.av_pix_fmt_desc_get!(format)?.pointee else { return unsafe view }
        let components = unsafe [description.comp.0, description.comp.1, description.comp.2, description.comp.3]
        for plane in 0..<4 {
            guard let base = unsafe data[plane] else { continue }
            let index = components.prefix(Int(unsafe description.nb_components)).firstIndex { Int($0.plane) == plane }
            guard let index else { continue }
            let isChroma = index == 1 || index == 2
            let x = unsafe isChroma ? part.x >> Int(description.log2_chroma_w) : part.x
            let y = unsafe isChroma ? part.y >> Int(description.log2_chroma_h) : part.y
            unsafe view.data[plane] = base + y * Int(strides[plane]) + x * Int(components[index].step)
        }
        return unsafe view
    }
}

extension PixelPlanes {
    /// Describes the planes of a decoded picture; nil if vaenc has no layout for its format. Valid as long as the
    /// frame.
    package init?(_ frame: UnsafePointer<AVFrame>) {
        guard let format = unsafe PixelFormat(av: AVPixelFormat(rawValue: frame.pointee.format)) else { return nil }
        let size = unsafe VideoSize(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
        let data = unsafe frame.pointee.data
        let strides = unsafe frame.pointee.linesize
        unsafe self.init(
            format: format, size: size, allocatedSize: size,
            bases: (UnsafeMutableRawPointer(data.0), UnsafeMutableRawPointer(data.1), UnsafeMutableRawPointer(data.2)),
            pitches: (Int(strides.0), Int(strides.1), Int(strides.2)))
    }
}
