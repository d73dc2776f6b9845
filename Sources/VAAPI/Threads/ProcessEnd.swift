internal import Glibc
internal import Synchronization
internal import VideoBase

/// Keeps calls on drivers away from the end of the process.
///
/// `exit` runs the destructors of the libraries that are loaded, drivers too, while other threads go on: a call under
/// way then works on what is gone. So `exit` waits for calls under way, and none begins after it.
enum ProcessEnd {
    private struct State {
        var callsUnderWay = 0
        var isEnding = false
        /// A call did not come back: it may be one that loads a library, and hold the loader's lock.
        var hasHungCall = false
        var looksAtLoader = false
        /// Devices whose driver was loaded before the handler that is registered last.
        var devices: Set<String> = []
        /// What was to be let go of too late.
        var kept: [@Sendable () -> Void] = []
    }

    private static let state = Monitor(State())
    /// A call that takes longer keeps no process from its end.
    private static var limitNanoseconds: UInt64 { 5_000_000_000 }

    /// To be called when the driver of a device was loaded: handlers run before the destructors of libraries that were
    /// loaded before them.
    static func driverIsLoaded(of device: String) {
        let isNew = state.withLock { $0.devices.insert(device).inserted }
        if isNew {
            atexit {
                ProcessEnd.state.withLock { $0.isEnding = true }
                _ = ProcessEnd.state.wait(atMostNanoseconds: ProcessEnd.limitNanoseconds) { state in
                    state.callsUnderWay == 0 ? () : nil
                }
            }
        }
    }

    /// To be called before a driver is loaded: where a library's loading never ends, `exit` would wait for the loader's lock
    /// to run the destructors of libraries, and never end either. Then the process ends without them.
    static func driverWillBeLoaded() {
        let isNew = state.withLock { state in
            defer { state.looksAtLoader = true }
            return !state.looksAtLoader
        }
        guard isNew else { return }
        unsafe on_exit(
            { status, _ in
                guard ProcessEnd.isLoaderStuck else { return }
                fflush(nil)
                _exit(status)
            }, nil)
    }

    /// A call did not come back.
    static func callHangs() { state.withLock { $0.hasHungCall = true } }

    /// Whether a call that hangs keeps the loader's lock: no library can be loaded or unloaded in this process any more.
    static var isLoaderStuck: Bool {
        guard state.withLock({ $0.hasHungCall }) else { return false }
        let isBack = Monitor(false)
        // SAFETY: the thread takes over the retained monitor.
        let context = unsafe Unmanaged.passRetained(isBack).toOpaque()
        var thread = pthread_t()
        let failed = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let isBack = unsafe Unmanaged<Monitor<Bool>>.fromOpaque(context).takeRetainedValue()
                // The program itself: nothing is loaded, but the lock is taken.
                if let program = unsafe dlopen(nil, RTLD_LAZY) { unsafe dlclose(program) }
                isBack.withLock { $0 = true }
                return nil
            }, context)
        guard failed == 0 else {
            unsafe Unmanaged<Monitor<Bool>>.fromOpaque(context).release()
            return false
        }
        pthread_detach(thread)
        return isBack.wait(atMostNanoseconds: loaderNanoseconds) { $0 ? true : nil } == nil
    }

    private static var loaderNanoseconds: UInt64 { 1_000_000_000 }

    /// Holds on to what `release` would let go of: the process ends with it.
    static func keep(_ release: @escaping @Sendable () -> Void) { state.withLock { $0.kept.append(release) } }

    /// A call of a driver, counted while it is under way.
    final class Call: Sendable {
        private let isCounted = Atomic(true)

        /// nil when the process is ending.
        init?() {
            let begins = ProcessEnd.state.withLock { state in
                if !state.isEnding { state.callsUnderWay += 1 }
                return !state.isEnding
            }
            guard begins else { return nil }
        }

        /// It came back, or is not waited for any more. Idempotent.
        func end() {
            if isCounted.exchange(false, ordering: .relaxed) { ProcessEnd.state.withLock { $0.callsUnderWay -= 1 } }
        }
    }
}
