/// The motion of a prediction block, H.265 8.5.3.2. Vectors of a list that is not used are zero.
package struct HEVCMotion: BitwiseCopyable, Equatable, Sendable {
    package var vector0 = MotionVector.zero
    package var vector1 = MotionVector.zero
    /// refIdxL0 and refIdxL1, −1 where the list is not used; both for intra.
    package var reference0: Int8 = -1
    package var reference1: Int8 = -1

    package init() {}
}

/// What later pictures may take of a 16×16 area's motion, H.265 8.5.3.2.8: that of its first 4×4 block, its references
/// by what they were when the picture was coded.
package struct HEVCStoredMotion: BitwiseCopyable, Sendable {
    package var motion = HEVCMotion()
    /// PicOrderCntVal of the references, where they are used.
    package var poc0: Int32 = 0
    package var poc1: Int32 = 0
    package var isLongTerm0 = false
    package var isLongTerm1 = false

    package init() {}
}

/// The planes of one picture, each pointer at the sample (0, 0), with a margin that repeats the border.
package struct HEVCPlanes<Sample: HEVCSample>: BitwiseCopyable, Sendable {
    package let luma: ElementPointer<Sample>
    package let cb: ElementPointer<Sample>
    package let cr: ElementPointer<Sample>
    /// Samples from row to row.
    package let stride: Int
    package let chromaStride: Int
    /// Luma samples that count.
    package let width: Int
    package let height: Int

    /// 0 luma, 1 Cb, 2 Cr.
    func plane(_ component: Int) -> HEVCPlane<Sample> {
        component == 0
            ? HEVCPlane(elements: luma, stride: stride) : HEVCPlane(elements: component == 1 ? cb : cr, stride: chromaStride)
    }
}

/// One of a picture's planes.
struct HEVCPlane<Sample: HEVCSample>: BitwiseCopyable, Sendable {
    let elements: ElementPointer<Sample>
    /// Samples from row to row.
    let stride: Int
}

/// A picture as a decoder has it. Its memory is made once, for one size and bit depth; each VA surface that the client
/// reconstructs into has one.
///
/// SAFETY: the back end lets no one read a picture while a job writes it.
@safe package final class HEVCReconstructedPicture: @unchecked Sendable {
    /// Luma samples beyond each border: a block of 64 and the filter's taps. Blocks further out are moved in to there,
    /// which changes no sample.
    package static let margin = 80

    package let grid: HEVCGrid
    package let bitDepth: Int
    private let bytes: ElementStorage<UInt8>
    /// By 16×16 area in raster order.
    package let motion: ElementStorage<HEVCStoredMotion>
    package var poc = 0
    /// What intra refresh had renewed of it.
    var renewal = Renewal()

    package init(grid: HEVCGrid, bitDepth: Int) {
        self.grid = grid
        self.bitDepth = bitDepth
        let layout = Layout(grid)
        bytes = ElementStorage(count: layout.samples * (bitDepth > 8 ? 2 : 1), repeating: 0)
        motion = ElementStorage(count: grid.areaColumns * grid.areaRows, repeating: HEVCStoredMotion())
    }

    /// `Sample` must be of `bitDepth`.
    package func planes<Sample: HEVCSample>(_ type: Sample.Type = Sample.self) -> HEVCPlanes<Sample> {
        precondition(Sample.bitDepth == bitDepth)
        let layout = Layout(grid)
        // SAFETY: the memory is raw bytes, aligned to 64, large enough for the layout, and used as one type only.
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
            // Whole coding tree units are reconstructed; rows a power of two apart would fall on the same cache lines.
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
            // Vector loads may run past a block's right edge, by less than a row.
            samples = lumaCount + 2 * chromaCount + 64
        }
    }
}
