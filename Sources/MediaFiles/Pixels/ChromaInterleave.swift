/// Converts chroma from planar to semi-planar.
enum ChromaInterleave {
    /// Writes `count` pairs u, v, u, v … to `destination`.
    // SAFETY: the caller provides `count` readable bytes at `u` and `v`, and 2·count writable bytes at `destination`.
    // Vector loads and stores stay inside these counts.
    @unsafe static func interleave(
        u: UnsafeRawPointer, v: UnsafeRawPointer, to destination: UnsafeMutableRawPointer, count: Int
    ) {
        var index = 0
        while index + 16 <= count {
            let a = unsafe u.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            let b = unsafe v.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            // In this explicit form each is one instruction. The standard library's conversion to 16 bits is a call.
            let low = SIMD16<UInt8>(
                a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7])
            let high = SIMD16<UInt8>(
                a[8], b[8], a[9], b[9], a[10], b[10], a[11], b[11], a[12], b[12], a[13], b[13], a[14], b[14], a[15],
                b[15])
            unsafe destination.storeBytes(of: low, toByteOffset: index * 2, as: SIMD16<UInt8>.self)
            unsafe destination.storeBytes(of: high, toByteOffset: index * 2 + 16, as: SIMD16<UInt8>.self)
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
