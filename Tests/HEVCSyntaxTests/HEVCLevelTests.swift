import HEVCSyntax
import Testing
import VideoBase

@Suite struct HEVCLevelTests {
    private func level(
        _ width: Int, _ height: Int, fps: Rational = Rational(30), pictures: Int = 2, tier: Tier? = nil,
        _ change: (inout Level.Demand) -> Void = { _ in }
    ) -> String? {
        var demand = Level.Demand(
            codedSize: VideoSize(width: width, height: height).aligned(to: 8), frameRate: fps,
            decodedPictures: pictures)
        change(&demand)
        return Level.lowest(demand, tier: tier).map { "\($0.level.name) \($0.tier.name)" }
    }

    /// The sizes and rates are the examples of Table A.11 for each level.
    @Test func lowestLevelFitsSizeAndRate() {
        #expect(level(128, 96, fps: Rational(30)) == "1.0 Main")
        #expect(level(176, 144, fps: Rational(15)) == "1.0 Main")
        #expect(level(352, 288, fps: Rational(30)) == "2.0 Main")
        #expect(level(640, 360, fps: Rational(30)) == "2.1 Main")
        #expect(level(720, 480, fps: Rational(30)) == "3.0 Main")
        #expect(level(960, 544, fps: Rational(30)) == "3.0 Main")
        #expect(level(1280, 720, fps: Rational(30)) == "3.1 Main")
        #expect(level(1920, 1080, fps: Rational(30)) == "4.0 Main")
        #expect(level(1920, 1080, fps: Rational(60)) == "4.1 Main")
        #expect(level(3840, 2160, fps: Rational(30)) == "5.0 Main")
        #expect(level(3840, 2160, fps: Rational(60)) == "5.1 Main")
        #expect(level(3840, 2160, fps: Rational(120)) == "5.2 Main")
        #expect(level(7680, 4320, fps: Rational(30)) == "6.0 Main")
        #expect(level(7680, 4320, fps: Rational(60)) == "6.1 Main")
        #expect(level(7680, 4320, fps: Rational(120)) == "6.2 Main")
        #expect(level(8192, 4352, fps: Rational(121)) == nil)
        #expect(level(16384, 8192, fps: Rational(1)) == nil)
    }

    /// The limit is 1.5 bytes per sample divided by MinCrBase in Main, 1.875 in Main 10 (Tables A.8 to A.10): for
    /// 921600 samples at level 3.1 (2), whose 33177600 samples/s are 1327104 in 1/25 s; for 2088960 at level 4 (4); for
    /// 25344 at level 5.1 (8), whose 534773760 samples/s are 1782579.2 in 1/300 s.
    @Test func pictureSizeLimitFollowsMinimumCompressionRatio() throws {
        func limit(_ number: Int, _ width: Int, _ height: Int, _ depth: Int = 8) throws -> PictureSizeLimit {
            try #require(Level(number: number)).pictureSizeLimit(codedSize: VideoSize(width: width, height: height), bitDepth: depth)
        }
        let main = try limit(31, 1280, 720)
        #expect(main.first == 691_200 && main.later(frameRate: Rational(25)) == 995_328)
        #expect(try limit(31, 1280, 720, 10).first == 864_000)
        #expect(try limit(40, 1920, 1088).first == 783_360)
        #expect(try limit(51, 176, 144).first == 334_233)
    }

    @Test func levelAndTierFollowRateAndBuffer() {
        // BrNalFactor and CpbNalFactor are 1100: level 4 allows 13.2 Mbit/s, or 33 in the High tier; level 4.1 allows
        // 22.
        #expect(level(1920, 1080) { $0.bitrate = BitsPerSecond(13_200_000) } == "4.0 Main")
        #expect(level(1920, 1080) { $0.bitrate = BitsPerSecond(13_200_001) } == "4.0 High")
        #expect(level(1920, 1080, tier: .main) { $0.bitrate = BitsPerSecond(13_200_001) } == "4.1 Main")
        #expect(level(1920, 1080) { $0.bitrate = BitsPerSecond(33_000_001) } == "4.1 High")
        #expect(level(1920, 1080, tier: .main) { $0.bitrate = BitsPerSecond(33_000_001) } == "5.1 Main")
        #expect(level(1920, 1080) { $0.cpbSize = 13_200_001 } == "4.0 High")
        // Below level 4 there is no High tier.
        #expect(level(176, 144, fps: Rational(15), tier: .high) == "4.0 High")
        #expect(level(176, 144, fps: Rational(15)) { $0.bitrate = BitsPerSecond(140_801) } == "2.0 Main")
        #expect(level(176, 144) { $0.bitrate = BitsPerSecond(880_000_000) } == "6.2 High")
        #expect(level(176, 144) { $0.bitrate = BitsPerSecond(880_000_001) } == nil)
    }

    @Test func levelFollowsShapePicturesSlicesAndTiles() {
        // No side may exceed sqrt(8 MaxLumaPs): 543 at level 1, 991 at level 2, 1402 at level 2.1.
        #expect(level(536, 16, fps: Rational(1)) == "1.0 Main")
        #expect(level(544, 16, fps: Rational(1)) == "2.0 Main")
        #expect(level(16, 1000, fps: Rational(1)) == "2.1 Main")
        // At 720p, level 3.1 (983040) holds six pictures, 4.0 (2228224, less than half) twelve, 5.0 (less than an
        // eighth) sixteen.
        #expect(level(1280, 720, pictures: 6) == "3.1 Main")
        #expect(level(1280, 720, pictures: 7) == "4.0 Main")
        #expect(level(1280, 720, pictures: 13) == "5.0 Main")
        #expect(level(1280, 720, pictures: 17) == nil)
        #expect(level(64, 64, fps: Rational(301)) == nil)
        #expect(level(3840, 2160) { $0.ctbSize = 16 } == nil)
        #expect(level(1920, 1080) { $0.ctbSize = 16 } == "4.0 Main")
        #expect(level(1920, 1080) { $0.sliceSegments = 76 } == "5.0 Main")
        #expect(level(1280, 720) { $0.tileColumns = 3 } == "3.1 Main")
        #expect(level(1280, 720) { $0.tileColumns = 4 } == "4.0 Main")
        #expect(
            level(1920, 1080) {
                $0.tileRows = 11; $0.tileColumns = 10
            } == "5.0 Main")
        #expect(level(1920, 1080) { $0.tileColumns = 11 } == "6.0 Main")
    }

    @Test func decodedPictureBufferFollowsLevelAndSize() throws {
        let level = try #require(Level(number: 40))
        func pictures(_ width: Int, _ height: Int) -> Int {
            level.maxDpbSize(codedSize: VideoSize(width: width, height: height))
        }
        // MaxLumaPs 2228224: a quarter 557056, a half 1114112, three quarters 1671168.
        #expect(pictures(1088, 512) == 16 && pictures(1088, 520) == 12)
        #expect(pictures(1088, 1024) == 12 && pictures(1088, 1032) == 8)
        #expect(pictures(1088, 1536) == 8 && pictures(1088, 1544) == 6)
        #expect(level.level_idc == 120 && level.has(.high) && Level(number: 31)?.has(.high) == false)
        #expect(Level(number: 32) == nil && Level.all.count == 13 && Level.highest.level_idc == 186)
    }
}
