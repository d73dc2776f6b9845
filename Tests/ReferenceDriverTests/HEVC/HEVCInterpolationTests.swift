import TestOracles
import Testing

@testable import ReferenceDriver

/// Compares the interpolation filters with a plain implementation of the clause: each sample alone, from a picture
/// whose coordinates are clamped to its border.
@Suite struct HEVCInterpolationTests {
    static let luma: [[Int]] = [
        [0, 0, 0, 64, 0, 0, 0, 0], [-1, 4, -10, 58, 17, -5, 1, 0], [-1, 4, -11, 40, 40, -11, 4, -1],
        [0, 1, -5, 17, 58, -10, 4, -1],
    ]
    static let chroma: [[Int]] = [
        [0, 64, 0, 0], [-2, 58, 10, -2], [-4, 54, 16, -2], [-6, 46, 28, -4], [-4, 36, 36, -4], [-4, 28, 46, -6],
        [-2, 16, 54, -4], [-2, 10, 58, -2],
    ]

    /// A picture of random and extreme samples, with its margin filled.
    private struct Picture<Sample: HEVCSample> {
        let picture: HEVCReconstructedPicture
        let planes: HEVCPlanes<Sample>

        init(width: Int, height: Int, _ generator: inout SplitMix64) {
            let grid = HEVCGrid(width: width, height: height)
            picture = HEVCReconstructedPicture(grid: grid, bitDepth: Sample.bitDepth)
            planes = picture.planes()
            for component in 0..<3 {
                let plane = planes.plane(component)
                let (w, h) = component == 0 ? (width, height) : (width / 2, height / 2)
                let margin = component == 0 ? HEVCReconstructedPicture.margin : HEVCReconstructedPicture.margin / 2
                for y in 0..<h {
                    for x in 0..<w {
                        let value = Int.random(in: 0...1 << Sample.bitDepth, using: &generator)
                        plane.elements[y * plane.stride + x] = Sample(truncatingIfNeeded: min(value, Sample.largest))
                        if Int.random(in: 0..<3, using: &generator) == 0 {
                            plane.elements[y * plane.stride + x] = value & 1 == 0 ? 0 : Sample(Sample.largest)
                        }
                    }
                }
                for y in -margin..<h + margin {
                    for x in -margin..<w + margin where !(0..<w).contains(x) || !(0..<h).contains(y) {
                        plane.elements[y * plane.stride + x] =
                            plane.elements[min(max(y, 0), h - 1) * plane.stride + min(max(x, 0), w - 1)]
                    }
                }
            }
        }
    }

    /// Returns one sample at 14 bits (8.5.3.3.3).
    private func plain<Sample: HEVCSample>(
        _ plane: HEVCPlane<Sample>, _ width: Int, _ height: Int, _ x: Int, _ y: Int, _ taps: [[Int]], _ fx: Int, _ fy: Int
    ) -> Int {
        let count = taps[0].count
        let first = 1 - count / 2
        func sample(_ x: Int, _ y: Int) -> Int {
            Int(plane.elements[min(max(y, 0), height - 1) * plane.stride + min(max(x, 0), width - 1)])
        }
        func row(_ y: Int) -> Int { (0..<count).reduce(0) { $0 + taps[fx][$1] * sample(x + first + $1, y) } }
        let shift1 = Sample.bitDepth - 8
        if fx == 0 && fy == 0 { return sample(x, y) << (14 - Sample.bitDepth) }
        if fy == 0 { return row(y) >> shift1 }
        if fx == 0 { return (0..<count).reduce(0) { $0 + taps[fy][$1] * sample(x, y + first + $1) } >> shift1 }
        return (0..<count).reduce(0) { $0 + taps[fy][$1] * (row(y + first + $1) >> shift1) } >> 6
    }

