import TestOracles
import Testing
import VideoBase

/// A GOP structure: GOP length × IDR interval × open × B pictures × pyramid × references × forced key frame × layers
/// and long-term references × how the stream ends, in pictures of 64×48.
struct StructureCase: Sendable, CustomStringConvertible {
    static let counts = [21, 3, 2, 8, 2, 4, 14, 6, 7]
    let row: [Int]
    var configuration: EncoderConfiguration
    var frames: Int

    init(_ row: [Int]) {
        self.row = row
        configuration = Feature.plain(VideoSize(width: 64, height: 48))
        configuration.structure.gopFrames = row[0] == 20 ? 250 : row[0] + 1
        configuration.structure.idrInterval = row[1] + 1
        configuration.structure.openGOP = row[2] == 1
        configuration.structure.bFrames = row[3]
        configuration.structure.bPyramid = row[4] == 1
        configuration.structure.references = row[5] + 1
        if row[6] > 0 { configuration.structure.forcedKeyFrames = [row[6]] }
        switch row[7] {
        case 1...3: configuration.structure.temporalLayers = row[7] + 1
        case 4...5: configuration.structure.longTermReferences = row[7] - 3
        default: break
        }
        frames = 18 + row[8]
    }

    static let all = PairwiseCover.rows(counts: counts).map(StructureCase.init)
    /// A cover with fewer GOP lengths and fewer positions of the forced key frame.
    static let few: [StructureCase] = {
        let lengths = [0, 1, 4, 11, 20], positions = [0, 1, 6, 13]
        var counts = Self.counts
        (counts[0], counts[6]) = (lengths.count, positions.count)
        return PairwiseCover.rows(counts: counts).map { row in
            var row = row
            (row[0], row[6]) = (lengths[row[0]], positions[row[6]])
            return StructureCase(row)
        }
    }()

    var description: String { "\(row)" }

    /// Records the faults of the cases' streams.
    static func judge(_ cases: [StructureCase]) async throws {
        let clip = try Fixture.carphone.frames(24).map { $0.cropped(x: 56, y: 40, width: 64, height: 48) }
        let faults = await withTaskGroup(of: [String].self) { group in
            for each in cases {
                group.addTask {
                    await onThread {
                        do {
                            let run = try SessionRun(
                                SessionRun.Request(
                                    configuration: each.configuration, source: Array(clip[..<each.frames])))
                            let faults = run.faults() + run.contradictions(each.configuration)
                            return faults.map { "\(each): \($0)" }
                        } catch {
                            return ["\(each): \(error)"]
                        }
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for fault in faults { Issue.record("\(fault)") }
    }
}

/// Covers GOP structures pairwise.
@Suite struct StructureCoverTests {
    @Test func everyPairOfStructureOptionsConforms() async throws {
        #expect(StructureCase.few.count >= 56)
        try await StructureCase.judge(StructureCase.few)
    }
}

/// Covers GOP structures pairwise, with every GOP length and every position of the forced key frame.
@Suite struct WholeStructureCoverTests {
    @Test func everyPairOfStructureOptionsConforms() async throws {
        #expect(StructureCase.all.count > 290)
        try await StructureCase.judge(StructureCase.all)
    }
}
