public import VideoBase

/// The packets of a session in decoding order, for one reader at a time.
///
/// The sequence ends after `invalidate`, when all delivered packets are read, or with the error that ended the session.
/// If a reader stops early (with `break`, or because its iterator is released), the next reader continues where it
/// stopped. A second reader at the same time gets an error. If a reader's task is cancelled, it gets a
/// `CancellationError`, and no packet is lost.
public struct PacketSequence: AsyncSequence, Sendable {
    /// The type of a packet.
    public typealias Element = EncodedPacket
    /// The type of the error that ended the session.
    public typealias Failure = any Error

    let channel: PacketChannel

    /// Returns an iterator. It occupies the sequence from its first `next` until it is released.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(channel)) }

    /// Reads the packets of a session.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: Reader

        /// Returns the next packet; nil at the end. Suspends until a packet is available.
        ///
        /// - Throws: `CancellationError` if the task is cancelled; the error that ended the session, once; `usage` if
        ///   another reader is active.
        public mutating func next() async throws -> EncodedPacket? { try await next(isolation: nil) }

        /// Returns the next packet, as `next()` does, for a reader on `actor`.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> EncodedPacket? {
            try await reader.channel.next(ObjectIdentifier(reader), on: actor)
        }
    }

    /// Releases the packets for another reader when the iterator is released.
    final class Reader: Sendable {
        let channel: PacketChannel

        init(_ channel: PacketChannel) { self.channel = channel }

        deinit { channel.leave(ObjectIdentifier(self)) }
    }
}
