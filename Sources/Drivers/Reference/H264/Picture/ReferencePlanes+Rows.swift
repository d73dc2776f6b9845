// The margins and half-sample planes, one macroblock row at a time.

extension ReferencePlanes {
    /// Extends the borders and fills the half-sample planes. The samples inside the picture must be complete.
    func finish(_ geometry: PlaneGeometry) {
        let sums = HalfSampleSums(geometry)
        for row in 0..<geometry.height / 16 {
            extend(macroblockRow: row, geometry)
            interpolate(macroblockRow: row, geometry, sums)
        }
    }

    /// Extends the borders of the samples that do not change any more after a macroblock row was deblocked. The rows
    /// above it must have been extended.
    ///
    /// Deblocking of the next row changes three luma rows and one chroma row above it.
    func extend(macroblockRow row: Int, _ geometry: PlaneGeometry) {
        let isLast = 16 * row + 16 == geometry.height
        extendSides(
            luma, geometry, fromRow: max(16 * row - 3, 0), toRow: isLast ? geometry.height : 16 * row + 13, by: 0)
        extendChromaSides(
            geometry, fromRow: max(8 * row - 1, 0), toRow: isLast ? geometry.height / 2 : 8 * row + 7)
        if row == 0 {
            repeatRow(luma, geometry, 0, at: -PlaneGeometry.margin..<0)
            repeatRow(chroma, geometry, 0, at: -PlaneGeometry.chromaMargin..<0)
        }
        if isLast {
            let (end, chromaEnd) = (geometry.height, geometry.height / 2)
            repeatRow(luma, geometry, end - 1, at: end..<end + PlaneGeometry.margin)
            repeatRow(chroma, geometry, chromaEnd - 1, at: chromaEnd..<chromaEnd + PlaneGeometry.chromaMargin)
        }
    }

    /// Fills the rows of the half-sample planes that can be computed after `extend` of a macroblock row. They begin
    /// eight rows above it and end eight rows before its end.
    func interpolate(macroblockRow row: Int, _ geometry: PlaneGeometry, _ sums: HalfSampleSums) {
        // The half-sample filters include `reach` samples of the margin. Beyond it, the planes are constant in the
        // outward direction.
        let reach = HalfSamples.reach
        let isLast = 16 * row + 16 == geometry.height
        let start = row == 0 ? -reach : 16 * row - 8
        let end = isLast ? geometry.height + reach : 16 * row + 8
        var y = start
        while y < end {
            interpolateRows(y, geometry, sums)
            y += 2
        }
        for plane in [right, below, both] {
            extendSides(plane, geometry, fromRow: start, toRow: end, by: reach)
            if row == 0 { repeatRow(plane, geometry, start, at: -PlaneGeometry.margin..<start) }
            if isLast { repeatRow(plane, geometry, end - 1, at: end..<geometry.height + PlaneGeometry.margin) }
        }
    }

    /// Repeats the first and last samples of rows that are valid up to `inset` samples outside the picture.
    private func extendSides(
        _ plane: ElementPointer<UInt8>, _ geometry: PlaneGeometry, fromRow: Int, toRow: Int, by inset: Int
    ) {
        let margin = PlaneGeometry.margin
        for y in fromRow..<toRow {
            let row = plane + y * geometry.stride
            (row - margin).fill(row[-inset], count: margin - inset)
            (row + geometry.width + inset).fill(row[geometry.width + inset - 1], count: margin - inset)
        }
    }

    private func extendChromaSides(_ geometry: PlaneGeometry, fromRow: Int, toRow: Int) {
        for y in fromRow..<toRow {
            let row = chroma + y * geometry.stride
            let left: UInt16 = row.load(0)
            let right: UInt16 = row.load(geometry.width - 2)
            for x in 0..<PlaneGeometry.margin / 2 {
                row.store(-2 - 2 * x, left)
                row.store(geometry.width + 2 * x, right)
            }
        }
    }

    /// Copies a whole row with its margins to other rows.
    private func repeatRow(_ plane: ElementPointer<UInt8>, _ geometry: PlaneGeometry, _ row: Int, at rows: Range<Int>) {
        let start = plane - PlaneGeometry.margin
        for y in rows {
            (start + y * geometry.stride).copy(from: start + row * geometry.stride, count: geometry.stride)
        }
    }
}
