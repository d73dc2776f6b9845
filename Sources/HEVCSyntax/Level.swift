package import VideoBase

/// A level and its limits, H.265 Tables A.8 and A.9.
package struct Level: Sendable, Hashable {
    /// The level's number times ten.
    package let number: Int
    /// The maximum number of luma samples per picture.
    package let maxLumaPs: Int
    /// The maximum number of luma samples per second.
    package let maxLumaSr: Int
    /// The maximum bit rate of the Main tier, in units of 1000 bits per second for slices and 1100 for all NAL units.
    private let maxBRMain: Int
    /// The maximum bit rate of the High tier in the same units; nil if the level does not have the tier.
    private let maxBRHigh: Int?
    /// The maximum size of the coded picture buffer in the Main tier, in units of 1000 bits for slices and 1100 for all
    /// NAL units.
    private let maxCPBMain: Int
    /// The maximum size of the coded picture buffer in the High tier in the same units; nil if the level does not have
    /// the tier.
    private let maxCPBHigh: Int?
    /// The maximum number of slice segments of a picture.
    package let maxSliceSegmentsPerPicture: Int
    /// The maximum number of tile rows.
    package let maxTileRows: Int
    /// The maximum number of tile columns.
    package let maxTileCols: Int
    /// MinCrBase: the minimum compression ratio of a picture.
    package let minCrBase: Int

    /// All levels, ordered by capability.
    package static let all: [Level] = [
        Level(
            10, maxLumaPs: 36_864, maxLumaSr: 552_960, maxBR: (128, nil), maxCPB: (350, nil), segments: 16,
            tiles: (1, 1), minCR: 2),
        Level(
            20, maxLumaPs: 122_880, maxLumaSr: 3_686_400, maxBR: (1500, nil), maxCPB: (1500, nil), segments: 16,
            tiles: (1, 1), minCR: 2),
        Level(
            21, maxLumaPs: 245_760, maxLumaSr: 7_372_800, maxBR: (3000, nil), maxCPB: (3000, nil), segments: 20,
            tiles: (1, 1), minCR: 2),
        Level(
            30, maxLumaPs: 552_960, maxLumaSr: 16_588_800, maxBR: (6000, nil), maxCPB: (6000, nil), segments: 30,
            tiles: (2, 2), minCR: 2),
        Level(
            31, maxLumaPs: 983_040, maxLumaSr: 33_177_600, maxBR: (10000, nil), maxCPB: (10000, nil), segments: 40,
            tiles: (3, 3), minCR: 2),
        Level(
            40, maxLumaPs: 2_228_224, maxLumaSr: 66_846_720, maxBR: (12000, 30000), maxCPB: (12000, 30000),
            segments: 75, tiles: (5, 5), minCR: 4),
        Level(
            41, maxLumaPs: 2_228_224, maxLumaSr: 133_693_440, maxBR: (20000, 50000), maxCPB: (20000, 50000),
            segments: 75, tiles: (5, 5), minCR: 4),
        Level(
            50, maxLumaPs: 8_912_896, maxLumaSr: 267_386_880, maxBR: (25000, 100_000), maxCPB: (25000, 100_000),
            segments: 200, tiles: (11, 10), minCR: 6),
        Level(
            51, maxLumaPs: 8_912_896, maxLumaSr: 534_773_760, maxBR: (40000, 160_000), maxCPB: (40000, 160_000),
            segments: 200, tiles: (11, 10), minCR: 8),
        Level(
            52, maxLumaPs: 8_912_896, maxLumaSr: 1_069_547_520, maxBR: (60000, 240_000), maxCPB: (60000, 240_000),
            segments: 200, tiles: (11, 10), minCR: 8),
        Level(
            60, maxLumaPs: 35_651_584, maxLumaSr: 1_069_547_520, maxBR: (60000, 240_000), maxCPB: (60000, 240_000),
            segments: 600, tiles: (22, 20), minCR: 8),
        Level(
            61, maxLumaPs: 35_651_584, maxLumaSr: 2_139_095_040, maxBR: (120_000, 480_000), maxCPB: (120_000, 480_000),
            segments: 600, tiles: (22, 20), minCR: 8),
        Level(
            62, maxLumaPs: 35_651_584, maxLumaSr: 4_278_190_080, maxBR: (240_000, 800_000), maxCPB: (240_000, 800_000),
            segments: 600, tiles: (22, 20), minCR: 6),
    ]

    /// The highest level, 6.2.
    package static let highest = all[all.count - 1]

    private init(
        _ number: Int, maxLumaPs: Int, maxLumaSr: Int, maxBR: (main: Int, high: Int?), maxCPB: (main: Int, high: Int?),
        segments: Int, tiles: (rows: Int, columns: Int), minCR: Int
    ) {
        self.number = number
        self.maxLumaPs = maxLumaPs
        self.maxLumaSr = maxLumaSr
        maxBRMain = maxBR.main
        maxBRHigh = maxBR.high
        maxCPBMain = maxCPB.main
        maxCPBHigh = maxCPB.high
        maxSliceSegmentsPerPicture = segments
        maxTileRows = tiles.rows
        maxTileCols = tiles.columns
        minCrBase = minCR
    }

    /// Returns the level with this number (41 for 4.1), or nil if there is none.
    package init?(number: Int) {
        guard let level = Self.all.first(where: { $0.number == number }) else { return nil }
        self = level
    }

    /// The level's name: `4.1`.
    package var name: String { CodecLevel(tenths: number).description }

    /// general_level_idc, thirty times the level (A.4.1).
    package var level_idc: UInt8 { UInt8(number * 3) }

    /// Returns whether the level has the tier. Levels from 4 on have a High tier.
    package func has(_ tier: Tier) -> Bool { tier == .main || maxBRHigh != nil }

    /// Returns MaxDpbSize, (A-2): the number of pictures of this size in the decoded picture buffer, including the
    /// current one.
    package func maxDpbSize(codedSize: VideoSize) -> Int {
        let maxDpbPicBuf = 6
        let samples = codedSize.width * codedSize.height
        if samples <= maxLumaPs >> 2 { return min(4 * maxDpbPicBuf, 16) }
        if samples <= maxLumaPs >> 1 { return min(2 * maxDpbPicBuf, 16) }
        if samples <= 3 * maxLumaPs >> 2 { return min(4 * maxDpbPicBuf / 3, 16) }
        return maxDpbPicBuf
    }

    /// Returns the maximum bit rate of the NAL units (A.4.2 with BrNalFactor 1100, Main and Main 10), or nil if the
    /// level does not have the tier.
    package func maxBitrate(tier: Tier) -> BitsPerSecond? {
        (tier == .main ? maxBRMain : maxBRHigh).map { BitsPerSecond($0 * 1100) }
    }

    /// Returns the maximum size of the coded picture buffer for the NAL units in bits (A.4.2 with CpbNalFactor 1100),
    /// or nil if the level does not have the tier.
    package func maxCPBSize(tier: Tier) -> Int? { (tier == .main ? maxCPBMain : maxCPBHigh).map { $0 * 1100 } }

    /// Returns the limit that MinCR sets for pictures of this size (A.4.2; f_R is 1/300).
    ///
    /// FormatCapabilityFactor (Table A.10) is 1.5 in Main and 1.875 in Main 10. MinCrScaleFactor is 1 in both.
    package func pictureSizeLimit(codedSize: VideoSize, bitDepth: Int) -> PictureSizeLimit {
        PictureSizeLimit(
            samples: codedSize.width * codedSize.height, samplesPerSecond: maxLumaSr,
            bytesPerSample: (bitDepth > 8 ? 1.875 : 1.5) / Double(minCrBase), minTime: 1.0 / 300)
    }
}
