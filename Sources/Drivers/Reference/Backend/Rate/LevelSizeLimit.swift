internal import CVA

/// The largest coded pictures that a level's minimum compression ratio (MinCR) allows: H.264 A.3.1 c and d, H.265 A.4.2.
struct LevelSizeLimit {
    /// The number of samples of a picture: macroblocks in H.264, luma samples in HEVC.
    private let samples: Double
    /// MaxMBPS or MaxLumaSr, the samples that a decoder of the level decodes per second.
    private let samplesPerSecond: Double
    private let bytesPerSample: Double
    /// The time in seconds that the standard assumes before the first picture.
    private let firstTime: Double

    /// The share of the limit for the picture's slices. The client's headers count as well.
    private static let slices = 0.98

    /// Creates the limit of an H.264 level. Returns nil if the level is unknown.
    init?(_ sequence: VAEncSequenceParameterBufferH264) {
        // MaxMBPS and MinCR of table A-1. Level 1b is written as 9.
        let (speed, ratio): (Double, Double)
        switch sequence.level_idc {
        case 9, 10: (speed, ratio) = (1485, 2)
        case 11: (speed, ratio) = (3000, 2)
        case 12: (speed, ratio) = (6000, 2)
        case 13, 20: (speed, ratio) = (11_880, 2)
        case 21: (speed, ratio) = (19_800, 2)
        case 22: (speed, ratio) = (20_250, 2)
        case 30: (speed, ratio) = (40_500, 2)
        case 31: (speed, ratio) = (108_000, 4)
        case 32: (speed, ratio) = (216_000, 4)
        case 40: (speed, ratio) = (245_760, 4)
        case 41: (speed, ratio) = (245_760, 2)
        case 42: (speed, ratio) = (522_240, 2)
        case 50: (speed, ratio) = (589_824, 2)
        case 51: (speed, ratio) = (983_040, 2)
        case 52: (speed, ratio) = (2_073_600, 2)
        case 60: (speed, ratio) = (4_177_920, 2)
        case 61: (speed, ratio) = (8_355_840, 2)
        case 62: (speed, ratio) = (16_711_680, 2)
        default: return nil
        }
        samples = Double(sequence.picture_width_in_mbs) * Double(sequence.picture_height_in_mbs)
        samplesPerSecond = speed
        bytesPerSample = 384 / ratio
        firstTime = 1.0 / 172
    }

    /// Creates the limit of an HEVC level. Returns nil if the level is unknown or has no limits.
    init?(_ sequence: VAEncSequenceParameterBufferHEVC) {
        // MaxLumaSr and MinCrBase of tables A.8 and A.9. MinCrBase of the High tier, which is lower, is not used.
        let (speed, ratio): (Double, Double)
        switch sequence.general_level_idc {
        case 30: (speed, ratio) = (552_960, 2)
        case 60: (speed, ratio) = (3_686_400, 2)
        case 63: (speed, ratio) = (7_372_800, 2)
        case 90: (speed, ratio) = (16_588_800, 2)
        case 93: (speed, ratio) = (33_177_600, 2)
        case 120: (speed, ratio) = (66_846_720, 4)
        case 123: (speed, ratio) = (133_693_440, 4)
        case 150: (speed, ratio) = (267_386_880, 6)
        case 153: (speed, ratio) = (534_773_760, 8)
        case 156, 180: (speed, ratio) = (1_069_547_520, 8)
        case 183: (speed, ratio) = (2_139_095_040, 8)
        case 186: (speed, ratio) = (4_278_190_080, 6)
        default: return nil
        }
        samples = Double(sequence.pic_width_in_luma_samples) * Double(sequence.pic_height_in_luma_samples)
        samplesPerSecond = speed
        // FormatCapabilityFactor of table A.10, Main and Main 10.
        bytesPerSample = unsafe (sequence.seq_fields.bits.bit_depth_luma_minus8 > 0 ? 1.875 : 1.5) / ratio
        firstTime = 1.0 / 300
    }

    /// Returns the limit in bits. If a stream exceeds its level's frame rate or size, a picture may still be as large as
    /// the level's largest.
    func bits(isFirst: Bool, framesPerSecond: Double) -> Double {
        let time = isFirst ? firstTime : 1 / framesPerSecond
        return 8 * Self.slices * bytesPerSample * max(samples, samplesPerSecond * time)
    }
}
