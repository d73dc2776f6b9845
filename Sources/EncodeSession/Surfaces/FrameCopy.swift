import VideoBase

/// Copies a picture in memory into a mapped NV12 or P010 surface.
enum FrameCopy {
    /// Returns the formats that `copy` accepts for an NV12 or P010 surface. Other formats are converted before.
    static func formats(into surface: PixelFormat) -> [PixelFormat] {
        surface == .p010 ? [.p010, .i420p10] : [.nv12, .i420, .yv12]
    }

    /// Copies a picture. Both sides have the same visible size and depth; `to` is NV12 or P010.
    static func copy(_ from: PixelPlanes, to: PixelPlanes) {
        let (size, format) = unsafe (to.size, to.format)
        let columns = (size.width + 1) / 2
        let rows = (size.height + 1) / 2
        switch unsafe from.format {
        case .i420p10: unsafe raise(from, to: to)
        case .i420, .yv12:
            unsafe copyRows(
                from.base(0), sourcePitch: from.pitch(0), to: to.base(0), targetPitch: to.pitch(0), bytes: size.width,
                rows: size.height)
            let cb = unsafe from.format == .i420 ? 1 : 2
            let cr = 3 - cb
            unsafe ChromaInterleave.interleave(
                u: from.base(cb), uPitch: from.pitch(cb), v: from.base(cr), vPitch: from.pitch(cr),
                to: to.base(1), pitch: to.pitch(1), width: columns, rows: rows)
        default:
            for plane in 0..<2 {
                unsafe copyRows(
                    from.base(plane), sourcePitch: from.pitch(plane), to: to.base(plane), targetPitch: to.pitch(plane),
                    bytes: format.rowBytes(plane: plane, width: size.width),
                    rows: format.rows(plane: plane, height: size.height))
            }
        }
    }

    /// Copies 10-bit samples: moves the bits from the low to the high end of each word and interleaves the chroma
    /// planes.
    @unsafe private static func raise(_ from: PixelPlanes, to: PixelPlanes) {
        let size = unsafe to.size
        for row in 0..<size.height {
            let source = unsafe from.base(0) + row * from.pitch(0)
            let target = unsafe to.base(0) + row * to.pitch(0)
            var column = 0
            while column + 16 <= size.width {
                let samples = unsafe source.loadUnaligned(fromByteOffset: column * 2, as: SIMD16<UInt16>.self)
                unsafe target.storeBytes(of: samples &<< 6, toByteOffset: column * 2, as: SIMD16<UInt16>.self)
                column += 16
            }
            while column < size.width {
                let sample = unsafe source.loadUnaligned(fromByteOffset: column * 2, as: UInt16.self)
                unsafe target.storeBytes(of: sample &<< 6, toByteOffset: column * 2, as: UInt16.self)
                column += 1
            }
        }
        for row in 0..<(size.height + 1) / 2 {
            let cb = unsafe from.base(1) + row * from.pitch(1)
            let cr = unsafe from.base(2) + row * from.pitch(2)
            let target = unsafe to.base(1) + row * to.pitch(1)
            let columns = (size.width + 1) / 2
            var column = 0
            while column + 8 <= columns {
                var mixed = SIMD16<UInt16>()
                mixed.evenHalf = unsafe cb.loadUnaligned(fromByteOffset: column * 2, as: SIMD8<UInt16>.self)
                mixed.oddHalf = unsafe cr.loadUnaligned(fromByteOffset: column * 2, as: SIMD8<UInt16>.self)
                unsafe target.storeBytes(of: mixed &<< 6, toByteOffset: column * 4, as: SIMD16<UInt16>.self)
                column += 8
            }
            while column < columns {
                let a = unsafe cb.loadUnaligned(fromByteOffset: column * 2, as: UInt16.self)
                let b = unsafe cr.loadUnaligned(fromByteOffset: column * 2, as: UInt16.self)
                unsafe target.storeBytes(of: a &<< 6, toByteOffset: column * 4, as: UInt16.self)
                unsafe target.storeBytes(of: b &<< 6, toByteOffset: column * 4 + 2, as: UInt16.self)
                column += 1
            }
        }
    }

    @unsafe private static func copyRows(
        _ source: UnsafeMutableRawPointer, sourcePitch: Int, to target: UnsafeMutableRawPointer, targetPitch: Int,
        bytes: Int, rows: Int
    ) {
        if sourcePitch == bytes, targetPitch == bytes {
            unsafe target.copyMemory(from: source, byteCount: bytes * rows)
        } else {
            for row in 0..<rows {
                unsafe (target + row * targetPitch).copyMemory(from: source + row * sourcePitch, byteCount: bytes)
            }
        }
    }
}
