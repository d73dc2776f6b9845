import Glibc
import Synchronization
import VideoBase

/// The unfinished files of this process. They are listed so that they can be removed if the process ends with `_exit`.
///
/// Other programs may write to the same folder. A file is written only if this process created it. Another file with
/// the same name is renamed or removed only if it is an unfinished file that an ended process of this user left.
package enum UnfinishedFiles {
    private struct Entry {
        var descriptor: Int32
        /// Whether the file's content must be kept.
        var isRecording: Bool
    }

    private static let entries = Mutex<[[CChar]: Entry]>([:])

    /// The access permissions of a file.
    struct Access {
        var mode: mode_t
        var group: gid_t
        var owner: uid_t

        /// Copies the permissions of the file that will be replaced.
        init(_ status: stat) { (mode, group, owner) = (status.st_mode & 0o777, status.st_gid, status.st_uid) }
    }

    /// Creates the unfinished file of `output`, empty and locked against other writers.
    ///
    /// If an ended process of this user left a file of that name, that file is removed or renamed.
    ///
    /// - Parameters:
    ///   - keepsOlder: Whether an older file with content is renamed to `NAME.part.1`, `.2`, …, whatever it contains.
    ///   - plays: Whether such a file may be an older recording, which is renamed too.
    ///   - access: The file's permissions; nil uses the process's file mode creation mask.
    /// - Returns: The descriptor, and the new name of a renamed file.
    /// - Throws: `cannotCreate` if another process writes the file or an unusable file has its name; `noPermission`.
    static func begin(
        _ path: String, of output: String, keepsOlder: Bool, plays: (String) -> Bool = { _ in false },
        access: Access? = nil
    ) throws -> (descriptor: Int32, kept: String?) {
        let name = FileName.cString(path)
        return try entries.withLock { entries in
            var kept: String?
            // Another process may finish or rename the file between two calls. Then another file may get its name, so
            // the loop tries again.
            for _ in 0..<100 {
                // SAFETY: open(2) reads the string during the call. O_EXCL follows no link.
                let descriptor = unsafe Glibc.open(
                    name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, access == nil ? 0o666 : 0o600)
                if descriptor < 0 {
                    guard errno == EEXIST else { throw openingError(errno, at: path, of: output) }
                    if let older = try clear(path, of: output, isKept: { keepsOlder || plays(path) }) { kept = older }
                    continue
                }
                guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                    Glibc.close(descriptor)
                    throw inUse(path)
                }
                // Before the lock was taken, another process may have removed the empty file as an abandoned one.
                guard isNamed(name, descriptor) else {
                    Glibc.close(descriptor)
                    continue
                }
                if let access { grant(access, to: descriptor) }
                entries[name] = Entry(descriptor: descriptor, isRecording: keepsOlder)
                return (descriptor, kept)
            }
            throw inUse(path)
        }
    }

    /// Removes or renames an unfinished file that no process writes any more.
    ///
    /// - Returns: The new name of a renamed file; nil if it was removed.
    /// - Throws: `cannotCreate` if it is not an unfinished file of this user.
    private static func clear(_ path: String, of output: String, isKept: () -> Bool) throws -> String? {
        let name = FileName.cString(path)
        // SAFETY: open(2) reads the string during the call. O_NONBLOCK: opening a FIFO would block.
        var old = unsafe Glibc.open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        // The file may have the permissions of the file that it was to replace, which may be read-only.
        if old < 0, errno == EACCES { old = unsafe Glibc.open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        if old < 0 {
            if errno == ENOENT { return nil }
            throw openingError(errno, at: path, of: output)
        }
        defer { Glibc.close(old) }
        var status = stat()
        // SAFETY: fstat fills the structure.
        if unsafe fstat(old, &status) != 0 { throw SystemError.creation(errno, output) }
        if status.st_mode & S_IFMT != S_IFREG { throw inTheWay(path, "not a regular file") }
        if status.st_uid != geteuid() { throw inTheWay(path, "a file of another user") }
        guard flock(old, LOCK_EX | LOCK_NB) == 0 else { throw inUse(path) }
        guard isNamed(name, old) else { return nil }
        // SAFETY: fstat fills the structure.
        if unsafe fstat(old, &status) != 0 { throw SystemError.creation(errno, output) }
        if status.st_nlink > 1 { throw inTheWay(path, "a file that has other names (hard links)") }
        if status.st_size > 0, isKept() { return try putAside(path) }
        // SAFETY: unlink(2) reads the string.
        if unsafe unlink(name) != 0, errno != ENOENT { throw SystemError.creation(errno, output) }
        return nil
    }

    /// Whether a file begins with a complete NAL unit after a length of four bytes.
    static func holdsUnits(_ path: String) -> Bool {
        guard let reader = try? ByteReader(path: path), let bytes = try? reader.read(4), bytes.count == 4 else { return false }
        let length = bytes.reduce(0) { $0 << 8 | Int($1) }
        return length > 0 && length <= (reader.length ?? 0) - 4
    }

    /// Whether the name refers to the open file itself, not to a link to it.
    static func isNamed(_ name: [CChar], _ descriptor: Int32) -> Bool {
        var (opened, named) = (stat(), stat())
        // SAFETY: the calls read the string and fill the structures.
        return unsafe fstat(descriptor, &opened) == 0 && lstat(name, &named) == 0 && opened.st_ino == named.st_ino
            && opened.st_dev == named.st_dev
    }

    /// Sets the file's owner, group and permissions. If the group cannot be set, the group gets no permissions.
    private static func grant(_ access: Access, to descriptor: Int32) {
        var (status, mode) = (stat(), access.mode)
        // SAFETY: fstat fills the structure.
        guard unsafe fstat(descriptor, &status) == 0 else { return }
        let all = uid_t.max
        if status.st_gid != access.group, fchown(descriptor, all, access.group) != 0 { mode &= ~0o070 }
        if status.st_uid != access.owner { _ = fchown(descriptor, access.owner, gid_t.max) }
        _ = fchmod(descriptor, mode)
    }

    private static func inUse(_ path: String) -> VaencError {
        VaencError(
            .cannotCreate, "\(path) is being written by another program or output",
            remedy: "wait until that ends, or choose another name")
    }

    private static func openingError(_ code: Int32, at path: String, of output: String) -> VaencError {
        switch code {
        case ELOOP: inTheWay(path, "a link")
        case EISDIR: inTheWay(path, "a folder")
        case EACCES, EPERM, ENXIO:
            // SAFETY: access reads the string.
            if unsafe access(FileName.cString(path), F_OK) == 0 {
                inTheWay(path, code == ENXIO ? "not a regular file" : "a file that this user may not write")
            } else {
                SystemError.creation(code, output)
            }
        default: SystemError.creation(code, output)
        }
    }

    private static func inTheWay(_ path: String, _ what: String) -> VaencError {
        VaencError(
            .cannotCreate, "\(path) is in the way: it is \(what)",
            remedy: "remove it, because the output is first written there")
    }

    /// Renames a file to the first free name of `PATH.1`, `PATH.2`, …, and returns the name. Replaces no file.
    private static func putAside(_ path: String) throws -> String {
        let old = FileName.cString(path)
        var code: Int32 = 0
        for number in 1..<100_000 {
            let other = "\(path).\(number)"
            let new = FileName.cString(other)
            // SAFETY: the calls read the strings. link(2) never replaces a file.
            if unsafe link(old, new) == 0 {
                _ = unsafe unlink(old)
                return other
            }
            code = errno
            if code == EEXIST { continue }
            // The file system has no links.
            if unsafe access(new, F_OK) == 0 { continue }
            if unsafe rename(old, new) == 0 { return other }
            code = errno
            break
        }
        throw VaencError(
            .cannotCreate, "\(path) is an older recording, which cannot be renamed (\(SystemError.text(code)))",
            remedy: "move it away, or choose another name")
    }

    /// Runs `body`, which renames, removes or keeps the file, and then removes the file from the list.
    static func close<R>(_ name: [CChar], _ body: () throws -> R) rethrows -> R {
        try entries.withLock { entries in
            let result = try body()
            entries[name] = nil
            return result
        }
    }

    /// Removes an unfinished file, unless another file has its name now.
    static func remove(_ name: [CChar], of descriptor: Int32) {
        // SAFETY: unlink(2) reads the string.
        if isNamed(name, descriptor) { _ = unsafe unlink(name) }
    }

    /// Removes all unfinished files except recordings with content, and ends the process. No file can be opened or
    /// finished afterwards.
    /// - Parameter end: Ends the process. It receives the sorted paths of the kept files.
    package static func remove(andEnd end: ([String]) -> Never) -> Never {
        entries.withLock { entries in
            var kept: [String] = []
            for (name, entry) in entries {
                var status = stat()
                // SAFETY: fstat fills the structure.
                if entry.isRecording, unsafe fstat(entry.descriptor, &status) == 0, status.st_size > 0 {
                    kept.append(FileName.string(name.dropLast().map { UInt8(bitPattern: $0) }))
                } else {
                    remove(name, of: entry.descriptor)
                }
            }
            end(kept.sorted())
        }
    }
}
