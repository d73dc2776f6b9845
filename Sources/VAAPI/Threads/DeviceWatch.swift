internal import Synchronization
package import VideoBase

/// Makes calls on a driver that may not come back, on threads that can be left behind.
///
/// No call of VA-API has a time limit but two of the waits. A driver whose kernel hangs keeps the thread that called it
/// for good, so callers wait beside it, for as long as `limit` says. A driver that did not come back in time counts as
/// hung: nothing is asked of that display any more, and what it holds is kept, as the lost call may still use it.
package final class DeviceWatch: Sendable {
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
        if let text = Environment.value("VAENC_DEVICE_TIMEOUT_MS"), let milliseconds = UInt64(text), milliseconds > 0 {
            return min(milliseconds, 86_400_000) * 1_000_000
        }
        return kind == .reference ? 120_000_000_000 : 10_000_000_000
    }

    /// Runs `body` and waits for it. Within a `body` it runs at once, within the time of the outer one.
    ///
    /// - Parameters:
    ///   - call: what it is, for the error: `vaEndPicture`.
    ///   - object: what it is done with.
    /// - Throws: what `body` throws; a `VAError` of status `.timedOut` when the time is up, and at once when it was up
    ///   before. `body` may then still be running. A `VaencError` when the process is ending.
    package func run<R: Sendable>(
        _ call: String, _ object: String = "", _ patience: Patience = .call,
        _ body: @escaping @Sendable () throws -> R
    ) throws -> R {
        if Worker.isCurrent { return try body() }
        if !isHung {
            guard let counted = ProcessEnd.Call() else {
                throw VaencError(.interrupted, "\(call) is not made while the process ends")
            }
            if let result = attempt(patience, counted, body) { return try result.get() }
        }
        throw VAError(
            call: call, status: .timedOut, object: object, remedy: Surface.hangRemedy, category: .deviceFailed)
    }

    /// Lets go of something of the device's. With a hung device, and when the process is ending, nothing is done.
    func release(_ body: @escaping @Sendable () -> Void) {
        if Worker.isCurrent { return body() }
        if isHung { return }
        guard let counted = ProcessEnd.Call() else { return ProcessEnd.keep(body) }
        _ = attempt(.call, counted, body)
    }

    /// nil when the time is up.
    private func attempt<R: Sendable>(
        _ patience: Patience, _ counted: ProcessEnd.Call, _ body: @escaping @Sendable () throws -> R
    ) -> Result<R, any Error>? {
        defer { counted.end() }
        guard let worker = Worker.idle() else { return Result { try body() } }
        let outcome = Monitor<Result<R, any Error>?>(nil)
        worker.start {
            let result = Result { try body() }
            return {
                counted.end()
                outcome.withLock { $0 = result }
            }
        }
        let (limit, isTooLong) = limitNanoseconds.multipliedReportingOverflow(by: patience.rawValue)
        let result = outcome.wait(atMostNanoseconds: isTooLong ? .max : limit) { $0 }
        if result == nil, !hung.exchange(true, ordering: .relaxed) { onHang() }
        return result
    }
}
