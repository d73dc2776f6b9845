public import VideoBase

/// The packets of a session in decoding order, for one reader at a time.
///
/// It ends after `invalidate`, when all packets that came out were read, or with the error that ended the session. A
/// reader that stops early (`break`, an iterator that is dropped) leaves the rest to the next one; a second reader
/// beside the first gets an error. A reader whose task is cancelled gets a `CancellationError`, and loses no packet.
public struct PacketSequence: AsyncSequence, Sendable {
    public typealias Element = EncodedPacket
    public typealias Failure = any Error

    let channel: PacketChannel

    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(channel)) }

    public struct Iterator: AsyncIteratorProtocol {
        let reader: Reader

        /// - Throws: `CancellationError`, the error that ended the session (once), `usage` beside another reader.
        public mutating func next() async throws -> EncodedPacket? { try await next(isolation: nil) }

        /// As `next()`, on the reader's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> EncodedPacket? {
            try await reader.channel.next(ObjectIdentifier(reader), on: actor)
        }
    }

    /// Gives the packets free for another reader when the iterator goes.
    final class Reader: Sendable {
        let channel: PacketChannel

        init(_ channel: PacketChannel) { self.channel = channel }

        deinit { channel.leave(ObjectIdentifier(self)) }
    }
}
