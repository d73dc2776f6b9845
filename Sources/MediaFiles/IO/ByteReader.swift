import Glibc
import Synchronization
import VideoBase

/// Reads a file or pipe from front to back, directly into the caller's memory.
///
/// One thread reads. Any other thread may call `cancel`, which wakes a read that waits for a pipe.
final class ByteReader: Sendable {
    /// The input's name in messages.
    let name: String
    /// The number of bytes in the file; nil for pipes and devices.
    let length: Int?
    var isSeekable: Bool { length != nil }
    /// The pictures that the name is a pattern for; nil for the name of a file. The bytes are then those of the first
    /// picture.
    let sequence: ImageSequence?

    private let descriptor: Int32
    private let ownsDescriptor: Bool
    /// A pipe that becomes readable when the reader is cancelled, so that a waiting poll(2) wakes.
    private let wake: (read: Int32, write: Int32)
    private let cancelled = Atomic(false)
    private let state = Mutex(State())

    private struct State {
        /// The offset of the next byte to read. Pipes are counted too.
        var position = 0
        /// Bytes that were read to detect the input's type, and will be returned again.
        var pushedBack: [UInt8] = []
    }

    /// Opens the file at `path`, the first picture of the sequence of images that `path` is a pattern for, or standard
    /// input for `-`.
    init(path: String) throws {
        var sequence: ImageSequence?
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
                    .unavailable, "reading from the network (\(path)) is not implemented",
                    remedy: "download the file first, or pipe it in with - as the input")
            }
            // SAFETY: open(2) reads the string during the call.
            var opened = unsafe Glibc.open(FileName.cString(path), O_RDONLY | O_CLOEXEC)
            var code = errno
            if opened < 0, code == ENOENT {
                sequence = try ImageSequence(pattern: path)
                if let first = sequence?.firstName {
                    // SAFETY: open(2) reads the string during the call.
                    opened = unsafe Glibc.open(FileName.cString(first), O_RDONLY | O_CLOEXEC)
                    code = errno
                }
            }
            descriptor = opened
            ownsDescriptor = true
            if descriptor < 0 { throw SystemError.input(code, sequence?.firstName ?? path) }
        }
        self.sequence = sequence
        var status = stat()
        // SAFETY: fstat fills the structure.
        let code = unsafe fstat(descriptor, &status)
        let kind = status.st_mode & S_IFMT
        if code != 0 || kind == S_IFDIR {
            let error = code != 0 ? errno : EISDIR
            if ownsDescriptor { Glibc.close(descriptor) }
            throw SystemError.input(error, name)
        }
        if kind == S_IFREG {
            // Standard input may be a file that another program has read in part.
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
            // F_SETPIPE_SZ allows fewer, larger reads. The call fails without harm if the input is not a pipe.
            _ = fcntl(descriptor, 1031, Int32(1 << 20))
        }
    }

    /// Reads an open regular file from its beginning. The position of `file` does not change.
    init(duplicating file: Int32, name: String) throws {
        self.name = name
        sequence = nil
        descriptor = fcntl(file, F_DUPFD_CLOEXEC, 0)
        ownsDescriptor = true
        wake = (-1, -1)
        if descriptor < 0 { throw SystemError.input(errno, name) }
        var status = stat()
        // SAFETY: fstat fills the structure.
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

    /// Makes a running or later read throw `interrupted`. Any thread may call this.
    func cancel() {
        cancelled.store(true, ordering: .sequentiallyConsistent)
        // SAFETY: write reads one byte of the array. If the pipe is full, it is readable already.
        if wake.write >= 0 { _ = unsafe write(wake.write, [UInt8(1)], 1) }
    }

    /// Throws `interrupted` if the reader was cancelled.
    func checkCancellation() throws {
        if cancelled.load(ordering: .relaxed) { throw SystemError.interrupted }
    }

    var position: Int { state.withLock { $0.position } }

    /// Moves to a byte of a file. Not for pipes.
    func seek(to position: Int) {
        state.withLock {
            $0.position = position
            $0.pushedBack = []
        }
    }

    /// Returns up to `count` bytes without consuming them; fewer only at the end.
    func peek(_ count: Int) throws -> [UInt8] {
        let bytes = try read(count)
        putBack(bytes)
        return bytes
    }

    /// Makes the next read return `bytes` again, which were just read.
    func putBack(_ bytes: [UInt8]) {
        state.withLock { state in
            state.pushedBack = bytes + state.pushedBack
            state.position -= bytes.count
        }
    }

    /// Reads up to `count` bytes; fewer only at the end.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // SAFETY: the vector covers the array, which lives until the call returns.
        let done = unsafe try bytes.withUnsafeMutableBytes { raw in
            guard let base = raw.baseAddress else { return 0 }
            var vector = unsafe [iovec(iov_base: base, iov_len: count)]
            return unsafe try read(into: &vector)
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// Reads the bytes of one system call, up to `count`; none only at the end.
    func readSome(_ count: Int) throws -> [UInt8] {
        // SAFETY: the vector covers the array's memory, which is valid during the call.
        unsafe try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            guard let base = buffer.baseAddress else { return }
            var vector = unsafe [iovec(iov_base: base, iov_len: count)]
            done = unsafe try read(into: &vector, partial: true)
        }
    }

    /// Fills the vectors in order until the end of the input, and returns the number of bytes.
    ///
    /// The vectors are consumed, unless one system call fills all of them and `byteCount` is given.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes of all vectors, if the caller knows it.
    ///   - partial: Whether to return after one system call.
    @unsafe func read(into vectors: inout [iovec], byteCount: Int? = nil, partial: Bool = false) throws -> Int {
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
        let pushedBack = state.withLock { $0.pushedBack }
        if let byteCount, byteCount > 0, unsafe !vectors.isEmpty, pushedBack.isEmpty, !partial {
            if cancelled.load(ordering: .relaxed) { throw SystemError.interrupted }
            let count = unsafe try readOnce(vectors, from: 0)
            if count == 0 { return 0 }
            state.withLock { $0.position += count }
            if count == byteCount { return count }
            advance(count)
        }
        advance(0)
        if !pushedBack.isEmpty {
            var used = 0
            while used < pushedBack.count, unsafe first < vectors.count {
                let count = unsafe min(pushedBack.count - used, vectors[first].iov_len)
                // SAFETY: both sides have at least `count` bytes left.
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

    /// Calls preadv(2) or readv(2) once, with up to 1024 vectors, and returns the number of bytes; 0 at the end.
    @unsafe private func readOnce(_ vectors: [iovec], from first: Int) throws -> Int {
        let offset = position
        while true {
            if wake.read >= 0 { try waitUntilReadable() }
            // SAFETY: the vectors point to memory that the caller provides for this call. IOV_MAX is 1024.
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

    /// Checks that the file was not truncated since it was opened.
    ///
    /// - Throws: `badInput`. Some of the kernel's own files report a length that differs from their content; they do
    ///   not throw, because the reported length does not change.
    private func checkLength(at offset: Int) throws {
        guard let length, offset < length else { return }
        var status = stat()
        // SAFETY: fstat fills the structure.
        guard unsafe fstat(descriptor, &status) == 0, status.st_size < length else { return }
        throw VaencError(
            .badInput, "\(name) was cut from \(length) to \(status.st_size) bytes while it was read",
            remedy: "do not change the input while it is read")
    }

    /// The message for a file that has grown since it was opened, so that its reader stopped too early; nil if it has
    /// not grown.
    var growth: String? {
        guard let length else { return nil }
        var status = stat()
        // SAFETY: fstat fills the structure.
        guard unsafe fstat(descriptor, &status) == 0, status.st_size > length else { return nil }
        return "it grew from \(length) to \(status.st_size) bytes while it was read"
    }
    /// Whether the bytes by which the file has grown were read too.
    var isAtNewEnd: Bool {
        var status = stat()
        // SAFETY: fstat fills the structure.
        return unsafe fstat(descriptor, &status) == 0 && position >= status.st_size
    }
    static let growthRemedy = "start after the file is complete, or read it from a pipe that tail -f FILE writes to"

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
