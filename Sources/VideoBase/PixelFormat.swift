/// The layout of a picture's samples in memory.
public enum PixelFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// 8-bit 4:2:0: a plane of Y and a plane of interleaved Cb and Cr.
    case nv12
    /// 8-bit 4:2:0: three planes, Y, Cb, Cr.
    case i420
    /// 8-bit 4:2:0: three planes, Y, Cr, Cb.
    case yv12
    /// 8-bit 4:2:2, packed as Y Cb Y Cr.
    case yuyv
    /// 8-bit 4:2:2, packed as Cb Y Cr Y.
    case uyvy
    /// 8-bit 4:2:2: three planes, Y, Cb, Cr.
    case i422
    /// 8-bit 4:4:4: three planes, Y, Cb, Cr.
    case i444
    /// 8-bit luma without chroma, taken as full range if nothing else is stated.
    case gray
    /// 8-bit R, G, B, packed.
    case rgb24
    /// 8-bit B, G, R, A, packed.
    case bgra
    /// 8-bit R, G, B, A, packed.
    case rgba
    /// 10-bit 4:2:0 in the high bits of 16-bit little-endian words, with the planes of NV12.
    case p010
    /// 10-bit 4:2:0 in the low bits of 16-bit little-endian words, with the planes of I420.
    case i420p10

    /// The bit depth of a sample.
    public var bitDepth: Int { self == .p010 || self == .i420p10 ? 10 : 8 }

    /// Whether samples are R, G and B.
    package var isRGB: Bool { self == .rgb24 || self == .bgra || self == .rgba }

    /// The number of planes.
    public var planeCount: Int {
        switch self {
        case .nv12, .p010: 2
        case .i420, .yv12, .i422, .i444, .i420p10: 3
        case .yuyv, .uyvy, .gray, .rgb24, .bgra, .rgba: 1
        }
    }

    /// Returns the number of bytes in a row of `plane` without padding, for a picture that is `width` samples wide. The
    /// result is 0 if the width is below 1, and `Int.max` if it does not fit.
    public func rowBytes(plane: Int, width: Int) -> Int {
        let width = max(width, 0), half = Self.half(width)
        return switch self {
        case .nv12: plane == 0 ? width : half.multipliedSaturating(by: 2)
        case .p010: plane == 0 ? width.multipliedSaturating(by: 2) : half.multipliedSaturating(by: 4)
        case .i420, .yv12, .i422: plane == 0 ? width : half
        case .i420p10: (plane == 0 ? width : half).multipliedSaturating(by: 2)
        case .i444, .gray: width
        case .yuyv, .uyvy: half.multipliedSaturating(by: 4)
        case .rgb24: width.multipliedSaturating(by: 3)
        case .bgra, .rgba: width.multipliedSaturating(by: 4)
        }
    }

    /// Returns the number of rows of `plane` for a picture that is `height` samples high. The result is 0 if the height
    /// is below 1.
    public func rows(plane: Int, height: Int) -> Int {
        let height = max(height, 0)
        return switch self {
        case .nv12, .i420, .yv12, .p010, .i420p10: plane == 0 ? height : Self.half(height)
        default: height
        }
    }

    /// Returns half of a value, rounded up.
    private static func half(_ value: Int) -> Int { value / 2 + value % 2 }

    /// Returns the number of bytes of a picture without padding, as in a raw file. The result is `Int.max` if it does
    /// not fit.
    public func frameBytes(_ size: VideoSize) -> Int {
        (0..<planeCount).reduce(0) { sum, plane in
            let row = rowBytes(plane: plane, width: size.width)
            return sum.addingSaturating(row.multipliedSaturating(by: rows(plane: plane, height: size.height)))
        }
    }
}
