/// A video coding standard that vaenc produces.
public enum VideoCodec: String, Sendable, Hashable, Codable, CaseIterable {
    /// H.264 (ITU-T H.264, ISO/IEC 14496-10).
    case h264
    /// HEVC (ITU-T H.265, ISO/IEC 23008-2).
    case hevc

    /// The codec that is assumed for a stream of unknown codec.
    package static let assumedForUnknownStreams = VideoCodec.h264

    /// The standard's common name: `H.264`, `HEVC`.
    public var standardName: String {
        switch self {
        case .h264: "H.264"
        case .hevc: "HEVC"
        }
    }

    /// The bit depths of coded samples in the codec's supported profiles.
    public var bitDepths: [Int] {
        switch self {
        case .h264: [8]
        case .hevc: [8, 10]
        }
    }

    /// The tiers of the codec's levels. Empty if the codec has none.
    public var tiers: [Tier] {
        switch self {
        case .h264: []
        case .hevc: Tier.allCases
        }
    }

    /// The entropy coders that a stream can use.
    public var entropyCoders: [EntropyCoder] {
        switch self {
        case .h264: EntropyCoder.allCases
        case .hevc: [.cabac]
        }
    }

    /// The usual file extension of a stream in Annex B format.
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

/// A profile of a coding standard. The raw value is the name in reports.
public enum CodecProfile: String, Sendable, Hashable, Codable, CaseIterable {
    /// The Constrained Baseline profile of H.264 (A.2.1.1).
    case h264ConstrainedBaseline = "Constrained Baseline"
    /// The Main profile of H.264 (A.2.2).
    case h264Main = "Main"
    /// The High profile of H.264 (A.2.4).
    case h264High = "High"
    /// The Main profile of H.265 (A.3.2), for 8-bit samples.
    case hevcMain = "HEVC Main"
    /// The Main 10 profile of H.265 (A.3.3), for samples of 8 to 10 bits.
    case hevcMain10 = "HEVC Main 10"

    /// The coding standard of the profile.
    public var codec: VideoCodec {
        switch self {
        case .h264ConstrainedBaseline, .h264Main, .h264High: .h264
        case .hevcMain, .hevcMain10: .hevc
        }
    }

    /// The bit depth of coded samples.
    public var bitDepth: Int {
        switch self {
        case .h264ConstrainedBaseline, .h264Main, .h264High, .hevcMain: 8
        case .hevcMain10: 10
        }
    }

    /// The entropy coders that the profile allows.
    package var entropyCoders: [EntropyCoder] {
        switch self {
        case .h264ConstrainedBaseline: [.cavlc]
        case .h264Main, .h264High, .hevcMain, .hevcMain10: codec.entropyCoders
        }
    }

    /// Whether the profile allows B pictures.
    package var allowsBPictures: Bool {
        switch self {
        case .h264ConstrainedBaseline: false
        case .h264Main, .h264High, .hevcMain, .hevcMain10: true
        }
    }

    /// Whether the profile has `transform_8x8_mode_flag` and the other elements of H.264's High profiles.
    package var hasHighElements: Bool {
        switch self {
        case .h264High: true
        case .h264ConstrainedBaseline, .h264Main, .hevcMain, .hevcMain10: false
        }
    }

    /// The name in reports that also give the codec: `Main`, `Main 10`.
    public var shortName: String {
        switch self {
        case .h264ConstrainedBaseline, .h264Main, .h264High: rawValue
        case .hevcMain: "Main"
        case .hevcMain10: "Main 10"
        }
    }
}

/// The entropy coder of H.264: `entropy_coding_mode_flag`, H.264 7.4.2.2.
public enum EntropyCoder: String, Sendable, Hashable, Codable, CaseIterable {
    /// Context-adaptive binary arithmetic coding.
    case cabac
    /// Context-adaptive variable-length coding.
    case cavlc
}

/// The tier of HEVC (general_tier_flag, H.265 A.4.1), which determines the maximum bit rate and buffer size of a level.
public enum Tier: String, Sendable, Hashable, Codable, CaseIterable {
    /// The Main tier.
    case main
    /// The High tier, with higher maximum bit rates. Levels below 4 do not have it.
    case high

