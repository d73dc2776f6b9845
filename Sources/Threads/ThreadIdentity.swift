internal import Glibc

/// Identifies a running thread, for code that must not wait for the thread on which it runs (pthread_self).
package struct ThreadIdentity: Sendable, Hashable {
    private let thread: pthread_t

    /// The calling thread.
    package static var current: ThreadIdentity { ThreadIdentity(thread: pthread_self()) }

    /// Whether the calling thread is this thread.
    package var isCurrent: Bool { self == .current }
}
