import TestOracles
import Testing

/// Covers every even size from 16×16 to 70×70 pairwise with all other options that shape a stream.
@Suite struct SmallSizeTests {
    private struct Case: CustomStringConvertible {
        var width: Int
        var height: Int
        var profile: String
        var entropy: String
        var slices: Int
        var gop: Int
        var qp: Int
        var preset: Int

        private static let profiles = ["baseline", "main", "high"]
        private static let entropies = ["cavlc", "cabac"]
        private static let gops = [1, 10, 250]
        private static let counts = [28, 28, 3, 2, 4, 3, 36, 7]

        init(_ row: [Int]) {
            width = 16 + 2 * row[0]
            height = 16 + 2 * row[1]
            profile = Self.profiles[row[2]]
            entropy = Self.entropies[row[3]]
            slices = 1 + row[4]
            gop = Self.gops[row[5]]
            qp = 10 + row[6]
            preset = 1 + row[7]
        }

        /// Constrained Baseline has no CABAC (H.264 A.2.1).
        static let all = PairwiseCover.rows(counts: counts) { p, a, q, b in !(p == 2 && a == 0 && q == 3 && b == 1) }
            .map(Case.init)

        var options: [String] {
            [
                "--codec", "h264", "--profile", profile, "--entropy", entropy, "--slices", "\(slices)", "--gop",
                "\(gop)",
                "--qp", "\(qp)", "--preset", "\(preset)",
            ]
        }

        var description: String { "\(width)×\(height) \(options.dropFirst(2).joined(separator: " "))" }
        var macroblockRows: Int { (height + 15) / 16 }
    }

    /// The number of parts in which the cases run, so that they use all processors.
    private static let parts = 16

    @Test(arguments: 0..<parts) func everySmallSizeConforms(_ part: Int) throws {
        let clip = try Fixture.carphone.frames(60)
        let mine = Case.all.enumerated().filter { $0.offset % Self.parts == part }
        #expect(mine.count > 784 / Self.parts)
        for (index, each) in mine {
            // One case of four is long enough to cross a GOP of ten.
            let count = index % 4 == 0 ? 12 : 4
            let x = index * 14 % (176 - each.width) & ~1
            let y = index * 10 % (144 - each.height) & ~1
            let source = clip[(index % 48)..<(index % 48 + count)].map {
                $0.cropped(x: x, y: y, width: each.width, height: each.height)
            }
            let encoded: EncodedStream
            do {
                encoded = try EncodedStream(source, options: each.options)
            } catch {
                Issue.record("\(each): \(error)")
                continue
            }
            let faults = encoded.faults(frameCount: count) + encoded.violations()
            #expect(faults.isEmpty, "\(each)")
            // The floor is far below the PSNR of any correct encoder and far above that of a broken one.
            let floor = each.qp <= 30 ? 28 : 28 - 0.9 * Double(each.qp - 30)
            let lowest = encoded.lowestPSNR(against: source)
            #expect(lowest >= floor, "\(each)")
            let expected = (0..<count).map { frame in
                [Int](repeating: frame % each.gop == 0 ? 5 : 1, count: min(each.slices, each.macroblockRows))
            }
            let found = encoded.sliceTypesByPicture
            #expect(found == expected, "\(each)")
        }
    }
}
