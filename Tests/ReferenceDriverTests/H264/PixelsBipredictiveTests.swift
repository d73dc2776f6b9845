import ReferenceDriver
import TestOracles
import Testing

/// Tests that foreign decoders decode streams with B pictures to the reconstruction.
struct PixelsBipredictiveTests {
    /// Every two values of every two parameters occur together in some stream.
    @Test func everyPairOfParametersDecodes() {
        let sizes = [16, 32, 46, 64, 80]
        let qps = [6, 20, 28, 36, 48]
        let rows = PairwiseCover.rows(
            counts: [sizes.count, sizes.count, 7, qps.count, 2, 2, 3, 3, 4, 3, 3, 2, 4, 2, 2])
        for row in rows {
            let encoding = PixelsEncoding(
                width: sizes[row[0]], height: sizes[row[1]], frames: 8, cabac: row[4] == 0, transform8x8: row[5] == 0,
                slices: row[6] + 1, references: row[7] + 1, quality: row[2] + 1, qp: qps[row[3]], filterMode: row[8],
                constrainedIntra: row[11] == 1, period: row[13] == 0 ? 100 : 5,
                content: PixelsEncoding.Content(rawValue: row[12])!, bipredictive: row[9] + 1,
                layers: PixelsEncoding.Layers(rawValue: row[10])!, direct_8x8_inference_flag: row[14] == 0)
            let outcome = encoding.run()
            let fault = outcome.fault(.libavcodec)
            #expect(fault == nil, "\(encoding)")
        }
    }
}
