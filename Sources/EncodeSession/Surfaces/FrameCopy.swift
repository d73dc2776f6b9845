import VideoBase

/// Copies a picture in memory into a mapped NV12 surface.
enum FrameCopy {
    /// The formats that `copy` takes; others are converted before they come here.
    static let formats: Set<PixelFormat> = [.nv12, .i420, .yv12]

    /// Both have the same visible size; `to` is NV12.
    static func copy(_ from: PixelPlanes, to: PixelPlanes) {
        let size = unsafe to.size
        unsafe copyRows(
            from.base(0), from.pitch(0), to: to.base(0), to.pitch(0), bytes: size.width, rows: size.height)
        let columns = (size.width + 1) / 2
        let rows = (size.height + 1) / 2
        switch unsafe from.format {
        case .i420: unsafe interleave(from, cb: 1, cr: 2, to: to, columns: columns, rows: rows)
        case .yv12: unsafe interleave(from, cb: 2, cr: 1, to: to, columns: columns, rows: rows)
        default:
            unsafe copyRows(
                from.base(1), from.pitch(1), to: to.base(1), to.pitch(1), bytes: columns * 2, rows: rows)
        }
    }

    @unsafe private static func copyRows(
        _ source: UnsafeMutableRawPointer, _ sourcePitch: Int, to target: UnsafeMutableRawPointer, _ targetPitch: Int,
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

    @unsafe private static func interleave(
        _ from: PixelPlanes, cb: Int, cr: Int, to: PixelPlanes, columns: Int, rows: Int
    ) {
        for row in 0..<rows {
            let cb = unsafe from.base(cb) + row * from.pitch(cb)
            let cr = unsafe from.base(cr) + row * from.pitch(cr)
            let target = unsafe to.base(1) + row * to.pitch(1)
            var column = 0
            while column + 16 <= columns {
                let a = unsafe cb.loadUnaligned(fromByteOffset: column, as: SIMD16<UInt8>.self)
                let b = unsafe cr.loadUnaligned(fromByteOffset: column, as: SIMD16<UInt8>.self)
                var mixed = SIMD32<UInt8>()
                mixed.evenHalf = a
                mixed.oddHalf = b
                unsafe target.storeBytes(of: mixed, toByteOffset: column * 2, as: SIMD32<UInt8>.self)
                column += 16
            }
            while column < columns {
                unsafe target.storeBytes(
                    of: cb.load(fromByteOffset: column, as: UInt8.self), toByteOffset: column * 2, as: UInt8.self)
                unsafe target.storeBytes(
                    of: cr.load(fromByteOffset: column, as: UInt8.self), toByteOffset: column * 2 + 1, as: UInt8.self)
                column += 1
            }
        }
    }
}
