internal import Glibc

/// A file for writing, which is truncated or appended to.
///
/// SAFETY: the object owns the descriptor from `open` in `init` until `deinit` closes it.
final class OutputFile {
    private let descriptor: Int32

    /// Opens or creates the file. Returns nil if that fails.
    init?(path: String, appends: Bool = false) {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC) | O_CLOEXEC, 0o644)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Writes all of `bytes`. Returns false if not all could be written.
    func write(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { all in
            var rest = unsafe all[...]
            while unsafe !rest.isEmpty {
                let part = unsafe UnsafeRawBufferPointer(rebasing: rest)
                let written = unsafe Glibc.write(descriptor, part.baseAddress, part.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                unsafe rest = rest.dropFirst(written)
            }
            return true
        }
    }
}
