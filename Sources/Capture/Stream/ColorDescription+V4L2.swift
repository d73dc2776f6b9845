import CV4L2
import VideoBase

extension ColorDescription {
    /// Creates the H.273 code points for a V4L2 format. Defaults are resolved as in videodev2.h (V4L2_MAP_…_DEFAULT).
    init(_ format: v4l2_pix_format, layout: CaptureLayout) {
        let isJPEG = layout == .mjpeg
        let isRGB = layout == .raw(.rgb24)
        let space = v4l2_colorspace(rawValue: format.colorspace)
        let primaries: UInt8 =
            switch space {
            case V4L2_COLORSPACE_SMPTE170M, V4L2_COLORSPACE_SMPTE240M: 6
            case V4L2_COLORSPACE_470_SYSTEM_M: 4
            case V4L2_COLORSPACE_470_SYSTEM_BG: 5
            case V4L2_COLORSPACE_BT2020: 9
            case V4L2_COLORSPACE_REC709, V4L2_COLORSPACE_SRGB, V4L2_COLORSPACE_JPEG: 1
            default: isJPEG ? 1 : 2
            }
        let matrix: UInt8 =
            switch v4l2_ycbcr_encoding(rawValue: format.ycbcr_enc) {
            case V4L2_YCBCR_ENC_601: 6
            case V4L2_YCBCR_ENC_709: 1
            case V4L2_YCBCR_ENC_BT2020: 9
            case V4L2_YCBCR_ENC_SMPTE240M: 7
            default:
                switch space {
                case V4L2_COLORSPACE_REC709: 1
                case V4L2_COLORSPACE_BT2020: 9
                case V4L2_COLORSPACE_SMPTE240M: 7
                case V4L2_COLORSPACE_DEFAULT where !isJPEG: 2
                default: 6
                }
            }
        let transfer: UInt8 =
            switch v4l2_xfer_func(rawValue: format.xfer_func) {
            case V4L2_XFER_FUNC_709: 1
            case V4L2_XFER_FUNC_SRGB: 13
            case V4L2_XFER_FUNC_SMPTE240M: 7
            case V4L2_XFER_FUNC_NONE: 8
            case V4L2_XFER_FUNC_SMPTE2084: 16
            default:
                switch space {
                case V4L2_COLORSPACE_SRGB, V4L2_COLORSPACE_JPEG: 13
                case V4L2_COLORSPACE_SMPTE240M: 7
                case V4L2_COLORSPACE_DEFAULT: isJPEG ? 13 : 2
                default: 1
                }
            }
        let range: Bool? =
            switch v4l2_quantization(rawValue: format.quantization) {
            case V4L2_QUANTIZATION_FULL_RANGE: true
            case V4L2_QUANTIZATION_LIM_RANGE: isJPEG
            default: isJPEG || space == V4L2_COLORSPACE_JPEG ? true : space == V4L2_COLORSPACE_DEFAULT ? nil : false
            }
        // The conversion of RGB produces limited range.
        self.init(primaries: primaries, transfer: transfer, matrix: matrix, fullRange: isRGB ? false : range)
    }
}
