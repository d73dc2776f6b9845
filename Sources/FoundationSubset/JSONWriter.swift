/// The text of a tree of JSON values.
struct JSONWriter {
    let isPretty: Bool
    let escapesSlashes: Bool
    private(set) var bytes: [UInt8] = []
    private var depth = 0

    init(isPretty: Bool, escapesSlashes: Bool) {
        self.isPretty = isPretty
        self.escapesSlashes = escapesSlashes
    }

    mutating func write(_ node: JSONNode) {
        switch node.content {
        case .nothing: writeList("{", 0, "}") { _, _ in }
        case .literal(let text): bytes += text.utf8
        case .string(let text): write(text)
        case .array(let elements): writeList("[", elements.count, "]") { writer, index in writer.write(elements[index]) }
        case .object(let members):
            // Of several values with one key, the last counts.
            let distinct = Dictionary(members, uniquingKeysWith: { $1 }).sorted { $0.key < $1.key }
            writeList("{", distinct.count, "}") { writer, index in
                writer.write(distinct[index].key)
                writer.bytes += writer.isPretty ? " : ".utf8 : ":".utf8
                writer.write(distinct[index].value)
            }
        }
    }

    private mutating func writeList(_ begin: String, _ count: Int, _ end: String, _ element: (inout JSONWriter, Int) -> Void) {
        bytes += begin.utf8
        depth += 1
        for index in 0..<count {
            if index > 0 { bytes += ",".utf8 }
            breakLine()
            element(&self, index)
        }
        depth -= 1
        if count == 0, isPretty { bytes += "\n".utf8 }
        breakLine()
        bytes += end.utf8
    }

    private mutating func breakLine() {
        guard isPretty else { return }
        bytes += "\n".utf8
        bytes += repeatElement(UInt8(ascii: " "), count: 2 * depth)
    }

    private mutating func write(_ text: String) {
        bytes += "\"".utf8
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case UInt8(ascii: "/") where escapesSlashes: bytes += "\\/".utf8
            case 0x08: bytes += "\\b".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x09: bytes += "\\t".utf8
            case 0..<0x20: bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: bytes.append(byte)
            }
        }
        bytes += "\"".utf8
    }
}
