import Glibc
import MediaFiles

/// Lines for people go to stderr, whole, each with one write.
enum Terminal {
    static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    static func note(_ line: String) { write("vaenc: \(OptionNames.translate(FileName.printable(line)))\n", to: STDERR_FILENO) }

    /// Writes all of the text; false where the other end is gone.
    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var offset = 0
            while offset < bytes.count {
                // SAFETY: the buffer lives for the closure; the count stays inside it.
                let written = unsafe Glibc.write(descriptor, bytes.baseAddress! + offset, bytes.count - offset)
                if written < 0 && errno == EINTR { continue }
                if written <= 0 { return false }
                offset += written
            }
            return true
        }
    }
}
