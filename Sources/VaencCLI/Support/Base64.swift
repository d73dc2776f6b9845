/// The encoding of bytes as text in a `data:` URL (RFC 4648).
enum Base64 {
    static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            let group = (0..<3).reduce(0) { $0 << 8 | ($1 < count ? Int(bytes[start + $1]) : 0) }
            for digit in 0..<4 { text.append(digit <= count ? digits[group >> (18 - 6 * digit) & 63] : UInt8(ascii: "=")) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
