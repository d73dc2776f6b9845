/// A value of a JSON text, for tests that read the reports of programs.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Parses a text. Returns nil if the text is not exactly one JSON value.
    public init?(_ text: String) {
        var reader = Reader(bytes: Array(text.utf8))
        guard let value = reader.value() else { return nil }
        reader.skip()
        guard reader.at == reader.bytes.count else { return nil }
        self = value
    }

    /// The member of an object; nil if the value is no object or lacks the key.
    public subscript(_ key: String) -> JSONValue? { if case .object(let members) = self { members[key] } else { nil } }
    /// The elements of an array; empty for other values.
    public var array: [JSONValue] { if case .array(let values) = self { values } else { [] } }
    /// The members of an object; empty for other values.
    public var object: [String: JSONValue] { if case .object(let members) = self { members } else { [:] } }
    /// The text of a string; nil for other values.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The value of a whole number; nil for other values.
    public var int: Int? { if case .number(let value) = self { Int(exactly: value) } else { nil } }
    /// The value of a number; nil for other values.
    public var double: Double? { if case .number(let value) = self { value } else { nil } }
    /// The value of a boolean; nil for other values.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    private struct Reader {
        let bytes: [UInt8]
        var at = 0

        mutating func skip() { while at < bytes.count, [32, 9, 10, 13].contains(bytes[at]) { at += 1 } }

        mutating func take(_ character: Character) -> Bool {
            skip()
            guard at < bytes.count, bytes[at] == character.asciiValue else { return false }
            at += 1
            return true
        }

        mutating func word(_ text: String) -> Bool {
            guard bytes[at...].starts(with: text.utf8) else { return false }
            at += text.utf8.count
            return true
        }

        mutating func value() -> JSONValue? {
            skip()
            if take("{") {
                var members: [String: JSONValue] = [:]
                if take("}") { return .object([:]) }
                repeat {
                    skip()
                    guard let key = text(), take(":"), let value = value() else { return nil }
                    members[key] = value
                } while take(",")
                return take("}") ? .object(members) : nil
            }
            if take("[") {
                var values: [JSONValue] = []
                if take("]") { return .array([]) }
                repeat {
                    guard let value = value() else { return nil }
                    values.append(value)
                } while take(",")
                return take("]") ? .array(values) : nil
            }
            if word("null") { return .null }
            if word("true") { return .bool(true) }
            if word("false") { return .bool(false) }
            if let text = text() { return .string(text) }
            let start = at
            while at < bytes.count, "+-.eE0123456789".utf8.contains(bytes[at]) { at += 1 }
            return Double(String(decoding: bytes[start..<at], as: UTF8.self)).map { .number($0) }
        }

        mutating func text() -> String? {
            guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { return nil }
            at += 1
            var result: [UInt8] = []
            while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
                guard bytes[at] == UInt8(ascii: "\\") else {
                    result.append(bytes[at])
                    at += 1
                    continue
                }
                guard at + 1 < bytes.count else { return nil }
                at += 2
                switch bytes[at - 1] {
                case UInt8(ascii: "n"): result.append(10)
                case UInt8(ascii: "t"): result.append(9)
                case UInt8(ascii: "r"): result.append(13)
                case UInt8(ascii: "b"): result.append(8)
                case UInt8(ascii: "f"): result.append(12)
                case UInt8(ascii: "u"):
                    guard at + 4 <= bytes.count,
                        let code = UInt32(String(decoding: bytes[at..<(at + 4)], as: UTF8.self), radix: 16)
                    else { return nil }
                    at += 4
                    result += Array(String(Unicode.Scalar(code).map(Character.init) ?? "\u{fffd}").utf8)
                default: result.append(bytes[at - 1])
                }
            }
            at += 1
            return at <= bytes.count ? String(decoding: result, as: UTF8.self) : nil
        }
    }
}
