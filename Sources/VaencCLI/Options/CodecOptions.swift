public import ArgumentParser
import Vaenc
public import VideoBase

struct CodecOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Codec; avc and h265 are accepted too. auto: from the output's extension, otherwise HEVC if a device "
                + "encodes it, otherwise H.264 (in software: HEVC only for 10 bits).",
            valueName: "auto|h264|hevc"))
    var codec: CodecOption = .auto

    @Option(help: "Profile: baseline, main or high for H.264, main or main10 for HEVC.")
    var profile: String?

    @Option(help: "Level, for example 4.1, or 1b for H.264 (default: the lowest that fits).")
    var level: String?

    @Option(
        help: ArgumentHelp(
            "HEVC tier. auto: High if the bit rate or the buffer requires it.", valueName: "auto|main|high"))
    var tier: TierOption = .auto

    @Option(
        help: ArgumentHelp(
            "H.264 entropy coder (default cabac if the profile and the device support it).", valueName: "cabac|cavlc"))
    var entropy: EntropyCoder?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Bits per coded sample, 8 or 10 (default: as in the input, if the codec and the device support it).",
            valueName: "N"))
    var bitDepth: Int?

    /// Applies the options to a configuration.
    ///
    /// - Parameter others: The codecs of the run's other outputs. An option that this output's codec lacks may be meant
    ///   for them.
    /// - Throws: `usage`.
    func apply(to configuration: inout EncoderConfiguration, others: Set<VideoCodec> = []) throws {
        let wanted = configuration.codec
        if let profile {
            let meant = Self.profile(profile, codec: wanted)
            let isOthers = others.contains { Self.profile(profile, codec: $0) != nil }
            guard meant != nil || isOthers else {
                let name = wanted?.standardName ?? "H.264 or HEVC"
                let remedy =
                    switch wanted {
                    case .h264: "use baseline, main or high"
                    case .hevc: "use main or main10"
                    case nil: "use baseline, main or high of H.264, or main or main10 of HEVC"
                    }
                throw VaencError.usage("--profile \(profile) is not a profile of \(name)", remedy: remedy)
            }
            configuration.profile = meant
        }
        configuration.level = try level.map(Self.level)
        // Whether this output's codec lacks an option that the codec of another output has.
        func isOthers(_ has: (VideoCodec) -> Bool) -> Bool { wanted.map { !has($0) && others.contains(where: has) } ?? false }
        configuration.bitDepth = isOthers({ $0.bitDepths.contains(bitDepth ?? 8) }) ? nil : bitDepth
        if let bitDepth, bitDepth != 8, bitDepth != 10 {
            throw VaencError.usage("--bit-depth \(bitDepth) is not supported", remedy: "use 8 or 10")
        }
        configuration.tier = isOthers({ !$0.tiers.isEmpty }) ? nil : tier.tier
        configuration.coding.entropy = isOthers({ $0.entropyCoders.count > 1 }) ? nil : entropy
        // The codec if the options determine it. The checks have the same order as in a session.
        let codec = CodecChoice.codec(determinedBy: configuration)?.codec
        try Validation.validate(
            bitDepth: configuration.bitDepth, profile: configuration.profile, codec: codec ?? .hevc)
        if configuration.tier != nil, let codec, codec.tiers.isEmpty {
            throw VaencError.usage(
                "--tier applies only to HEVC",
                remedy: "leave it out, or add --codec hevc: \(codec.standardName) has no tiers")
        }
        try Validation.validate(tier: configuration.tier, level: configuration.level, codec: .hevc)
        if configuration.coding.entropy != nil, let codec, codec.entropyCoders.count < 2 {
            throw VaencError.usage(
                "--entropy applies only to H.264", remedy: "leave it out (\(codec.standardName) always uses CABAC)")
        }
        if configuration.coding.entropy == .cabac, configuration.profile?.entropyCoders.contains(.cabac) == false {
            throw VaencError.usage(
                "--entropy cabac contradicts --profile baseline", remedy: "use --entropy cavlc or --profile main")
        }
    }

    /// Returns the profile with a name; nil if the codec (or both codecs, if `codec` is nil) has no such profile.
    /// Without a codec, `main` means H.264 Main.
    private static func profile(_ name: String, codec: VideoCodec?) -> CodecProfile? {
        let plain = String(name.lowercased().filter { $0.isLetter || $0.isNumber })
        guard let codec else { return profile(name, codec: .h264) ?? profile(name, codec: .hevc) }
        let names: [String: CodecProfile] =
            switch codec {
            case .h264:
                [
                    "baseline": .h264ConstrainedBaseline, "constrainedbaseline": .h264ConstrainedBaseline,
                    "main": .h264Main, "high": .h264High,
                ]
            case .hevc: ["main": .hevcMain, "main10": .hevcMain10]
            }
        return names[plain]
    }

    private static func level(_ text: String) throws -> CodecLevel {
        guard let level = CodecLevel(text), level.tenths < 70, level.tenths % 10 <= 3 || level.description == "1b" else {
            throw VaencError.usage("--level \(text) is not a level", remedy: "write a level such as 4.1")
        }
        return level
    }
}

enum CodecOption: String, ExpressibleByArgument, CaseIterable {
    case auto, h264, hevc

    /// Accepts the codec's other usual names too, in upper or lower case.
    init?(argument: String) {
        switch argument.lowercased() {
        case "auto": self = .auto
        case "h264", "h.264", "avc": self = .h264
        case "hevc", "h265", "h.265": self = .hevc
        default: return nil
        }
    }

    /// The requested codec; nil for `auto`.
    var codec: VideoCodec? {
        switch self {
        case .auto: nil
        case .h264: .h264
        case .hevc: .hevc
        }
    }
}

enum TierOption: String, ExpressibleByArgument, CaseIterable {
    case auto, main, high

    /// The tier; nil for `auto`.
    var tier: Tier? { self == .auto ? nil : self == .main ? .main : .high }
}

extension EntropyCoder: ExpressibleByArgument {}

extension RateControlMode: ExpressibleByArgument {
    /// Accepts names in upper or lower case.
    public init?(argument: String) { self.init(rawValue: argument.lowercased()) }
}

extension CodecOptions: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        codec = line.value("--codec") ?? .auto
        profile = line.value("--profile")
        level = line.value("--level")
        tier = line.value("--tier") ?? .auto
        entropy = line.value("--entropy")
        bitDepth = line.value("--bit-depth")
    }
}
