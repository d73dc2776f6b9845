import Glibc
import VideoBase

/// A file that gets its final name when it is complete, or a pipe. Only one thread may use it at a time.
///
/// Regular files are written as `NAME.part` beside the final name, and `commit` renames them. Standard output, existing
/// files that are not regular files (pipes, devices), and the files of HLS are written in place.
final class OutputFile {
    /// The path that the user named; `-` is standard output.
    let path: String
    /// Whether this is a regular file with an unfinished name. Only such a file can be written out of order.
    let isSeekable: Bool

    private let descriptor: Int32
    /// The final name, with all links resolved.
    private let target: [CChar]
    /// The unfinished name; nil if the output is written in place.
    private let part: [CChar]?
    private let overwrite: Bool
    /// The permissions of the file that will be replaced; nil if there is none.
    private let access: UnfinishedFiles.Access?
    private var isOpen = true
    /// Whether bytes are written to the system immediately, as for pipes and recordings. They then survive the end of
    /// this process.
    var isImmediate: Bool { !isSeekable || survives }
    /// Whether this is a recording: an older unfinished file is kept, and this one may stay unfinished.
    private let survives: Bool
    /// Whether this file may stay unfinished. A pipe cannot.
    var mayStayUnfinished: Bool { survives && partPath != nil }
    /// The new name of an older unfinished file that was kept.
    let keptPart: String?
    /// Bytes that are held back to make fewer, larger writes; empty if writes are immediate.
    private var held: [UInt8] = []
    /// The maximum number of bytes that are held back.
    static let holdLimit = 1 << 18
    /// The number of bytes from which on a write is not held back: a copy would cost more than a system call.
    private static let directLimit = 1 << 15

    /// The offset of the next byte.
    private var position = 0
    /// The length of the file.
    private var extent = 0

    /// The number of bytes in the file so far, including those that are held back.
    var bytesWritten: Int { max(extent, position + held.count) }

    var name: String { path == "-" ? "standard output" : path }

    /// Opens the output.
    ///
    /// - Parameters:
    ///   - survives: Whether this is a recording.
    ///   - plays: Whether an unfinished file of that name contains pictures. Such a file may be an older recording, and
    ///     is kept too.
    /// - Throws: `cannotCreate` if the file exists (without `overwrite`), its folder is missing or another process is
    ///   writing it; `noPermission`.
    init(
        path: String, overwrite: Bool, survives: Bool = false, plays: (String) -> Bool = { _ in false },
        isCancelled: () -> Bool = { false }
    ) throws {
        self.path = path
        self.overwrite = overwrite
        self.survives = survives
        if path == "-" {
            (keptPart, access) = (nil, nil)
            descriptor = STDOUT_FILENO
            target = []
            part = nil
            isSeekable = false
            return
        }
        if path.isEmpty { throw MediaOutput.emptyName }
        try FileName.rejectPrefix(path)
        if FileName.isAddress(path) {
            throw VaencError(
                .unavailable, "sending this output (\(path)) is not implemented",
                remedy: "name a file, or pipe it into a program that sends it")
        }
        if path.hasSuffix("/") {
            throw VaencError(.cannotCreate, "“\(path)” is not a file name", remedy: "name the output file")
        }
        try FileName.check(path)
        let path = try Self.followed(path)
        target = FileName.cString(path)
        var status = stat()
        var access: UnfinishedFiles.Access?
        // SAFETY: stat reads the string and fills the structure.
        if unsafe stat(target, &status) == 0 {
            let kind = status.st_mode & S_IFMT
            if kind == S_IFDIR { throw SystemError.creation(EISDIR, path) }
            if kind != S_IFREG {
                (part, keptPart, self.access) = (nil, nil, nil)
                isSeekable = false
                descriptor = try OutputOpening.open(target, isPipe: kind == S_IFIFO, isCancelled: isCancelled)
                if descriptor < 0 { try abandonOpening(SystemError.creation(errno, path)) }
                return
            }
            if !overwrite { throw SystemError.exists(path) }
            access = UnfinishedFiles.Access(status)
        }
        self.access = access
        let partPath = path + ".part"
        isSeekable = true
        (descriptor, keptPart) = try UnfinishedFiles.begin(partPath, of: path, keepsOlder: survives, plays: plays, access: access)
        part = FileName.cString(partPath)
        held.reserveCapacity(Self.holdLimit)
    }

