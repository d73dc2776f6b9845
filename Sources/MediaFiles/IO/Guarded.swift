import Synchronization

/// State behind a lock. Unlike `Mutex`, `withLock` lends the state together with memory that the caller lent.
@safe final class Guarded<Value>: Sendable {
    private let mutex = Mutex(())
    // SAFETY: reached under the lock alone.
    private nonisolated(unsafe) var value: Value

    init(_ value: sending Value) { unsafe self.value = value }

    /// Runs `body` with the state, one thread at a time. The state must not be taken out of it.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try mutex.withLock { _ in unsafe try body(&value) }
    }
}
