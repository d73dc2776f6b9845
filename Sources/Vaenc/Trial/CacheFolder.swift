import Glibc
import VAAPI

/// The folder of trial records: `$XDG_CACHE_HOME/vaenc/drivers` or `$HOME/.cache/vaenc/drivers`.
///
/// It is used only if all three folders belong to the user and nobody else can write into them.
final class CacheFolder {
    private static let maxBytes = 1 << 18
    private static let maxFiles = 64

    private let descriptor: Int32

    /// Opens the folder. Returns nil if it does not exist, cannot be created, or others can write into it.
    ///
    /// - Parameter creates: Whether to create missing folders, except the home folder.
    init?(creates: Bool) {
        guard let base = Self.base else { return nil }
        if creates { unsafe mkdir(base, 0o700) }
        var folder = unsafe open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for name in ["vaenc", "drivers"] where folder >= 0 {
            if creates { unsafe mkdirat(folder, name, 0o700) }
            let next = Self.isOwn(folder) ? unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1
            close(folder)
            folder = next
        }
        if folder < 0 { return nil }
        guard Self.isOwn(folder) else {
            close(folder)
            return nil
        }
        descriptor = folder
    }

    deinit { close(descriptor) }

    private static var base: String? {
        func absolute(_ variable: String) -> String? {
            Environment.value(variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return absolute("XDG_CACHE_HOME") ?? absolute("HOME").map { "\($0)/.cache" }
    }

    /// Whether an open file or folder belongs to the user and nobody else can write to it.
    private static func isOwn(_ descriptor: Int32) -> Bool {
        var status = stat()
        // SAFETY: fstat writes the structure.
        return unsafe fstat(descriptor, &status) == 0 && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
    }

    /// Returns the text of a file; nil if it cannot be read, is too large, or others can write to it.
    func read(_ name: String) -> String? {
        // A FIFO must not block.
        let file = unsafe openat(descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return Self.isOwn(file) ? Self.text(of: file) : nil
    }

    /// Writes a file, or replaces it. Errors are ignored.
    func write(_ text: String, as name: String) {
        removeOld()
        let part = "\(name).\(getpid())"
        unsafe unlinkat(descriptor, part, 0)
        let file = unsafe openat(descriptor, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        let bytes = Array(text.utf8)
        let isWhole = unsafe Glibc.write(file, bytes, bytes.count) == bytes.count
        close(file)
        let isInPlace = unsafe isWhole && renameat(descriptor, part, descriptor, name) == 0
        if !isInPlace { unsafe unlinkat(descriptor, part, 0) }
    }

    /// Removes all records if there are too many.
    private func removeOld() {
        let copy = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return }
        guard let list = unsafe fdopendir(copy) else {
            close(copy)
            return
        }
        defer { unsafe closedir(list) }
        var names: [String] = []
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let isRecord = name.prefix { $0 != "." }.allSatisfy { $0.isHexDigit } && name.first != "."
            if isRecord { names.append(name) }
        }
        guard names.count >= Self.maxFiles else { return }
        for name in names { unsafe unlinkat(descriptor, name, 0) }
    }

    /// Returns the text of a file of the system; nil if it cannot be read or is too large.
    static func text(_ path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return text(of: file)
    }

    private static func text(of file: Int32) -> String? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16384)
        while bytes.count <= maxBytes {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk.prefix(count)
        }
        return nil
    }
}
