import VideoBase

/// Converts file names between bytes and `String`.
///
/// A file name is a sequence of bytes that need not be UTF-8. A byte that is not part of a UTF-8 character is
/// represented by the scalar U+F700 plus its value (U+F780…U+F7FF). If a name contains one of these private-use scalars
/// itself, each byte of that scalar is represented in the same way. Every name therefore survives the conversion to a
/// `String` and back.
public enum FileName {
    private static let escapes: ClosedRange<UInt32> = 0xF780...0xF7FF

    /// Returns a name, or a command's argument, from its bytes.
    public static func string(_ bytes: [UInt8]) -> String {
        var result = String.UnicodeScalarView()
        func escape(_ byte: UInt8) { result.append(Unicode.Scalar(0xF700 + UInt32(byte)) ?? "?") }
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &input) {
            case .emptyInput: return String(result)
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                if escapes.contains(scalar.value) {
                    for byte in bytes[offset..<offset + encoded.count] { escape(byte) }
                } else {
                    result.append(scalar)
                }
                offset += encoded.count
            case .error(let length):
                for byte in bytes[offset..<offset + length] { escape(byte) }
                offset += length
            }
        }
    }

    /// Checks that a name contains no zero, at which the system would truncate it.
    /// - Throws: `usage` if it contains one.
    static func check(_ name: String) throws(VaencError) {
        guard name.unicodeScalars.contains("\0") else { return }
        throw VaencError(.usage, "a file name contains a zero character", remedy: "use a name without it")
    }

    /// Returns what to write instead of a name with FFmpeg's prefix `pipe:` or `file:`, which vaenc takes as a part of
    /// the name; nil for other names.
    static func prefixAdvice(_ name: String) -> String? {
        name.hasPrefix("pipe:") ? "use - in place of \(name)" : name.hasPrefix("file:") ? "leave out file:" : nil
    }

    /// Checks that an output's name does not begin with one of these prefixes.
    /// - Throws: `usage` with the name to use.
    static func rejectPrefix(_ output: String) throws(VaencError) {
        guard let advice = prefixAdvice(output) else { return }
        throw VaencError(.usage, "FFmpeg's prefixes pipe: and file: are not supported (\(output))", remedy: advice)
    }

    /// Whether a name is a network address, such as `https://…`.
    static func isAddress(_ name: String) -> Bool {
        guard let scheme = name.firstRange(of: "://") else { return false }
        return name[..<scheme.lowerBound].allSatisfy(\.isLetter)
    }

    /// Returns the bytes of a name with a terminating zero, for system calls.
    package static func cString(_ name: String) -> [CChar] {
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

    /// Returns a name for messages and JSON. Bytes that are not UTF-8 appear as `\xE9`.
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
