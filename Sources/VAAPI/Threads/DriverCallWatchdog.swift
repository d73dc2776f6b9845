internal import Synchronization
package import VideoBase

/// Makes calls on a driver that may not come back, on threads that can be left behind.
///
/// No call of VA-API has a time limit but two of the waits. A driver whose kernel hangs keeps the thread that called it
/// for good, so callers wait beside it, for as long as `limit` says. A driver that did not come back in time counts as
/// hung: nothing is asked of that display any more, and what it holds is kept, as the lost call may still use it.
package final class DriverCallWatchdog: Sendable {
    /// How many times the limit a piece of work may take.
    package enum Patience: UInt64, Sendable {
        /// A call or a few.
        case call = 1
        /// A wait that knows the limit itself, and what follows.
        case wait = 2
        /// Many calls, and pictures on trial.
        case setUp = 4
    }

    private let nanoseconds: Atomic<UInt64>
    private let hung = Atomic<Bool>(false)
    private let onHang: @Sendable () -> Void

    /// - Parameter onHang: called once, when the first call does not come back.
    init(limitNanoseconds: UInt64, onHang: @escaping @Sendable () -> Void = {}) {
        nanoseconds = Atomic(limitNanoseconds)
        self.onHang = onHang
    }

    /// How long the device may work on one picture, or on one call.
    package var limitNanoseconds: UInt64 {
        get { nanoseconds.load(ordering: .relaxed) }
        set { nanoseconds.store(newValue, ordering: .relaxed) }
    }

    package var isHung: Bool { hung.load(ordering: .relaxed) }

    /// What a device is allowed that nobody speaks for: VAENC_DEVICE_TIMEOUT_MS where it is set, else ten seconds, and
    /// two minutes for the reference driver, which encodes in software on a machine that may be busy.
    package static func usualLimit(of kind: DeviceKind) -> UInt64 {
        if let milliseconds = askedMilliseconds { return min(milliseconds, 86_400_000) * 1_000_000 }
        return kind == .reference ? 120_000_000_000 : 10_000_000_000
    }

    private static let limitName = "VAENC_DEVICE_TIMEOUT_MS"

    private static var askedMilliseconds: UInt64? {
        Environment.value(limitName).flatMap { UInt64($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// - Throws: `usage` for a VAENC_DEVICE_TIMEOUT_MS that is no number; a library goes on without it.
    package static func checkEnvironment() throws {
        guard let text = Environment.value(limitName), askedMilliseconds == nil else { return }
        throw VaencError(.usage, "\(limitName) is “\(text)”", remedy: "give whole milliseconds from 1 on, or unset it")
    }

    /// Runs `body` and waits for it. Within a `body` it runs at once, within the time of the outer one.
    ///
    /// On a thread that can be left behind itself (`DeviceThread.makesCalls`) it is run right there; a caller of
    /// any other kind waits beside a thread that runs it, which costs two changes of thread.
    ///
    /// - Parameters:
    ///   - call: what it is, for the error: `vaEndPicture`.
    ///   - object: what it is done with.
    /// - Throws: what `body` throws; a `VAError` of status `.timedOut` when the time is up, and at once when it was up
    ///   before. `body` may then still be running. A `VaencError` when the process is ending.
    package func run<R: Sendable>(
        _ call: String, _ object: @escaping @Sendable @autoclosure () -> String = "", _ patience: Patience = .call,
        _ body: @escaping @Sendable () throws -> R
    ) throws -> R {
        if Self.isInCall { return try body() }
        let timedOut = { @Sendable in
            VAError(call: call, status: .timedOut, object: object(), remedy: Surface.hangRemedy, category: .deviceFailed)
        }
        guard !isHung else { throw timedOut() }
        guard let counted = ProcessEnd.Call() else {
            throw VaencError(.interrupted, "\(call) is not made while the process ends")
        }
        guard let result = attempt(patience, counted, timedOut, body) else { throw timedOut() }
        return try result.get()
    }

    /// Lets go of something of the device's. With a hung device, and when the process is ending, nothing is done.
    package func release(_ body: @escaping @Sendable () -> Void) {
        if Self.isInCall { return body() }
        if isHung { return }
        guard let counted = ProcessEnd.Call() else { return ProcessEnd.keep(body) }
        let timedOut = { @Sendable in
            VAError(call: "letting go", status: .timedOut, object: "", remedy: Surface.hangRemedy, category: .deviceFailed)
        }
        _ = attempt(.call, counted, timedOut, body)
    }

    private static var isInCall: Bool { Worker.isCurrent || LaneExecutor.Post.current?.isInCall == true }

    /// nil when the time is up.
    private func attempt<R: Sendable>(
        _ patience: Patience, _ counted: ProcessEnd.Call, _ timedOut: @escaping @Sendable () -> VAError,
        _ body: @escaping @Sendable () throws -> R
    ) -> Result<R, any Error>? {
        defer { counted.end() }
        let (product, isTooLong) = limitNanoseconds.multipliedReportingOverflow(by: patience.rawValue)
        let limit = isTooLong ? UInt64.max : product
        if let post = LaneExecutor.Post.current, let whenLost = post.whenLost {
            return here(post, limit, body) { [self] in
                counted.end()
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
                counted.end()
                outcome.withLock { $0.isTold = true }
            }
        }
        let result = outcome.wait(atMostNanoseconds: limit) { $0.take() }
        if result == nil { lose() }
        return result
    }

    /// What a worker hands over: once it has told, nothing of it is the worker's any more.
    private struct Outcome<R> {
        var result: Result<R, any Error>?
        var isTold = false

        /// nil until it is told.
        mutating func take() -> Result<R, any Error>? {
            guard isTold else { return nil }
            defer { result = nil }
            return result
        }
    }

    /// On the caller's thread. nil when the time was up before it came back.
    private func here<R>(
        _ post: LaneExecutor.Post, _ limit: UInt64, _ body: () throws -> R, whenLost: @escaping @Sendable () -> Void
    ) -> Result<R, any Error>? {
        let call = CallTimeoutMonitor.shared.begin(nanoseconds: limit) {
            // The jobs after this one must see that the device hangs.
            whenLost()
            post.replace()
        }
        post.isInCall = true
        let result = Result { try body() }
        post.isInCall = false
        if let call, !CallTimeoutMonitor.shared.end(call) {
            post.resign()
            return nil
        }
        return result
    }

    private func lose() {
        ProcessEnd.callHangs()
        if !hung.exchange(true, ordering: .relaxed) { onHang() }
    }
}
