import Glibc
import Synchronization
import VideoBase

/// A file or pipe read from front to back, straight into memory that others own.
///
/// One thread reads; `cancel` may come from any other and wakes a read that waits for a pipe.
final class ByteReader: Sendable {
    /// As in messages.
    let name: String
    /// Bytes in the file; nil for pipes and devices.
    let length: Int?
    var isSeekable: Bool { length != nil }

    private let descriptor: Int32
    private let ownsDescriptor: Bool
    /// A pipe that becomes readable once the reader is cancelled: what a waiting poll(2) wakes for.
    private let wake: (read: Int32, write: Int32)
    private let cancelled = Atomic(false)
    private let state = Mutex(State())

    private struct State {
        /// Where the next byte of a file is read; counts for pipes too.
        var position = 0
        /// Bytes that were read to see what the input is, to be given again.
        var pushedBack: [UInt8] = []
    }

    /// Opens the file at `path`, or standard input for `-`.
    init(path: String) throws {
        if path == "-" {
            name = "standard input"
            descriptor = STDIN_FILENO
            ownsDescriptor = false
        } else {
            name = path
            if path.isEmpty {
                throw VaencError(.usage, "the name of the input is empty", remedy: "name a file, or - for standard input")
            }
            try FileName.check(path)
            if FileName.isAddress(path) {
                throw VaencError(
                    .unavailable, "reading from the network (\(path)) is not built yet",
                    remedy: "fetch the file first, or pipe it in with - as the input")
            }
            // SAFETY: open(2) reads the string during the call.
            descriptor = unsafe Glibc.open(FileName.cString(path), O_RDONLY | O_CLOEXEC)
            ownsDescriptor = true
            if descriptor < 0 { throw SystemError.input(errno, path) }
        }
        var status = stat()
        // SAFETY: fstat fills the structure that it is given.
        let code = unsafe fstat(descriptor, &status)
        let kind = status.st_mode & S_IFMT
        if code != 0 || kind == S_IFDIR {
            let error = code != 0 ? errno : EISDIR
            if ownsDescriptor { Glibc.close(descriptor) }
            throw SystemError.input(error, name)
        }
        if kind == S_IFREG {
            // Standard input may be a file that was read in part before.
            let offset = max(lseek(descriptor, 0, SEEK_CUR), 0)
            length = max(Int(status.st_size), offset)
            wake = (-1, -1)
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
            state.withLock { $0.position = offset }
        } else {
            length = nil
            var ends: [Int32] = [-1, -1]
            // SAFETY: pipe writes two descriptors.
            if unsafe pipe(&ends) != 0 { ends = [-1, -1] }
            for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            wake = (ends[0], ends[1])
            // F_SETPIPE_SZ: fewer, larger reads. It fails harmlessly on what is no pipe.
            _ = fcntl(descriptor, 1031, Int32(1 << 20))
        }
    }

    /// Reads a regular file that is open already, from its beginning; its own position stays.
    init(duplicating file: Int32, name: String) throws {
        self.name = name
        descriptor = fcntl(file, F_DUPFD_CLOEXEC, 0)
        ownsDescriptor = true
        wake = (-1, -1)
        if descriptor < 0 { throw SystemError.input(errno, name) }
        var status = stat()
        // SAFETY: fstat fills the structure that it is given.
        if unsafe fstat(descriptor, &status) != 0 {
            let code = errno
            Glibc.close(descriptor)
            throw SystemError.input(code, name)
        }
        length = Int(status.st_size)
    }

    deinit {
        if ownsDescriptor { Glibc.close(descriptor) }
        if wake.read >= 0 { Glibc.close(wake.read) }
        if wake.write >= 0 { Glibc.close(wake.write) }
    }

    /// Makes a running or later read throw `interrupted`.
    func cancel() {
        cancelled.store(true, ordering: .sequentiallyConsistent)
        // SAFETY: one byte of an array is read. A full pipe is as good a signal.
        if wake.write >= 0 { _ = unsafe write(wake.write, [UInt8(1)], 1) }
    }

    var position: Int { state.withLock { $0.position } }

    /// Moves to a byte of a file. Pipes cannot.
    func seek(to position: Int) {
        state.withLock {
            $0.position = position
            $0.pushedBack = []
        }
    }

    /// Looks at up to `count` first bytes without consuming them; fewer at the end.
    func peek(_ count: Int) throws -> [UInt8] {
        let bytes = try read(count)
        putBack(bytes)
        return bytes
    }

    /// Has bytes that were just read be read again.
    func putBack(_ bytes: [UInt8]) {
        state.withLock { state in
            state.pushedBack = bytes + state.pushedBack
            state.position -= bytes.count
        }
    }

