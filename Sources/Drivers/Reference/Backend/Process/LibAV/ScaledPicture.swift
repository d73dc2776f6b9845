internal import CLibAV

/// A picture, or a part of one, in memory.
///
/// SAFETY: whoever makes one vouches for its rows, and for 64 bytes that may be read after the last.
@safe package struct ScaledPicture {
    /// How samples lie in memory; packed formats name bytes in order.
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
    ///   - planes: where the rows begin, Cb before Cr.
    ///   - pitches: bytes from a row to the next.
    package init(planes: [UnsafeMutablePointer<UInt8>], pitches: [Int]) {
        unsafe self.planes = planes + [nil, nil, nil]
        self.pitches = pitches.map { Int32(clamping: $0) } + [0, 0, 0]
    }
}

/// What samples mean.
package struct SampleMeaning: Sendable, Hashable {
    /// H.273 matrix_coefficients of YCbCr: 1, 4, 5, 6, 7 or 9; of RGB without a meaning.
    package var matrix: Int
    /// All values are used.
    package var isFull: Bool

    package init(matrix: Int, isFull: Bool) {
        self.matrix = matrix
        self.isFull = isFull
    }

    /// What R and B count in Y, H.273 table 4.
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
