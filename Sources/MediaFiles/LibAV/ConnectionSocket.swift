import Glibc

/// The TCP socket of a connection that libavformat opened. `finish` closes the connection without loss of data.
///
/// If a socket is closed while the peer still sends, the kernel resets the connection. The peer then fails before it has
/// read the data that it received already. An RTMP server sends such data: it acknowledges bytes. This socket is
/// therefore read until the peer closes the connection.
struct ConnectionSocket {
    private let descriptor: Int32

    /// Finds the socket that was opened after `earlier` was recorded. Returns nil if there is none, or if other threads
    /// have opened sockets too.
    init?(openedSince earlier: Set<Int32>) {
        let new = Self.openSockets.subtracting(earlier)
        guard new.count == 1, let found = new.first else { return nil }
        descriptor = found
    }

    /// The connected stream sockets of the process.
    static var openSockets: Set<Int32> {
        guard let folder = unsafe opendir("/proc/self/fd") else { return [] }
        // SAFETY: the stream is open until the function returns, and each entry is read before the next call.
        defer { unsafe closedir(folder) }
        var sockets: Set<Int32> = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if let descriptor = Int32(name), isStream(descriptor) { sockets.insert(descriptor) }
        }
        return sockets
    }

    private static func isStream(_ descriptor: Int32) -> Bool {
        func option(_ name: Int32) -> Int32? {
            var value: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            // SAFETY: the call writes at most `size` bytes to `value`.
            return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
        }
        guard let domain = option(SO_DOMAIN), domain == AF_INET || domain == AF_INET6 else { return false }
        return option(SO_TYPE) == Int32(SOCK_STREAM.rawValue)
    }

    /// Runs `close`, which closes the connection's descriptor. Then ends the transmission with shutdown(2), and waits
    /// until the peer closes the connection.
    ///
    /// - Parameter timeout: Restarted each time the peer sends data.
    /// - Returns: The result of `close`, and whether the peer may have received everything. It has not if bytes wait for
    ///   its system when the time is over.
    func finish<Result>(_ timeout: NetworkTimeout, close: () -> Result) -> (Result, isComplete: Bool) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        let result = close()
        guard copy >= 0 else { return (result, true) }
        defer { _ = Glibc.close(copy) }
        guard shutdown(copy, Int32(SHUT_WR)) == 0 else { return (result, true) }
        timeout.begin()
        var ignored: [UInt8] = Array(repeating: 0, count: 4096)
        while !timeout.isOver {
            var entry = pollfd(fd: copy, events: Int16(POLLIN), revents: 0)
            // SAFETY: `entry` is one structure.
            guard unsafe poll(&entry, 1, 100) > 0 else { continue }
            // SAFETY: recv writes at most `count` bytes.
            let count = unsafe ignored.withUnsafeMutableBytes { unsafe recv(copy, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
            if count > 0 {
                timeout.begin()
            } else if count == 0 || errno != EAGAIN && errno != EINTR {
                return (result, true)
            }
        }
        var waiting: Int32 = 0
        // SAFETY: the call writes one number.
        let isKnown = unsafe ioctl(copy, UInt(TIOCOUTQ), &waiting) == 0
        return (result, !isKnown || waiting == 0)
    }
}
