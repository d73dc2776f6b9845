/// Converts chroma from planar to semi-planar.
package enum ChromaInterleave {
    /// Writes `count` pairs u, v, u, v … to `destination`.
    // SAFETY: the caller provides `count` readable bytes at `u` and `v`, and 2·count writable bytes at `destination`.
    // Vector loads and stores stay inside these counts.
    @unsafe package static func interleave(
        u: UnsafeRawPointer, v: UnsafeRawPointer, to destination: UnsafeMutableRawPointer, count: Int
    ) {
        var index = 0
        while index + 16 <= count {
            let a = unsafe u.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            let b = unsafe v.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            // The halves compile to two instructions that unpack bytes.
            var mixed = SIMD32<UInt8>()
            (mixed.evenHalf, mixed.oddHalf) = (a, b)
            unsafe destination.storeBytes(of: mixed, toByteOffset: index * 2, as: SIMD32<UInt8>.self)
            index += 16
        }
        while index < count {
            unsafe destination.storeBytes(
                of: u.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index * 2, as: UInt8.self)
            unsafe destination.storeBytes(
                of: v.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index * 2 + 1, as: UInt8.self)
            index += 1
        }
    }

    /// Writes a plane of `rows` rows of `width` pairs. Pitches are in bytes.
    // SAFETY: the caller provides `rows` rows of `width` readable bytes at `u` and `v`, and of 2·width writable bytes at
    // `destination`.
    @unsafe package static func interleave(
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
