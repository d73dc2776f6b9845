import TestOracles
import Testing
import VideoBase

/// Tests HEVC like H.264: small sizes, real clips and GOP structures, at 8 and 10 bits, with MD5 hashes of each
/// picture.
@Suite struct HEVCStreamTests {
    /// Covers every even size from 16×16 to 70×70 pairwise with all other options that shape a stream.
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
            (configuration.coding.slices, configuration.structure.gopFrames, configuration.rate.qp) = (slices, gop, qp)
            (configuration.coding.preset, configuration.structure.bFrames, configuration.structure.references) = (preset, bFrames, nil)
            return configuration
        }

        var description: String {
            "\(width)×\(height), \(bitDepth) bits, \(slices) slices, GOP \(gop), QP \(qp), preset \(preset), "
                + "\(bFrames) B"
        }
    }

    private static let parts = 16

    @Test(arguments: 0..<parts) func everySmallSizeConforms(_ part: Int) async throws {
        let clip = try Fixture.carphone.frames(60)
        let faults = await onThread {
            SmallSize.all.enumerated().filter { $0.offset % Self.parts == part }.flatMap { index, each in
                // One case of four is long enough to cross a GOP of ten.
                let count = index % 4 == 0 ? 12 : 4
                let (x, y) = (index * 14 % (176 - each.width) & ~1, index * 10 % (144 - each.height) & ~1)
                let source = HEVCSessions.deepened(
                    clip[(index % 48)..<(index % 48 + count)].map {
                        $0.cropped(x: x, y: y, width: each.width, height: each.height)
                    }, to: each.bitDepth)
                // The floor is far below the PSNR of any correct encoder and far above that of a broken one.
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
    func realClipsConform(_ clip: Fixture, _ frames: Int, _ bitDepth: Int, _ options: String) throws {
        let source = HEVCSessions.deepened(try clip.frames(frames), to: bitDepth)
        let encoded = try EncodedStream(
            source, codec: .hevc,
            options: options.split(separator: " ").map(String.init)
                + ["--codec", "hevc", "--profile", bitDepth == 8 ? "main" : "main10", "--qp", "30"])
        let faults = encoded.faults(frameCount: frames, blockSize: 64) + encoded.violations() + encoded.unhashed()
        #expect(faults == [])
        #expect(encoded.lowestPSNR(against: source) >= 28)
    }

    /// The structures are those of the H.264 tests, at 8 or 10 bits.
    @Test func everyStructureConforms() async throws {
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
