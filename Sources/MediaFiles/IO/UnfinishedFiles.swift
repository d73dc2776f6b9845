import Glibc
import Synchronization
import VideoBase

/// The unfinished files that this process has, for an end that lets go of nothing: `_exit`.
///
/// Others may write to the folder. A file is only used if this process created it; what has its name by chance, or because
/// somebody put it there, is neither written nor published nor removed.
package enum UnfinishedFiles {
    private struct Entry {
        var descriptor: Int32
        /// What is in it is to stay.
        var isRecording: Bool
    }

    private static let entries = Mutex<[[CChar]: Entry]>([:])

    /// The access rights that a file is to have.
    struct Access {
        var mode: mode_t
        var group: gid_t
        var owner: uid_t

        /// Those of the file that is to be replaced.
        init(_ status: stat) { (mode, group, owner) = (status.st_mode & 0o777, status.st_gid, status.st_uid) }
    }

    /// Creates the unfinished file of `output`, empty and locked: nobody else writes it.
    ///
    /// A file of that name that an ended process of this user left is removed, or put aside.
    ///
    /// - Parameters:
    ///   - keepsOlder: bytes that an older run left there are put aside, as `NAME.part.1`, `.2`, …, whatever they are.
    ///   - plays: whether such a file may be an older recording, which is put aside too.
    ///   - access: nil: as the system's file mode creation mask says.
    /// - Returns: its descriptor, and the name of what was put aside.
    /// - Throws: `cannotCreate` where another process writes it or it is in the way, `noPermission`.
    static func begin(
        _ path: String, of output: String, keepsOlder: Bool, plays: (String) -> Bool = { _ in false },
        access: Access? = nil
    ) throws -> (descriptor: Int32, kept: String?) {
        let name = FileName.cString(path)
        return try entries.withLock { entries in
            var kept: String?
            // Whoever finishes or puts aside the file between two calls here makes another the one of that name.
            for _ in 0..<100 {
                // SAFETY: open(2) reads the string during the call. O_EXCL follows no link.
                let descriptor = unsafe Glibc.open(
                    name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, access == nil ? 0o666 : 0o600)
                if descriptor < 0 {
                    guard errno == EEXIST else { throw refusal(errno, path, output) }
                    if let older = try clear(path, of: output, isKept: { keepsOlder || plays(path) }) { kept = older }
                    continue
                }
                guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                    Glibc.close(descriptor)
                    throw inUse(path)
                }
                // Another run may have taken the empty file for a left one before it was locked.
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

    /// Removes an unfinished file that nobody writes any more, or puts it aside.
    ///
    /// - Returns: the name that it was given.
    /// - Throws: `cannotCreate` for what is no such file of this user's.
    private static func clear(_ path: String, of output: String, isKept: () -> Bool) throws -> String? {
        let name = FileName.cString(path)
        // SAFETY: open(2) reads the string during the call. A FIFO would keep it waiting.
        var old = unsafe Glibc.open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        // It may have the rights of a file that was to be replaced, and that nobody may write.
        if old < 0, errno == EACCES { old = unsafe Glibc.open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        if old < 0 {
            if errno == ENOENT { return nil }
            throw refusal(errno, path, output)
        }
        defer { Glibc.close(old) }
        var status = stat()
        // SAFETY: fstat fills the structure.
        if unsafe fstat(old, &status) != 0 { throw SystemError.creation(errno, output) }
        if status.st_mode & S_IFMT != S_IFREG { throw inTheWay(path, "no regular file") }
        if status.st_uid != geteuid() { throw inTheWay(path, "a file of another user") }
        guard flock(old, LOCK_EX | LOCK_NB) == 0 else { throw inUse(path) }
        guard isNamed(name, old) else { return nil }
        // SAFETY: as above.
        if unsafe fstat(old, &status) != 0 { throw SystemError.creation(errno, output) }
        if status.st_nlink > 1 { throw inTheWay(path, "a file that has other names (hard links)") }
        if status.st_size > 0, isKept() { return try putAside(path) }
        // SAFETY: unlink(2) reads the string.
        if unsafe unlink(name) != 0, errno != ENOENT { throw SystemError.creation(errno, output) }
        return nil
    }

    /// Whether a file begins with a whole NAL unit behind its length in four bytes.
    static func holdsUnits(_ path: String) -> Bool {
        guard let reader = try? ByteReader(path: path), let bytes = try? reader.read(4), bytes.count == 4 else { return false }
        let length = bytes.reduce(0) { $0 << 8 | Int($1) }
        return length > 0 && length <= (reader.length ?? 0) - 4
    }

    /// Whether the name is that of the open file, and not of a link to it.
    static func isNamed(_ name: [CChar], _ descriptor: Int32) -> Bool {
        var (own, named) = (stat(), stat())
        // SAFETY: the calls read the string and fill the structures.
        return unsafe fstat(descriptor, &own) == 0 && lstat(name, &named) == 0 && own.st_ino == named.st_ino
            && own.st_dev == named.st_dev
    }

    /// A group that cannot be given to the file gets no rights to it.
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
        VaencError(.cannotCreate, "\(path) is being written already", remedy: "wait for what writes it, or choose another name")
    }

    private static func refusal(_ code: Int32, _ path: String, _ output: String) -> VaencError {
        switch code {
        case ELOOP: inTheWay(path, "a link")
        case EISDIR: inTheWay(path, "a directory")
        case EACCES, EPERM, ENXIO:
            // SAFETY: access reads the string.
            if unsafe access(FileName.cString(path), F_OK) == 0 {
                inTheWay(path, code == ENXIO ? "no regular file" : "a file that this user may not write")
            } else {
                SystemError.creation(code, output)
            }
        default: SystemError.creation(code, output)
        }
    }

    private static func inTheWay(_ path: String, _ what: String) -> VaencError {
        VaencError(
            .cannotCreate, "\(path) is in the way: \(what)", remedy: "remove it; the output is written there first")
    }

    /// Gives a file the first free of the names `PATH.1`, `PATH.2`, …; nothing is replaced.
    private static func putAside(_ path: String) throws -> String {
        let old = FileName.cString(path)
        var code: Int32 = 0
        for number in 1..<100_000 {
            let other = "\(path).\(number)"
            let new = FileName.cString(other)
            // SAFETY: the calls read the strings. link(2) never replaces.
            if unsafe link(old, new) == 0 {
                _ = unsafe unlink(old)
                return other
            }
            code = errno
            if code == EEXIST { continue }
            // A file system without links.
            if unsafe access(new, F_OK) == 0 { continue }
            if unsafe rename(old, new) == 0 { return other }
            code = errno
            break
        }
        throw VaencError(
            .cannotCreate, "\(path) holds an older recording, which cannot be renamed (\(SystemError.text(code)))",
            remedy: "move it away, or choose another name")
    }

    /// Runs `body`, which takes the name away: the file is finished or removed, or it is to stay.
    static func close<R>(_ name: [CChar], _ body: () throws -> R) rethrows -> R {
        try entries.withLock { entries in
            let result = try body()
            entries[name] = nil
            return result
        }
    }

    /// Removes the name of an unfinished file; not of another file that has it now.
    static func remove(_ name: [CChar], of descriptor: Int32) {
        // SAFETY: unlink(2) reads the string.
        if isNamed(name, descriptor) { _ = unsafe unlink(name) }
    }

    /// Removes them all, but for recordings that have begun, and ends the process: none is opened or finished any more.
    /// - Parameter end: is given the paths of those that stay.
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
