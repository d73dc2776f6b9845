import Glibc
import Synchronization

/// Runs blocking work on another thread; at most as many run at a time as there are processors.
func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        Workers.shared.add { continuation.resume(returning: body()) }
    }
}

/// Whether VAENC_UPDATE_PAGES is set: then tests write the pages that they check.
var updatesPages: Bool { unsafe getenv("VAENC_UPDATE_PAGES") != nil }

/// Threads that take work in turn. They live as long as the tests.
private final class Workers: Sendable {
    static let shared = Workers()

    private struct State {
        var work: [@Sendable () -> Void] = []
        var threads = 0
    }

    private let state = Mutex(State())
    private let most = max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1)

    func add(_ body: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.work.append(body)
            guard state.threads < most else { return false }
            state.threads += 1
            return true
        }
        if starts { start() }
    }

    private func start() {
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { _ in
                Workers.shared.run()
                return nil
            }, nil)
        if status == 0 { pthread_detach(thread) }
    }

    private func run() {
        while let body = next() { body() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if state.work.isEmpty {
                state.threads -= 1
                return nil
            }
            return state.work.removeFirst()
        }
    }
}
