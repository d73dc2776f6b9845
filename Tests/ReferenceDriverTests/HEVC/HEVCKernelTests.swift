import ReferenceDriver
import TestOracles
import Testing

/// Compares block sums, differences and costs with their definitions.
struct HEVCKernelTests {
    static let widths = [4, 8, 12, 16, 24, 32, 48, 64]
    private let stride = 80
    private let otherStride = 72

    private func elements<Sample: HEVCSample>(_ generator: inout SplitMix64, extreme: Bool) -> ElementStorage<Sample> {
        let storage = ElementStorage<Sample>(count: 80 * 66, repeating: 0)
        let most = Sample((1 << Sample.bitDepth) - 1)
        for i in 0..<storage.count {
            storage.elements[i] =
                extreme ? (Bool.random(using: &generator) ? most : 0) : Sample.random(in: 0...most, using: &generator)
        }
        return storage
    }

    private func difference<Sample: HEVCSample>(_ a: ElementPointer<Sample>, _ b: ElementPointer<Sample>, _ x: Int, _ y: Int) -> Int {
        Int(a[y * stride + x]) - Int(b[y * otherStride + x])
    }

    private func satd<Sample: HEVCSample>(_ a: ElementPointer<Sample>, _ b: ElementPointer<Sample>, _ width: Int, _ height: Int) -> Int {
        let h = [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]
        var sum = 0
        for y in Swift.stride(from: 0, to: height, by: 4) {
            for x in Swift.stride(from: 0, to: width, by: 4) {
                let d = (0..<4).map { v in (0..<4).map { difference(a, b, x + $0, y + v) } }
                let t = HEVCTransformTests.product(HEVCTransformTests.product(h, d), h)
                sum += t.joined().reduce(0) { $0 + abs($1) } / 2
            }
        }
        return sum
    }

    private func check<Sample: HEVCSample>(_ type: Sample.Type) {
        var generator = SplitMix64(state: UInt64(Sample.bitDepth))
        for extreme in [false, true] {
            let a: ElementStorage<Sample> = elements(&generator, extreme: extreme)
            let b: ElementStorage<Sample> = elements(&generator, extreme: extreme)
            let sum: ElementStorage<Sample> = elements(&generator, extreme: false)
            let residual = ElementStorage<Int16>(count: 72 * 66, repeating: 77)
            for width in Self.widths {
                for height in Self.widths {
                    var sad = 0
                    var squares = 0
                    HEVCBlock.residual(
                        a.elements, stride, minus: b.elements, otherStride, width: width, height: height, to: residual.elements, 72)
                    var wrong = 0
                    for y in 0..<height {
                        for x in 0..<width {
                            let d = difference(a.elements, b.elements, x, y)
                            sad += abs(d)
                            squares += d * d
                            if Int(residual.elements[y * 72 + x]) != d { wrong += 1 }
                        }
                    }
                    let found = HEVCBlockCost.sad(a.elements, stride, b.elements, otherStride, width: width, height: height)
                    #expect(found == sad, "\(width)×\(height)")
                    let found2 = HEVCBlock.squares(a.elements, stride, b.elements, otherStride, width: width, height: height)
                    #expect(found2 == squares, "\(width)×\(height)")
                    let found3 = HEVCBlockCost.satd(a.elements, stride, b.elements, otherStride, width: width, height: height)
                    #expect(found3 == satd(a.elements, b.elements, width, height), "\(width)×\(height)")
                    // Residuals have any size, and the samples beside the block stay unchanged.
                    for y in 0..<height { residual.elements[y * 72] = y % 2 == 0 ? 32767 : -32768 }
                    sum.elements.fill(9, count: sum.count)
                    HEVCBlock.add(
                        residual.elements, 72, to: b.elements, otherStride, width: width, height: height, into: sum.elements, 80)
                    let most = (1 << Sample.bitDepth) - 1
                    for y in 0..<height {
                        for x in 0..<width {
                            let value = Int(b.elements[y * otherStride + x]) + Int(residual.elements[y * 72 + x])
                            if Int(sum.elements[y * 80 + x]) != min(max(value, 0), most) { wrong += 1 }
                        }
                        if sum.elements[y * 80 + width] != 9 { wrong += 1 }
                    }
                    HEVCBlock.copy(a.elements, stride, width: width, height: height, to: sum.elements, 80)
                    for y in 0..<height {
                        for x in 0..<width where sum.elements[y * 80 + x] != a.elements[y * stride + x] { wrong += 1 }
                        if sum.elements[y * 80 + width] != 9 { wrong += 1 }
                    }
                    #expect(wrong == 0, "\(width)×\(height)")
                }
            }
        }
    }

    @Test func byteKernelsMatchTheirDefinitions() { check(UInt8.self) }
    @Test func wordKernelsMatchTheirDefinitions() { check(UInt16.self) }
}
