import TestOracles
import Testing

/// Encodes six seconds of fades, flashes, cuts and black: no controller starves a picture. `Benchmarks/run hard`
/// measures more.
@Suite(.timeLimit(.minutes(60))) struct HardContentTests {
    private static let clip = Result<HardContent, any Error> { try HardContent.clips(["short"], size: "176x96")[0] }
    private static let afterBlack = Result<HardContent, any Error> { try HardContent.clips(["sudden"], size: "320x180")[0] }

    @Test(arguments: HardContent.Mode.allCases, [StreamCodec.h264, .hevc])
    func worstPictureIsNearX264s(_ mode: HardContent.Mode, _ codec: StreamCodec) throws {
        let clip = try Self.clip.get()
        let baseline = try clip.x264(mode, kilobits: 80)
        for controller in mode == .avbr ? ["driver"] : ["driver", "vaenc"] {
            let result = try clip.vaenc(mode, kilobits: 80, controller: controller, codec: codec)
            #expect(result.worst > baseline.worst - 3, "\(controller): \(result); x264: \(baseline)")
            #expect(result.bitsPerSecond < 1.1 * baseline.bitsPerSecond || mode == .qvbr, "\(controller): \(result)")
        }
    }

    /// The bits of black frames do not predict the next scene, whose first picture may not take the whole buffer.
    @Test(arguments: [HardContent.Mode.cbr, .vbr], [StreamCodec.h264, .hevc])
    func worstPictureAfterBlackIsNearX264s(_ mode: HardContent.Mode, _ codec: StreamCodec) throws {
        let clip = try Self.afterBlack.get()
        let baseline = try clip.x264(mode, kilobits: 200)
        for controller in ["driver", "vaenc"] {
            let result = try clip.vaenc(mode, kilobits: 200, controller: controller, codec: codec)
            #expect(result.worst > baseline.worst - 3, "\(controller): \(result); x264: \(baseline)")
        }
    }
}
