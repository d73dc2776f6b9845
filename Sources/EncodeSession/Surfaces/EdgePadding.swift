import VideoBase

/// Fills the area of a surface beyond the visible picture by repeating the last column and row. The edge blocks then
/// cost few bits and predict well. Supports NV12 and P010.
enum EdgePadding {
    /// Fills the edges of a picture.
    ///
    /// - Parameter coded: The size to fill: whole macroblocks, at most `planes.allocatedSize`.
    static func fill(_ planes: PixelPlanes, coded: VideoSize) {
        let visible = unsafe planes.size
        let allocated = unsafe planes.allocatedSize
        let width = min(coded.width, allocated.width)
        let height = min(coded.height, allocated.height)
        if visible.width >= width, visible.height >= height { return }
        let sample = unsafe planes.format == .p010 ? 2 : 1
        // SAFETY: all rows and columns touched are below `allocatedSize`, which the planes hold.
        unsafe fill(
            planes.base(0), pitch: planes.pitch(0), element: sample, columns: visible.width, rows: visible.height,
            toColumns: width, rows: height)
        unsafe fill(
            planes.base(1), pitch: planes.pitch(1), element: sample * 2, columns: (visible.width + 1) / 2,
            rows: (visible.height + 1) / 2, toColumns: width / 2, rows: height / 2)
    }

    /// Fills one plane with `element` bytes per sample position.
    @unsafe private static func fill(
        _ base: UnsafeMutableRawPointer, pitch: Int, element: Int, columns: Int, rows: Int, toColumns: Int,
        rows toRows: Int
    ) {
        if columns < toColumns {
            for row in 0..<rows {
                let end = unsafe base + row * pitch + columns * element
                for offset in 0..<(toColumns - columns) * element {
                    unsafe end.storeBytes(
                        of: end.load(fromByteOffset: offset % element - element, as: UInt8.self), toByteOffset: offset,
                        as: UInt8.self)
                }
            }
        }
        guard rows < toRows else { return }
        let count = max(columns, toColumns) * element
        // The memory may be slow to read, so it is read once.
        unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { last in
            guard let copy = last.baseAddress else { return }
            unsafe copy.copyMemory(from: base + (rows - 1) * pitch, byteCount: count)
            for row in rows..<toRows { unsafe (base + row * pitch).copyMemory(from: copy, byteCount: count) }
        }
    }
}
