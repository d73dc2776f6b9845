import FoundationEssentials

/// Formats a JSON object, as `--json` prints it.
enum JSON {
    static func text(_ value: some Encodable, pretty: Bool = true) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = pretty ? [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes] : [.sortedKeys, .withoutEscapingSlashes]
        return String(data: try encoder.encode(value), encoding: .utf8) ?? ""
    }
}

/// A value that is encoded as `null` if it is absent, so that its key is always present.
struct Nullable<Wrapped: Encodable & Sendable>: Encodable, Sendable {
    var wrapped: Wrapped?

    init(_ wrapped: Wrapped?) { self.wrapped = wrapped }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrapped { try container.encode(wrapped) } else { try container.encodeNil() }
    }
}