    /// Creates a regular file under its final name, instead of an existing file.
    /// - Parameter mayReplace: Whether to remove an existing file; if false, an existing file is an error.
    /// - Throws: `cannotCreate`, `noPermission`.
    init(inPlace path: String, mayReplace: Bool) throws {
        self.path = path
        overwrite = true
        target = FileName.cString(path)
        (part, keptPart, survives, access) = (nil, nil, false, nil)
        isSeekable = false
        // SAFETY: the calls read the string. An existing file may be a link or another user's file, so it is removed
        // and not written to.
        if mayReplace { _ = unsafe unlink(target) }
        descriptor = unsafe open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        if descriptor < 0 { try abandonOpening(SystemError.creation(errno, path)) }
    }

    /// The path of the unfinished file; nil if the output is written in place.
    var partPath: String? { part.map { FileName.string($0.dropLast().map { UInt8(bitPattern: $0) }) } }

    /// Creates another unfinished file for the same final name.
    private init(after first: OutputFile, part: String) throws {
        path = first.path
        overwrite = first.overwrite
        target = first.target
        access = first.access
        self.part = FileName.cString(part)
        (keptPart, survives) = (nil, false)
        isSeekable = true
        (descriptor, _) = try UnfinishedFiles.begin(part, of: first.path, keepsOlder: false, access: first.access)
    }

    /// Flushes the file, and returns a reader of it from its beginning.
    func reader() throws -> ByteReader {
        try flush()
        return try ByteReader(duplicating: descriptor, name: partPath ?? name)
    }

    /// Creates an unfinished file beside this one that will replace it: `NAME.part.whole`.
    func successor() throws -> OutputFile { try OutputFile(after: self, part: (partPath ?? path) + ".whole") }

    deinit { cancel() }

