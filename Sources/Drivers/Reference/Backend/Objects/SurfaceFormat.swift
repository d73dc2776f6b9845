internal import CVA

/// The pixel format of a surface or an image.
struct SurfaceFormat: Sendable, Hashable {
    /// A plane of elements. An element is a sample, a pair of samples, or a pixel.
    struct Plane: Sendable, Hashable {
        /// The size of an element in bytes.
        var bytes: Int
        /// log2 of the number of luma columns per element.
        var across = 0
        /// log2 of the number of luma rows per element.
        var down = 0
        /// The DRM_FORMAT_… code of the plane as a separate layer.
        var drmFormat: UInt32

        /// Returns the size in bytes of a row that is `width` luma samples wide.
        func rowBytes(width: Int) -> Int { (width + (1 << across) - 1) >> across * bytes }
        /// Returns the number of rows of a picture that is `height` luma samples high.
        func rows(height: Int) -> Int { (height + (1 << down) - 1) >> down }
    }

    /// A VA_FOURCC_… code.
    var fourcc: UInt32
    /// The VA_RT_FORMAT_… flag of the format.
    var rtFormat: UInt32
    var bitsPerPixel: Int
    var planes: [Plane]
    /// The DRM_FORMAT_… code of all planes as one layer.
    var drmFormat: UInt32

    /// The four characters of the fourcc, for example `NV12`.
    var name: String {
        String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: fourcc >> UInt32(8 * $0)) }, as: UTF8.self)
    }

    /// Whether a sample has two bytes.
    var isWide: Bool { self == .p010 }
    /// Whether the format has a luma plane and a plane of Cb/Cr pairs.
    var isSemiPlanar: Bool { self == .nv12 || self == .p010 }
    /// Whether the format is 4:2:0 with 8 bits. vaPutImage and vaGetImage convert between these formats.
    var isYUV420: Bool { rtFormat == UInt32(VA_RT_FORMAT_YUV420) }
    var isRGB: Bool { rtFormat == UInt32(VA_RT_FORMAT_RGB32) }

    static let nv12 = SurfaceFormat(
        VA_FOURCC_NV12, rtFormat: VA_RT_FORMAT_YUV420, bitsPerPixel: 12, drmName: "NV12",
        planes: [luma, Plane(bytes: 2, across: 1, down: 1, drmFormat: drm("GR88"))])
    static let p010 = SurfaceFormat(
        VA_FOURCC_P010, rtFormat: VA_RT_FORMAT_YUV420_10, bitsPerPixel: 24, drmName: "P010",
        planes: [Plane(bytes: 2, drmFormat: drm("R16 ")), Plane(bytes: 4, across: 1, down: 1, drmFormat: drm("GR32"))])
    static let i420 = SurfaceFormat(
        VA_FOURCC_I420, rtFormat: VA_RT_FORMAT_YUV420, bitsPerPixel: 12, drmName: "YU12",
        planes: [luma, quarter, quarter])
    /// Planar 4:2:0 with Cr before Cb.
    static let yv12 = SurfaceFormat(
        VA_FOURCC_YV12, rtFormat: VA_RT_FORMAT_YUV420, bitsPerPixel: 12, drmName: "YV12",
        planes: [luma, quarter, quarter])
    static let yuy2 = SurfaceFormat(VA_FOURCC_YUY2, rtFormat: VA_RT_FORMAT_YUV422, bitsPerPixel: 16, drmName: "YUYV")
    static let uyvy = SurfaceFormat(VA_FOURCC_UYVY, rtFormat: VA_RT_FORMAT_YUV422, bitsPerPixel: 16, drmName: "UYVY")
    // VA-API lists the bytes in memory order. DRM lists them from the high to the low byte of a little-endian word.
    static let bgra = SurfaceFormat(VA_FOURCC_BGRA, rtFormat: VA_RT_FORMAT_RGB32, bitsPerPixel: 32, drmName: "AR24")
    static let bgrx = SurfaceFormat(VA_FOURCC_BGRX, rtFormat: VA_RT_FORMAT_RGB32, bitsPerPixel: 32, drmName: "XR24")
    static let rgba = SurfaceFormat(VA_FOURCC_RGBA, rtFormat: VA_RT_FORMAT_RGB32, bitsPerPixel: 32, drmName: "AB24")
    static let rgbx = SurfaceFormat(VA_FOURCC_RGBX, rtFormat: VA_RT_FORMAT_RGB32, bitsPerPixel: 32, drmName: "XB24")

    /// All formats. The first format of an RT format is the default for surfaces of that RT format.
    static let all = [nv12, i420, yv12, p010, yuy2, uyvy, bgra, bgrx, rgba, rgbx]

    static func named(_ fourcc: UInt32) -> SurfaceFormat? { all.first { $0.fourcc == fourcc } }

    private static let luma = Plane(bytes: 1, drmFormat: drm("R8  "))
    private static let quarter = Plane(bytes: 1, across: 1, down: 1, drmFormat: drm("R8  "))

    /// Returns a DRM_FORMAT_… code from its four characters.
    private static func drm(_ name: String) -> UInt32 {
        name.utf8.enumerated().reduce(0) { $0 | UInt32($1.element) << UInt32(8 * $1.offset) }
    }

    /// - Parameter planes: The planes, or nil for one plane of pixels or, in 4:2:2, of pixel pairs.
    private init(_ fourcc: Int32, rtFormat: Int32, bitsPerPixel: Int, drmName: String, planes: [Plane]? = nil) {
        self.fourcc = UInt32(fourcc)
        self.rtFormat = UInt32(rtFormat)
        self.bitsPerPixel = bitsPerPixel
        self.drmFormat = Self.drm(drmName)
        self.planes =
            planes ?? [Plane(bytes: 4, across: bitsPerPixel == 16 ? 1 : 0, drmFormat: self.drmFormat)]
    }

    /// The `VAImageFormat` of the format.
    var description: VAImageFormat {
        var format = VAImageFormat()
        format.fourcc = fourcc
        format.byte_order = UInt32(VA_LSB_FIRST)
        format.bits_per_pixel = UInt32(bitsPerPixel)
        guard isRGB else { return format }
        let hasAlpha = self == .bgra || self == .rgba
        let redIsFirst = self == .rgba || self == .rgbx
        format.depth = hasAlpha ? 32 : 24
        format.red_mask = redIsFirst ? 0xff : 0xff_0000
        format.green_mask = 0xff00
        format.blue_mask = redIsFirst ? 0xff_0000 : 0xff
        format.alpha_mask = hasAlpha ? 0xff00_0000 : 0
        return format
    }
}

