/// A square of NV12 that continues seamlessly at its edges. The bands of the test pattern consist of it.
struct PatternTile: Sendable {
    static let side = 512

    private var luma: [UInt8]
    private var chroma: [UInt8]

    /// The tiles of the bars, the gradient and the texture, created once.
    static let all = [PatternTile(bars), PatternTile(gradient), PatternTile(texture)]

    /// Fills a tile with `sample(x, y)`. Chroma comes from the samples at even coordinates.
    private init(_ sample: (Int, Int) -> (y: UInt8, u: UInt8, v: UInt8)) {
        let side = Self.side
        luma = [UInt8](repeating: 0, count: side * side)
        chroma = [UInt8](repeating: 0, count: side * side / 2)
        for y in 0..<side {
            for x in 0..<side {
                let value = sample(x, y)
                luma[y * side + x] = value.y
                if x | y & 1 == x & ~1 {
                    chroma[y / 2 * side + x] = value.u
                    chroma[y / 2 * side + x + 1] = value.v
                }
            }
        }
    }

    /// The eight color bars of 75 % amplitude in BT.709 limited range, with a fine grid at the bottom.
    private static func bars(_ x: Int, _ y: Int) -> (y: UInt8, u: UInt8, v: UInt8) {
        let colors: [(UInt8, UInt8, UInt8)] = [
            (180, 128, 128), (168, 44, 136), (145, 147, 44), (133, 63, 52), (63, 193, 204), (51, 109, 212),
            (28, 212, 120),
            (16, 128, 128),
        ]
        let color = colors[x / 64]
        let line = y % 64 >= 60 && x % 8 < 4
        return (line ? 235 - color.0 / 2 : color.0, color.1, color.2)
    }

    /// A smooth two-dimensional wave in all colors.
    private static func gradient(_ x: Int, _ y: Int) -> (y: UInt8, u: UInt8, v: UInt8) {
        func triangle(_ value: Int) -> Int { let v = value & 511; return v < 256 ? v : 511 - v }
        return (
            UInt8(16 + (triangle(x + y) + triangle(2 * y - x)) * 219 / 510), UInt8(64 + triangle(x) / 2),
            UInt8(64 + triangle(y + 128) / 2)
        )
    }

    /// Noise, smoothed at three scales. For an encoder it resembles grass or gravel.
    private static func texture(_ x: Int, _ y: Int) -> (y: UInt8, u: UInt8, v: UInt8) {
        func noise(x: Int, y: Int, seed: UInt32) -> Int {
            var hash =
                UInt32(truncatingIfNeeded: x) &* 0x85EB_CA6B ^ UInt32(truncatingIfNeeded: y) &* 0xC2B2_AE35 ^ seed
            hash ^= hash >> 15
            hash = hash &* 0x2C1B_3C6D
            hash ^= hash >> 12
            hash = hash &* 0x297A_2D39
            hash ^= hash >> 15
            return Int(hash & 255)
        }
        /// Returns the bilinear interpolation between the corners of cells of `cell` samples.
        func smooth(_ cell: Int, _ seed: UInt32) -> Int {
            let cells = side / cell
            let (left, top, fx, fy) = (x / cell, y / cell, x % cell, y % cell)
            let (right, bottom) = ((left + 1) % cells, (top + 1) % cells)
            let above = noise(x: left, y: top, seed: seed) * (cell - fx) + noise(x: right, y: top, seed: seed) * fx
            let below = noise(x: left, y: bottom, seed: seed) * (cell - fx) + noise(x: right, y: bottom, seed: seed) * fx
            return (above * (cell - fy) + below * fy) / (cell * cell)
        }
        let coarse = smooth(32, 1)
        let luma = coarse / 2 + smooth(8, 2) * 3 / 8 + smooth(2, 3) / 8
        return (UInt8(24 + luma * 3 / 4), UInt8(108 + coarse / 8), UInt8(112 + smooth(64, 4) / 8))
    }

    /// Copies `count` samples of a row, shifted by `offset`.
    // SAFETY: the destination has `count` bytes. The sources are slices of the arrays.
    func copyLuma(row: Int, offset: Int, to destination: UnsafeMutableRawPointer, count: Int) {
        unsafe copy(luma, row: row, offset: offset, to: destination, count: count)
    }

    /// Copies `count` bytes of a row of chroma pairs, shifted by `offset`, which is an even number of luma samples.
    func copyChroma(row: Int, offset: Int, to destination: UnsafeMutableRawPointer, count: Int) {
        unsafe copy(chroma, row: row, offset: offset, to: destination, count: count)
    }

    private func copy(_ plane: [UInt8], row: Int, offset: Int, to destination: UnsafeMutableRawPointer, count: Int) {
        let side = Self.side
        unsafe plane.withUnsafeBytes { bytes in
            let start = unsafe bytes.baseAddress! + row * side
            var (done, from) = (0, offset)
            while done < count {
                let step = min(count - done, side - from)
                unsafe (destination + done).copyMemory(from: start + from, byteCount: step)
                done += step
                from = 0
            }
        }
    }
}
