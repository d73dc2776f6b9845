import TestOracles
import Testing

@Suite struct PSNRTests {
    @Test func psnrMatchesHandDerivedValues() throws {
        let black = try #require(PlanarFrame(width: 2, height: 2, bytes: [0, 0, 0, 0, 128, 128]))
        let white = try #require(PlanarFrame(width: 2, height: 2, bytes: [255, 255, 255, 255, 128, 128]))
        let gray = try #require(PlanarFrame(width: 2, height: 2, bytes: [1, 0, 1, 0, 128, 128]))
        #expect(PSNR.luma(black, white) == 0)
        #expect(PSNR.luma(black, black) == .infinity)
        // The mean squared error is 1/2: 10·log10(65025·2) dB.
        #expect(abs(PSNR.luma(black, gray) - 51.14110359) < 1e-6)
        #expect(abs(PSNR.all(black, gray) - 52.90201618) < 1e-6)
        #expect(black.nv12 == [0, 0, 0, 0, 128, 128])
    }

    @Test func croppingAndSplittingSelectTheRightSamples() throws {
        let bytes = (0..<24).map { UInt8($0) }
        let frame = try #require(PlanarFrame(width: 4, height: 4, bytes: bytes))
        #expect(frame.cropped(x: 2, y: 2, width: 2, height: 2).bytes == [10, 11, 14, 15, 19, 23])
        #expect(PlanarFrame.split(bytes + [0], width: 4, height: 4) == nil)
        #expect(PlanarFrame.split(bytes + bytes, width: 4, height: 4)?.count == 2)
        #expect(frame.nv12.suffix(8) == [16, 20, 17, 21, 18, 22, 19, 23])
    }
}
