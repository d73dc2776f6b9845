/// A rectangle in a picture in memory, from `x` and `y` on.
struct PixelArea {
    var memory: HostMemory
    var layout: PlaneLayout
    /// The left edge in luma samples. It is even if the chroma is subsampled horizontally.
    var x: Int
    /// The top edge in luma samples. It is even if the chroma is subsampled vertically.
    var y: Int

    /// Returns a pointer to the luma samples of a row.
    func luma(row: Int) -> ElementPointer<UInt8> {
        memory.elements(at: layout.offsets[0] + (y + row) * layout.pitches[0] + x)
    }

    /// Returns a pointer to the Cb/Cr pairs of a chroma row in a semi-planar layout.
    func pairs(row: Int) -> ElementPointer<UInt8> {
        memory.elements(at: layout.offsets[1] + (y / 2 + row) * layout.pitches[1] + x)
    }

    /// Returns a pointer to the samples of a chroma row in a planar layout.
    func chroma(plane: Int, row: Int) -> ElementPointer<UInt8> {
        memory.elements(at: layout.offsets[plane] + (y / 2 + row) * layout.pitches[plane] + x / 2)
    }

    /// Copies `width` × `height` luma samples and their chroma samples into `target`.
    ///
    /// Both areas must be inside their pictures. The formats must be the same, or both 4:2:0 with 8 bits.
    func copy(to target: PixelArea, width: Int, height: Int) {
        let shared = memory.objects + target.memory.objects
        for object in shared { object.beginAccess() }
        defer { for object in shared { object.endAccess() } }
        if layout.format == target.layout.format { return copyPlanes(to: target, width: width, height: height) }
        for row in 0..<height {
            target.luma(row: row).copy(from: luma(row: row), count: width)
        }
        let columns = (width + 1) / 2
        for row in 0..<(height + 1) / 2 {
            switch (layout.isSemiPlanar, target.layout.isSemiPlanar) {
            case (true, _):
                let (cb, cr) = target.layout.chromaPlanes
                split(
                    pairs(row: row), cb: target.chroma(plane: cb, row: row), cr: target.chroma(plane: cr, row: row),
                    count: columns)
            case (false, true):
                let (cb, cr) = layout.chromaPlanes
                target.pairs(row: row).putPairs(
                    cb: chroma(plane: cb, row: row), cr: chroma(plane: cr, row: row), count: columns)
            case (false, false):
                let (from, to) = (layout.chromaPlanes, target.layout.chromaPlanes)
                target.chroma(plane: to.cb, row: row).copy(from: chroma(plane: from.cb, row: row), count: columns)
                target.chroma(plane: to.cr, row: row).copy(from: chroma(plane: from.cr, row: row), count: columns)
            }
        }
    }

    private func copyPlanes(to target: PixelArea, width: Int, height: Int) {
        for (index, plane) in layout.format.planes.enumerated() {
            for row in 0..<plane.rows(height: height) {
                target.start(plane: index, row: row).copy(
                    from: start(plane: index, row: row), count: plane.rowBytes(width: width))
            }
        }
    }

    /// Returns a pointer to the first element of a row in any plane.
    func start(plane index: Int, row: Int) -> ElementPointer<UInt8> {
        let plane = layout.format.planes[index]
        return memory.elements(
            at: layout.offsets[index] + (y >> plane.down + row) * layout.pitches[index] + x >> plane.across * plane.bytes)
    }

    /// Copies `count` Cb/Cr pairs into two planes.
    private func split(_ pairs: ElementPointer<UInt8>, cb: ElementPointer<UInt8>, cr: ElementPointer<UInt8>, count: Int) {
        var column = 0
        while column + 16 <= count {
            let vector = pairs.load(2 * column, as: SIMD32<UInt8>.self)
            cb.store(column, vector.evenHalf)
            cr.store(column, vector.oddHalf)
            column += 16
        }
        while column < count {
            cb[column] = pairs[2 * column]
            cr[column] = pairs[2 * column + 1]
            column += 1
        }
    }
}

extension ElementPointer<UInt8> {
    /// Interleaves `count` bytes of each plane into pairs, Cb first.
    func putPairs(cb: ElementPointer<UInt8>, cr: ElementPointer<UInt8>, count: Int) {
        var column = 0
        while column + 16 <= count {
            var vector = SIMD32<UInt8>()
            vector.evenHalf = cb.load(column)
            vector.oddHalf = cr.load(column)
            store(2 * column, vector)
            column += 16
        }
        while column < count {
            self[2 * column] = cb[column]
            self[2 * column + 1] = cr[column]
            column += 1
        }
    }
}
