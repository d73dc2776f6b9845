import CLibAV
import LibAV
import VideoBase

extension DecodingSource {
    /// What the pictures that are given are: what the file says, or for RGB what it is converted to.
    static func color(
        _ parameters: AVCodecParameters, asked: ColorDescription, _ av: UnsafePointer<VaencLibAV>
    ) -> ColorDescription {
        let range = unsafe parameters.color_range
        let format = AVPixelFormat(rawValue: unsafe parameters.format)
        let fullName = [AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P].contains(format)
        let matrix = UInt8(truncatingIfNeeded: unsafe parameters.color_space.rawValue)
        let said = unsafe ColorDescription(
            primaries: UInt8(truncatingIfNeeded: parameters.color_primaries.rawValue),
            transfer: UInt8(truncatingIfNeeded: parameters.color_trc.rawValue), matrix: matrix == 0 ? 2 : matrix,
            fullRange: fullName || range == AVCOL_RANGE_JPEG ? true : range == AVCOL_RANGE_MPEG ? false : nil)
        guard unsafe format.isRGB(av) else { return said }
        var color = unsafe said.ofRGBAsYUV(rows: Int(parameters.height), asked: asked)
        if unsafe format.isPalette(av) { color.matrix = 6 }
        return color
    }

    /// The input in words: Y4M is known by its samples, other files by their codec.
    static func kind(_ container: String, _ codec: String, _ format: AVPixelFormat, _ av: UnsafePointer<VaencLibAV>) -> String {
        guard container == InputContext.y4m, let name = unsafe av.pointee.av_get_pix_fmt_name!(format) else { return "\(container), \(codec)" }
        return unsafe "Y4M, \(String(cString: name))"
    }

    /// The matrix for pictures of another size: the corner to which it moves them is in their samples.
    static func displayMatrix(_ matrix: [Int32], of size: VideoSize, scaledTo output: VideoSize) -> [Int32] {
        guard matrix.count == 9, size != output else { return matrix }
        let (from, to) = SourceInfo.turnsSides(matrix) ? (size.turned, output.turned) : (size, output)
        var scaled = matrix
        scaled[6] = Int32(clamping: Int64(matrix[6]) * Int64(to.width) / Int64(max(1, from.width)))
        scaled[7] = Int32(clamping: Int64(matrix[7]) * Int64(to.height) / Int64(max(1, from.height)))
        return scaled
    }
}
