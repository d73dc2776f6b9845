import Glibc
import Testing
@testable import MediaFiles

/// The end of a TCP connection: whether the peer's system has received everything.
@Suite(.serialized) struct ConnectionSocketTests {
    /// A listening socket on the loopback interface, with a small buffer, and its address.
    private struct Listener {
        let descriptor: Int32
        var address = sockaddr_in()

        init() throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(descriptor >= 0)
            var size: Int32 = 4096
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let local = address
            let isBound = unsafe withUnsafePointer(to: local) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
            }
            let isListening = listen(descriptor, 4)
            let isKnown = unsafe withUnsafeMutablePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
            }
            try #require(isBound == 0 && isListening == 0 && isKnown == 0)
        }

        /// Connects, and sends as much as the sockets take.
        func connect(sending limit: Int) throws -> Int32 {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = unsafe withUnsafePointer(to: address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe Glibc.connect(client, $0, length) }
            }
            try #require(isConnected == 0)
            let bytes = [UInt8](repeating: 1, count: 65_536)
            var sent = 0
            while sent < limit {
                let count = unsafe bytes.withUnsafeBytes {
                    unsafe send(client, $0.baseAddress, min($0.count, limit - sent), Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                }
                if count <= 0 { break }
                sent += count
            }
            return client
        }
    }

    /// A peer that reads nothing has not received what exceeds its buffer.
    @Test func unreadBytesAreReported() throws {
        let listener = try Listener()
        defer { close(listener.descriptor) }
        let earlier = ConnectionSocket.openSockets
        let client = try listener.connect(sending: .max)
        let connection = try #require(ConnectionSocket(openedSince: earlier))
        let timeout = NetworkTimeout()
        timeout.shorten()
        let (result, isComplete) = connection.finish(timeout) { close(client) }
        #expect(result == 0 && !isComplete)
    }

    /// A peer whose system received everything may leave the connection open, and may close it.
    @Test(arguments: [true, false]) func receivedBytesAreComplete(_ closes: Bool) throws {
        let listener = try Listener()
        defer { close(listener.descriptor) }
        let earlier = ConnectionSocket.openSockets
        let client = try listener.connect(sending: 100)
        let connection = try #require(ConnectionSocket(openedSince: earlier))
        let peer = accept(listener.descriptor, nil, nil)
        defer { if !closes { close(peer) } }
        let timeout = NetworkTimeout()
        timeout.shorten()
        let (result, isComplete) = connection.finish(timeout) {
            defer { if closes { close(peer) } }
            return close(client)
        }
        #expect(result == 0 && isComplete)
    }
}
