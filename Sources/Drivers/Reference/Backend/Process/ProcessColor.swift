internal import CVA

extension ProcessOperation.ColorProperties {
    /// The matrix_coefficients of H.273; nil if the standard is not specified.
    var knownMatrix: Int? {
        switch standard {
        case VAProcColorStandardBT601, VAProcColorStandardBT470BG, VAProcColorStandardSMPTE170M,
            VAProcColorStandardXVYCC601:
            6
        case VAProcColorStandardBT709, VAProcColorStandardXVYCC709, VAProcColorStandardGenericFilm: 1
        case VAProcColorStandardBT470M: 4
        case VAProcColorStandardSMPTE240M: 7
        case VAProcColorStandardBT2020: 9
        case VAProcColorStandardExplicit where [1, 4, 5, 6, 7, 9].contains(matrix): Int(matrix)
        case VAProcColorStandardExplicit where matrix == 10: 9
        default: nil
        }
    }

    /// Returns whether samples have full range. If no range is specified, RGB has full range, except with the standard
    /// STRGB.
    func isFull(_ format: SurfaceFormat) -> Bool {
        switch Int32(range) {
        case VA_SOURCE_RANGE_FULL: true
        case VA_SOURCE_RANGE_REDUCED: false
        default: format.isRGB && standard != VAProcColorStandardSTRGB
        }
    }
}

extension ProcessOperation {
    /// Returns the matrix and range of the source and of the target. If a matrix is not specified, it is that of the
    /// other side. If neither is specified, it is BT.709 for sources from 1280 columns or 577 rows on, and BT.601 for
    /// smaller ones.
    func meanings(from source: PlaneLayout, to target: PlaneLayout) -> (source: SampleMeaning, target: SampleMeaning) {
        let usual = source.width >= 1280 || source.height > 576 ? 1 : 6
        let from = source.format.isRGB ? nil : sourceColor.knownMatrix
        let to = target.format.isRGB ? nil : targetColor.knownMatrix
        return (
            SampleMeaning(matrix: from ?? to ?? usual, isFull: sourceColor.isFull(source.format)),
            SampleMeaning(matrix: to ?? from ?? usual, isFull: targetColor.isFull(target.format))
        )
    }

    var filter: PictureScaler.Filter {
        switch Int32(bitPattern: scaling & UInt32(VA_FILTER_INTERPOLATION_MASK)) {
        case VA_FILTER_INTERPOLATION_NEAREST_NEIGHBOR: return .nearest
        case VA_FILTER_INTERPOLATION_BILINEAR: return .bilinear
        case VA_FILTER_INTERPOLATION_ADVANCED: return .lanczos
        default: break
        }
        switch Int32(bitPattern: scaling & UInt32(VA_FILTER_SCALING_MASK)) {
        case VA_FILTER_SCALING_FAST: return .bilinear
        case VA_FILTER_SCALING_HQ: return .lanczos
        default: return .bicubic
        }
    }
}

/// A color, converted to the sample format of a picture.
struct BackgroundColor {
    /// The repeating bytes of each plane.
    let elements: [[UInt8]]

    /// - Parameter argb: A, R, G and B with full range; A is the highest byte.
    init(argb: UInt32, _ format: SurfaceFormat, _ meaning: SampleMeaning) {
        func part(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: argb >> shift) }
        let (alpha, red, green, blue) = (part(24), part(16), part(8), part(0))
        switch format {
        case .bgra, .bgrx: elements = [[blue, green, red, alpha]]
        case .rgba, .rgbx: elements = [[red, green, blue, alpha]]
        default:
            let (y, cb, cr) = Self.samples(
                (Double(red) / 255, Double(green) / 255, Double(blue) / 255), meaning, bits: format.isWide ? 10 : 8)
            func bytes(_ samples: [Int]) -> [UInt8] {
                format.isWide
                    ? samples.flatMap { [UInt8(truncatingIfNeeded: $0 << 6), UInt8(truncatingIfNeeded: $0 >> 2)] }
                    : samples.map { UInt8($0) }
            }
            elements =
                switch format {
                case .yuy2: [bytes([y, cb, y, cr])]
                case .uyvy: [bytes([cb, y, cr, y])]
                case .i420: [bytes([y]), bytes([cb]), bytes([cr])]
                case .yv12: [bytes([y]), bytes([cr]), bytes([cb])]
                default: [bytes([y]), bytes([cb, cr])]
                }
        }
    }

    /// Returns Y, Cb and Cr for R, G and B in 0…1 (H.273 8.3).
    private static func samples(
        _ color: (red: Double, green: Double, blue: Double), _ meaning: SampleMeaning, bits: Int
    ) -> (Int, Int, Int) {
        let (red, blue) = meaning.weights
        let luma = red * color.red + (1 - red - blue) * color.green + blue * color.blue
        let cb = (color.blue - luma) / (2 * (1 - blue))
        let cr = (color.red - luma) / (2 * (1 - red))
        let (most, unit) = (1 << bits - 1, Double(1 << (bits - 8)))
        func clipped(_ value: Double) -> Int { min(max(Int(value.rounded()), 0), most) }
        if meaning.isFull {
            let middle = Double(1 << (bits - 1))
            return (
                clipped(luma * Double(most)), clipped(cb * Double(most) + middle), clipped(cr * Double(most) + middle)
            )
        }
        return (
            clipped((219 * luma + 16) * unit), clipped((224 * cb + 128) * unit), clipped((224 * cr + 128) * unit)
        )
    }
}
