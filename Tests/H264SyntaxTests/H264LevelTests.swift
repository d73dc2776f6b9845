import H264Syntax
import Testing
import VideoBase

@Suite struct H264LevelTests {
    private func level(
        _ width: Int, _ height: Int, fps: Int, references: Int = 1, bitrate: Int? = nil,
        profile: CodecProfile = .h264High
    ) -> String? {
        Level.lowest(
            codedSize: VideoSize(width: width, height: height).aligned(to: 16), frameRate: Rational(fps),
            references: references, bitrate: bitrate.map(BitsPerSecond.init), profile: profile)?.name
    }

    /// The sizes and rates are the examples of Table A-6 for each level.
    @Test func lowestLevelFitsSizeAndRate() {
        #expect(level(176, 144, fps: 15) == "1.0")
        #expect(level(176, 144, fps: 30) == "1.1")
        #expect(level(352, 288, fps: 30) == "1.3")
        #expect(level(720, 576, fps: 25) == "3.0")
        #expect(level(1280, 720, fps: 30) == "3.1")
        #expect(level(1280, 720, fps: 60) == "3.2")
        #expect(level(1920, 1080, fps: 30) == "4.0")
        #expect(level(1920, 1080, fps: 60) == "4.2")
        #expect(level(3840, 2160, fps: 30) == "5.1")
        #expect(level(3840, 2160, fps: 60) == "5.2")
        #expect(level(8192, 4320, fps: 30) == "6.0")
        #expect(level(16384, 16384, fps: 1) == nil)
    }

    /// The limit is 384 bytes per macroblock divided by MinCR (Table A-1): for 8160 macroblocks at level 4 (MinCR 4);
    /// for 99 at level 3.1, whose 108000 macroblocks/s are 627.9 in 1/172 s; for 3600 at level 4.1 (MinCR 2), whose
    /// 245760 macroblocks/s are 9830.4 in 1/25 s.
    @Test func pictureSizeLimitFollowsMinimumCompressionRatio() throws {
        func limit(_ number: Int, _ width: Int, _ height: Int) throws -> PictureSizeLimit {
            try #require(Level(number: number)).pictureSizeLimit(codedSize: VideoSize(width: width, height: height))
        }
        let fullHD = try limit(40, 1920, 1088)
        #expect(fullHD.first == 783_360 && fullHD.later(frameRate: Rational(60)) == 783_360 && fullHD.later(frameRate: Rational(10)) == 2_359_296)
        #expect(try limit(31, 176, 144).first == 60_279)
        let small = try limit(41, 1280, 720)
        #expect(small.first == 691_200 && small.later(frameRate: Rational(25)) == 1_887_436)
    }

    @Test func levelFollowsReferencesRateAndShape() {
        // At 720p, levels 3.1 and 3.2 hold 5 reference frames, and level 4.0 holds 9.
        #expect(level(1280, 720, fps: 30, references: 5) == "3.1")
        #expect(level(1280, 720, fps: 30, references: 6) == "4.0")
        // The bit rate limits use cpbBrNalFactor 1500 (High) and 1200 (Main).
        #expect(level(1920, 1080, fps: 30, bitrate: 30_000_000) == "4.0")
        #expect(level(1920, 1080, fps: 30, bitrate: 30_000_001) == "4.1")
        #expect(level(1920, 1080, fps: 30, bitrate: 24_000_001, profile: .h264Main) == "4.1")
        #expect(level(176, 144, fps: 15, bitrate: 150_000, profile: .h264Main) == "1b")
        // No side may exceed sqrt(8 MaxFS): 1600 luma samples are 100 macroblocks; level 2.2 ends at 113.
        #expect(level(1600, 16, fps: 5) == "2.2")
        #expect(level(16, 1824, fps: 5) == "3.1")
    }

    @Test func decodedPictureBufferFollowsLevelAndSize() throws {
        let level = try #require(Level(number: 41))
        #expect(level.maxDpbFrames(codedSize: VideoSize(width: 1920, height: 1088)) == 4)
        #expect(level.maxDpbFrames(codedSize: VideoSize(width: 176, height: 144)) == 16)
        #expect(Level(number: 14) == nil)
        #expect(Level(number: 9)?.name == "1b")
        #expect(Level.all.count == 20)
    }
}
