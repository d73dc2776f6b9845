internal import CLibAV

/// A picture in memory, or a part of one.
///
/// SAFETY: the caller of `init` guarantees that all rows, and 64 readable bytes after the last row, exist while the
/// value is used.
@safe package struct ScaledPicture {
    /// The layout of samples in memory. The names of packed formats list the bytes in memory order.
    package enum Format: Sendable, Hashable {
        case nv12, i420, p010, yuyv, uyvy, bgra, bgrx, rgba, rgbx

        package var isRGB: Bool {
            switch self {
            case .bgra, .bgrx, .rgba, .rgbx: true
            case .nv12, .i420, .p010, .yuyv, .uyvy: false
            }
        }

        var libav: AVPixelFormat {
            switch self {
            case .nv12: AV_PIX_FMT_NV12
            case .i420: AV_PIX_FMT_YUV420P
            case .p010: AV_PIX_FMT_P010LE
            case .yuyv: AV_PIX_FMT_YUYV422
            case .uyvy: AV_PIX_FMT_UYVY422
            case .bgra: AV_PIX_FMT_BGRA
            case .bgrx: AV_PIX_FMT_BGR0
            case .rgba: AV_PIX_FMT_RGBA
            case .rgbx: AV_PIX_FMT_RGB0
            }
        }
    }

    var planes: [UnsafeMutablePointer<UInt8>?]
    var pitches: [Int32]

    /// - Parameters:
    ///   - planes: pointers to the first rows of the planes, Cb before Cr.
    ///   - pitches: the bytes from one row to the next, by plane.
    package init(planes: [UnsafeMutablePointer<UInt8>], pitches: [Int]) {
        unsafe self.planes = planes + [nil, nil, nil]
        self.pitches = pitches.map { Int32(clamping: $0) } + [0, 0, 0]
    }
}

/// The color matrix and the range of samples.
package struct SampleMeaning: Sendable, Hashable {
    /// The matrix_coefficients of H.273 for YCbCr: 1, 4, 5, 6, 7 or 9. It has no effect on RGB.
    package var matrix: Int
    /// Whether samples have full range.
    package var isFull: Bool

    package init(matrix: Int, isFull: Bool) {
        self.matrix = matrix
        self.isFull = isFull
    }

    /// The weights of R and B in Y: KR and KB of H.273 table 4.
    package var weights: (red: Double, blue: Double) {
        switch matrix {
        case 1: (0.2126, 0.0722)
        case 4: (0.30, 0.11)
        case 7: (0.212, 0.087)
        case 9: (0.2627, 0.0593)
        default: (0.299, 0.114)
        }
    }
}
