internal import Glibc
internal import Synchronization
internal import Threads
internal import VideoBase

/// Prevents driver calls during the end of the process.
///
/// `exit` runs the destructors of the loaded libraries, including drivers, while other threads continue. A call in
/// progress would then use objects that are already destroyed. Therefore `exit` waits for the calls in progress, and no
/// call begins after that.
enum ProcessEnd {
    private struct State {
        /// Whether a call did not return. It may be loading a library and hold the loader's lock.
        var hasHungCall = false
        var checksLoader = false
        /// The devices whose driver was loaded before the most recent handler was registered.
        var devices: Set<String> = []
        /// The release operations that were requested after the process began to end.
        var kept: [@Sendable () -> Void] = []
    }

    private static let state = Monitor(State())
    /// The maximum time that `exit` waits for calls in progress.
    private static var limitNanoseconds: UInt64 { 5_000_000_000 }

    /// Registers an exit handler for the driver of a device. Call it after the driver was loaded: exit handlers run
    /// before the destructors of only those libraries that were loaded before the handler was registered.
    static func driverIsLoaded(of device: String) {
        let isNew = state.withLock { $0.devices.insert(device).inserted }
        if isNew {
            atexit {
                ProcessEnd.calls.bitwiseOr(ProcessEnd.ending, ordering: .acquiringAndReleasing)
                _ = ProcessEnd.state.wait(atMostNanoseconds: ProcessEnd.limitNanoseconds) { _ in
                    ProcessEnd.calls.load(ordering: .acquiring) == ProcessEnd.ending ? () : nil
                }
            }
        }
    }

    /// Registers an exit handler for a driver that hangs while it is being loaded. Call it before a driver is loaded.
    ///
    /// If loading never finishes, `exit` would wait forever for the loader's lock when it runs the destructors of
    /// libraries. The handler then ends the process without running them.
    static func driverWillBeLoaded() {
        let isNew = state.withLock { state in
            defer { state.checksLoader = true }
            return !state.checksLoader
        }
        guard isNew else { return }
        unsafe on_exit(
            { status, _ in
                guard ProcessEnd.isLoaderStuck else { return }
                fflush(nil)
                _exit(status)
            }, nil)
    }

    /// Records that a call did not return.
    static func callHangs() { state.withLock { $0.hasHungCall = true } }

    /// Whether a hung call holds the loader's lock, so that this process can no longer load or unload a library.
    static var isLoaderStuck: Bool {
        guard state.withLock({ $0.hasHungCall }) else { return false }
        let isBack = Monitor(false)
        let starts = DedicatedThread.start("vaenc-loader") {
            // Opens the program itself, which loads nothing but takes the loader's lock.
            if let program = unsafe dlopen(nil, RTLD_LAZY) { unsafe dlclose(program) }
            isBack.withLock { $0 = true }
        }
        guard starts else { return false }
        return isBack.wait(atMostNanoseconds: loaderNanoseconds) { $0 ? true : nil } == nil
    }

    private static var loaderNanoseconds: UInt64 { 1_000_000_000 }

    /// Keeps an object that `release` would destroy until the end of the process.
    static func keep(_ release: @escaping @Sendable () -> Void) { state.withLock { $0.kept.append(release) } }

    /// The number of calls in progress, and the bit `ending` once the process ends.
    private static let calls = Atomic(0)
    private static var ending: Int { 1 << 62 }

    /// Counts a driver call as in progress, until `endCall`. Returns false if the process is ending; the call must then
    /// not be made.
    static func beginCall() -> Bool {
        if calls.add(1, ordering: .acquiringAndReleasing).oldValue < ending { return true }
        endCall()
        return false
    }

    /// Ends the count of a call, because it has returned or nobody waits for it any more.
    static func endCall() {
        if calls.subtract(1, ordering: .acquiringAndReleasing).oldValue > ending { state.withLock { _ in } }
    }
}