    /// Returns the file that a name refers to. Through a link, the link's target is written and the link is kept.
    static func followed(_ path: String) throws -> String {
        var status = stat()
        // SAFETY: the calls read the string. realpath's copy is freed here.
        guard unsafe lstat(FileName.cString(path), &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
        if unsafe stat(FileName.cString(path), &status) == 0, status.st_mode & S_IFMT != S_IFREG { return path }
        guard let real = unsafe realpath(FileName.cString(path), nil) else {
            throw VaencError(.cannotCreate, "\(path) is a link that leads nowhere", remedy: "remove the link")
        }
        defer { unsafe free(real) }
        return unsafe FileName.string(Array(UnsafeRawBufferPointer(start: real, count: strlen(real))))
    }

    /// Fails `init` without removing a file that this object does not own.
    private func abandonOpening(_ error: VaencError) throws {
        isOpen = false
        if descriptor >= 0 { close(descriptor) }
        throw error
    }

    /// Appends bytes, or writes them at the position that `seek` set.
    func write(_ bytes: borrowing Span<UInt8>) throws {
        if isImmediate || bytes.count >= Self.directLimit {
            // SAFETY: the pointer is used only during the call.
            unsafe try bytes.withUnsafeBytes { unsafe try writeHeld(andThen: $0) }
            return
        }
        if held.count + bytes.count > Self.holdLimit { try flush() }
        // SAFETY: the pointer is used only during the call.
        unsafe bytes.withUnsafeBytes { unsafe held.append(contentsOf: $0) }
    }

    /// Writes the bytes that are held back.
    func flush() throws {
        if held.isEmpty { return }
        // SAFETY: the pointer is used only during the call.
        unsafe try held.withUnsafeBytes { unsafe try writeAll($0) }
        held.removeAll(keepingCapacity: true)
    }

    /// Writes the bytes that are held back and then `bytes`, with one system call if possible.
    private func writeHeld(andThen bytes: UnsafeRawBufferPointer) throws {
        var done = 0
        if isSeekable, !held.isEmpty, let base = bytes.baseAddress {
            // SAFETY: writev reads the bytes of both vectors, which are valid during the call.
            let count = unsafe held.withUnsafeMutableBytes { first in
                let vectors = unsafe [
                    iovec(iov_base: first.baseAddress, iov_len: first.count),
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: base), iov_len: bytes.count),
                ]
                return unsafe writev(descriptor, vectors, 2)
            }
            if count > 0 {
                position += count
                extent = max(extent, position)
                done = max(count - held.count, 0)
                if count >= held.count { held.removeAll(keepingCapacity: true) } else { held.removeFirst(count) }
            }
        }
        try flush()
        unsafe try writeAll(UnsafeRawBufferPointer(rebasing: bytes[done...]))
    }

    /// Moves to a byte of a regular file, with `whence` as in lseek(2). Returns the new position.
    func seek(to offset: Int, whence: Int32) throws -> Int {
        try flush()
        let position = lseek(descriptor, offset, whence)
        if position < 0 { throw SystemError.writing(errno, name) }
        self.position = position
        return position
    }

    /// Returns the file's length so far.
    func length() throws -> Int {
        try flush()
        var status = stat()
        // SAFETY: fstat fills the structure.
        if unsafe fstat(descriptor, &status) != 0 { throw SystemError.writing(errno, name) }
        return Int(status.st_size)
    }

    /// Reads bytes of a regular file. The position does not change.
    func read(_ count: Int, at offset: Int) throws -> [UInt8] {
        try flush()
        // SAFETY: pread writes at most the buffer's bytes from `done` on.
        return unsafe try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let got = unsafe pread(descriptor, buffer.baseAddress! + done, count - done, offset + done)
                if got < 0, errno == EINTR { continue }
                if got <= 0 { throw SystemError.writing(got < 0 ? errno : EIO, name) }
                done += got
            }
        }
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer) throws {
        var done = 0
        while done < bytes.count {
            // SAFETY: the range is inside the buffer.
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count =
                unsafe isSeekable
                ? Glibc.write(descriptor, rest.baseAddress!, rest.count)
                : BrokenPipe.write(descriptor, bytes: rest.baseAddress!, count: rest.count)
            if count > 0 {
                done += count
                position += count
                extent = max(extent, position)
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                throw SystemError.writing(count == 0 ? ENOSPC : errno, name)
            } else if errno == EAGAIN {
                var file = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                // SAFETY: poll reads and writes the one structure.
                _ = unsafe poll(&file, 1, -1)
            }
        }
    }

    /// Flushes the file, and synchronizes it to the disk with fsync(2).
    func settle() throws {
        try flush()
        if part != nil, fsync(descriptor) != 0, errno != EINVAL, errno != ENOSYS { throw SystemError.writing(errno, name) }
    }

    /// Synchronizes the file to the disk and renames it to its final name. Idempotent.
    /// - Throws: `cannotCreate` if another file has taken the name meanwhile, `inputOutput`.
    func commit() throws {
        guard isOpen else { return }
        try settle()
        guard let part else {
            isOpen = false
            if path != "-", close(descriptor) != 0 { throw SystemError.writing(errno, name) }
            return
        }
        try UnfinishedFiles.close(part) { try moveToFinalName(part) }
        isOpen = false
        if close(descriptor) != 0 { throw SystemError.writing(errno, name) }
    }

    private func moveToFinalName(_ part: [CChar]) throws {
        guard UnfinishedFiles.isNamed(part, descriptor) else { throw replaced() }
        // SAFETY: the calls read the strings while they run.
        if overwrite {
            if unsafe rename(part, target) != 0 { throw SystemError.creation(errno, path) }
        } else if unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0
            || link(part, target) == 0
        {
            // link(2) never replaces a file, so the check and the naming are one step. linkat names the open file, even
            // if another file has its unfinished name by now. link is for systems without /proc.
            UnfinishedFiles.remove(part, of: descriptor)
        } else {
            if errno == EEXIST { throw SystemError.exists(path) }
            // On a file system without links, the check comes just before the renaming.
            if unsafe Glibc.access(target, F_OK) == 0 { throw SystemError.exists(path) }
            if unsafe rename(part, target) != 0 { throw SystemError.creation(errno, path) }
        }
        // Another program may have replaced the file between the check and the call.
        guard UnfinishedFiles.isNamed(target, descriptor) else { throw replaced() }
    }

    private func replaced() -> VaencError {
        VaencError(
            .cannotCreate, "\(partPath ?? path) was removed or replaced by another program while it was written",
            remedy: "write to a folder that no other program changes")
    }

    /// Keeps the unfinished file of a recording, and closes it.
    ///
    /// - Parameter plays: Whether the file of that name contains pictures.
    /// - Returns: The name of the kept file; nil if no file is kept, and the caller must call `cancel`.
    func keep(where plays: (String) -> Bool) -> String? {
        guard isOpen, survives, let part, let partPath, bytesWritten > 0, plays(partPath) else { return nil }
        isOpen = false
        UnfinishedFiles.close(part) {}
        close(descriptor)
        return partPath
    }

    /// Removes the unfinished file. Idempotent. Does nothing after `commit` succeeded.
    func cancel() {
        guard isOpen else { return }
        isOpen = false
        held = []
        if let part { UnfinishedFiles.close(part) { UnfinishedFiles.remove(part, of: descriptor) } }
        if path != "-" { close(descriptor) }
    }
}
