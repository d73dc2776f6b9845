internal import CVA

/// How a picture stands in an image's buffer.
struct ImageLayout {
    var fourcc: UInt32
    var width: Int
    var height: Int
    /// Of up to three planes, in the order of the format (YV12 has Cr before Cb).
    var pitches: [Int]
    var offsets: [Int]
    var byteCount: Int

    var isSemiPlanar: Bool { fourcc == UInt32(VA_FOURCC_NV12) || isWide }
    /// Two bytes to a sample.
    var isWide: Bool { fourcc == UInt32(VA_FOURCC_P010) }

    /// Planes of Cb and Cr in `offsets`; the same one for NV12 and P010.
    var chromaPlanes: (cb: Int, cr: Int) {
        isSemiPlanar ? (1, 1) : fourcc == UInt32(VA_FOURCC_YV12) ? (2, 1) : (1, 2)
    }

    /// The layout of an image of its own.
    init(fourcc: UInt32, width: Int, height: Int) {
        self.fourcc = fourcc
        self.width = width
        self.height = height
        let lumaPitch = ((fourcc == UInt32(VA_FOURCC_P010) ? 2 * width : width) + 63) & ~63
        let rows = (height + 1) & ~1
        let luma = lumaPitch * rows
        if fourcc == UInt32(VA_FOURCC_NV12) || fourcc == UInt32(VA_FOURCC_P010) {
            pitches = [lumaPitch, lumaPitch]
            offsets = [0, luma]
            byteCount = luma + lumaPitch * rows / 2
        } else {
            let chromaPitch = lumaPitch / 2
            let chroma = chromaPitch * rows / 2
            pitches = [lumaPitch, chromaPitch, chromaPitch]
            offsets = [0, luma, luma + chroma]
            byteCount = luma + 2 * chroma
        }
    }

    /// The layout of a surface's own memory.
    init(of surface: Surface) {
        fourcc = UInt32(surface.isWide ? VA_FOURCC_P010 : VA_FOURCC_NV12)
        width = surface.width
        height = surface.height
        pitches = [surface.pitch, surface.pitch]
        offsets = [0, surface.chromaOffset]
        byteCount = surface.byteCount
    }

    /// The format's description, `VAImageFormat`.
    static func format(_ fourcc: UInt32) -> VAImageFormat {
        var format = VAImageFormat()
        format.fourcc = fourcc
        format.byte_order = UInt32(VA_LSB_FIRST)
        format.bits_per_pixel = fourcc == UInt32(VA_FOURCC_P010) ? 24 : 12
        return format
    }
}

/// A VA image. Guarded by the display's monitor.
final class Image {
    let id: VAImageID
    let layout: ImageLayout
    let buffer: Buffer

    init(id: VAImageID, layout: ImageLayout, buffer: Buffer) {
        self.id = id
        self.layout = layout
        self.buffer = buffer
    }

    var description: VAImage {
        var image = VAImage()
        image.image_id = id
        image.format = ImageLayout.format(layout.fourcc)
        image.buf = buffer.id
        image.width = UInt16(layout.width)
        image.height = UInt16(layout.height)
        image.data_size = UInt32(layout.byteCount)
        image.num_planes = UInt32(layout.offsets.count)
        image.pitches.0 = UInt32(layout.pitches[0])
        image.pitches.1 = UInt32(layout.pitches[1])
        image.offsets.1 = UInt32(layout.offsets[1])
        if layout.offsets.count > 2 {
            image.pitches.2 = UInt32(layout.pitches[2])
            image.offsets.2 = UInt32(layout.offsets[2])
        }
        return image
    }
}
