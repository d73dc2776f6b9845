import ReferenceDriver
import TestOracles
import Testing

/// Compares motion compensation with H.264 8.4.2.2, computed sample by sample with clamped coordinates.
struct PixelsInterpolationTests {
    private let width = 32
    private let height = 32

    private func picture(_ generator: inout SplitMix64, extreme: Bool) -> (H264ReconstructedPicture, [UInt8], [UInt8]) {
        var luma = [UInt8](repeating: 0, count: width * height)
        var chroma = [UInt8](repeating: 0, count: width * height / 2)
        func sample() -> UInt8 {
            extreme ? (Bool.random(using: &generator) ? 255 : 0) : UInt8.random(in: 0...255, using: &generator)
        }
        for i in luma.indices { luma[i] = sample() }
        for i in chroma.indices { chroma[i] = sample() }
        let y = ElementStorage<UInt8>(count: luma.count, repeating: 0)
        let uv = ElementStorage<UInt8>(count: chroma.count, repeating: 0)
        for i in luma.indices { y.elements[i] = luma[i] }
        for i in chroma.indices { uv.elements[i] = chroma[i] }
        let picture = H264ReconstructedPicture(widthInMacroblocks: width / 16, heightInMacroblocks: height / 16)
        picture.fill(
            from: SourcePicture(
                luma: y.elements, chroma: uv.elements, lumaPitch: width, chromaPitch: width, width: width, height: height))
        return (picture, luma, chroma)
    }

    /// Returns luma at quarter-sample position (x, y), (8-241) to (8-261).
    private func luma(_ samples: [UInt8], _ x: Int, _ y: Int) -> Int {
        func whole(_ x: Int, _ y: Int) -> Int {
            Int(samples[max(0, min(height - 1, y)) * width + max(0, min(width - 1, x))])
        }
        func tap(_ v: [Int]) -> Int { v[0] - 5 * v[1] + 20 * v[2] + 20 * v[3] - 5 * v[4] + v[5] }
        func clip(_ v: Int) -> Int { max(0, min(255, v)) }
        func right(_ x: Int, _ y: Int) -> Int { clip((tap((-2...3).map { whole(x + $0, y) }) + 16) >> 5) }
        func below(_ x: Int, _ y: Int) -> Int { clip((tap((-2...3).map { whole(x, y + $0) }) + 16) >> 5) }
        func both(_ x: Int, _ y: Int) -> Int {
            clip((tap((-2...3).map { row in tap((-2...3).map { whole(x + $0, y + row) }) }) + 512) >> 10)
        }
        func mean(_ a: Int, _ b: Int) -> Int { (a + b + 1) >> 1 }
        let (i, j) = (x >> 2, y >> 2)
        switch (x & 3, y & 3) {
        case (0, 0): return whole(i, j)
        case (1, 0): return mean(whole(i, j), right(i, j))
        case (2, 0): return right(i, j)
        case (3, 0): return mean(right(i, j), whole(i + 1, j))
        case (0, 1): return mean(whole(i, j), below(i, j))
        case (0, 2): return below(i, j)
        case (0, 3): return mean(below(i, j), whole(i, j + 1))
        case (1, 1): return mean(right(i, j), below(i, j))
        case (2, 1): return mean(right(i, j), both(i, j))
        case (3, 1): return mean(right(i, j), below(i + 1, j))
        case (1, 2): return mean(below(i, j), both(i, j))
        case (2, 2): return both(i, j)
        case (3, 2): return mean(both(i, j), below(i + 1, j))
        case (1, 3): return mean(below(i, j), right(i, j + 1))
        case (2, 3): return mean(both(i, j), right(i, j + 1))
        default: return mean(below(i + 1, j), right(i, j + 1))
        }
    }

    /// Sweeps every fraction at positions inside, across and beyond the borders, with noise and with the sharpest
    /// content.
    @Test(arguments: [false, true]) func lumaMatchesTheStandard(_ extreme: Bool) {
        var generator = SplitMix64(state: 11)
        let (picture, samples, _) = picture(&generator, extreme: extreme)
        let planes = picture.planes
        let geometry = PlaneGeometry(widthInMacroblocks: width / 16, heightInMacroblocks: height / 16)
        let block = ElementStorage<UInt8>(count: 16 * 32 + 64, repeating: 0)
        for (left, top) in [
            (0, 0), (5, 9), (-24, -24), (-3, 11), (width - 8, height - 8), (width + 8, height + 8), (9, -17),
        ] {
            for fraction in 0..<16 {
                let x = left * 4 + (left + 16 > width + 23 ? 0 : fraction & 3)
                let y = top * 4 + (top + 16 > height + 23 ? 0 : fraction >> 2)
                for size in [8, 16] {
                    MotionCompensation.luma(
                        planes, stride: geometry.stride, x: x, y: y, width: size, height: size, to: block.elements, 32)
                    var wrong = 0
                    for row in 0..<size {
                        for column in 0..<size
                        where Int(block.elements[row * 32 + column])
                            != luma(samples, x + 4 * column, y + 4 * row)
                        { wrong += 1 }
                    }
                    #expect(wrong == 0, "at (\(x), \(y)) in quarters, \(size)×\(size)")
                }
            }
        }
    }

