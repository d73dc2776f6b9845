@testable import ReferenceDriver
import TestOracles
import Testing

/// Tests that streams and reconstructions do not depend on the number of threads.
@Suite struct HEVCRowTests {
    /// Returns a sequence whose rows are coded at the same time: nine columns and five rows.
    private func sequence(_ structure: HEVCEncoding.Structure = .forward) -> HEVCEncoding {
        var encoding = HEVCEncoding()
        encoding.grid = HEVCGrid(width: 136, height: 72, log2CodingTreeBlock: 4, log2MaxTransformBlock: 4)
        encoding.quality = 7
        encoding.structure = structure
        encoding.frames = structure == .forward || structure == .intra ? 4 : 9
        encoding.temporalMotion = true
        return encoding
    }

    /// - Parameter codesRows: Whether more than one row is coded at the same time.
    private func check(
        _ encoding: HEVCEncoding, codesRows: Bool = true, _ sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let alone = encoding.run()
        #expect(alone.stream.count > 500, sourceLocation: sourceLocation)
        for helpers in 1...3 {
            var other = encoding
            other.helpers = helpers
            let outcome = other.run()
            #expect(outcome.stream == alone.stream, "\(encoding.summary), \(helpers)", sourceLocation: sourceLocation)
            #expect(outcome.reconstructions == alone.reconstructions, sourceLocation: sourceLocation)
            for (a, b) in zip(outcome.results, alone.results) {
                #expect(a.qpSum == b.qpSum, sourceLocation: sourceLocation)
                #expect(a.intraMacroblocks == b.intraMacroblocks, sourceLocation: sourceLocation)
                #expect(a.skippedMacroblocks == b.skippedMacroblocks, sourceLocation: sourceLocation)
            }
        }
        let fault = alone.fault(.libavcodec, blockSize: encoding.grid.codingTreeSize)
        #expect(fault == nil, "\(encoding.summary)", sourceLocation: sourceLocation)
        #expect(encoding.codesRows == codesRows, sourceLocation: sourceLocation)
    }

    @Test(arguments: [HEVCEncoding.Structure.intra, .forward, .generalized, .bidirectional, .pyramid], [8, 10])
    func allStructuresAreTheSame(structure: HEVCEncoding.Structure, bitDepth: Int) {
        var encoding = sequence(structure)
        encoding.bitDepth = bitDepth
        check(encoding)
    }

    /// Slices of whole rows are coded by rows; others depend on the end of the row above.
    @Test(arguments: [(9, true), (18, true), (27, true), (7, false), (13, false)])
    func slicesAreTheSame(length: Int, codesRows: Bool) {
        var encoding = sequence()
        encoding.sliceLength = length
        encoding.qpStep = 2
        check(encoding, codesRows: codesRows)
    }

    @Test func limitedSlicesAreTheSame() {
        var encoding = sequence()
        encoding.sliceByteLimit = 300
        check(encoding, codesRows: false)
    }

    @Test func tilesAreTheSame() {
        var encoding = sequence()
        (encoding.tileColumns, encoding.tileRows) = (2, 2)
        check(encoding, codesRows: false)
    }

    @Test(arguments: [false, true]) func quantizationGroupsAreTheSame(hasAreas: Bool) {
        var encoding = sequence()
        let areas = (0..<encoding.grid.areaColumns * encoding.grid.areaRows).map { Int8(20 + $0 * 7 % 20) }
        encoding.configure = { job in
            job.qpDeltaDepth = 1
            if hasAreas { job.areaQPs = areas }
        }
        check(encoding, codesRows: !hasAreas)
    }

    @Test(arguments: [false, true]) func intraRefreshIsTheSame(isRows: Bool) {
        var encoding = sequence()
        encoding.configurePicture = { poc, job in
            if poc > 0 { job.intraRefresh = isRows ? .rows(poc - 1..<poc) : .columns(3 * (poc - 1)..<3 * poc) }
        }
        check(encoding)
    }

    /// Levels with SAO, and pictures of few columns, are coded by one thread, but filtered by several.
    @Test(arguments: [1, 4, 6]) func otherLevelsAreTheSame(quality: Int) {
        var encoding = sequence(.pyramid)
        encoding.quality = quality
        encoding.hasSAO = true
        check(encoding, codesRows: false)
    }

    @Test(arguments: [(16, 16), (64, 64), (72, 136), (24, 200)]) func smallPicturesAreTheSame(width: Int, height: Int) {
        var encoding = sequence()
        encoding.grid = HEVCGrid(width: width, height: height, log2CodingTreeBlock: 4, log2MaxTransformBlock: 4)
        encoding.hasNoise = true
        check(encoding, codesRows: false)
    }

    /// A change between pictures with and without rows at the same time keeps the streams the same.
    @Test func mixedPicturesAreTheSame() {
        var encoding = sequence()
        encoding.frames = 6
        encoding.configurePicture = { poc, job in job.quality = poc % 2 == 0 ? 7 : 6 }
        check(encoding)
    }
}
