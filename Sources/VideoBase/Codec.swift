/// A video coding standard that vaenc produces.
public enum VideoCodec: String, Sendable, Hashable, Codable, CaseIterable {
    case h264
    case hevc

    /// The usual name of the standard, for people: `H.264`, `HEVC`.
    public var standardName: String {
        switch self {
        case .h264: "H.264"
        case .hevc: "HEVC"
        }
    }

    /// The numbers of bits of a coded sample that the codec's profiles here have.
    public var bitDepths: [Int] {
        switch self {
        case .h264: [8]
        case .hevc: [8, 10]
        }
    }

    /// The tiers of the codec's levels; empty if it has none.
    public var tiers: [Tier] {
        switch self {
        case .h264: []
        case .hevc: Tier.allCases
        }
    }

    /// The entropy coders that a stream can choose from.
    public var entropyCoders: [EntropyCoder] {
        switch self {
        case .h264: EntropyCoder.allCases
        case .hevc: [.cabac]
        }
    }

    /// The usual extension of a file that holds the stream in Annex B form.
    public var fileExtension: String {
        switch self {
        case .h264: "h264"
        case .hevc: "h265"
        }
    }

    /// The name of the decoder configuration record's box, ISO/IEC 14496-15.
    package var recordName: String {
        switch self {
        case .h264: "avcC"
        case .hevc: "hvcC"
        }
    }
}

/// A profile of a coding standard, by the name used in reports.
public enum CodecProfile: String, Sendable, Hashable, Codable, CaseIterable {
    case h264ConstrainedBaseline = "Constrained Baseline"
    case h264Main = "Main"
    case h264High = "High"
    case hevcMain = "HEVC Main"
    case hevcMain10 = "HEVC Main 10"

    public var codec: VideoCodec {
        switch self {
        case .h264ConstrainedBaseline, .h264Main, .h264High: .h264
        case .hevcMain, .hevcMain10: .hevc
        }
    }

    /// Bits of a coded sample.
    public var bitDepth: Int { self == .hevcMain10 ? 10 : 8 }

    /// The name in a report that gives the codec beside it (`Main`, `Main 10`).
    public var shortName: String {
        switch self {
        case .hevcMain: "Main"
        case .hevcMain10: "Main 10"
        default: rawValue
        }
    }
}

/// The entropy coder of H.264: `entropy_coding_mode_flag`, H.264 7.4.2.2.
public enum EntropyCoder: String, Sendable, Hashable, Codable, CaseIterable {
    case cabac
    case cavlc
}

/// The tier of HEVC, general_tier_flag, H.265 A.4.1: how high rates and buffers may go at a level.
public enum Tier: String, Sendable, Hashable, Codable, CaseIterable {
    case main
    case high

    /// As printed.
    public var name: String {
        switch self {
        case .main: "Main"
        case .high: "High"
        }
    }
}

public enum RateControlMode: String, Sendable, Hashable, Codable, CaseIterable {
    case cqp, cbr, vbr, icq, qvbr, avbr
}

/// A rate in bits per second.
public struct BitsPerSecond: Sendable, Hashable, Codable, Comparable, CustomStringConvertible {
    public var value: Int

    public init(_ value: Int) { self.value = value }

    /// Reads `800000`, `800k`, `6M`, `1.5M`; nil unless positive.
    public init?(_ text: some StringProtocol) {
        var digits = Substring(text)
        var scale = 1.0
        switch digits.last {
        case "k", "K": scale = 1e3; digits.removeLast()
        case "m", "M": scale = 1e6; digits.removeLast()
        case "g", "G": scale = 1e9; digits.removeLast()
        default: break
        }
        guard let number = Double(digits), number.isFinite, number > 0, number * scale < 1e12 else { return nil }
        self.init(Int((number * scale).rounded()))
        if value <= 0 { return nil }
    }

    public static func < (a: BitsPerSecond, b: BitsPerSecond) -> Bool { a.value < b.value }
    public var description: String { "\(value) bit/s" }

    public init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int.self) }
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// How the samples map to light: code points of ITU-T H.273, 2 where not known.
public struct ColorDescription: Sendable, Hashable {
    public var primaries: UInt8
    public var transfer: UInt8
    public var matrix: UInt8
    /// nil where not known, which decoders take as limited.
    public var fullRange: Bool?

    public init(primaries: UInt8 = 2, transfer: UInt8 = 2, matrix: UInt8 = 2, fullRange: Bool? = nil) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.fullRange = fullRange
    }

    public static let unspecified = ColorDescription()
    public var isSpecified: Bool { primaries != 2 || transfer != 2 || matrix != 2 }
}

extension ColorDescription {
    /// The matrix, where it is one that samples are converted by; RGB's own (0) is none.
    package var knownMatrix: UInt8? { [1, 4, 5, 6, 7, 9, 10].contains(matrix) ? matrix : nil }

    /// What pictures without a matrix are taken to have: BT.709 from 720 rows on, BT.601 below.
    package static func usualMatrix(rows: Int) -> UInt8 { rows >= 720 ? 1 : 6 }

    /// What pictures of RGB that are so described are as YUV: RGB's range and matrix are not those of what it becomes.
    ///
    /// - Parameter asked: range and matrix, where they are to be others than limited and the usual one.
    package func ofRGBAsYUV(rows: Int, asked: ColorDescription = .unspecified) -> ColorDescription {
        var color = self
        color.fullRange = asked.fullRange ?? false
        color.matrix = asked.knownMatrix ?? knownMatrix ?? Self.usualMatrix(rows: rows)
        return color
    }
}

extension Int {
    /// The name of a level by its number, ten times the level; 9 is H.264's 1b. Of no level as well: -1 is -0.1.
    package var levelName: String { self == 9 ? "1b" : "\(self < 0 ? "-" : "")\(magnitude / 10).\(magnitude % 10)" }
}
