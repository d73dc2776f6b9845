import Synchronization

/// State behind a lock. Unlike with `Mutex`, the body of `withLock` may use the state together with memory that its
/// caller owns.
@safe final class Guarded<Value>: Sendable {
    private let mutex = Mutex(())
    // SAFETY: accessed under the lock only.
    private nonisolated(unsafe) var value: Value

    init(_ value: sending Value) { unsafe self.value = value }

    /// Runs `body` with the state, one thread at a time. The body must not let the state escape.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try mutex.withLock { _ in unsafe try body(&value) }
    }
}
