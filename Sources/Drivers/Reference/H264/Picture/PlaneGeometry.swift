/// The memory layout of a picture's planes: four luma planes (whole samples and the three half-sample positions) and
/// one plane of interleaved chroma. Each plane has a margin that repeats its border samples.
package struct PlaneGeometry: Sendable {
    /// The margin of a luma plane in samples. Motion vectors go up to 24 samples outside the picture, and the
    /// interpolation filter reads 3 more.
    package static let margin = 32
    /// The number of chroma rows above and below the picture. The margins to the left and right have as many bytes as
    /// in luma.
    package static let chromaMargin = 16

    package let width: Int
    package let height: Int
    /// Bytes between rows, in every plane.
    package let stride: Int

    package init(widthInMacroblocks: Int, heightInMacroblocks: Int) {
        width = widthInMacroblocks * 16
        height = heightInMacroblocks * 16
        let stride = width + 2 * Self.margin
        // If rows were a multiple of 1024 bytes apart, they would share the same cache sets.
        self.stride = stride % 1024 == 0 ? stride + 64 : stride
    }

    /// The size of one luma plane with its margins, in bytes.
    package var lumaPlaneBytes: Int { (height + 2 * Self.margin) * stride }
    /// The size of all planes in bytes. It includes 64 bytes because vector loads may read beyond the end of the last
    /// row.
    package var byteCount: Int { 4 * lumaPlaneBytes + (height / 2 + 2 * Self.chromaMargin) * stride + 64 }
}

/// The planes of one picture. Each pointer refers to the sample (0, 0).
package struct ReferencePlanes: BitwiseCopyable, Sendable {
    package let luma: ElementPointer<UInt8>
    /// The distance in bytes between a luma sample and the same sample of the next plane. The planes of the half-sample
    /// positions b (right), h (below) and j (both) of H.264 figure 8-4 follow in this order.
    package let planeBytes: Int
    /// The interleaved Cb and Cr samples.
    package let chroma: ElementPointer<UInt8>

    package init(_ geometry: PlaneGeometry, _ base: ElementPointer<UInt8>) {
        let margin = PlaneGeometry.margin
        luma = base + (margin * geometry.stride + margin)
        planeBytes = geometry.lumaPlaneBytes
        chroma = base + (4 * geometry.lumaPlaneBytes + PlaneGeometry.chromaMargin * geometry.stride + margin)
    }

    package var right: ElementPointer<UInt8> { luma + planeBytes }
    package var below: ElementPointer<UInt8> { luma + 2 * planeBytes }
    package var both: ElementPointer<UInt8> { luma + 3 * planeBytes }

    /// Extends the borders and fills the half-sample planes. The samples inside the picture must be complete.
    package func finish(_ geometry: PlaneGeometry) {
        extend(luma, geometry, fromRow: 0, toRow: geometry.height, by: 0)
        extendChroma(geometry)
        interpolateHalfSamples(geometry)
        // The half-sample filters include `reach` samples of the margin. Beyond it, the planes are constant in the
        // outward direction.
        let reach = HalfSamples.reach
        extend(right, geometry, fromRow: -reach, toRow: geometry.height + reach, by: reach)
        extend(below, geometry, fromRow: -reach, toRow: geometry.height + reach, by: reach)
        extend(both, geometry, fromRow: -reach, toRow: geometry.height + reach, by: reach)
    }

    /// Repeats the first and last column and row of a plane that is valid up to `inset` samples outside the picture.
    private func extend(_ plane: ElementPointer<UInt8>, _ geometry: PlaneGeometry, fromRow: Int, toRow: Int, by inset: Int) {
        let margin = PlaneGeometry.margin
        let stride = geometry.stride
        for y in fromRow..<toRow {
            let row = plane + y * stride
            (row - margin).fill(row[-inset], count: margin - inset)
            (row + geometry.width + inset).fill(row[geometry.width + inset - 1], count: margin - inset)
        }
        for y in inset..<margin {
            (plane - (y + 1) * stride - margin).copy(from: plane + fromRow * stride - margin, count: stride)
            (plane + (geometry.height + y) * stride - margin)
                .copy(from: plane + (toRow - 1) * stride - margin, count: stride)
        }
    }

    private func extendChroma(_ geometry: PlaneGeometry) {
        let pairs = PlaneGeometry.margin / 2
        let stride = geometry.stride
        let rows = geometry.height / 2
        for y in 0..<rows {
            let row = chroma + y * stride
            let left: UInt16 = row.load(0)
            let right: UInt16 = row.load(geometry.width - 2)
            for x in 0..<pairs {
                row.store(-2 - 2 * x, left)
                row.store(geometry.width + 2 * x, right)
            }
        }
        for y in 0..<PlaneGeometry.chromaMargin {
            (chroma - (y + 1) * stride - 2 * pairs).copy(from: chroma - 2 * pairs, count: stride)
            (chroma + (rows + y) * stride - 2 * pairs)
                .copy(from: chroma + (rows - 1) * stride - 2 * pairs, count: stride)
        }
    }
}