/// The positions of a picture's planes in memory.
struct PlaneLayout: Sendable {
    var format: SurfaceFormat
    var width: Int
    var height: Int
    /// The distance between rows in bytes, for each plane in the order of the format.
    var pitches: [Int]
    /// The offset of each plane in bytes.
    var offsets: [Int]
    /// The size of all planes in bytes.
    var byteCount: Int

    init(format: SurfaceFormat, width: Int, height: Int, pitches: [Int], offsets: [Int], byteCount: Int) {
        self.format = format
        self.width = width
        self.height = height
        self.pitches = pitches
        self.offsets = offsets
        self.byteCount = byteCount
    }

    /// Creates a layout with the planes one after another.
    ///
    /// The height is rounded up to whole macroblocks, because encoders read whole macroblocks.
    init(format: SurfaceFormat, width: Int, height: Int) {
        let first = (format.planes[0].rowBytes(width: width) + 63) & ~63
        let rows = (height + 15) & ~15
        var end = 0
        var (pitches, offsets): ([Int], [Int]) = ([], [])
        for (index, plane) in format.planes.enumerated() {
            let pitch = index == 0 ? first : (first / format.planes[0].bytes * plane.bytes) >> plane.across
            pitches.append(pitch)
            offsets.append(end)
            end += pitch * plane.rows(height: rows)
        }
        self.init(format: format, width: width, height: height, pitches: pitches, offsets: offsets, byteCount: end)
    }

    var fourcc: UInt32 { format.fourcc }
    var isSemiPlanar: Bool { format.isSemiPlanar }
    var isWide: Bool { format.isWide }

    /// The indices of the Cb and Cr planes. They are equal for NV12 and P010.
    var chromaPlanes: (cb: Int, cr: Int) { isSemiPlanar ? (1, 1) : format == .yv12 ? (2, 1) : (1, 2) }

    /// Returns the offset of the end of a plane's last row.
    func end(ofPlane index: Int) -> Int {
        let plane = format.planes[index]
        return offsets[index] + pitches[index] * (plane.rows(height: height) - 1) + plane.rowBytes(width: width)
    }
}
