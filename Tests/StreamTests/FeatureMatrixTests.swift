import BitstreamInspection
import TestOracles
import Testing

/// Every feature on every personality of the reference driver, pairwise: the stream is sound by foreign decoders and by
/// the rules, it shows what was asked, or the effective configuration says that it does not, and `--strict` refuses.
@Suite struct FeatureMatrixTests {
    private static let parts = 16
    private static let frames = 14
    private static let width = 320
    private static let height = 136

    @Test(arguments: 0..<parts) func everyPair(_ part: Int) throws {
        let raw = try Fixture.bikes.rawPath(width: Self.width, height: Self.height, frames: Self.frames)
        var done = 0
        for each in FeatureCase.all.enumerated().filter({ $0.offset % Self.parts == part }).map(\.element) {
            done += 1
            for fault in try judge(each, raw) { Issue.record("\(each): \(fault)") }
        }
        #expect(done > 10)
    }

    private func judge(_ each: FeatureCase, _ raw: String) throws -> [String] {
        func encode(_ more: [String]) throws -> EncodedStream {
            try EncodedStream(
                raw: raw, width: Self.width, height: Self.height, options: each.options + ["--json"] + more,
                personality: each.personality, timeout: 60)
        }
        var isRefused = false
        let encoded: EncodedStream
        do {
            do {
                encoded = try encode(["--strict"])
            } catch let failure as EncodedStream.Failure where failure.status == 69 {
                isRefused = true
                encoded = try encode([])
            }
        } catch {
            return ["\(error)"]
        }
        guard let report = encoded.report else { return ["no report: \(encoded.result.output)"] }
        let differing = (report["effective"]?.array ?? []).filter {
            $0["asked"] != .null && $0["asked"] != $0["used"]
        }.compactMap { $0["option"]?.string }
        var faults = encoded.faults(frameCount: Self.frames) + encoded.violations()
        if isRefused, differing.isEmpty { faults.append("--strict refuses, and nothing differs") }
        if !isRefused, !differing.isEmpty { faults.append("--strict accepts, and \(differing) differ") }
        for missing in each.missing(in: encoded.inspected) where !differing.contains(missing.option) {
            faults.append("\(missing.option): \(missing.what); it differs in \(differing)")
        }
        return faults
    }

    /// The matrix has every pair that is no contradiction.
    @Test func theCoverIsWhole() {
        #expect(Set(FeatureCase.all.map { $0.personality ?? "" }).count == FeatureCase.personalities.count)
        #expect(FeatureCase.all.count > 200)
    }
}
