// The few declarations of FoundationEssentials that the program and swift-argument-parser use. FoundationEssentials
// would be a quarter of the program, because each of its parts keeps all others. `make` builds the program with the name
// FoundationEssentials as an alias of this module (docs/ARCHITECTURE.md, "Decisions"). Other builds contain Foundation.
// After a change of a declaration, run `make clean`: SwiftPM does not know that swift-argument-parser imports this module.

/// An error with a text for people.
public protocol LocalizedError: Error {
    var errorDescription: String? { get }
    var recoverySuggestion: String? { get }
}

extension LocalizedError {
    public var errorDescription: String? { nil }
    public var recoverySuggestion: String? { nil }
}

/// Encoded JSON.
public struct Data: Sendable {
    let bytes: [UInt8]
}

extension String {
    public struct Encoding: Sendable {
        public static var utf8: Encoding { Encoding() }
    }

    public init?(data: Data, encoding: Encoding) { self.init(decoding: data.bytes, as: UTF8.self) }
}

/// Writes values as JSON, byte for byte as FoundationEssentials does.
public final class JSONEncoder {
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        /// Keys are always sorted.
        public static let sortedKeys = OutputFormatting(rawValue: 2)
        public static let withoutEscapingSlashes = OutputFormatting(rawValue: 4)
    }

    public var outputFormatting: OutputFormatting = []

    public init() {}

    public func encode(_ value: some Encodable) throws -> Data {
        let node = JSONNode()
        try node.set(value, at: [])
        if case .nothing = node.content {
            let type = type(of: value)
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "Top-level \(type) did not encode any values."))
        }
        var writer = JSONWriter(
            isPretty: outputFormatting.contains(.prettyPrinted), escapesSlashes: !outputFormatting.contains(.withoutEscapingSlashes))
        writer.write(node)
        return Data(bytes: writer.bytes)
    }
}
