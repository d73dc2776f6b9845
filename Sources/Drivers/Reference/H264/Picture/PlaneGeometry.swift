/// How the planes of a picture lie in memory: four luma planes (whole samples and the three half-sample positions)
/// and one of interleaved chroma, each with a margin that repeats its border.
package struct PlaneGeometry: Sendable {
    /// Luma samples beyond each border. Motion vectors reach 24 samples out; the interpolation filter takes 3 more.
    package static let margin = 32
    /// Chroma rows above and below; left and right there are as many bytes as in luma.
    package static let chromaMargin = 16

    package let width: Int
    package let height: Int
    /// Bytes from row to row in every plane.
    package let stride: Int

    package init(widthInMacroblocks: Int, heightInMacroblocks: Int) {
        width = widthInMacroblocks * 16
        height = heightInMacroblocks * 16
        let stride = width + 2 * Self.margin
        // Rows a power of two apart would all fall on the same cache lines.
        self.stride = stride % 1024 == 0 ? stride + 64 : stride
    }

    package var lumaPlaneBytes: Int { (height + 2 * Self.margin) * stride }
    /// Vector loads may run past a block's right edge, by less than a row.
    package var byteCount: Int { 4 * lumaPlaneBytes + (height / 2 + 2 * Self.chromaMargin) * stride + 64 }
}

/// The planes of one picture, each pointer at the sample (0, 0).
package struct ReferencePlanes: BitwiseCopyable, Sendable {
    package let luma: ElementPointer<UInt8>
    /// Bytes from a luma sample to the same sample of the next plane: half-sample positions b (right), h (below)
    /// and j (both) of H.264 figure 8-4 follow in this order.
    package let planeBytes: Int
    /// Cb and Cr interleaved.
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

    /// Once the samples inside the picture stand: repeats the borders and fills the half-sample planes.
    package func finish(_ geometry: PlaneGeometry) {
        extend(luma, geometry, fromRow: 0, toRow: geometry.height, by: 0)
        extendChroma(geometry)
        interpolateHalfSamples(geometry)
        // The filters ran `reach` samples into the margin, from where on the planes are constant outwards.
        let reach = HalfSamples.reach
        extend(right, geometry, fromRow: -reach, toRow: geometry.height + reach, by: reach)
        extend(below, geometry, fromRow: -reach, toRow: geometry.height + reach, by: reach)
        extend(both, geometry, fromRow: -reach, toRow: geometry.height + reach, by: reach)
    }

    /// Repeats the first and last column and row of a plane that is filled from `inset` samples outside the picture.
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
