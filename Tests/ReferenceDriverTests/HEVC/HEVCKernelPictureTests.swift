@testable import ReferenceDriver
import TestOracles
import Testing

/// Tests whole pictures: the import of surfaces, and margins.
struct HEVCKernelPictureTests {
    private func checkImport<Sample: HEVCSample>(_ type: Sample.Type, isP010: Bool, _ width: Int, _ height: Int) {
        var generator = SplitMix64(state: UInt64(width * 100 + height))
        let pitch = isP010 ? 256 : 144
        let surface = ElementStorage<UInt8>(count: pitch * 200, repeating: 0)
        for i in 0..<surface.count { surface.elements[i] = UInt8.random(in: 0...255, using: &generator) }
        let chroma = surface.elements + 100 * pitch
        let grid = HEVCGrid(width: (width + 7) & ~7, height: (height + 7) & ~7, log2CodingTreeBlock: 5)
        let picture = HEVCReconstructedPicture(grid: grid, bitDepth: Sample.bitDepth)
        let planes = picture.planes(Sample.self)
        let source = HEVCSource(
            luma: surface.elements, chroma: chroma, lumaPitch: pitch, chromaPitch: pitch, width: width, height: height,
            isP010: isP010)
        for row in (0..<grid.rows).reversed() { HEVCSourceImport.load(source, into: planes, grid, row: row) }
        func value(_ elements: ElementPointer<UInt8>, _ x: Int, _ y: Int) -> Int {
            let offset = y * pitch + x * (isP010 ? 2 : 1)
            let ten =
                isP010 ? (Int(elements[offset]) | Int(elements[offset + 1]) << 8) >> 6 : Int(elements[offset]) << 2
            return Sample.bitDepth == 10 ? ten : ten >> 2
        }
        var wrong = 0
        for y in 0..<grid.rows * 32 {
            for x in 0..<grid.columns * 32 {
                if Int(planes.luma[y * planes.stride + x]) != value(surface.elements, min(x, width - 1), min(y, height - 1)) {
                    wrong += 1
                }
            }
        }
        for y in 0..<grid.rows * 16 {
            for x in 0..<grid.columns * 16 {
                let (column, row) = (min(x, (width - 1) / 2), min(y, (height - 1) / 2))
                if Int(planes.cb[y * planes.chromaStride + x]) != value(chroma, 2 * column, row) { wrong += 1 }
                if Int(planes.cr[y * planes.chromaStride + x]) != value(chroma, 2 * column + 1, row) { wrong += 1 }
            }
        }
        #expect(wrong == 0, "\(width)×\(height), P010 \(isP010), depth \(Sample.bitDepth)")
    }

    @Test func surfacesAreImportedAsPlanes() {
        for (width, height) in [(8, 8), (16, 16), (40, 24), (33, 17), (64, 64), (70, 66), (98, 50), (128, 96)] {
            for isP010 in [false, true] {
                checkImport(UInt8.self, isP010: isP010, width, height)
                checkImport(UInt16.self, isP010: isP010, width, height)
            }
        }
    }

    private func checkBorder<Sample: HEVCSample>(_ type: Sample.Type, _ width: Int, _ height: Int) {
        var generator = SplitMix64(state: 3)
        let grid = HEVCGrid(width: width, height: height)
        let picture = HEVCReconstructedPicture(grid: grid, bitDepth: Sample.bitDepth)
        let planes = picture.planes(Sample.self)
        func fill(_ elements: ElementPointer<Sample>, _ stride: Int, _ width: Int, _ height: Int) {
            for y in 0..<height {
                for x in 0..<width { elements[y * stride + x] = Sample.random(in: 0...255, using: &generator) }
            }
        }
        fill(planes.luma, planes.stride, width, height)
        fill(planes.cb, planes.chromaStride, width / 2, height / 2)
        fill(planes.cr, planes.chromaStride, width / 2, height / 2)
        for row in (0..<grid.rows).reversed() {
            HEVCBorder.extend(planes, rows: 64 * row..<min(64 * (row + 1), height))
        }
        func wrong(_ elements: ElementPointer<Sample>, _ stride: Int, _ width: Int, _ height: Int, _ margin: Int) -> Int {
            var count = 0
            for y in -margin..<height + margin {
                for x in -margin..<width + margin {
                    let inside = elements[min(max(y, 0), height - 1) * stride + min(max(x, 0), width - 1)]
                    if elements[y * stride + x] != inside { count += 1 }
                }
            }
            return count
        }
        #expect(wrong(planes.luma, planes.stride, width, height, 80) == 0)
        #expect(wrong(planes.cb, planes.chromaStride, width / 2, height / 2, 40) == 0)
        #expect(wrong(planes.cr, planes.chromaStride, width / 2, height / 2, 40) == 0)
    }

    @Test func marginsRepeatTheBorder() {
        for (width, height) in [(8, 8), (64, 64), (72, 136), (200, 40)] {
            checkBorder(UInt8.self, width, height)
            checkBorder(UInt16.self, width, height)
        }
    }
}