    @Test func chromaMatchesTheStandard() {
        var generator = SplitMix64(state: 12)
        let (picture, _, samples) = picture(&generator, extreme: false)
        let planes = picture.planes
        let geometry = PlaneGeometry(widthInMacroblocks: width / 16, heightInMacroblocks: height / 16)
        let cb = ElementStorage<UInt8>(count: 512, repeating: 0)
        let cr = ElementStorage<UInt8>(count: 512, repeating: 0)
        func whole(_ plane: Int, _ x: Int, _ y: Int) -> Int {
            Int(samples[max(0, min(height / 2 - 1, y)) * width + 2 * max(0, min(width / 2 - 1, x)) + plane])
        }
        func expected(_ plane: Int, _ x: Int, _ y: Int) -> Int {
            let (i, j, a, b) = (x >> 3, y >> 3, x & 7, y & 7)
            return
                ((8 - a) * (8 - b) * whole(plane, i, j) + a * (8 - b) * whole(plane, i + 1, j)
                + (8 - a) * b * whole(plane, i, j + 1) + a * b * whole(plane, i + 1, j + 1) + 32) >> 6
        }
        for (left, top) in [(0, 0), (3, 4), (-12, -12), (width / 2 - 5, height / 2 - 2), (width / 2 + 3, 5)] {
            for fraction in 0..<64 {
                let (x, y) = (left * 8 + (fraction & 7), top * 8 + (fraction >> 3))
                for size in [4, 8] {
                    MotionCompensation.chroma(
                        planes, stride: geometry.stride, x: x, y: y, width: size, height: size, toCb: cb.elements,
                        cr: cr.elements, 32)
                    var wrong = 0
                    for row in 0..<size {
                        for column in 0..<size {
                            let at = row * 32 + column
                            if Int(cb.elements[at]) != expected(0, x + 8 * column, y + 8 * row) { wrong += 1 }
                            if Int(cr.elements[at]) != expected(1, x + 8 * column, y + 8 * row) { wrong += 1 }
                        }
                    }
                    #expect(wrong == 0, "at (\(x), \(y)) in eighths, \(size)×\(size)")
                }
            }
        }
    }

    @Test func costsMatchPlainSums() {
        var generator = SplitMix64(state: 13)
        let a = ElementStorage<UInt8>(count: 512, repeating: 0)
        let b = ElementStorage<UInt8>(count: 1024, repeating: 0)
        for round in 0..<60 {
            for i in 0..<512 { a.elements[i] = round % 2 == 0 ? UInt8.random(in: 0...255, using: &generator) : 255 }
            for i in 0..<1024 { b.elements[i] = round % 3 == 0 ? UInt8.random(in: 0...255, using: &generator) : 0 }
            func difference(_ x: Int, _ y: Int) -> Int {
                Int(a.elements[y * H264Scratch.sourceStride + x]) - Int(b.elements[y * 32 + x])
            }
            for (width, height) in [(16, 16), (16, 8), (8, 16), (8, 8)] {
                var absolute = 0
                var squares = 0
                for y in 0..<height {
                    for x in 0..<width {
                        absolute += abs(difference(x, y))
                        squares += difference(x, y) * difference(x, y)
                    }
                }
                let sad =
                    width == 16
                    ? H264BlockCost.sad16(a.elements, b.elements, 32, height: height)
                    : H264BlockCost.sad8(a.elements, b.elements, 32, height: height)
                #expect(sad == absolute)
                #expect(H264BlockCost.squares(a.elements, b.elements, 32, width: width, height: height) == squares)
                var transformed = 0
                for y in stride(from: 0, to: height, by: 4) {
                    for x in stride(from: 0, to: width, by: 4) {
                        transformed += hadamard(4) { difference(x + $0, y + $1) }
                    }
                }
                #expect(H264BlockCost.satd(a.elements, b.elements, 32, width: width, height: height) == transformed / 2)
                if width == 16 {
                    // The average of a block with itself is the block.
                    #expect(
                        H264BlockCost.sad16(a.elements, average: b.elements, b.elements, 32, height: height) == absolute)
                    var averaged = 0
                    for y in 0..<height {
                        for x in 0..<16 {
                            let (p, q) = (b.elements[y * 32 + x], b.elements[y * 32 + x + 5])
                            averaged += abs(Int(a.elements[y * 16 + x]) - (Int(p) + Int(q) + 1) / 2)
                        }
                    }
                    #expect(
                        H264BlockCost.sad16(a.elements, average: b.elements, b.elements + 5, 32, height: height)
                            == averaged)
                }
                guard width == 16, height == 16 else { continue }
                for limit in [0, 1, transformed / 8, transformed / 2, transformed / 2 + 1, Int.max] {
                    let limited = H264BlockCost.satd16x16(a.elements, b.elements, 32, below: limit)
                    #expect(limit > transformed / 2 ? limited == transformed / 2 : limited >= limit)
                }
            }
            #expect(H264BlockCost.satd4x4(a.elements, b.elements, 32) == hadamard(4, difference) / 2)
            #expect(H264BlockCost.satd8x8(a.elements, b.elements, 32) == (hadamard(8, difference) + 2) / 4)
        }
    }

    /// Returns the sum of absolute Hadamard coefficients.
    private func hadamard(_ size: Int, _ value: (Int, Int) -> Int) -> Int {
        func sign(_ i: Int, _ j: Int) -> Int { (i & j).nonzeroBitCount % 2 == 0 ? 1 : -1 }
        let rows = (0..<size).map { y in
            (0..<size).map { u in (0..<size).reduce(0) { $0 + sign(u, $1) * value($1, y) } }
        }
        var sum = 0
        for u in 0..<size {
            for v in 0..<size { sum += abs((0..<size).reduce(0) { $0 + sign(v, $1) * rows[$1][u] }) }
        }
        return sum
    }
}
