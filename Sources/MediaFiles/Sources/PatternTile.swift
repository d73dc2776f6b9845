/// A square of NV12 that continues seamlessly at its edges. The bands of the test pattern consist of it.
struct PatternTile: Sendable {
    static let side = 512

    private var luma: [UInt8]
    private var chroma: [UInt8]

    /// The tiles of the bars, the gradient and the texture, created once.
    static let all = [PatternTile(bars), PatternTile(gradient), PatternTile(texture)]

    /// A sample of each component.
    private typealias Sample = (y: UInt8, u: UInt8, v: UInt8)

    /// Fills a tile with the samples that `row` writes for each y. Chroma comes from the samples at even coordinates.
    private init(_ row: (Int, inout [Sample]) -> Void) {
        let side = Self.side
        luma = [UInt8](repeating: 0, count: side * side)
        chroma = [UInt8](repeating: 0, count: side * side / 2)
        var samples = [Sample](repeating: (0, 0, 0), count: side)
        for y in 0..<side {
            row(y, &samples)
            for x in 0..<side { luma[y * side + x] = samples[x].y }
            guard y & 1 == 0 else { continue }
            for x in stride(from: 0, to: side, by: 2) {
                chroma[y / 2 * side + x] = samples[x].u
                chroma[y / 2 * side + x + 1] = samples[x].v
            }
        }
    }

    /// The eight color bars of 75 % amplitude in BT.709 limited range, with a fine grid at the bottom.
    private static func bars(_ y: Int, _ samples: inout [Sample]) {
        let colors: [Sample] = [
            (180, 128, 128), (168, 44, 136), (145, 147, 44), (133, 63, 52), (63, 193, 204), (51, 109, 212),
            (28, 212, 120),
            (16, 128, 128),
        ]
        let hasGrid = y % 64 >= 60
        for x in 0..<side {
            let color = colors[x / 64]
            samples[x] = hasGrid && x % 8 < 4 ? (235 - color.y / 2, color.u, color.v) : color
        }
    }

    /// A smooth two-dimensional wave in all colors.
    private static func gradient(_ y: Int, _ samples: inout [Sample]) {
        func triangle(_ value: Int) -> Int { let v = value & 511; return v < 256 ? v : 511 - v }
        for x in 0..<side {
            samples[x] = (
                UInt8(16 + (triangle(x + y) + triangle(2 * y - x)) * 219 / 510), UInt8(64 + triangle(x) / 2),
                UInt8(64 + triangle(y + 128) / 2)
            )
        }
    }

    /// Noise, smoothed at three scales. For an encoder it resembles grass or gravel.
    private static func texture(_ y: Int, _ samples: inout [Sample]) {
        let (coarse, medium, fine) = (smoothNoise(32, 1, row: y), smoothNoise(8, 2, row: y), smoothNoise(2, 3, row: y))
        let red = smoothNoise(64, 4, row: y)
        for x in 0..<side {
            let luma = coarse[x] / 2 + medium[x] * 3 / 8 + fine[x] / 8
            samples[x] = (UInt8(24 + luma * 3 / 4), UInt8(108 + coarse[x] / 8), UInt8(112 + red[x] / 8))
        }
    }

    /// Returns a row of noise: one value from 0 to 255 for each corner of the cells of `cell` samples, and the bilinear
    /// interpolation between them.
    private static func smoothNoise(_ cell: Int, _ seed: UInt32, row y: Int) -> [Int] {
        let cells = side / cell
        let (top, fraction) = (y / cell, y % cell)
        let bottom = (top + 1) % cells
        let corners = (0..<cells).map { x in
            noise(x: x, y: top, seed: seed) * (cell - fraction) + noise(x: x, y: bottom, seed: seed) * fraction
        }
        var values = [Int](repeating: 0, count: side)
        let shift = 2 * cell.trailingZeroBitCount
        for left in 0..<cells {
            var sum = corners[left] * cell
            let step = corners[left + 1 < cells ? left + 1 : 0] - corners[left]
            for x in left * cell..<(left + 1) * cell {
                values[x] = sum >> shift
                sum += step
            }
        }
        return values
    }

    /// Returns a value from 0 to 255 that looks random.
    private static func noise(x: Int, y: Int, seed: UInt32) -> Int {
        var hash = UInt32(truncatingIfNeeded: x) &* 0x85EB_CA6B ^ UInt32(truncatingIfNeeded: y) &* 0xC2B2_AE35 ^ seed
        hash ^= hash >> 15
        hash = hash &* 0x2C1B_3C6D
        hash ^= hash >> 12
        hash = hash &* 0x297A_2D39
        hash ^= hash >> 15
        return Int(hash & 255)
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
