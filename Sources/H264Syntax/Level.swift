package import VideoBase

/// A level and its limits, H.264 Table A-1.
package struct Level: Sendable, Hashable {
    /// The level's number times ten; 9 stands for level 1b.
    package let number: Int
    /// The maximum number of macroblocks per second.
    package let maxMBPS: Int
    /// The maximum number of macroblocks per frame.
    package let maxFS: Int
    /// The maximum number of macroblocks in the decoded picture buffer.
    package let maxDpbMbs: Int
    /// The maximum bit rate in units of cpbBrVclFactor bits per second (1000 up to Main, 1250 for High).
    package let maxBR: Int
    /// The maximum size of the coded picture buffer in units of cpbBrVclFactor bits.
    package let maxCPB: Int
    /// The minimum compression ratio of a picture.
    package let minCR: Int

    /// All levels, ordered by capability.
    package static let all: [Level] = [
        Level(number: 10, maxMBPS: 1485, maxFS: 99, maxDpbMbs: 396, maxBR: 64, maxCPB: 175, minCR: 2),
        Level(number: 9, maxMBPS: 1485, maxFS: 99, maxDpbMbs: 396, maxBR: 128, maxCPB: 350, minCR: 2),
        Level(number: 11, maxMBPS: 3000, maxFS: 396, maxDpbMbs: 900, maxBR: 192, maxCPB: 500, minCR: 2),
        Level(number: 12, maxMBPS: 6000, maxFS: 396, maxDpbMbs: 2376, maxBR: 384, maxCPB: 1000, minCR: 2),
        Level(number: 13, maxMBPS: 11880, maxFS: 396, maxDpbMbs: 2376, maxBR: 768, maxCPB: 2000, minCR: 2),
        Level(number: 20, maxMBPS: 11880, maxFS: 396, maxDpbMbs: 2376, maxBR: 2000, maxCPB: 2000, minCR: 2),
        Level(number: 21, maxMBPS: 19800, maxFS: 792, maxDpbMbs: 4752, maxBR: 4000, maxCPB: 4000, minCR: 2),
        Level(number: 22, maxMBPS: 20250, maxFS: 1620, maxDpbMbs: 8100, maxBR: 4000, maxCPB: 4000, minCR: 2),
        Level(number: 30, maxMBPS: 40500, maxFS: 1620, maxDpbMbs: 8100, maxBR: 10000, maxCPB: 10000, minCR: 2),
        Level(number: 31, maxMBPS: 108_000, maxFS: 3600, maxDpbMbs: 18000, maxBR: 14000, maxCPB: 14000, minCR: 4),
        Level(number: 32, maxMBPS: 216_000, maxFS: 5120, maxDpbMbs: 20480, maxBR: 20000, maxCPB: 20000, minCR: 4),
        Level(number: 40, maxMBPS: 245_760, maxFS: 8192, maxDpbMbs: 32768, maxBR: 20000, maxCPB: 25000, minCR: 4),
        Level(number: 41, maxMBPS: 245_760, maxFS: 8192, maxDpbMbs: 32768, maxBR: 50000, maxCPB: 62500, minCR: 2),
        Level(number: 42, maxMBPS: 522_240, maxFS: 8704, maxDpbMbs: 34816, maxBR: 50000, maxCPB: 62500, minCR: 2),
        Level(number: 50, maxMBPS: 589_824, maxFS: 22080, maxDpbMbs: 110_400, maxBR: 135_000, maxCPB: 135_000, minCR: 2),
        Level(number: 51, maxMBPS: 983_040, maxFS: 36864, maxDpbMbs: 184_320, maxBR: 240_000, maxCPB: 240_000, minCR: 2),
        Level(number: 52, maxMBPS: 2_073_600, maxFS: 36864, maxDpbMbs: 184_320, maxBR: 240_000, maxCPB: 240_000, minCR: 2),
        Level(number: 60, maxMBPS: 4_177_920, maxFS: 139_264, maxDpbMbs: 696_320, maxBR: 240_000, maxCPB: 240_000, minCR: 2),
        Level(number: 61, maxMBPS: 8_355_840, maxFS: 139_264, maxDpbMbs: 696_320, maxBR: 480_000, maxCPB: 480_000, minCR: 2),
        Level(number: 62, maxMBPS: 16_711_680, maxFS: 139_264, maxDpbMbs: 696_320, maxBR: 800_000, maxCPB: 800_000, minCR: 2),
    ]

    /// The highest level, 6.2.
    package static let highest = all[all.count - 1]

    private init(number: Int, maxMBPS: Int, maxFS: Int, maxDpbMbs: Int, maxBR: Int, maxCPB: Int, minCR: Int) {
        self.number = number
        self.maxMBPS = maxMBPS
        self.maxFS = maxFS
        self.maxDpbMbs = maxDpbMbs
        self.maxBR = maxBR
        self.maxCPB = maxCPB
        self.minCR = minCR
    }

    /// Returns the level with this number (41 for 4.1, 9 for 1b), or nil if there is none.
    package init?(number: Int) {
        guard let level = Self.all.first(where: { $0.number == number }) else { return nil }
        self = level
    }

    /// The level's name: `4.1`, `1b`.
    package var name: String { CodecLevel(tenths: number).description }

    /// Returns level_idc. Level 1b is coded as 11 with constraint_set3_flag, and as 9 in the High profiles (A.3.1,
    /// A.3.4).
    package func level_idc(for profile: CodecProfile) -> UInt8 {
        number == 9 && !profile.hasHighElements ? 11 : UInt8(number)
    }

    /// Returns MaxDpbFrames, A.3.1 h: the number of frames of this size in the decoded picture buffer, at most 16.
    package func maxDpbFrames(codedSize: VideoSize) -> Int {
        min(maxDpbMbs / (codedSize.width / 16 * (codedSize.height / 16)), 16)
    }

    /// Returns the maximum bit rate of the NAL units (A.3.1 j with cpbBrNalFactor).
    package func maxBitrate(profile: CodecProfile) -> BitsPerSecond {
        BitsPerSecond(maxBR * profile.rateFactors.nal)
    }

    /// Returns the maximum size of the coded picture buffer for the NAL units, in bits (A.3.1 j with cpbBrNalFactor).
    package func maxCPBSize(profile: CodecProfile) -> Int { maxCPB * profile.rateFactors.nal }

    /// Returns the limit that MinCR sets for pictures of this size (A.3.1 c, d; f_R for frames is 1/172).
    package func pictureSizeLimit(codedSize: VideoSize) -> PictureSizeLimit {
        PictureSizeLimit(
            samples: codedSize.width / 16 * (codedSize.height / 16), samplesPerSecond: maxMBPS, bytesPerSample: 384 / Double(minCR),
            minTime: 1.0 / 172)
    }

    /// Returns whether the level allows a stream with these properties: the size of a frame and its sides (A.3.1 f, g),
    /// the macroblock rate, the references, and the bit rate.
    package func allows(
        codedSize: VideoSize, frameRate: Rational, references: Int, bitrate: BitsPerSecond?, profile: CodecProfile
    ) -> Bool {
        let width = codedSize.width / 16
        let height = codedSize.height / 16
        guard width * height <= maxFS, width * width <= 8 * maxFS, height * height <= 8 * maxFS else { return false }
        guard Double(width * height) * frameRate.value <= Double(maxMBPS) else { return false }
        guard references <= maxDpbFrames(codedSize: codedSize) else { return false }
        return (bitrate?.value ?? 0) <= maxBitrate(profile: profile).value
    }

    /// Returns the lowest level that allows a stream with these properties, or nil if there is none.
    package static func lowest(
        codedSize: VideoSize, frameRate: Rational, references: Int, bitrate: BitsPerSecond?, profile: CodecProfile
    ) -> Level? {
        all.first {
            $0.allows(
                codedSize: codedSize, frameRate: frameRate, references: references, bitrate: bitrate, profile: profile)
        }
    }
}
