import Glibc
import MediaFiles
import VideoBase

/// Writes human-readable lines to stderr, each complete and with one write.
enum Terminal {
    static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    static func note(_ line: String) { write("vaenc: \(visible(FileName.printable(OptionNames.translate(line))))\n", to: STDERR_FILENO) }

    /// Replaces control characters of C0 and C1 (ECMA-48), which terminals obey, by text such as `\x1B`. The text may
    /// come from drivers, cameras and files.
    ///
    /// - Parameter keepsLines: Whether line breaks are kept.
    static func visible(_ text: String, keepsLines: Bool = false) -> String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool {
            if keepsLines, scalar == "\n" { return false }
            return scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
        }
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\x" + (digits.count < 2 ? "0" : "") + digits
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Writes the whole text. Returns false if the write failed, for example because the reader is gone.
    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Bool { failure(writing: text, to: descriptor) == nil }

    /// Writes a report or a help text.
    ///
    /// - Throws: `inputOutput` with the system's reason.
    static func report(_ text: String, to descriptor: Int32 = STDOUT_FILENO) throws(VaencError) {
        if let code = failure(writing: text, to: descriptor) { throw cannotWrite(code, to: descriptor) }
    }

    /// Returns the error for a stream that cannot be written.
    ///
    /// - Parameter code: The errno.
    static func cannotWrite(_ code: Int32, to descriptor: Int32) -> VaencError {
        let failed = "cannot write to \(descriptor == STDERR_FILENO ? "stderr" : "stdout")"
        return switch code {
        case EPIPE:
            VaencError(
                .inputOutput,
                "\(failed): the reader closed the pipe",
                remedy: "check the messages of the reading program")
        case ENOSPC, EDQUOT: VaencError(.inputOutput, "\(failed): the disk is full", remedy: "free some space or write elsewhere")
        default:
            // SAFETY: the string belongs to the calling thread until its next strerror, and is copied immediately.
            VaencError(
                .inputOutput,
                "\(failed) (\(unsafe String(cString: strerror(code))))",
                remedy: "check where it is redirected to")
        }
    }

    /// Writes the whole text.
    ///
    /// - Returns: Nil, or the errno of the failed write.
    static func failure(writing text: String, to descriptor: Int32) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            var offset = 0
            while offset < bytes.count {
                // SAFETY: the buffer is valid in the closure, and the pointer and count stay inside it.
                let written = unsafe Glibc.write(descriptor, bytes.baseAddress! + offset, bytes.count - offset)
                if written < 0 && errno == EINTR { continue }
                if written < 0 { return errno }
                if written == 0 { return EIO }
                offset += written
            }
            return nil
        }
    }
}
