import TestOracles
import Testing
import VideoBase

/// Requests every feature alone on every personality of the reference driver, with one personality per class. The
/// stream conforms according to foreign decoders and the rules, and shows the feature; or the effective configuration
/// reports why it is missing, and `--strict` refuses it.
@Suite struct FeatureMatrixTests {
    @Test func everyFeatureIsShownOrReported() async throws {
        let count = DeviceClass.h264.reduce(0) { $0 + $1.personalities.count }
        #expect(count == Personality.all.count)
        async let h264 = Self.part("H.264", .h264, Feature.all, DeviceClass.h264)
        async let hevc = Self.part("HEVC", .hevc, Feature.hevc, DeviceClass.hevc)
        let page = await MatrixPage(parts: [h264, hevc]).text
        print(page)
        let path = Checkout.root + "/docs/FEATURE-MATRIX.md"
        if updatesPages { try Files.write(Array(page.utf8), to: path) }
        let written = (try? Files.read(path)).map { String(decoding: $0, as: UTF8.self) }
        #expect(written == page, "docs/FEATURE-MATRIX.md is not what was found: write it with VAENC_UPDATE_PAGES=1")
    }

    /// Returns a table with a column for each class of devices.
    private static func part(
        _ title: String, _ codec: VideoCodec, _ groups: [(group: String, features: [Feature])], _ devices: [DeviceClass]
    ) async -> MatrixPage.Part {
        let features = groups.flatMap(\.features)
        let found = await withTaskGroup(of: (Int, [FeatureCell], [String]).self) { group in
            for (index, device) in devices.enumerated() {
                group.addTask { await column(index, codec, features, device.personality) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let columns = found.sorted { $0.0 < $1.0 }
        for (index, _, faults) in columns {
            for fault in faults { Issue.record("\(codec.rawValue) on \(devices[index]): \(fault)") }
        }
        #expect(columns.count == devices.count && columns.allSatisfy { $0.1.count == features.count })
        // A feature that no device supports would be checked on no stream.
        for (index, feature) in features.enumerated() {
            let isShown = columns.contains { $0.1.indices.contains(index) && $0.1[index].lack == nil }
            #expect(isShown, "\(codec.rawValue): \(feature.name)")
        }
        return MatrixPage.Part(
            title: title, groups: groups, personalities: devices.map(\.personalities), columns: columns.map(\.1))
    }

    /// Judges a column on a separate thread, because sessions block.
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