    /// Up to `count` bytes; fewer only at the end.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // SAFETY: the vector covers the array, which lives through the call.
        let done = unsafe try bytes.withUnsafeMutableBytes { raw in
            guard let base = raw.baseAddress else { return 0 }
            var vector = unsafe [iovec(iov_base: base, iov_len: count)]
            return unsafe try read(into: &vector)
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// What one system call gives, up to `count` bytes; none only at the end.
    func readSome(_ count: Int) throws -> [UInt8] {
        // SAFETY: the vector covers the array's memory, which is there for the call.
        unsafe try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            guard let base = buffer.baseAddress else { return }
            var vector = unsafe [iovec(iov_base: base, iov_len: count)]
            done = unsafe try read(into: &vector, partial: true)
        }
    }

    /// Fills the vectors in order, as far as the input reaches, and returns the number of bytes; the vectors are
    /// consumed. `partial` returns after what one system call gives.
    @unsafe func read(into vectors: inout [iovec], partial: Bool = false) throws -> Int {
        var total = 0
        var first = 0
        func advance(_ count: Int) {
            total += count
            var left = count
            while left > 0, unsafe first < vectors.count {
                let step = unsafe min(left, vectors[first].iov_len)
                unsafe vectors[first].iov_base += step
                unsafe vectors[first].iov_len -= step
                left -= step
                if unsafe vectors[first].iov_len == 0 { first += 1 }
            }
            while unsafe first < vectors.count, unsafe vectors[first].iov_len == 0 { first += 1 }
        }
        advance(0)
        let pushedBack = state.withLock { $0.pushedBack }
        if !pushedBack.isEmpty {
            var used = 0
            while used < pushedBack.count, unsafe first < vectors.count {
                let count = unsafe min(pushedBack.count - used, vectors[first].iov_len)
                // SAFETY: both sides hold `count` bytes more.
                unsafe pushedBack.withUnsafeBytes {
                    unsafe vectors[first].iov_base.copyMemory(from: $0.baseAddress! + used, byteCount: count)
                }
                used += count
                advance(count)
            }
            state.withLock {
                $0.pushedBack.removeFirst(used)
                $0.position += used
            }
            if partial { return total }
        }
        while unsafe first < vectors.count {
            if cancelled.load(ordering: .relaxed) { throw SystemError.interrupted }
            let count = unsafe try readOnce(vectors, from: first)
            if count == 0 { break }
            state.withLock { $0.position += count }
            advance(count)
            if partial { break }
        }
        return total
    }

    /// One preadv(2) or readv(2) of as many vectors as the system takes; 0 at the end.
    @unsafe private func readOnce(_ vectors: [iovec], from first: Int) throws -> Int {
        let offset = position
        while true {
            if wake.read >= 0 { try waitUntilReadable() }
            // SAFETY: the vectors point to memory that the caller lent for this call; IOV_MAX is 1024.
            let count = unsafe vectors.withUnsafeBufferPointer { buffer in
                let length = Int32(min(buffer.count - first, 1024))
                let start = unsafe buffer.baseAddress! + first
                return unsafe isSeekable
                    ? preadv(descriptor, start, length, offset) : readv(descriptor, start, length)
            }
            if count == 0 { try checkLength(at: offset) }
            if count >= 0 { return count }
            if errno != EINTR && errno != EAGAIN { throw SystemError.input(errno, name) }
            if cancelled.load(ordering: .relaxed) { throw SystemError.interrupted }
        }
    }

    /// The end of a file that was longer when it was opened is none.
    ///
    /// - Throws: `badInput`. Some of the kernel's own files say another length than they have: they keep it.
    private func checkLength(at offset: Int) throws {
        guard let length, offset < length else { return }
        var status = stat()
        // SAFETY: fstat fills the structure that it is given.
        guard unsafe fstat(descriptor, &status) == 0, status.st_size < length else { return }
        throw VaencError(
            .badInput, "\(name) was cut from \(length) to \(status.st_size) bytes while it was read",
            remedy: "let nothing write to the input meanwhile")
    }

    /// What is to be said of a file that is longer now than when it was opened: what reads it took its end for the file's.
    var growth: String? {
        guard let length else { return nil }
        var status = stat()
        // SAFETY: fstat fills the structure that it is given.
        guard unsafe fstat(descriptor, &status) == 0, status.st_size > length else { return nil }
        return "it grew from \(length) to \(status.st_size) bytes while it was read"
    }
    /// Whether what a file has grown by has been read too.
    var isAtNewEnd: Bool {
        var status = stat()
        // SAFETY: fstat fills the structure that it is given.
        return unsafe fstat(descriptor, &status) == 0 && position >= status.st_size
    }
    static let growthRemedy = "begin when the file is whole, or read it from a pipe that tail -f FILE writes to"

    private func waitUntilReadable() throws {
        var files = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
        ]
        // SAFETY: poll reads and writes the two structures of the array.
        while unsafe poll(&files, 2, -1) < 0 {
            if errno != EINTR { throw SystemError.input(errno, name) }
        }
        if files[1].revents != 0 { throw SystemError.interrupted }
    }
}
