/// The margins of reconstructed pictures.
package enum HEVCBorder {
    /// Fills the margins beside `rows` of a picture's planes with the nearest border sample, and those above and below
    /// the picture if `rows` contains its first and last row. `rows` are luma rows; both bounds are even.
    ///
    /// Interpolation reads these samples for positions outside of the picture, H.265 8.5.3.3.3.
    package static func extend<Sample: HEVCSample>(_ planes: HEVCPlanes<Sample>, rows: Range<Int>) {
        let margin = HEVCReconstructedPicture.margin
        let half = rows.lowerBound / 2..<rows.upperBound / 2
        extend(planes.luma, planes.stride, width: planes.width, height: planes.height, margin, rows)
        extend(planes.cb, planes.chromaStride, width: planes.width / 2, height: planes.height / 2, margin / 2, half)
        extend(planes.cr, planes.chromaStride, width: planes.width / 2, height: planes.height / 2, margin / 2, half)
    }

    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    private static func extend<Sample: HEVCSample>(
        _ plane: ElementPointer<Sample>, _ stride: Int, width: Int, height: Int, _ margin: Int, _ rows: Range<Int>
    ) {
        for y in rows {
            let row = plane + y &* stride
            (row - margin).fill(row[0], count: margin)
            (row + width).fill(row[width &- 1], count: margin)
        }
        let whole = width &+ 2 &* margin
        let first = plane - margin
        let last = plane + ((height &- 1) &* stride &- margin)
        for y in 1...margin {
            if rows.lowerBound == 0 { (first - y &* stride).copy(from: first, count: whole) }
            if rows.upperBound == height { (last + y &* stride).copy(from: last, count: whole) }
        }
    }
}
