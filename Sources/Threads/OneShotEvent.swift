/// An event that threads can wait for. It is closed initially; once it is opened, it stays open.
package final class OneShotEvent: Sendable {
    private let isOpen = Monitor(false)

    package init() {}

    package func open() {
        isOpen.withLock { $0 = true }
    }

    package func wait() {
        isOpen.wait { $0 ? () : nil }
    }
}
