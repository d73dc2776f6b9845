internal import Synchronization
internal import Threads
package import VideoBase

/// Makes driver calls that may never return, on threads that can be abandoned.
///
/// Except for two of the waits, no call of VA-API has a timeout. If the kernel driver hangs, the thread that made the
/// call is lost. Therefore another thread makes the call, and the caller waits for at most the time limit.
///
/// A driver that did not return in time is treated as hung: no more calls are made on its display, and its objects are
/// kept, because the lost call may still use them.
package final class DriverCallWatchdog: Sendable {
    /// A multiple of the time limit that an operation may take.
    package enum TimeoutScale: UInt64, Sendable {
        /// The limit for one call, or a few.
        case call = 1
        /// The limit for a wait that has the time limit as its own timeout, and the calls that follow it.
        case wait = 2
        /// The limit for many calls, including trial encodes.
        case setUp = 4
    }

    private let nanoseconds: Atomic<UInt64>
    private let hung = Atomic<Bool>(false)
    private let onHang: @Sendable () -> Void

    /// Creates a watchdog.
    ///
    /// - Parameters:
    ///   - limitNanoseconds: The time limit for one call.
    ///   - onHang: Called once, when a call does not return in time for the first time.
    init(limitNanoseconds: UInt64, onHang: @escaping @Sendable () -> Void = {}) {
        nanoseconds = Atomic(limitNanoseconds)
        self.onHang = onHang
    }

    /// The time limit for one picture or one call, in nanoseconds.
    package var limitNanoseconds: UInt64 {
        get { nanoseconds.load(ordering: .relaxed) }
        set { nanoseconds.store(newValue, ordering: .relaxed) }
    }

    package var isHung: Bool { hung.load(ordering: .relaxed) }

    /// Returns the default time limit in nanoseconds: VAENC_DEVICE_TIMEOUT_MS if it is set, otherwise ten seconds. For
    /// the reference driver, it is two minutes, because that driver encodes in software on a machine that may be busy.
    package static func usualLimit(of kind: DeviceKind) -> UInt64 {
        if let milliseconds = askedMilliseconds { return min(milliseconds, 86_400_000) * 1_000_000 }
        return kind == .reference ? 120_000_000_000 : 10_000_000_000
    }

    private static let limitName = "VAENC_DEVICE_TIMEOUT_MS"

    private static var askedMilliseconds: UInt64? {
        Environment.value(limitName).flatMap { UInt64($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Checks VAENC_DEVICE_TIMEOUT_MS. The library itself ignores an invalid value.
    ///
    /// - Throws: A `VaencError` of category `.usage` if the value is not a positive number.
    package static func checkEnvironment() throws {
        guard let text = Environment.value(limitName), askedMilliseconds == nil else { return }
        throw VaencError(
            .usage, "\(limitName) is “\(text)”, which is not a number of milliseconds",
            remedy: "use a whole number of 1 or more, or unset it")
    }

    /// Runs `body` with a time limit and returns its result. Inside another `body`, it runs immediately, within the
    /// time limit of the outer one.
    ///
    /// On a thread that can be abandoned (`DeviceThread.makesCalls`), `body` runs on that thread. For any other caller,
    /// `body` runs on a worker thread while the caller waits, which costs two thread switches. If the system cannot
    /// start a worker thread, `body` runs on the calling thread without a time limit.
    ///
    /// - Parameters:
    ///   - call: The name of the operation, for the error: `vaEndPicture`.
    ///   - object: The object of the operation, for the error.
    /// - Throws: An error of `body`; a `VAError` of status `.timedOut` if the time limit expires (`body` may then still
    ///   be running), or immediately if the driver is already treated as hung; or a `VaencError` if the process is
    ///   ending.
    package func run<R: Sendable>(
        _ call: String, on object: @escaping @Sendable @autoclosure () -> String = "", scale: TimeoutScale = .call,
        body: @escaping @Sendable () throws -> R
    ) throws -> R {
        if Self.isInCall { return try body() }
        let timedOut = { @Sendable in
            VAError(call: call, status: .timedOut, object: object(), remedy: Surface.hangRemedy, category: .deviceFailed)
        }
        guard !isHung else { throw timedOut() }
        guard let pendingCall = ProcessEnd.Call() else {
            throw VaencError(.interrupted, "\(call) was not called because the process is ending")
        }
        guard let result = attempt(scale, pendingCall: pendingCall, timedOut: timedOut, body: body) else {
            throw timedOut()
        }
        return try result.get()
    }

    /// Runs `body`, which releases an object of the device. Does nothing if the device hangs or the process is ending.
    package func release(_ body: @escaping @Sendable () -> Void) {
        if Self.isInCall { return body() }
        if isHung { return }
        guard let pendingCall = ProcessEnd.Call() else { return ProcessEnd.keep(body) }
        let timedOut = { @Sendable in
            VAError(
                call: "releasing an object", status: .timedOut, object: "", remedy: Surface.hangRemedy,
                category: .deviceFailed)
        }
        _ = attempt(.call, pendingCall: pendingCall, timedOut: timedOut, body: body)
    }

    private static var isInCall: Bool { Worker.isCurrent || LaneExecutor.WorkerContext.current?.isInCall == true }

    /// Runs a call with the time limit. Returns nil if the time limit expires.
    private func attempt<R: Sendable>(
        _ scale: TimeoutScale, pendingCall: ProcessEnd.Call, timedOut: @escaping @Sendable () -> VAError,
        body: @escaping @Sendable () throws -> R
    ) -> Result<R, any Error>? {
        defer { pendingCall.end() }
        let (product, isTooLong) = limitNanoseconds.multipliedReportingOverflow(by: scale.rawValue)
        let limit = isTooLong ? UInt64.max : product
        if let context = LaneExecutor.WorkerContext.current, let whenLost = context.whenLost {
            return runHere(context, limit: limit, body: body) { [self] in
                pendingCall.end()
                lose()
                whenLost.report(timedOut())
            }
        }
        guard let worker = Worker.idle() else { return Result { try body() } }
        let outcome = Monitor<Outcome<R>>(Outcome())
        worker.start {
            let result = Result { try body() }
            outcome.withLockWithoutNotifying { $0.result = result }
            return {
                pendingCall.end()
                outcome.withLock { $0.isComplete = true }
            }
        }
        let result = outcome.wait(atMostNanoseconds: limit) { $0.take() }
        if result == nil { lose() }
        return result
    }

    /// The result of a worker's job. Once `isComplete` is set, the worker does not use the result any more.
    private struct Outcome<R> {
        var result: Result<R, any Error>?
        var isComplete = false

        /// Returns the result, or nil if the worker has not finished.
        mutating func take() -> Result<R, any Error>? {
            guard isComplete else { return nil }
            defer { result = nil }
            return result
        }
    }

    /// Runs `body` on the calling thread. Returns nil if the time limit expired before `body` returned.
    private func runHere<R>(
        _ context: LaneExecutor.WorkerContext, limit: UInt64, body: () throws -> R,
        whenLost: @escaping @Sendable () -> Void
    ) -> Result<R, any Error>? {
        let call = CallTimeoutMonitor.shared.begin(nanoseconds: limit) {
            // Set the hung state first: the following jobs must see that the device hangs.
            whenLost()
            context.replace()
        }
        context.isInCall = true
        let result = Result { try body() }
        context.isInCall = false
        if let call, !CallTimeoutMonitor.shared.end(call) {
            context.abandon()
            return nil
        }
        return result
    }

    private func lose() {
        ProcessEnd.callHangs()
        if !hung.exchange(true, ordering: .relaxed) { onHang() }
    }
}
