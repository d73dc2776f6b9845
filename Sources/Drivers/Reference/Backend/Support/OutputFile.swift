internal import Glibc

/// A file that is written from its start, or from its end on.
///
/// SAFETY: the descriptor is the object's own from `open` to `deinit`.
final class OutputFile {
    private let descriptor: Int32

    /// Nil where it cannot be created.
    init?(path: String, appends: Bool = false) {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC) | O_CLOEXEC, 0o644)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// False where not all could be written.
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
