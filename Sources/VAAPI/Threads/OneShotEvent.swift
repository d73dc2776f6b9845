internal import VideoBase

/// Closed once made; lets everybody through once opened.
final class OneShotEvent: Sendable {
    private let isOpen = Monitor(false)

    func open() {
        isOpen.withLock { $0 = true }
    }

    func wait() {
        isOpen.wait { $0 ? () : nil }
    }
}
