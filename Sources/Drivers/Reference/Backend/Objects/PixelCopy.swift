/// A rectangle of a picture in memory, described by layout.
struct PixelArea {
    var memory: HostMemory
    var layout: PlaneLayout
    /// Even.
    var x: Int
    var y: Int

    func luma(row: Int) -> ElementPointer<UInt8> {
        memory.elements(at: layout.offsets[0] + (y + row) * layout.pitches[0] + x)
    }

    /// Cb/Cr pairs of a semi-planar layout.
    func pairs(row: Int) -> ElementPointer<UInt8> {
        memory.elements(at: layout.offsets[1] + (y / 2 + row) * layout.pitches[1] + x)
    }

    /// A chroma plane of a planar layout.
    func chroma(plane: Int, row: Int) -> ElementPointer<UInt8> {
        memory.elements(at: layout.offsets[plane] + (y / 2 + row) * layout.pitches[plane] + x / 2)
    }

    /// Copies `width` × `height` samples, with their chroma, into `target`, converting between 4:2:0 formats of 8 bits.
    /// Both areas must lie inside their pictures; other formats must be the same.
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

    func start(plane index: Int, row: Int) -> ElementPointer<UInt8> {
        let plane = layout.format.planes[index]
        return memory.elements(
            at: layout.offsets[index] + (y >> plane.down + row) * layout.pitches[index] + x >> plane.across * plane.bytes)
    }

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
    /// Stores `count` pairs of bytes, one of each plane.
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
