package import VideoBase

/// A VA-API pixel format: four characters, with the first in the low byte (VA_FOURCC_…).
package struct FourCC: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let nv12 = FourCC("NV12")
    package static let p010 = FourCC("P010")
    package static let i420 = FourCC("I420")
    package static let yv12 = FourCC("YV12")

    private init(_ text: StaticString) {
        rawValue = (0..<4).reduce(0) { unsafe $0 | UInt32(text.utf8Start[$1]) << UInt32($1 * 8) }
    }

    /// Creates the code of a pixel format, or nil if a surface cannot have the format.
    package init?(_ format: PixelFormat) {
        switch format {
        case .nv12: self = .nv12
        case .p010: self = .p010
        case .i420: self = .i420
        case .yv12: self = .yv12
        case .yuyv: self.init("YUY2")
        case .uyvy: self.init("UYVY")
        case .bgra: self.init("BGRA")
        case .rgba: self.init("RGBA")
        case .gray: self.init("Y800")
        case .i422: self.init("422H")
        case .i444: self.init("444P")
        case .rgb24, .i420p10: return nil
        }
    }

    /// The pixel format, or nil if vaenc does not handle the format.
    package var pixelFormat: PixelFormat? {
        PixelFormat.allCases.first { FourCC($0) == self }
    }

    package var description: String {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> UInt32($0 * 8)) }
        return String(decoding: bytes.map { (0x20..<0x7f).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}

/// A set of surface formats that a configuration accepts: the VA_RT_FORMAT_… flags.
package struct RTFormat: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let yuv420 = RTFormat(rawValue: 0x1)
    package static let yuv422 = RTFormat(rawValue: 0x2)
    package static let yuv444 = RTFormat(rawValue: 0x4)
    package static let yuv420TenBit = RTFormat(rawValue: 0x100)
    package static let rgb32 = RTFormat(rawValue: 0x20000)

    package init(_ format: PixelFormat) {
        switch format {
        case .nv12, .i420, .yv12: self = .yuv420
        case .gray: self = RTFormat(rawValue: 0x10)
        case .yuyv, .uyvy, .i422: self = .yuv422
        case .i444: self = .yuv444
        case .rgb24, .bgra, .rgba: self = .rgb32
        case .p010, .i420p10: self = .yuv420TenBit
        }
    }
}
