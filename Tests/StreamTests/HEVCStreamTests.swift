import TestOracles
import Testing
import VideoBase

/// HEVC as H.264: small sizes, real clips, structures of pictures, at 8 and 10 bits, each picture with its MD5 hashes.
@Suite struct HEVCStreamTests {
    /// Every even size from 16×16 to 70×70, covered pairwise with everything else that shapes a stream.
    struct SmallSize: Sendable, CustomStringConvertible {
        static let counts = [28, 28, 2, 4, 3, 36, 7, 3]
        static let all = PairwiseCover.rows(counts: counts).map(SmallSize.init)
        var width: Int
        var height: Int
        var bitDepth: Int
        var slices: Int
        var gop: Int
        var qp: Int
        var preset: Int
        var bFrames: Int

        init(_ row: [Int]) {
            (width, height) = (16 + 2 * row[0], 16 + 2 * row[1])
            bitDepth = [8, 10][row[2]]
            slices = 1 + row[3]
            gop = [1, 10, 250][row[4]]
            qp = 10 + row[5]
            preset = 1 + row[6]
            bFrames = [0, 1, 3][row[7]]
        }

        var configuration: EncoderConfiguration {
            var configuration = HEVCSessions.plain(VideoSize(width: width, height: height), bitDepth: bitDepth)
            (configuration.slices, configuration.gopFrames, configuration.qp) = (slices, gop, qp)
            (configuration.preset, configuration.bFrames, configuration.references) = (preset, bFrames, nil)
            return configuration
        }

        var description: String {
            "\(width)×\(height), \(bitDepth) bits, \(slices) slices, GOP \(gop), QP \(qp), preset \(preset), "
                + "\(bFrames) B"
        }
    }

    private static let parts = 16

    @Test(arguments: 0..<parts) func everySmallSize(_ part: Int) async throws {
        let clip = try Fixture.carphone.frames(60)
        let faults = await onThread {
            SmallSize.all.enumerated().filter { $0.offset % Self.parts == part }.flatMap { index, each in
                // Long enough to cross a GOP of ten in one case of four.
                let count = index % 4 == 0 ? 12 : 4
                let (x, y) = (index * 14 % (176 - each.width) & ~1, index * 10 % (144 - each.height) & ~1)
                let source = HEVCSessions.deepened(
                    clip[(index % 48)..<(index % 48 + count)].map {
                        $0.cropped(x: x, y: y, width: each.width, height: each.height)
                    }, to: each.bitDepth)
                // Far below what any sound coder reaches, far above what a broken one does.
                let floor = each.qp <= 30 ? 28 : 28 - 0.9 * Double(each.qp - 30)
                return HEVCSessions.judge(each.configuration, source) { run in
                    let low = run.encoded.lowestPSNR(against: source)
                    return low < floor ? ["\(low) dB"] : []
                }.map { "\(each): \($0)" }
            }
        }
        for fault in faults { Issue.record("\(fault)") }
    }

    @Test(arguments: [
        (Fixture.carphone, 60, 8, "--preset 1 --gop 250 --slices 1"),
        (.carphone, 60, 10, "--preset 4 --gop 10 --slices 2 --bframes 2"),
        (.carphone, 60, 8, "--preset 7 --gop 1 --slices 2"),
        (.bikes, 30, 8, "--preset 4 --gop 250 --bframes 3 --refs 3"),
        (.bikes, 25, 10, "--preset 7 --gop 10 --slices 4"),
        (.bigBuckBunny, 15, 8, "--preset 4 --gop 10 --slices 4"),
        (.bigBuckBunny, 60, 8, "--preset 7 --gop 250 --slices 1"),
        (.bigBuckBunny, 12, 10, "--preset 7 --gop 250 --bframes 3"),
    ])
    func realClips(_ clip: Fixture, _ frames: Int, _ bitDepth: Int, _ options: String) throws {
        let source = HEVCSessions.deepened(try clip.frames(frames), to: bitDepth)
        let encoded = try EncodedStream(
            source, codec: .hevc,
            options: options.split(separator: " ").map(String.init)
                + ["--codec", "hevc", "--profile", bitDepth == 8 ? "main" : "main10", "--qp", "30"])
        let faults = encoded.faults(frameCount: frames, blockSize: 64) + encoded.violations() + encoded.unhashed()
        #expect(faults == [])
        #expect(encoded.lowestPSNR(against: source) >= 28)
    }

    /// The structures that H.264's streams are tried with, at 8 and 10 bits in turn.
    @Test func everyStructure() async throws {
        let clip = try Fixture.carphone.frames(24).map { $0.cropped(x: 56, y: 40, width: 64, height: 48) }
        let faults = await withTaskGroup(of: [String].self) { group in
            for (index, each) in StructureCase.all.enumerated() {
                group.addTask {
                    await onThread {
                        let bitDepth = index % 4 == 3 ? 10 : 8
                        let configuration = HEVCSessions.hevc(each.configuration, bitDepth)
                        let source = HEVCSessions.deepened(Array(clip[..<each.frames]), to: bitDepth)
                        return HEVCSessions.judge(configuration, source).map { "\(each), \(bitDepth) bits: \($0)" }
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for fault in faults { Issue.record("\(fault)") }
    }
}
