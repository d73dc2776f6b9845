import CLibAV
import LibAV
import VideoBase

extension DecodingSource {
    /// Returns the color of the output pictures: the file's color, or for RGB the color of the conversion.
    static func color(
        _ parameters: AVCodecParameters, asked: ColorDescription, _ av: UnsafePointer<VaencLibAV>
    ) -> ColorDescription {
        let range = unsafe parameters.color_range
        let format = AVPixelFormat(rawValue: unsafe parameters.format)
        let fullName = [AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P].contains(format)
        let matrix = UInt8(truncatingIfNeeded: unsafe parameters.color_space.rawValue)
        let declared = unsafe ColorDescription(
            primaries: UInt8(truncatingIfNeeded: parameters.color_primaries.rawValue),
            transfer: UInt8(truncatingIfNeeded: parameters.color_trc.rawValue), matrix: matrix == 0 ? 2 : matrix,
            fullRange: fullName || range == AVCOL_RANGE_JPEG
                ? true : range == AVCOL_RANGE_MPEG ? false : unsafe holdsFullRangeGray(parameters, av) ? true : nil)
        guard unsafe format.isRGB(av) else { return declared }
        var color = unsafe declared.ofRGBAsYUV(rows: Int(parameters.height), asked: asked)
        if unsafe format.isPalette(av) { color.matrix = 6 }
        return color
    }

    /// Whether gray samples without a described range have the full range, as in image files and as libswscale writes
    /// them. Codecs with a default range in their standard are excluded: it is the limited range.
    private static func holdsFullRangeGray(_ parameters: AVCodecParameters, _ av: UnsafePointer<VaencLibAV>) -> Bool {
        guard unsafe AVPixelFormat(rawValue: parameters.format).isGray(av) else { return false }
        return switch unsafe VideoCodec(libavcodecID: parameters.codec_id) {
        case .h264, .hevc: false
        case nil: unsafe parameters.codec_id != AV_CODEC_ID_AV1
        }
    }

    /// Returns the description of the input. Y4M is described by its samples, other files by their codec.
    static func kind(_ container: String, codec: String, format: AVPixelFormat, av: UnsafePointer<VaencLibAV>) -> String {
        guard container == InputContext.y4m, let name = unsafe av.pointee.av_get_pix_fmt_name!(format) else { return "\(container), \(codec)" }
        return unsafe "Y4M, \(String(cString: name))"
    }

    /// Returns the display matrix for pictures of another size. The translation in the matrix is in samples of the
    /// pictures.
    static func displayMatrix(_ matrix: [Int32], of size: VideoSize, scaledTo output: VideoSize) -> [Int32] {
        guard matrix.count == 9, size != output else { return matrix }
        let (from, to) = SourceInfo.turnsSides(matrix) ? (size.turned, output.turned) : (size, output)
        var scaled = matrix
        scaled[6] = Int32(clamping: Int64(matrix[6]) * Int64(to.width) / Int64(max(1, from.width)))
        scaled[7] = Int32(clamping: Int64(matrix[7]) * Int64(to.height) / Int64(max(1, from.height)))
        return scaled
    }
}
