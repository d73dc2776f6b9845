/// One line of the effective configuration: what was asked, what is used, and why they differ (or who chose).
public struct EffectiveEntry: Sendable, Hashable, Encodable {
    public var option: String
    /// nil where nothing was asked.
    public var asked: String?
    public var used: String
    public var why: String

    public init(option: String, asked: String?, used: String, why: String) {
        self.option = option
        self.asked = asked
        self.used = used
        self.why = why
    }

    private enum CodingKeys: CodingKey { case option, asked, used, why }

    /// `asked` is written as null where nothing was asked.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(option, forKey: .option)
        try container.encode(asked, forKey: .asked)
        try container.encode(used, forKey: .used)
        try container.encode(why, forKey: .why)
    }

    /// What was asked is not what is used.
    public var differs: Bool { asked != nil && asked != used }

    /// Names that are no settings: what they say comes from the input or the container.
    private static let facts: Set<String> = [
        "audio", "chapters", "fields", "inputDepth", "inputFormat", "inputSize", "pictures", "pixelFormat", "rotation", "size", "soundStart", "speed",
        "tags", "times", "title",
    ]

    /// The name as messages have it: a setting's in backticks, of which the command line makes its option.
    package var quotedOption: String {
        // Names of several words are no settings.
        Self.facts.contains(option) || !option.allSatisfy { $0.isLetter || $0.isNumber } ? option : "`\(option)`"
    }
}

extension EffectiveEntry {
    /// Of samples that come in another depth than they are coded in.
    ///
    /// - Parameters:
    ///   - asked: the format that they come in, as named in reports.
    ///   - used: the format that is coded.
    package static func pixelFormat(
        _ asked: String, depth: Int, used: PixelFormat, codec: VideoCodec
    ) -> EffectiveEntry? {
        let coded = used.bitDepth
        if depth == coded { return nil }
        let what = depth < coded ? "scaled up" : "rounded"
        return EffectiveEntry(
            option: "pixelFormat", asked: asked, used: used.rawValue,
            why: codec.bitDepths.count < 2
                ? "\(codec.standardName) is coded in \(coded) bits: samples are \(what)" : "the profile has \(coded) bits: samples are \(what)")
    }
}

extension [EffectiveEntry] {
    /// Every difference in one line for people; nil where nothing differs.
    package var notice: String? {
        let differences = filter(\.differs)
        if differences.isEmpty { return nil }
        return differences.map { "\($0.quotedOption): asked \($0.asked ?? "nothing"), used \($0.used) (\($0.why))" }.joined(separator: "; ")
    }

    /// The error of `--strict`: the same.
    package var strictError: VaencError? {
        let differences = filter(\.differs)
        if differences.isEmpty { return nil }
        let list = differences.map { "\($0.quotedOption): asked \($0.asked ?? "nothing"), would be \($0.used) (\($0.why))" }
        return VaencError(
            .unavailable, "strict: \(list.joined(separator: "; "))",
            remedy: "ask for what the device can do, or leave out `strict`")
    }
}