    private func sweep<Sample: HEVCSample>(_ type: Sample.Type) {
        var generator = SplitMix64(state: 7)
        let source = Picture<Sample>(width: 88, height: 72, &generator)
        let planes = source.planes
        typealias Filter = HEVCInterpolation<Sample>
        let (a, b) = (ElementStorage<Int16>(count: Filter.count, repeating: 0), ElementStorage<Int16>(count: Filter.count, repeating: 0))
        let scratch = ElementStorage<Int16>(count: Filter.scratchCount, repeating: 0)
        let out = ElementStorage<Sample>(count: 64 * 64, repeating: 0)
        let sizes = [(8, 4), (4, 8), (16, 16), (12, 16), (16, 4), (24, 32), (64, 16), (64, 64)]
        var wrong = 0
        for (width, height) in sizes {
            for fraction in 0..<64 {
                let far = fraction % 5 == 0
                let (fx, fy) = (fraction & 7, fraction >> 3)
                let column = far ? [-200, 180][fraction & 1] : Int.random(in: -20...20, using: &generator)
                let (mx, my) = (column, Int.random(in: -30...30, using: &generator))
                let x = Int.random(in: 0...(88 - width) / 4, using: &generator) * 4
                let y = Int.random(in: 0...(72 - height) / 4, using: &generator) * 4
                if fx < 4 && fy < 4 {
                    let vector = MotionVector(x: Int16(4 * mx + fx), y: Int16(4 * my + fy))
                    Filter.luma(planes, x: x, y: y, vector, width: width, height: height, scratch: scratch.elements, to: a.elements)
                    for j in 0..<height {
                        for i in 0..<width {
                            let right = plain(planes.plane(0), 88, 72, x + i + mx, y + j + my, Self.luma, fx, fy)
                            if Int(a.elements[j * 64 + i]) != right { wrong += 1 }
                        }
                    }
                }
                let vector = MotionVector(x: Int16(8 * mx + fx), y: Int16(8 * my + fy))
                let (w, h) = (width / 2, height / 2)
                for (component, block) in [(1, a), (2, b)] {
                    Filter.chroma(
                        planes.plane(component).elements, planes, x: x / 2, y: y / 2, vector, width: w, height: h,
                        scratch: scratch.elements, to: block.elements)
                    for j in 0..<h {
                        for i in 0..<w {
                            let right = plain(
                                planes.plane(component), 44, 36, x / 2 + i + mx, y / 2 + j + my, Self.chroma, fx, fy)
                            if Int(block.elements[j * 64 + i]) != right { wrong += 1 }
                        }
                    }
                }
                // Predicts from the two blocks alone and as a pair; the samples beside the block stay unchanged.
                out.elements.fill(Sample(truncatingIfNeeded: 77), count: 64 * 64)
                HEVCInterPrediction<Sample>.both(a.elements, b.elements, width: w, height: h, to: out.elements, stride: 64)
                wrong += mistakes(out.elements, w, h) { (Int(a.elements[$0]) + Int(b.elements[$0]), 15 - Sample.bitDepth) }
                HEVCInterPrediction<Sample>.one(a.elements, width: w, height: h, to: out.elements, stride: 64)
                wrong += mistakes(out.elements, w, h) { (Int(a.elements[$0]), 14 - Sample.bitDepth) }
            }
        }
        #expect(wrong == 0)
    }

    private func mistakes<Sample: HEVCSample>(
        _ out: ElementPointer<Sample>, _ width: Int, _ height: Int, _ value: (Int) -> (Int, Int)
    ) -> Int {
        (0..<64 * 64).count { index in
            guard index % 64 < width, index / 64 < height else { return out[index] != 77 }
            let (sum, shift) = value(index)
            return Int(out[index]) != min(max((sum + 1 << (shift - 1)) >> shift, 0), Sample.largest)
        }
    }

    @Test func everyFractionAndSizeMatchesTheStandard() {
        sweep(UInt8.self)
        sweep(UInt16.self)
    }
}
