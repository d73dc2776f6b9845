import Testing
import VideoBase

@testable import SoftwareEncode

/// The estimate of libx265's memory, compared with measurements.
@Suite struct EncoderMemoryTests {
    /// The bytes that libx265 199 allocated with one frame thread and two B pictures: for an accepted picture, and with
    /// a picture coded in the same call.
    struct Measured: CustomTestStringConvertible {
        var width: Int
        var height: Int
        var preset: Int
        var bitDepth = 8
        var given: Int
        var coded: Int

        var testDescription: String { "\(width)x\(height), preset \(preset), \(bitDepth) bits" }
    }

    static let measured = [
        Measured(width: 64, height: 64, preset: 7, given: 177_760, coded: 268_152),
        Measured(width: 176, height: 144, preset: 7, given: 344_056, coded: 713_488),
        Measured(width: 640, height: 360, preset: 7, given: 1_278_304, coded: 3_685_600),
        Measured(width: 1280, height: 720, preset: 7, given: 3_843_584, coded: 12_575_128),
        Measured(width: 1280, height: 720, preset: 7, bitDepth: 10, given: 7_054_848, coded: 17_857_320),
        Measured(width: 1920, height: 1080, preset: 7, given: 7_856_816, coded: 26_910_856),
        Measured(width: 64, height: 64, preset: 4, given: 322_936, coded: 461_808),
        Measured(width: 176, height: 144, preset: 4, given: 563_632, coded: 1_063_024),
        Measured(width: 640, height: 360, preset: 4, given: 1_635_344, coded: 4_060_296),
        Measured(width: 1280, height: 720, preset: 4, given: 4_492_736, coded: 13_409_264),
        Measured(width: 1920, height: 1080, preset: 4, given: 8_668_496, coded: 27_148_224),
    ]

    private static func memory(
        width: Int, height: Int, codec: VideoCodec = .hevc, _ change: (inout EncoderConfiguration) -> Void
    ) throws -> EncoderMemory? {
        var configuration = EncoderConfiguration(size: VideoSize(width: width, height: height))
        configuration.codec = codec
        change(&configuration)
        return EncoderMemory(try EncoderSettings(configuration))
    }

    /// The estimate is at most the measured value, so that no run with enough memory is refused, and not far below it.
    @Test(arguments: measured) func estimateIsJustBelowTheMeasurement(_ measured: Measured) throws {
        let memory = try #require(
            try Self.memory(width: measured.width, height: measured.height) {
                $0.coding.preset = measured.preset
                $0.bitDepth = measured.bitDepth
            })
        for (estimate, taken) in [(memory.picture, measured.given), (memory.picture + memory.coding, measured.coded)] {
            #expect(estimate <= taken && estimate > taken * 7 / 10, "\(estimate) of \(taken)")
        }
    }

    @Test func libx264NeedsNoEstimate() throws {
        let memory = try Self.memory(width: 64, height: 64, codec: .h264) { $0.coding.preset = 7 }
        #expect(memory == nil)
    }

    /// Memory for coding is allocated when the lookahead is full, or at once without a lookahead.
    @Test func estimateFollowsTheLookahead() throws {
        // The lookahead is five pictures. With two B pictures, the tenth is the first with which a picture is coded.
        let usual = try #require(try Self.memory(width: 64, height: 64) { $0.coding.preset = 7 })
        #expect(usual.firstCoded == 8 && usual.codedCount == 5)
        #expect(usual.needed(forPicture: 0) == usual.picture + usual.coding + usual.frameEncoder)
        #expect(usual.needed(forPicture: 8) == usual.picture + 5 * usual.coding + usual.frameEncoder)
        #expect(usual.needed(forPicture: 12) == usual.picture + usual.coding)
        #expect(usual.needed(forPicture: 1000) == EncoderMemory.slack)
        #expect(usual.needed(afterPictures: 0) == 0)
        #expect(usual.needed(afterPictures: 3) == 3 * usual.coding + usual.frameEncoder)
        #expect(usual.needed(afterPictures: 1000) == EncoderMemory.slack)
        let low = try #require(
            try Self.memory(width: 64, height: 64) {
                $0.coding.preset = 7
                $0.pipeline.lowLatency = true
            })
        #expect(low.firstCoded == 0 && low.needed(forPicture: 3) == low.picture + low.coding)
        #expect(low.needed(forPicture: 4) == EncoderMemory.slack)
        let still = try #require(
            try Self.memory(width: 64, height: 64) {
                $0.coding.preset = 7
                $0.structure.gopFrames = 1
            })
        #expect(still.firstCoded == 0 && still.codedCount == 2)
    }

    @Test func memoryTrialDetectsLackOfMemory() {
        #expect(MemoryTrial.fits(0) && MemoryTrial.fits(1 << 20))
        // No process has this much address space.
        #expect(!MemoryTrial.fits(1 << 60))
    }
}
