public import VideoBase

/// A VAProfile, identified by its number in `va.h`. A driver that is newer than the header may report unknown numbers.
public struct Profile: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number in `va.h`.
    public let rawValue: Int32

    /// Creates a profile from its number in `va.h`.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// VAProfileNone: processing without a codec.
    public static let none = Profile(rawValue: -1)
    /// VAProfileH264Main.
    public static let h264Main = Profile(rawValue: 6)
    /// VAProfileH264High.
    public static let h264High = Profile(rawValue: 7)
    /// VAProfileH264ConstrainedBaseline.
    public static let h264ConstrainedBaseline = Profile(rawValue: 13)
    /// VAProfileHEVCMain.
    public static let hevcMain = Profile(rawValue: 17)
    /// VAProfileHEVCMain10.
    public static let hevcMain10 = Profile(rawValue: 18)

    /// Creates the VAProfile of a profile that vaenc encodes.
    public init(_ profile: CodecProfile) {
        self =
            switch profile {
            case .h264ConstrainedBaseline: .h264ConstrainedBaseline
            case .h264Main: .h264Main
            case .h264High: .h264High
            case .hevcMain: .hevcMain
            case .hevcMain10: .hevcMain10
            }
    }

    /// The corresponding `CodecProfile`, or nil if vaenc does not encode the profile.
    public var codecProfile: CodecProfile? {
        CodecProfile.allCases.first { Profile($0) == self }
    }

    /// The codec, or nil if vaenc does not encode it.
    public var codec: VideoCodec? { VideoCodec.allCases.first { $0.standard == standard } }

    /// The name of the coding standard in reports: `h264`, `hevc`, `av1`, …; nil if the profile belongs to no standard
    /// (for example, video processing).
    public var codecName: String? { standard?.rawValue }

    /// A coding standard with profiles in `va.h`. The raw value is the name in reports.
    fileprivate enum Standard: String {
        case mpeg2, mpeg4, h264, vc1, h263, jpeg, vp8, hevc, vp9, av1, vvc
    }

    /// The coding standard; nil if the profile belongs to none.
    private var standard: Standard? {
        switch rawValue {
        case 0, 1: .mpeg2
        case 2...4: .mpeg4
        case 5...7, 13, 15, 16, 36: .h264
        case 8...10: .vc1
        case 11: .h263
        case 12: .jpeg
        case 14: .vp8
        case 17, 18, 23...31, 34: .hevc
        case 19...22: .vp9
        case 32, 33: .av1
        case 37, 38: .vvc
        default: nil
        }
    }

    /// The constant's name in `va.h`, or a text like `VAProfile(61)` for an unknown number.
    public var name: String { Self.names[rawValue].map { "VAProfile\($0)" } ?? "VAProfile(\(rawValue))" }

    /// The profile's name in reports: `High`, `Main 10`, or the constant's name if vaenc does not encode the profile.
    public var shortName: String { codecProfile?.shortName ?? name }

    /// The constant's name in `va.h`.
    public var description: String { name }

    private static let names: [Int32: String] = [
        -1: "None", 0: "MPEG2Simple", 1: "MPEG2Main", 2: "MPEG4Simple", 3: "MPEG4AdvancedSimple", 4: "MPEG4Main",
        5: "H264Baseline", 6: "H264Main", 7: "H264High", 8: "VC1Simple", 9: "VC1Main", 10: "VC1Advanced",
        11: "H263Baseline", 12: "JPEGBaseline", 13: "H264ConstrainedBaseline", 14: "VP8Version0_3",
        15: "H264MultiviewHigh", 16: "H264StereoHigh", 17: "HEVCMain", 18: "HEVCMain10", 19: "VP9Profile0",
        20: "VP9Profile1", 21: "VP9Profile2", 22: "VP9Profile3", 23: "HEVCMain12", 24: "HEVCMain422_10",
        25: "HEVCMain422_12", 26: "HEVCMain444", 27: "HEVCMain444_10", 28: "HEVCMain444_12", 29: "HEVCSccMain",
        30: "HEVCSccMain10", 31: "HEVCSccMain444", 32: "AV1Profile0", 33: "AV1Profile1", 34: "HEVCSccMain444_10",
        35: "Protected", 36: "H264High10", 37: "VVCMain10", 38: "VVCMultilayerMain10",
    ]
}

extension VideoCodec {
    /// The coding standard of the codec's profiles.
    fileprivate var standard: Profile.Standard {
        switch self {
        case .h264: .h264
        case .hevc: .hevc
        }
    }
}

/// A VAEntrypoint, identified by its number in `va.h`.
public struct EntryPoint: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number in `va.h`.
    public let rawValue: Int32

    /// Creates an entry point from its number in `va.h`.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Decoding from slice data (VAEntrypointVLD).
    public static let decode = EntryPoint(rawValue: 1)
    /// Encoding of slices (VAEntrypointEncSlice).
    public static let encodeSlice = EntryPoint(rawValue: 6)
    /// Encoding of slices on the low-power unit, Intel's VDEnc (VAEntrypointEncSliceLP).
    public static let encodeSliceLowPower = EntryPoint(rawValue: 8)
    /// Scaling and conversion (VAEntrypointVideoProc), used without a codec profile.
    public static let videoProcessing = EntryPoint(rawValue: 10)

    /// Whether the entry point encodes video slices.
    public var encodes: Bool { self == .encodeSlice || self == .encodeSliceLowPower }

    /// The constant's name in `va.h`.
    public var name: String { "VAEntrypoint\(shortName)" }

    /// The entry point's name in reports: `EncSlice`, `EncSliceLP`, `VLD`.
    public var shortName: String { Self.names[rawValue] ?? "(\(rawValue))" }

    /// The constant's name in `va.h`.
    public var description: String { name }

    private static let names: [Int32: String] = [
        1: "VLD", 2: "IZZ", 3: "IDCT", 4: "MoComp", 5: "Deblocking", 6: "EncSlice", 7: "EncPicture", 8: "EncSliceLP",
        10: "VideoProc", 11: "FEI", 12: "Stats", 13: "ProtectedTEEComm", 14: "ProtectedContent",
    ]
}
