/// The motion of a prediction block, H.265 8.5.3.2. Vectors of unused lists are zero.
package struct HEVCMotion: BitwiseCopyable, Equatable, Sendable {
    package var vector0 = MotionVector.zero
    package var vector1 = MotionVector.zero
    /// refIdxL0 and refIdxL1, −1 for an unused list; both are −1 for intra.
    package var reference0: Int8 = -1
    package var reference1: Int8 = -1

    package init() {}
}

/// The motion of a 16×16 area for the temporal prediction of later pictures, H.265 8.5.3.2.8. It is the motion of the
/// area's first 4×4 block, with the references' properties at the time when the picture was coded.
package struct HEVCStoredMotion: BitwiseCopyable, Sendable {
    package var motion = HEVCMotion()
    /// PicOrderCntVal of the references that are used.
    package var poc0: Int32 = 0
    package var poc1: Int32 = 0
    package var isLongTerm0 = false
    package var isLongTerm1 = false

    package init() {}
}

/// The planes of one picture with a margin that repeats the border. Each pointer refers to the sample (0, 0).
package struct HEVCPlanes<Sample: HEVCSample>: BitwiseCopyable, Sendable {
    package let luma: ElementPointer<Sample>
    package let cb: ElementPointer<Sample>
    package let cr: ElementPointer<Sample>
    /// The distance between rows in samples.
    package let stride: Int
    package let chromaStride: Int
    /// The picture's size in luma samples.
    package let width: Int
    package let height: Int

    /// Returns the plane of a component: 0 luma, 1 Cb, 2 Cr.
    func plane(_ component: Int) -> HEVCPlane<Sample> {
        component == 0
            ? HEVCPlane(elements: luma, stride: stride) : HEVCPlane(elements: component == 1 ? cb : cr, stride: chromaStride)
    }
}

/// One of a picture's planes.
struct HEVCPlane<Sample: HEVCSample>: BitwiseCopyable, Sendable {
    let elements: ElementPointer<Sample>
    /// The distance between rows in samples.
    let stride: Int
}

/// A picture as a decoder reconstructs it. Its memory is allocated once, for one size and bit depth. Each VA surface
/// that the client uses for reconstruction has one.
///
/// SAFETY: the back end ensures that no one reads a picture while a job writes it.
@safe package final class HEVCReconstructedPicture: @unchecked Sendable {
    /// The width of the margin beyond each border in luma samples: a block of 64 and the filter's taps. Positions of
    /// blocks further outside are clamped, which changes no sample.
    package static let margin = 80

    package let grid: HEVCGrid
    package let bitDepth: Int
    private let bytes: ElementStorage<UInt8>
    /// The stored motion by 16×16 area in raster order.
    package let motion: ElementStorage<HEVCStoredMotion>
    package var poc = 0
    /// The part of the picture that intra refresh had refreshed.
    var renewal = Renewal()

    package init(grid: HEVCGrid, bitDepth: Int) {
        self.grid = grid
        self.bitDepth = bitDepth
        let layout = Layout(grid)
        bytes = ElementStorage(count: layout.samples * (bitDepth > 8 ? 2 : 1), repeating: 0)
        motion = ElementStorage(count: grid.areaColumns * grid.areaRows, repeating: HEVCStoredMotion())
    }

    /// Returns the planes. The bit depth of `Sample` must be `bitDepth`.
    package func planes<Sample: HEVCSample>(_ type: Sample.Type = Sample.self) -> HEVCPlanes<Sample> {
        precondition(Sample.bitDepth == bitDepth)
        let layout = Layout(grid)
        // SAFETY: the memory has no other type: it consists of bytes that are only accessed as `Sample`, since
        // `bitDepth` never changes. It is aligned to 64 bytes and large enough for the layout.
        let base = unsafe ElementPointer<Sample>(
            UnsafeMutableRawPointer(bytes.elements.base).assumingMemoryBound(to: Sample.self))
        return HEVCPlanes(
            luma: base + layout.luma, cb: base + layout.cb, cr: base + layout.cr, stride: layout.stride,
            chromaStride: layout.chromaStride, width: grid.width, height: grid.height)
    }

    private struct Layout {
        let stride: Int
        let chromaStride: Int
        let luma: Int
        let cb: Int
        let cr: Int
        let samples: Int

        init(_ grid: HEVCGrid) {
            let margin = HEVCReconstructedPicture.margin
            // Whole coding tree units are reconstructed. A stride that is a multiple of 1024 is avoided, because rows
            // at such distances compete for the same cache lines.
            let width = grid.columns << grid.log2CodingTreeBlock
            let height = grid.rows << grid.log2CodingTreeBlock
            let wide = (width + 2 * margin + 31) & ~31
            stride = wide % 1024 == 0 ? wide + 64 : wide
            chromaStride = stride / 2
            let lumaCount = (height + 2 * margin) * stride
            let chromaCount = (height / 2 + margin) * chromaStride
            luma = margin * stride + margin
            let chroma = margin / 2 * chromaStride + margin / 2
            cb = lumaCount + chroma
            cr = lumaCount + chromaCount + chroma
            // Vector loads may read beyond a block's right edge, by less than a row.
            samples = lumaCount + 2 * chromaCount + 64
        }
    }
}
