import H264Syntax
import HEVCSyntax
import VideoBase

/// A codec level with the property that its limits depend on: the profile in H.264, the tier in HEVC.
enum StreamLevel: Sendable, Hashable {
    case h264(H264Syntax.Level, CodecProfile)
    case hevc(HEVCSyntax.Level, Tier)

    /// Returns every level of the profile's codec in rising order. For each HEVC level, the Main tier comes first.
    ///
    /// - Parameter tier: Selects one tier of HEVC; nil selects both.
    static func all(_ profile: CodecProfile, _ tier: Tier? = nil) -> [StreamLevel] {
        switch profile.codec {
        case .h264: H264Syntax.Level.all.map { .h264($0, profile) }
        case .hevc:
            HEVCSyntax.Level.all.flatMap { level in
                Tier.allCases.filter { level.has($0) && $0 == tier ?? $0 }.map { .hevc(level, $0) }
            }
        }
    }

    static func highest(_ profile: CodecProfile, _ tier: Tier? = nil) -> StreamLevel {
        switch profile.codec {
        case .h264: .h264(.highest, profile)
        case .hevc: .hevc(.highest, tier ?? .high)
        }
    }

    /// Returns a level of the profile: once for each tier, empty if the codec does not have it.
    static func named(_ level: CodecLevel, profile: CodecProfile, tier: Tier? = nil) -> [StreamLevel] {
        all(profile, tier).filter { $0.number == level.tenths }
    }

    /// The tier; nil if the codec has none.
    var tier: Tier? {
        switch self {
        case .h264: nil
        case .hevc(_, let tier): tier
        }
    }

    /// The level in the Main tier; the level itself if the codec has no tiers.
    var inMainTier: StreamLevel {
        switch self {
        case .h264: self
        case .hevc(let level, _): .hevc(level, .main)
        }
    }

    var number: Int {
        switch self {
        case .h264(let level, _): level.number
        case .hevc(let level, _): level.number
        }
    }

    /// The printed name with the tier: `4.1`, `4.1 High`.
    var name: String {
        switch self {
        case .h264(let level, _): level.name
        case .hevc(let level, let tier): tier == .main ? level.name : "\(level.name) \(tier.name)"
        }
    }

    /// The name of the level without the tier: `4.1`.
    var numberName: String {
        switch self {
        case .h264(let level, _): level.name
        case .hevc(let level, _): level.name
        }
    }

    /// The description of the highest level in a message.
    var described: String {
        switch self {
        case .h264(let level, _): "H.264's highest level, \(level.name)"
        case .hevc(let level, let tier): "HEVC's highest level, \(level.name) in the \(tier.name) tier"
        }
    }

    /// The maximum bit rate of the NAL units, in bits per second.
    var maxBitrate: Int {
        switch self {
        case .h264(let level, let profile): level.maxBitrate(profile: profile).value
        case .hevc(let level, let tier): level.maxBitrate(tier: tier)?.value ?? 0
        }
    }

    /// The maximum coded picture buffer of the NAL units, in bits.
    var maxCPBSize: Int {
        switch self {
        case .h264(let level, let profile): level.maxCPBSize(profile: profile)
        case .hevc(let level, let tier): level.maxCPBSize(tier: tier) ?? 0
        }
    }

    /// The maximum bit rate and coded picture buffer for slices (VCL NAL units) alone: `rate` in bits per second, `buffer`
    /// in bits.
    private var maxSliceBits: (rate: Int, buffer: Int) {
        switch self {
        case .h264(let level, let profile):
            let factor = profile.rateFactors.vcl
            return (level.maxBR * factor, level.maxCPB * factor)
        // CpbVclFactor to CpbNalFactor, Table A.10.
        case .hevc: return (maxBitrate / 1100 * 1000, maxCPBSize / 1100 * 1000)
        }
    }

    /// Returns the picture sizes that the minimum compression ratio allows.
    func pictureSizeLimit(_ grid: BlockGrid, _ profile: CodecProfile) -> PictureSizeLimit {
        switch self {
        case .h264(let level, _): level.pictureSizeLimit(codedSize: grid.coded)
        case .hevc(let level, _): level.pictureSizeLimit(codedSize: grid.coded, bitDepth: profile.bitDepth)
        }
    }

    /// Whether slices of that bit rate, and an intra picture of that many bits, keep within the level.
    func holdsSlices(bitrate: Int, intraPicture: Int) -> Bool {
        bitrate <= maxSliceBits.rate && intraPicture <= maxSliceBits.buffer
    }

    /// Returns the number of references of that size in the decoded picture buffer, without the picture being coded.
    func storage(_ grid: BlockGrid) -> Int {
        switch self {
        case .h264(let level, _): level.maxDpbFrames(codedSize: grid.coded)
        // MaxDpbSize includes the current picture.
        case .hevc(let level, _): level.maxDpbSize(codedSize: grid.coded) - 1
        }
    }

    /// Whether a stream keeps within the level: size, frame rate, references, slices, bit rate.
    func allows(_ grid: BlockGrid, frameRate: Rational, references: Int, bitrate: Int?) -> Bool {
        switch self {
        case .h264(let level, let profile):
            return level.allows(
                codedSize: grid.coded, frameRate: frameRate, references: references,
                bitrate: bitrate.map(BitsPerSecond.init), profile: profile)
        case .hevc(let level, let tier):
            var demand = HEVCSyntax.Level.Demand(
                codedSize: grid.coded, frameRate: frameRate, decodedPictures: references + 1,
                bitrate: bitrate.map(BitsPerSecond.init))
            demand.ctbSize = grid.block
            return level.allows(demand, tier: tier)
        }
    }

    /// The maximum number of slices in a picture; nil: it depends on the size.
    var maxSlices: Int? {
        switch self {
        case .h264: nil
        case .hevc(let level, _): level.maxSliceSegmentsPerPicture
        }
    }

    /// Returns the maximum frame rate for pictures of that size, in frames per second, rounded down to three decimals.
    func highestFrameRate(_ grid: BlockGrid) -> Double {
        switch self {
        case .h264(let level, _): Double(level.maxMBPS * 1000 / grid.areas) / 1000
        case .hevc(let level, _):
            Double(min(level.maxLumaSr * 1000 / (grid.coded.width * grid.coded.height), 300_000)) / 1000
        }
    }
}

extension VideoCodec {
    /// The expected bits of a picture at a QP, relative to H.264.
    var rateShare: Double {
        switch self {
        case .h264: 1
        case .hevc: 0.7
        }
    }
}
