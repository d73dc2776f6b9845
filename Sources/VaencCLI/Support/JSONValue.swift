/// A value that was read from JSON.
enum JSONValue {
    case null
    case bool(Bool)
    /// A number, as it is written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Reads a text that a program wrote. Returns nil if it is not JSON.
    init?(_ text: String) {
        var reader = Reader(bytes: Array(text.utf8))
        guard let value = reader.value(), reader.next() == nil else { return nil }
        self = value
    }

    subscript(key: String) -> JSONValue? { if case .object(let members) = self { members[key] } else { nil } }
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        /// Skips white space. Returns the next byte, which is not read.
        mutating func next() -> UInt8? {
            while position < bytes.count, bytes[position] == 0x20 || (0x09...0x0D).contains(bytes[position]) { position += 1 }
            return position < bytes.count ? bytes[position] : nil
        }

        private mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard let byte = next(), byte == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        mutating func value() -> JSONValue? {
            switch next() {
            case UInt8(ascii: "\""): return string().map { .string($0) }
            case UInt8(ascii: "["):
                position += 1
                var elements: [JSONValue] = []
                while !skip("]") {
                    guard elements.isEmpty || skip(","), let element = value() else { return nil }
                    elements.append(element)
                }
                return .array(elements)
            case UInt8(ascii: "{"):
                position += 1
                var members: [String: JSONValue] = [:]
                while !skip("}") {
                    guard members.isEmpty || skip(","), next() == UInt8(ascii: "\""), let key = string(), skip(":"), let member = value() else {
                        return nil
                    }
                    members[key] = member
                }
                return .object(members)
            default:
                let word = bytes[position...].prefix { !",]}\n\r\t ".utf8.contains($0) }
                position += word.count
                switch String(decoding: word, as: UTF8.self) {
                case "": return nil
                case "null": return .null
                case "true": return .bool(true)
                case "false": return .bool(false)
                case let number: return .number(number)
                }
            }
        }

        private mutating func string() -> String? {
            var units: [UInt8] = []
            position += 1
            while position < bytes.count {
                let byte = bytes[position]
                position += 1
                if byte == UInt8(ascii: "\"") { return String(decoding: units, as: UTF8.self) }
                guard byte == UInt8(ascii: "\\") else {
                    units.append(byte)
                    continue
                }
                guard position < bytes.count else { return nil }
                let escaped = bytes[position]
                position += 1
                switch escaped {
                case UInt8(ascii: "b"): units.append(0x08)
                case UInt8(ascii: "f"): units.append(0x0C)
                case UInt8(ascii: "n"): units.append(0x0A)
                case UInt8(ascii: "r"): units.append(0x0D)
                case UInt8(ascii: "t"): units.append(0x09)
                case UInt8(ascii: "u"):
                    // Encoders write only control characters like this.
                    guard position + 4 <= bytes.count, let code = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16),
                        let scalar = Unicode.Scalar(code)
                    else { return nil }
                    position += 4
                    units += String(Character(scalar)).utf8
                default: units.append(escaped)
                }
            }
            return nil
        }
    }
}
