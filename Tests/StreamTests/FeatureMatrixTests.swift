import Synchronization
import TestOracles
import Testing
import VideoBase

/// Every feature alone on every personality of the reference driver: the stream is sound by foreign decoders and by the
/// rules, and shows what was asked for, or the effective configuration says why not and `--strict` refuses it.
@Suite struct FeatureMatrixTests {
    @Test func everyFeatureOnEveryPersonality() async throws {
        let found = await withTaskGroup(of: (Int, [FeatureCell], [String]).self) { group in
            for (index, personality) in Personality.all.enumerated() {
                group.addTask { await Self.column(index, personality) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let columns = found.sorted { $0.0 < $1.0 }
        for (index, _, faults) in columns {
            for fault in faults { Issue.record("\(FeatureMatrix.name(Personality.all[index])): \(fault)") }
        }
        let count = Feature.all.reduce(0) { $0 + $1.features.count }
        #expect(columns.allSatisfy { $0.1.count == count } && columns.count == Personality.all.count)
        let page = MatrixPage(columns: columns.map(\.1)).text
        print(page)
        let path = Checkout.root + "/docs/FEATURE-MATRIX.md"
        if updatesPages { try Files.write(Array(page.utf8), to: path) }
        let written = (try? Files.read(path)).map { String(decoding: $0, as: UTF8.self) }
        #expect(written == page, "docs/FEATURE-MATRIX.md is not what was found: write it with VAENC_UPDATE_PAGES=1")
    }

    /// On a thread of its own: sessions block.
    private static func column(_ index: Int, _ personality: String?) async -> (Int, [FeatureCell], [String]) {
        await onThread {
            var cells: [FeatureCell] = []
            var faults: [String] = []
            do {
                let plain = try SessionRun(FeatureMatrix.request(nil, on: personality))
                faults += plain.faults()
                for feature in Feature.all.flatMap(\.features) {
                    do {
                        let (cell, wrong) = try FeatureCell.judge(feature, personality, plain: plain)
                        cells.append(cell)
                        faults += wrong.map { "\(feature.name): \($0)" }
                    } catch {
                        faults.append("\(feature.name): \(error)")
                    }
                }
            } catch {
                faults.append("\(error)")
            }
            return (index, cells, faults)
        }
    }
}
