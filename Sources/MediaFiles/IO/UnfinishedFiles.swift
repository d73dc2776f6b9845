import Glibc
import Synchronization
import VideoBase

/// The unfinished files that this process has, for an end that lets go of nothing: `_exit`.
package enum UnfinishedFiles {
    /// Whether what is in them is to stay.
    private static let names = Mutex<[[CChar]: Bool]>([:])

    /// Opens the unfinished file of `output`, empty and locked: nobody else writes it.
    ///
    /// - Parameter keepsOlder: bytes that an older run left there are a recording: they are put aside, as `NAME.part.1`, `.2`, …
    ///   Else they are written over.
    /// - Returns: its descriptor, and the name of what was put aside.
    /// - Throws: `cannotCreate` where another process writes it or it is in the way, `noPermission`.
    static func begin(_ path: String, of output: String, keepsOlder: Bool) throws -> (descriptor: Int32, kept: String?) {
        let name = FileName.cString(path)
        return try names.withLock { names in
            var kept: String?
            // Whoever finishes or puts aside the file between two calls here makes another the one of that name.
            for _ in 0..<100 {
                // SAFETY: open(2) reads the string during the call.
                let descriptor = unsafe Glibc.open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
                if descriptor < 0 { throw refusal(errno, path, output) }
                do {
                    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw inUse(path) }
                    var (own, named) = (stat(), stat())
                    // SAFETY: the calls read the string and fill the structures.
                    if unsafe fstat(descriptor, &own) != 0 || lstat(name, &named) != 0 || own.st_ino != named.st_ino
                        || own.st_dev != named.st_dev
                    {
                        Glibc.close(descriptor)
                        continue
                    }
                    if keepsOlder, own.st_size > 0 {
                        kept = try putAside(path)
                        Glibc.close(descriptor)
                        continue
                    }
                    if ftruncate(descriptor, 0) != 0 { throw SystemError.creation(errno, output) }
                } catch {
                    Glibc.close(descriptor)
                    throw error
                }
                names[name] = keepsOlder
                return (descriptor, kept)
            }
            throw inUse(path)
        }
    }

    private static func inUse(_ path: String) -> VaencError {
        VaencError(.cannotCreate, "\(path) is being written already", remedy: "wait for what writes it, or choose another name")
    }

    private static func refusal(_ code: Int32, _ path: String, _ output: String) -> VaencError {
        guard code == EISDIR || code == ELOOP else { return SystemError.creation(code, output) }
        return VaencError(
            .cannotCreate, "\(path) is in the way: a \(code == ELOOP ? "link" : "directory")",
            remedy: "remove it; the output is written there first")
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

    /// As above, of a file that nobody else asks for.
    static func open(_ name: [CChar]) -> Int32 {
        names.withLock { names in
            // SAFETY: open(2) reads the string during the call.
            let descriptor = unsafe Glibc.open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o666)
            if descriptor >= 0 { names[name] = false }
            return descriptor
        }
    }

    /// Runs `body`, which takes the name away: the file is finished or removed, or it is to stay.
    static func close<R>(_ name: [CChar], _ body: () throws -> R) rethrows -> R {
        try names.withLock { names in
            let result = try body()
            names[name] = nil
            return result
        }
    }

    /// Removes them all, but for recordings that have begun, and ends the process: none is opened or finished any more.
    /// - Parameter end: is given the paths of those that stay.
    package static func remove(andEnd end: ([String]) -> Never) -> Never {
        names.withLock { names in
            var kept: [String] = []
            for (name, isRecording) in names {
                var status = stat()
                // SAFETY: the calls read the string; stat fills the structure.
                if isRecording, unsafe stat(name, &status) == 0, status.st_size > 0 {
                    kept.append(FileName.string(name.dropLast().map { UInt8(bitPattern: $0) }))
                } else {
                    _ = unsafe unlink(name)
                }
            }
            end(kept.sorted())
        }
    }
}
