import Glibc
import VideoBase

/// Queries about the libraries in this process.
enum LoadedLibrary {
    /// Returns the version number at the end of a loaded library's file name, for example `164` for `libx264.so.164`;
    /// nil if the library is not loaded.
    static func version(of name: String) -> String? {
        guard let file = unsafe fopen("/proc/self/maps", "re") else { return nil }
        defer { unsafe fclose(file) }
        let mark = name + ".so."
        var line = [CChar](repeating: 0, count: 1024)
        // SAFETY: fgets writes at most the given number of bytes and ends the text with a zero byte.
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard let range = text.firstRange(of: mark) else { continue }
            let digits = text[range.upperBound...].prefix { $0.isNumber }
            if !digits.isEmpty { return String(digits) }
        }
        return nil
    }
}