    /// The name in reports.
    public var name: String {
        switch self {
        case .main: "Main"
        case .high: "High"
        }
    }
}

/// The mode of rate control. If the device lacks the mode, the nearest one is used and reported.
public enum RateControlMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// Constant QP: no rate control.
    case cqp
    /// Constant bit rate: the decoder's buffer never underflows or overflows.
    case cbr
    /// Variable bit rate: an average rate, and a maximum over any second.
    case vbr
    /// Constant quality through the driver's ICQ mode.
    case icq
    /// Constant quality that never exceeds a bit rate.
    case qvbr
    /// An average bit rate without a decoder buffer and without a maximum.
    case avbr
}

/// A rate in bits per second.
public struct BitsPerSecond: Sendable, Hashable, Codable, Comparable, CustomStringConvertible {
    /// The rate in bits per second.
    public var value: Int

    /// Creates a rate of this many bits per second.
    public init(_ value: Int) { self.value = value }

    /// Parses `800000`, `800k`, `6M` or `1.5M`. Returns nil if the rate is not positive or is 10¹² or more.
    public init?(_ text: some StringProtocol) {
        var digits = Substring(text)
        var scale = 1.0
        switch digits.last {
        case "k", "K": scale = 1e3; digits.removeLast()
        case "m", "M": scale = 1e6; digits.removeLast()
        case "g", "G": scale = 1e9; digits.removeLast()
        default: break
        }
        // `Double` also reads hexadecimal numbers.
        guard !digits.contains(where: { $0 == "x" || $0 == "X" }), let number = Double(digits), number.isFinite, number > 0, number * scale < 1e12
        else { return nil }
        self.init(Int((number * scale).rounded()))
        if value <= 0 { return nil }
    }

    /// Returns whether rate `a` is lower than rate `b`.
    public static func < (a: BitsPerSecond, b: BitsPerSecond) -> Bool { a.value < b.value }
    /// The rate as text: `800000 bit/s`.
    public var description: String { "\(value) bit/s" }

    /// Decodes a rate from an integer in bits per second.
    public init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int.self) }
    /// Encodes the rate as an integer in bits per second.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// The mapping of samples to light, as code points of ITU-T H.273. The value 2 means unspecified.
public struct ColorDescription: Sendable, Hashable {
    /// The color primaries (colour_primaries).
    public var primaries: UInt8
    /// The transfer function (transfer_characteristics).
    public var transfer: UInt8
    /// The matrix for YUV samples (matrix_coefficients).
    public var matrix: UInt8
    /// Whether samples use the full range, or nil if that is unknown. Decoders then assume limited range.
    public var fullRange: Bool?

    /// Creates a color description, by default an unspecified one.
    public init(primaries: UInt8 = 2, transfer: UInt8 = 2, matrix: UInt8 = 2, fullRange: Bool? = nil) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.fullRange = fullRange
    }

    /// A color description in which nothing is specified.
    public static let unspecified = ColorDescription()
    /// Whether the primaries, the transfer function or the matrix are specified.
    public var isSpecified: Bool { primaries != 2 || transfer != 2 || matrix != 2 }
}

extension ColorDescription {
    /// The matrix, or nil if samples cannot be converted with it. The identity matrix of RGB (0) gives nil.
    package var knownMatrix: UInt8? { [1, 4, 5, 6, 7, 9, 10].contains(matrix) ? matrix : nil }

    /// Returns the matrix that is assumed for pictures without one: BT.709 from 720 rows on, otherwise BT.601.
    package static func usualMatrix(rows: Int) -> UInt8 { rows >= 720 ? 1 : 6 }

    /// Returns the description of the YUV pictures that result from RGB pictures of this description. The range and
    /// matrix of RGB do not apply to the result.
    ///
    /// - Parameter asked: The requested range and matrix. Unspecified values give limited range and the default matrix.
    package func ofRGBAsYUV(rows: Int, asked: ColorDescription = .unspecified) -> ColorDescription {
        var color = self
        color.fullRange = asked.fullRange ?? false
        color.matrix = asked.knownMatrix ?? knownMatrix ?? Self.usualMatrix(rows: rows)
        return color
    }
}
