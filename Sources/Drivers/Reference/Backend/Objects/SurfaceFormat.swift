internal import CVA

/// How samples lie in a surface or an image.
struct SurfaceFormat: Sendable, Hashable {
    /// A plane of elements: samples, pairs of them, or pixels.
    struct Plane: Sendable, Hashable {
        /// Of an element.
        var bytes: Int
        /// log2 of the columns and rows of luma samples that an element stands for.
        var across = 0
        var down = 0
        /// DRM_FORMAT_… of the plane as a layer of its own.
        var layer: UInt32

        func rowBytes(width: Int) -> Int { (width + (1 << across) - 1) >> across * bytes }
        func rows(height: Int) -> Int { (height + (1 << down) - 1) >> down }
    }

    /// VA_FOURCC_…
    var fourcc: UInt32
    /// VA_RT_FORMAT_…
    var rtFormat: UInt32
    var bitsPerPixel: Int
    var planes: [Plane]
    /// DRM_FORMAT_… of all planes as one layer.
    var layer: UInt32

    /// The four characters of the format: `NV12`.
    var name: String {
        String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: fourcc >> UInt32(8 * $0)) }, as: UTF8.self)
    }

    /// Two bytes to a sample.
    var isWide: Bool { self == .p010 }
    /// Samples of Y and pairs of Cb and Cr.
    var isSemiPlanar: Bool { self == .nv12 || self == .p010 }
    /// 4:2:0 of 8 bits, converted to its like when images are put and got.
    var isYUV420: Bool { rtFormat == UInt32(VA_RT_FORMAT_YUV420) }
    var isRGB: Bool { rtFormat == UInt32(VA_RT_FORMAT_RGB32) }

    static let nv12 = SurfaceFormat(
        VA_FOURCC_NV12, VA_RT_FORMAT_YUV420, 12, "NV12", [luma, Plane(bytes: 2, across: 1, down: 1, layer: drm("GR88"))])
    static let p010 = SurfaceFormat(
        VA_FOURCC_P010, VA_RT_FORMAT_YUV420_10, 24, "P010",
        [Plane(bytes: 2, layer: drm("R16 ")), Plane(bytes: 4, across: 1, down: 1, layer: drm("GR32"))])
    static let i420 = SurfaceFormat(VA_FOURCC_I420, VA_RT_FORMAT_YUV420, 12, "YU12", [luma, quarter, quarter])
    /// Cr before Cb.
    static let yv12 = SurfaceFormat(VA_FOURCC_YV12, VA_RT_FORMAT_YUV420, 12, "YV12", [luma, quarter, quarter])
    static let yuy2 = SurfaceFormat(VA_FOURCC_YUY2, VA_RT_FORMAT_YUV422, 16, "YUYV")
    static let uyvy = SurfaceFormat(VA_FOURCC_UYVY, VA_RT_FORMAT_YUV422, 16, "UYVY")
    // VA-API names the bytes in memory, DRM those of a little-endian word.
    static let bgra = SurfaceFormat(VA_FOURCC_BGRA, VA_RT_FORMAT_RGB32, 32, "AR24")
    static let bgrx = SurfaceFormat(VA_FOURCC_BGRX, VA_RT_FORMAT_RGB32, 32, "XR24")
    static let rgba = SurfaceFormat(VA_FOURCC_RGBA, VA_RT_FORMAT_RGB32, 32, "AB24")
    static let rgbx = SurfaceFormat(VA_FOURCC_RGBX, VA_RT_FORMAT_RGB32, 32, "XB24")

    /// The first of an RT format is what a surface has when its client names none.
    static let all = [nv12, i420, yv12, p010, yuy2, uyvy, bgra, bgrx, rgba, rgbx]

    static func named(_ fourcc: UInt32) -> SurfaceFormat? { all.first { $0.fourcc == fourcc } }

    private static let luma = Plane(bytes: 1, layer: drm("R8  "))
    private static let quarter = Plane(bytes: 1, across: 1, down: 1, layer: drm("R8  "))

    private static func drm(_ name: String) -> UInt32 {
        name.utf8.enumerated().reduce(0) { $0 | UInt32($1.element) << UInt32(8 * $1.offset) }
    }

    /// - Parameter planes: nil for one plane of pixels, or of pairs of them.
    private init(_ fourcc: Int32, _ rtFormat: Int32, _ bitsPerPixel: Int, _ layer: String, _ planes: [Plane]? = nil) {
        self.fourcc = UInt32(fourcc)
        self.rtFormat = UInt32(rtFormat)
        self.bitsPerPixel = bitsPerPixel
        self.layer = Self.drm(layer)
        self.planes =
            planes ?? [Plane(bytes: 4, across: bitsPerPixel == 16 ? 1 : 0, layer: self.layer)]
    }

    /// `VAImageFormat`.
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

/// Where the planes of a picture stand in memory.
struct PlaneLayout: Sendable {
    var format: SurfaceFormat
    var width: Int
    var height: Int
    /// Of up to three planes, in the order of the format: bytes from a row to the next, and where the plane starts.
    var pitches: [Int]
    var offsets: [Int]
    var byteCount: Int

    init(format: SurfaceFormat, width: Int, height: Int, pitches: [Int], offsets: [Int], byteCount: Int) {
        self.format = format
        self.width = width
        self.height = height
        self.pitches = pitches
        self.offsets = offsets
        self.byteCount = byteCount
    }

    /// Planes one after another, of whole macroblocks, which encoders read.
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

    /// Planes of Cb and Cr in `offsets`; the same one for NV12 and P010.
    var chromaPlanes: (cb: Int, cr: Int) { isSemiPlanar ? (1, 1) : format == .yv12 ? (2, 1) : (1, 2) }

    /// The end of the last row of a plane.
    func end(ofPlane index: Int) -> Int {
        let plane = format.planes[index]
        return offsets[index] + pitches[index] * (plane.rows(height: height) - 1) + plane.rowBytes(width: width)
    }
}
