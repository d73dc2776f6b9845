/// The step between planar and semi-planar chroma.
enum ChromaInterleave {
    /// Writes `count` pairs u, v, u, v … to `destination`.
    // SAFETY: the caller lends `count` readable bytes at `u` and `v` and 2·count writable ones at `destination`;
    // vector loads and stores stay inside these counts.
    @unsafe static func interleave(
        u: UnsafeRawPointer, v: UnsafeRawPointer, to destination: UnsafeMutableRawPointer, count: Int
    ) {
        var index = 0
        while index + 16 <= count {
            let low = unsafe u.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            let high = unsafe v.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            let pairs =
                SIMD16<UInt16>(truncatingIfNeeded: low) | (SIMD16<UInt16>(truncatingIfNeeded: high) &<< 8)
            unsafe destination.storeBytes(of: pairs, toByteOffset: index * 2, as: SIMD16<UInt16>.self)
            index += 16
        }
        while index < count {
            unsafe destination.storeBytes(of: u.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index * 2, as: UInt8.self)
            unsafe destination.storeBytes(
                of: v.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index * 2 + 1, as: UInt8.self)
            index += 1
        }
    }

    /// As above for a plane of `rows` rows of `width` pairs.
    @unsafe static func interleave(
        u: UnsafeRawPointer, uPitch: Int, v: UnsafeRawPointer, vPitch: Int,
        to destination: UnsafeMutableRawPointer, pitch: Int, width: Int, rows: Int
    ) {
        if uPitch == width, vPitch == width, pitch == 2 * width {
            unsafe interleave(u: u, v: v, to: destination, count: width * rows)
            return
        }
        for row in 0..<rows {
            unsafe interleave(
                u: u + row * uPitch, v: v + row * vPitch, to: destination + row * pitch, count: width)
        }
    }
}
