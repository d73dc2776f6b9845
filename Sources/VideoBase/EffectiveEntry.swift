/// An entry of the effective configuration: the requested value, the used value, and the reason for the used value.
public struct EffectiveEntry: Sendable, Hashable, Encodable {
    /// The name of the library's setting. Four settings have another name here: `gop` is `gopFrames`, `gopSeconds` is
    /// `gopDuration`, `vbvInitial` is `vbvInitialPercent`, and `entryPoint` is `lowPower`. Entries about the input, such
    /// as `pixelFormat`, `fields`, `edit list` and `speed`, have names of their own.
    public var option: String
    /// The requested value, or nil if nothing was requested.
    public var asked: String?
    /// The used value.
    public var used: String
    /// The reason for the used value.
    public var why: SettingReason

    /// Creates an entry.
    public init(option: String, asked: String?, used: String, why: SettingReason) {
        self.option = option
        self.asked = asked
        self.used = used
        self.why = why
    }

    /// The used value of `hrdParameters` after a change of the rate that the HRD parameters in the stream do not
    /// describe.
    package static let outdatedHRD = "of the first rate"

    /// The requested value of a stream or a sound that is copied because no setting requests another form.
    package static let copied = "copied"

    /// Whether the entry is about a stream or a sound that no setting requests.
    package var isCopyByDefault: Bool { asked == Self.copied }

    private enum CodingKeys: CodingKey { case option, asked, used, why }

    /// Encodes the entry. `asked` is encoded as null if nothing was requested.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(option, forKey: .option)
        try container.encode(asked, forKey: .asked)
        try container.encode(used, forKey: .used)
        try container.encode(why.description, forKey: .why)
    }

    /// Whether a value was requested and a different one is used.
    public var differs: Bool { asked != nil && asked != used }

    /// The names of entries that are not settings. Their values come from the input or the container.
    private static let facts: Set<String> = [
        "audio", "chapters", "fields", "inputAspect", "inputDepth", "inputFormat", "inputMemory", "inputSize", "pictures", "pixelFormat", "rotation",
        "size",
        "soundStart", "speed",
        "tags", "times", "title",
    ]

    /// The settings of entries that have another name.
    private static let settings = ["entryPoint": "lowPower", "gop": "gopFrames", "gopSeconds": "gopDuration", "vbvInitial": "vbvInitialPercent"]

    /// The option's name for messages. The name of a setting is in backticks, and the command line replaces it by its
    /// option.
    package var quotedOption: String {
        // A name of several words is not a setting.
        if Self.facts.contains(option) || !option.allSatisfy({ $0.isLetter || $0.isNumber }) { return option }
        return "`\(Self.settings[option] ?? option)`"
    }
}

/// The reason for the used value of a setting.
public enum SettingReason: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringInterpolation {
    /// The value was requested, and is used.
    case requested
    /// Nothing was requested, and the value is the default.
    case standard
    /// Nothing was requested, and the extension of the output's name determines the value.
    case outputExtension
    /// Another reason, as human-readable text.
    case explained(String)

    /// Creates a reason with an explanation.
    public init(stringLiteral explanation: String) { self = .explained(explanation) }

    /// The reason in words.
    public var description: String {
        switch self {
        case .requested: "as asked"
        case .standard: "default"
        case .outputExtension: "the output's extension"
        case .explained(let words): words
        }
    }
}

extension EffectiveEntry {
    /// Returns the entry for input samples whose bit depth differs from the coded depth, or nil if the depths are
    /// equal.
    ///
    /// - Parameters:
    ///   - asked: The name of the input format in reports.
    ///   - depth: The bit depth of the input.
    ///   - used: The format that is encoded.
    package static func pixelFormat(
        _ asked: String, depth: Int, used: PixelFormat, codec: VideoCodec
    ) -> EffectiveEntry? {
        let coded = used.bitDepth
        if depth == coded { return nil }
        let what = depth < coded ? "scaled up" : "rounded"
        return EffectiveEntry(
            option: "pixelFormat", asked: asked, used: used.rawValue,
            why: codec.bitDepths.count < 2
                ? "\(codec.standardName) is coded in \(coded) bits: samples are \(what)"
                : "the profile has \(coded) bits: samples are \(what)")
    }
}

extension [EffectiveEntry] {
    /// All differences in one human-readable line, or nil if there are none.
    package var notice: String? {
        let differences = filter(\.differs)
        if differences.isEmpty { return nil }
        return differences.map { "\($0.quotedOption): asked \($0.asked ?? "nothing"), used \($0.used) (\($0.why))" }.joined(separator: "; ")
    }

    /// The error if `strict` is on: all differences, or nil if there are none.
    package var strictError: VaencError? {
        let differences = filter(\.differs)
        if differences.isEmpty { return nil }
        let list = differences.map { "\($0.quotedOption): asked \($0.asked ?? "nothing"), would be \($0.used) (\($0.why))" }
        // Streams of the input are not requested, and no device is concerned.
        let isAboutStreams = differences.allSatisfy { $0.option.hasPrefix("stream ") }
        return VaencError(
            .unavailable, "strict: \(list.joined(separator: "; "))",
            remedy: isAboutStreams ? "leave out `strict`" : "request only what the device supports, or leave out `strict`")
    }
}
