/// The margins of reconstructed pictures.
package enum HEVCBorder {
    /// Fills the margins of a picture's planes with the nearest border sample. Interpolation reads these samples for
    /// positions outside of the picture, H.265 8.5.3.3.3.
    package static func extend<Sample: HEVCSample>(_ planes: HEVCPlanes<Sample>) {
        let margin = HEVCReconstructedPicture.margin
        extend(planes.luma, planes.stride, width: planes.width, height: planes.height, margin)
        extend(planes.cb, planes.chromaStride, width: planes.width / 2, height: planes.height / 2, margin / 2)
        extend(planes.cr, planes.chromaStride, width: planes.width / 2, height: planes.height / 2, margin / 2)
    }

    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    private static func extend<Sample: HEVCSample>(
        _ plane: ElementPointer<Sample>, _ stride: Int, width: Int, height: Int, _ margin: Int
    ) {
        for y in 0..<height {
            let row = plane + y &* stride
            (row - margin).fill(row[0], count: margin)
            (row + width).fill(row[width &- 1], count: margin)
        }
        let whole = width &+ 2 &* margin
        let first = plane - margin
        let last = plane + ((height &- 1) &* stride &- margin)
        for y in 1...margin {
            (first - y &* stride).copy(from: first, count: whole)
            (last + y &* stride).copy(from: last, count: whole)
        }
    }
}
