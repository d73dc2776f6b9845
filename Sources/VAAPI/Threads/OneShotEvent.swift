internal import VideoBase

/// An event that threads can wait for. It is closed initially; once it is opened, it stays open.
final class OneShotEvent: Sendable {
    private let isOpen = Monitor(false)

    func open() {
        isOpen.withLock { $0 = true }
    }

    func wait() {
        isOpen.wait { $0 ? () : nil }
    }
}
