import TestOracles
import Testing

@Suite struct SampleDifferenceTests {
    @Test(arguments: [8, 10]) func firstDifferenceIsInTheEarliestBlock(_ bitDepth: Int) throws {
        let size = PlanarFrame.byteCount(width: 40, height: 40, bitDepth: bitDepth)
        let plain = try #require(
            PlanarFrame(width: 40, height: 40, bitDepth: bitDepth, bytes: [UInt8](repeating: 0, count: size)))
        #expect(plain.firstDifference(from: plain) == nil)
        #expect(plain.difference(from: plain) == nil)
        let step = bitDepth > 8 ? 2 : 1
        var bytes = plain.bytes
        // Luma differs in block 3 of 32×32 at 33,38, and Cr in block 1 at 17,2; in macroblocks these are 8 and 2.
        bytes[(38 * 40 + 33) * step] = 7
        bytes[(1600 + 400 + 2 * 20 + 17) * step] = 5
        let other = try #require(PlanarFrame(width: 40, height: 40, bitDepth: bitDepth, bytes: bytes))
        let large = try #require(other.firstDifference(from: plain, blockSize: 32))
        #expect(large.plane == 2 && large.x == 17 && large.y == 2 && large.block == 1 && large.value == 5)
        #expect(large.counts == [1, 0, 1] && large.expected == 0)
        bytes[(1600 + 400 + 2 * 20 + 17) * step] = 0
        let luma = try #require(PlanarFrame(width: 40, height: 40, bitDepth: bitDepth, bytes: bytes))
        let small = try #require(luma.firstDifference(from: plain))
        #expect(small.plane == 0 && small.x == 33 && small.y == 38 && small.block == 8 && small.value == 7)
        #expect(luma.difference(from: plain)?.contains("luma at 33,38") == true)
        let narrow = try #require(PlanarFrame(width: 2, height: 2, bytes: [0, 0, 0, 0, 0, 0]))
        #expect(narrow.difference(from: plain)?.contains("2×2") == true)
    }

    @Test func tenBitFramesAreSplitAndCompared() throws {
        let low = try #require(PlanarFrame(width: 2, height: 2, bytes: [200, 1, 2, 3, 128, 131]))
        let wide = low.widenedTo10Bits
        #expect(wide.bitDepth == 10 && wide.bytesPerSample == 2 && wide.bytes.count == 12)
        #expect(wide.bytes[0] == 0x23 && wide.bytes[1] == 3)
        #expect(wide.cropped(x: 0, y: 0, width: 2, height: 2) == wide)
        #expect(PlanarFrame.split(wide.bytes + wide.bytes, width: 2, height: 2, bitDepth: 10) == [wide, wide])
        #expect(PlanarFrame.split(wide.bytes, width: 2, height: 2, bitDepth: 10) != [low])
        var bytes = wide.bytes
        bytes[0] ^= 2
        let other = try #require(PlanarFrame(width: 2, height: 2, bitDepth: 10, bytes: bytes))
        // One of four samples differs by two: the mean squared error is 1.
        #expect(abs(PSNR.luma(wide, other) - 60.19751) < 1e-4)
        bytes[0] ^= 2
        bytes[1] ^= 1
        let far = try #require(PlanarFrame(width: 2, height: 2, bitDepth: 10, bytes: bytes))
        #expect(abs(PSNR.luma(wide, far) - 18.05331) < 1e-4)
    }
}
