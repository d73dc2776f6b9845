import VideoBase

/// File names are bytes and need not be UTF-8, which a `String` is. Here a byte that is no part of a UTF-8 character
/// stands as U+F700 plus its value, U+F780…U+F7FF: text that is not in use otherwise (and where it is, its own bytes
/// stand that way), so that every name survives the way through a `String`.
public enum FileName {
    private static let escapes: ClosedRange<UInt32> = 0xF780...0xF7FF

    /// A name, or a command's argument, from its bytes.
    public static func string(_ bytes: [UInt8]) -> String {
        var result = String.UnicodeScalarView()
        func escape(_ byte: UInt8) { result.append(Unicode.Scalar(0xF700 + UInt32(byte)) ?? "?") }
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var place = 0
        while true {
            switch parser.parseScalar(from: &input) {
            case .emptyInput: return String(result)
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                if escapes.contains(scalar.value) {
                    for byte in bytes[place..<place + encoded.count] { escape(byte) }
                } else {
                    result.append(scalar)
                }
                place += encoded.count
            case .error(let length):
                for byte in bytes[place..<place + length] { escape(byte) }
                place += length
            }
        }
    }

    /// - Throws: `usage` for a name with a zero in it: the system would take what stands before it for the name.
    static func check(_ name: String) throws(VaencError) {
        guard name.unicodeScalars.contains("\0") else { return }
        throw VaencError(.usage, "a file's name has a zero in it", remedy: "give a name without one")
    }

    /// Whether a name is an address in the network: `https://…`.
    static func isAddress(_ name: String) -> Bool {
        guard let scheme = name.firstRange(of: "://") else { return false }
        return name[..<scheme.lowerBound].allSatisfy(\.isLetter)
    }

    /// The bytes of a name, ended by a zero, as system calls take it.
    public static func cString(_ name: String) -> [CChar] {
        var result: [CChar] = []
        for scalar in name.unicodeScalars {
            if escapes.contains(scalar.value) {
                result.append(CChar(bitPattern: UInt8(scalar.value - 0xF700)))
            } else {
                result += Unicode.UTF8.encode(scalar)?.map { CChar(bitPattern: $0) } ?? []
            }
        }
        return result + [0]
    }

    /// A name for people and JSON: bytes that are no UTF-8 as `\xE9`.
    public static func printable(_ name: String) -> String {
        guard name.unicodeScalars.contains(where: { escapes.contains($0.value) }) else { return name }
        var result = ""
        for scalar in name.unicodeScalars {
            if escapes.contains(scalar.value) {
                result += "\\x" + String(scalar.value - 0xF700, radix: 16, uppercase: true)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
