import ReferenceDriver
import TestOracles
import Testing

/// Tests that foreign decoders decode whole streams of the picture encoder to the reconstruction.
struct PixelsEncodeTests {
    /// Decodes with both decoders; returns how the pictures differ, or nil.
    private func fault(_ outcome: PixelsEncoding.Outcome) -> String? {
        ForeignDecoder.all(for: .h264).lazy.compactMap { outcome.fault($0) }.first
    }

    /// Every two values of every two parameters occur together in some stream.
    @Test func everyPairOfParametersDecodes() {
        let sizes = [16, 18, 30, 32, 46, 64, 70]
        let qps = [0, 9, 20, 28, 36, 44, 51]
        let offsets = [(0, 0), (-6, 6), (6, -6), (3, 3)]
        let chroma = [(0, 0), (-12, 12), (7, 7)]
        let rows = PairwiseCover.rows(
            counts: [sizes.count, sizes.count, 7, qps.count, 2, 2, 4, 3, 4, offsets.count, 2, chroma.count, 4, 2])
        #expect(rows.count >= 49)
        for row in rows {
            let encoding = PixelsEncoding(
                width: sizes[row[0]], height: sizes[row[1]], frames: 5, cabac: row[4] == 0, transform8x8: row[5] == 0,
                slices: row[6] + 1, references: row[7] + 1, quality: row[2] + 1, qp: qps[row[3]], filterMode: row[8],
                filterOffsets: offsets[row[9]], constrainedIntra: row[10] == 1, chromaOffsets: chroma[row[11]],
                period: row[13] == 0 ? 100 : 3, content: PixelsEncoding.Content(rawValue: row[12])!)
            let outcome = encoding.run()
            let fault = fault(outcome)
            #expect(fault == nil, "\(encoding)")
        }
    }

    /// The picture is large enough for long vectors and every partition, at each quality level and with each coder.
    @Test(arguments: 1...7) func qualityLevelsDecode(_ quality: Int) {
        for cabac in [false, true] {
            let outcome = PixelsEncoding(
                width: 176, height: 144, frames: 8, cabac: cabac, transform8x8: cabac, slices: cabac ? 1 : 3,
                references: 3, quality: quality, qp: 24
            ).run()
            let fault = fault(outcome)
            #expect(fault == nil)
            for (source, reconstruction) in Swift.zip(outcome.sources, outcome.reconstructions) {
                #expect(PSNR.luma(source, reconstruction) > 36)
            }
        }
    }

    /// Once the picture after the first has refined it, a still picture costs hardly more than skipped macroblocks.
    @Test func stillPicturesAreSkipped() {
        for quality in 1...7 {
            let outcome = PixelsEncoding(
                width: 80, height: 80, frames: 4, quality: quality, qp: 26, content: .stillness
            ).run()
            #expect(fault(outcome) == nil)
            for (index, result) in outcome.results.enumerated().dropFirst() {
                #expect(result.skippedMacroblocks >= (index == 1 ? 10 : 20), "picture \(index) at quality \(quality)")
                #expect(result.intraMacroblocks == 0)
            }
            #expect(outcome.results[0].intraMacroblocks == 25)
        }
    }

    @Test func reportedErrorIsTheActualError() {
        let outcome = PixelsEncoding(width: 70, height: 46, frames: 3, qp: 32).run()
        for (index, result) in outcome.results.enumerated() {
            let squares = Swift.zip(outcome.sources[index].luma, outcome.reconstructions[index].luma)
                .reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
            #expect(result.lumaSquaredError == UInt64(squares))
        }
    }

    /// Pictures that were not written are gray, in either layout.
    @Test func newPicturesAreGray() {
        let picture = H264ReconstructedPicture(widthInMacroblocks: 1, heightInMacroblocks: 1)
        let row = ElementStorage<UInt8>(count: 16, repeating: 0)
        picture.copyLumaRow(7, count: 16, to: row.elements)
        #expect((0..<16).allSatisfy { row.elements[$0] == 128 })
        picture.copyChromaRow(7, count: 8, toPairs: row.elements)
        #expect((0..<16).allSatisfy { row.elements[$0] == 128 })
    }
}
