public import VideoBase

/// The results of a decompression session in presentation order, for one reader at a time.
///
/// The sequence ends after `invalidate`, when all results are read, or with the error that ended the session.
public struct DecodedSequence: AsyncSequence, Sendable {
    /// The type of a result.
    public typealias Element = DecodedOutput
    /// The type of the error that ended the session.
    public typealias Failure = any Error

    let channel: DeliveryChannel<DecodedOutput>

    /// Returns an iterator. It occupies the sequence from its first `next` until it is released.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(channel)) }

    /// Reads the results of a session.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: Reader

        /// Returns the next result; nil at the end. Suspends until a result is available.
        ///
        /// - Throws: `CancellationError` if the task is cancelled; the error that ended the session, once; `usage` if
        ///   another reader is active.
        public mutating func next() async throws -> DecodedOutput? { try await next(isolation: nil) }

        /// Returns the next result, as `next()` does, for a reader on `actor`.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> DecodedOutput? {
            try await reader.channel.next(ObjectIdentifier(reader), on: actor)
        }
    }

    /// Releases the results for another reader when the iterator is released.
    final class Reader: Sendable {
        let channel: DeliveryChannel<DecodedOutput>

        init(_ channel: DeliveryChannel<DecodedOutput>) { self.channel = channel }

        deinit { channel.leave(ObjectIdentifier(self)) }
    }
}
