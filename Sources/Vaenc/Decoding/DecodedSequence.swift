public import VideoBase

/// What a decompression session gives, in presentation order, for one reader at a time.
///
/// It ends after `invalidate`, when all was read, or with the error that ended the session.
public struct DecodedSequence: AsyncSequence, Sendable {
    public typealias Element = DecodedOutput
    public typealias Failure = any Error

    let channel: DeliveryChannel<DecodedOutput>

    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(channel)) }

    public struct Iterator: AsyncIteratorProtocol {
        let reader: Reader

        /// - Throws: `CancellationError`, the error that ended the session (once), `usage` beside another reader.
        public mutating func next() async throws -> DecodedOutput? { try await next(isolation: nil) }

        /// As `next()`, on the reader's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> DecodedOutput? {
            try await reader.channel.next(ObjectIdentifier(reader), on: actor)
        }
    }

    /// Gives the results free for another reader when the iterator goes.
    final class Reader: Sendable {
        let channel: DeliveryChannel<DecodedOutput>

        init(_ channel: DeliveryChannel<DecodedOutput>) { self.channel = channel }

        deinit { channel.leave(ObjectIdentifier(self)) }
    }
}
