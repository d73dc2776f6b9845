import TestOracles
import Testing
import VideoBase

/// Every feature alone on every personality of the reference driver: the stream is sound by foreign decoders and by the
/// rules, and shows what was asked for, or the effective configuration says why not and `--strict` refuses it.
@Suite struct FeatureMatrixTests {
    @Test func everyFeatureOnEveryPersonality() async throws {
        var parts = [
            MatrixPage.Part(
                title: "H.264", groups: Feature.all, personalities: Personality.all.map { [$0] }, columns: []),
            MatrixPage.Part(
                title: "HEVC", groups: Feature.hevc, personalities: HEVCDevice.all.map(\.personalities), columns: []),
        ]
        for (index, codec) in [VideoCodec.h264, .hevc].enumerated() {
            let features = parts[index].groups.flatMap(\.features)
            let personalities = parts[index].personalities.map { $0[0] }
            parts[index].columns = await Self.columns(codec, features, personalities)
        }
        let page = MatrixPage(parts: parts).text
        print(page)
        let path = Checkout.root + "/docs/FEATURE-MATRIX.md"
        if updatesPages { try Files.write(Array(page.utf8), to: path) }
        let written = (try? Files.read(path)).map { String(decoding: $0, as: UTF8.self) }
        #expect(written == page, "docs/FEATURE-MATRIX.md is not what was found: write it with VAENC_UPDATE_PAGES=1")
    }

    /// A column to each personality.
    private static func columns(
        _ codec: VideoCodec, _ features: [Feature], _ personalities: [String?]
    ) async -> [[FeatureCell]] {
        let found = await withTaskGroup(of: (Int, [FeatureCell], [String]).self) { group in
            for (index, personality) in personalities.enumerated() {
                group.addTask { await column(index, codec, features, personality) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let columns = found.sorted { $0.0 < $1.0 }
        for (index, _, faults) in columns {
            for fault in faults {
                Issue.record("\(codec.rawValue) on \(FeatureMatrix.name(personalities[index])): \(fault)")
            }
        }
        #expect(columns.count == personalities.count && columns.allSatisfy { $0.1.count == features.count })
        // What no device had would be shown by no stream.
        for (index, feature) in features.enumerated() {
            let isShown = columns.contains { $0.1.indices.contains(index) && $0.1[index].lack == nil }
            #expect(isShown, "\(codec.rawValue): \(feature.name)")
        }
        return columns.map(\.1)
    }

    /// On a thread of its own: sessions block.
    private static func column(
        _ index: Int, _ codec: VideoCodec, _ features: [Feature], _ personality: String?
    ) async -> (Int, [FeatureCell], [String]) {
        await onThread {
            var cells: [FeatureCell] = []
            var faults: [String] = []
            do {
                let plain = try SessionRun(FeatureMatrix.request(nil, on: personality, codec: codec))
                faults += plain.faults()
                for feature in features {
                    do {
                        let (cell, wrong) = try FeatureCell.judge(feature, personality, codec: codec, plain: plain)
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
