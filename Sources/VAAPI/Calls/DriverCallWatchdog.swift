internal import Synchronization
package import Threads
package import VideoBase

/// Makes driver calls that may never return, on threads that can be abandoned.
///
/// Except for two of the waits, no call of VA-API has a timeout. If the kernel driver hangs, the thread that made the
/// call is lost. Therefore another thread makes the call, and the caller waits for at most the time limit.
///
/// A driver that did not return in time is treated as hung: no more calls are made on its display, and its objects are
/// kept, because the lost call may still use them.
package final class DriverCallWatchdog: LostCallHandler {
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
        var result: R?
        let ran = try callHere(TimedCall(call, on: .described(object), handler: self), scale: scale) { result = try body() }
        if ran, let result { return result }
        return try runElsewhere(TimedCall(call, on: .described(object), handler: self), scale: scale, body: body)
    }

    /// Runs `body` with a time limit on the calling thread, which must be a `DeviceThread` that makes calls. On any
    /// other thread, there is no time limit. Cheaper than `run`.
    ///
    /// - Returns: False, without running `body`, if the call has no time limit of its own.
    /// - Throws: The errors of `run`.
    package func callHere(_ call: String, frame: Int?, scale: TimeoutScale, _ body: () throws -> Void) throws -> Bool {
        if Self.isInCall { return false }
        let object: TimedCall.Object = if let frame { .frame(frame) } else { .none }
        return try callHere(TimedCall(call, on: object, handler: self), scale: scale, body)
    }

    /// Returns false, without running `body`, if device calls must not run on the calling thread.
    private func callHere(_ call: TimedCall, scale: TimeoutScale, _ body: () throws -> Void) throws -> Bool {
        guard let context = LaneExecutor.WorkerContext.current, context.canCall else { return false }
        try begin(call)
        var failure: (any Error)?
        let isInTime = context.run(call, nanoseconds: limit(scale)) {
            do { try body() } catch { failure = error }
        }
        guard isInTime else { throw Self.timedOut(call) }
        ProcessEnd.endCall()
        if let failure { throw failure }
        return true
    }

    private func runElsewhere<R: Sendable>(
        _ call: TimedCall, scale: TimeoutScale, body: @escaping @Sendable () throws -> R
    ) throws -> R {
        try begin(call)
        guard let result = runOnWorker(limit(scale), body) else { throw Self.timedOut(call) }
        return try result.get()
    }

    /// Counts a call as in progress until `ProcessEnd.endCall`.
    private func begin(_ call: TimedCall) throws {
        if isHung { throw Self.timedOut(call) }
        guard ProcessEnd.beginCall() else {
            throw VaencError(.interrupted, "\(call.name) was not called because the process is ending")
        }
    }

    private static func timedOut(_ call: TimedCall) -> VAError {
        VAError(
            call: call.name, status: .timedOut, object: call.object.description, remedy: Surface.hangRemedy, category: .deviceFailed)
    }

    /// Reports the error to the owner of the thread, and replaces the thread.
    package func isLost(_ call: TimedCall, on thread: LaneExecutor.WorkerContext) {
        ProcessEnd.endCall()
        // Set the hung state first: the following jobs must see that the device hangs.
        lose()
        thread.reportLoss(Self.timedOut(call))
        thread.replace()
    }

    /// Runs `body`, which releases an object of the device. Does nothing if the device hangs or the process is ending.
    package func release(_ body: @escaping @Sendable () -> Void) {
        if Self.isInCall { return body() }
        if isHung { return }
        guard ProcessEnd.beginCall() else { return ProcessEnd.keep(body) }
        guard let context = LaneExecutor.WorkerContext.current, context.canCall else {
            _ = runOnWorker(limit(.call), body)
            return
        }
        let call = TimedCall("releasing an object", on: .none, handler: self)
        if context.run(call, nanoseconds: limit(.call), body) { ProcessEnd.endCall() }
    }

    private static var isInCall: Bool { Worker.isCurrent || LaneExecutor.WorkerContext.current?.isInCall == true }

    private func limit(_ scale: TimeoutScale) -> UInt64 {
        let (product, isTooLong) = limitNanoseconds.multipliedReportingOverflow(by: scale.rawValue)
        return isTooLong ? UInt64.max : product
    }

    /// Runs a call on a worker thread, and ends its count as in progress. Returns nil if the time limit expires.
    private func runOnWorker<R: Sendable>(
        _ limit: UInt64, _ body: @escaping @Sendable () throws -> R
    ) -> Result<R, any Error>? {
        guard let worker = Worker.idle() else {
            defer { ProcessEnd.endCall() }
            return Result { try body() }
        }
        let outcome = Monitor<Outcome<R>>(Outcome())
        worker.start {
            let result = Result { try body() }
            outcome.withLockWithoutNotifying { $0.result = result }
            return {
                let isLost = outcome.withLock { outcome in
                    outcome.isComplete = true
                    return outcome.isLost
                }
                if !isLost { ProcessEnd.endCall() }
            }
        }
        if let result = outcome.wait(atMostNanoseconds: limit, { $0.take() }) { return result }
        let isLost = outcome.withLockWithoutNotifying { outcome in
            outcome.isLost = !outcome.isComplete
            return outcome.isLost
        }
        if isLost { ProcessEnd.endCall() }
        lose()
        return nil
    }

    /// The result of a worker's job. Once `isComplete` is set, the worker does not use the result any more.
    private struct Outcome<R> {
        var result: Result<R, any Error>?
        var isComplete = false
        /// Whether the caller no longer waits.
        var isLost = false

        /// Returns the result, or nil if the worker has not finished.
        mutating func take() -> Result<R, any Error>? {
            guard isComplete else { return nil }
            defer { result = nil }
            return result
        }
    }

    private func lose() {
        ProcessEnd.callHangs()
        if !hung.exchange(true, ordering: .relaxed) { onHang() }
    }
}
