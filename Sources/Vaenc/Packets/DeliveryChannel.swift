import Threads
import VideoBase

/// A bounded queue of results between a session and the task that reads them, for one reader at a time. Only calls that
/// pass in work wait for room. The threads that deliver results never wait, so completing and ending a session need no
/// reader.
final class DeliveryChannel<Element: Sendable>: Sendable {
    private struct State {
        /// Results that were read are replaced by nil at once: a picture on a device holds its surface while it is in
        /// the array.
        var results: [Element?] = []
        /// The index of the first unread result.
        var head = 0
        var end: Result<Void, any Error>?
        var reader: ObjectIdentifier?
        /// The actor that the reader runs on; nil if it runs on no actor. The reference is weak because the actor may
        /// own the reader.
        weak var readerActor: (any Actor)?
        var hadReader = false
        /// The number of times that a reader has requested a result.
        var requestCount = 0
        var waiting: CheckedContinuation<Element?, any Error>?
        var waitersForRoom = 0

        var unread: Int { results.count - head }

        mutating func removeFirst() -> Element? {
            guard head < results.count else { return nil }
            let result = results[head].take()
            head += 1
            if head > 64, head * 2 > results.count {
                results.removeFirst(head)
                head = 0
            }
            return result
        }

        mutating func takeWaiting() -> CheckedContinuation<Element?, any Error>? {
            defer { waiting = nil }
            return waiting
        }
    }

    private let state = Monitor(State())
    private let capacity: Int

    /// The name of the results in error messages.
    private let noun: String

    init(capacity: Int, of noun: String = "packets") {
        self.capacity = max(1, capacity)
        self.noun = noun
    }

    /// Creates a channel with a capacity that a caller requested.
    ///
    /// - Parameter name: The name of the caller's parameter.
    /// - Throws: `usage` for a capacity below 1.
    convenience init(requested capacity: Int, as name: String, of noun: String = "packets") throws(VaencError) {
        guard capacity > 0 else { throw VaencError(.usage, "\(name) \(capacity) is out of range", remedy: "use 1 or more") }
        self.init(capacity: capacity, of: noun)
    }

    // MARK: The session's side

    func add(_ result: Result<Element, any Error>) {
        switch result {
        case .success(let result):
            let reader = state.withLock { state in
                guard state.end == nil else { return CheckedContinuation<Element?, any Error>?.none }
                if let reader = state.takeWaiting() { return reader }
                state.results.append(result)
                return nil
            }
            reader?.resume(returning: result)
        case .failure(let error): finish(.failure(error))
        }
    }

    /// Ends the channel. Unread results can still be read.
    func finish(_ end: Result<Void, any Error>) {
        let reader = state.withLock { state in
            guard state.end == nil else { return CheckedContinuation<Element?, any Error>?.none }
            let reader = state.takeWaiting()
            // The error is passed to one reader, once.
            state.end = reader == nil ? end : .success(())
            return reader
        }
        switch end {
        case .success: reader?.resume(returning: nil)
        case .failure(let error): reader?.resume(throwing: error)
        }
    }

    /// Blocks while the number of unread results is at least the capacity.
    ///
    /// - Parameters:
    ///   - caller: The call that blocks; nil on one of the session's threads, which no reader needs.
    ///   - isCancelled: Checked at each change and at each `wake`.
    /// - Throws: `CancellationError` if `isCancelled` returns true; `usage` if the reader has ended, or cannot run
    ///   while the call blocks.
    func waitForRoom(_ caller: BlockingCall? = nil, _ isCancelled: () -> Bool) throws {
        var waits = false, blocksMainActor = false
        defer { if waits { state.withLock { $0.waitersForRoom -= 1 } } }
        func room(_ state: inout State) throws -> Void? {
            if isCancelled() { throw CancellationError() }
            if state.end != nil || state.unread < capacity { return () }
            if state.hadReader, state.reader == nil {
                throw VaencError(
                    .usage, "\(state.unread) \(noun) wait to be read, and their reader has ended",
                    remedy: "read the session's \(noun), or invalidate it")
            }
            if !waits {
                state.waitersForRoom += 1
                blocksMainActor = caller?.isOnMainThread() ?? false
            }
            waits = true
            if let caller, state.reader != nil, caller.blocks(state.readerActor, blocksMainActor) {
                throw caller.deadlock(
                    "\(state.unread) \(noun) wait for their reader, and it runs on", noun: noun, blocksMainActor: blocksMainActor)
            }
            return nil
        }
        guard let caller else { return try state.wait(room) }
        if try state.wait(atMostNanoseconds: caller.readerStartTimeout, room) != nil { return }
        guard caller.mayBlock(blocksMainActor) else { return try state.wait(room) }
        // If no reader has begun by now, it may be a task on an actor that this call blocks.
        if state.withLock({ !$0.hadReader }) {
            throw caller.deadlock(
                "\(unreadCount) \(noun) wait, no reader has begun, and it may run on", noun: noun, blocksMainActor: blocksMainActor)
        }
        try waitForSlowReader(caller, room)
    }

    /// Waits for a reader that is slow or blocked by this call. A `ReaderProbe` distinguishes the two cases.
    private func waitForSlowReader(_ caller: BlockingCall, _ room: (inout State) throws -> Void?) throws {
        while true {
            let (actor, requestCount) = state.withLock { ($0.readerActor, $0.requestCount) }
            let probe = ReaderProbe(on: actor)
            if try state.wait(atMostNanoseconds: caller.busyReaderTimeout, room) != nil { return }
            if probe.hasRun || state.withLock({ $0.requestCount != requestCount }) { continue }
            throw VaencError(
                .usage,
                "\(unreadCount) \(noun) wait for their reader, and the reader's actor ran nothing for "
                    + "\(caller.busyReaderTimeout / 1_000_000_000) s: this call may block it",
                remedy: BlockingCall.remedy(noun))
        }
    }

    func wake() { state.withLock { _ in } }

    /// The number of results that were not read yet.
    var unreadCount: Int { state.withLock { $0.unread } }

    /// Whether there was a reader and it has ended.
    var isWithoutReader: Bool { state.withLock { $0.hadReader && $0.reader == nil } }

    var waitersForRoom: Int { state.withLock { $0.waitersForRoom } }
    var hasWaitingReader: Bool { state.withLock { $0.waiting != nil } }

    // MARK: The reader's side

    /// Returns the next result; nil at the end.
    ///
    /// - Parameter actor: The actor that the reader runs on.
    func next(_ reader: ObjectIdentifier, on actor: isolated (any Actor)?) async throws -> Element? {
        let readerActor: (any Actor)? = actor
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let result = state.withLock({ read(&$0, by: reader, on: readerActor, continuation: continuation) }) {
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            let waiting = state.withLock { $0.reader == reader ? $0.takeWaiting() : nil }
            waiting?.resume(throwing: CancellationError())
        }
    }

    /// Returns the result for the reader; nil if the reader has to wait.
    private func read(
        _ state: inout State, by reader: ObjectIdentifier, on actor: (any Actor)?,
        continuation: CheckedContinuation<Element?, any Error>
    ) -> Result<Element?, any Error>? {
        // Swift marks the task as cancelled before it calls the cancellation handler, so no cancellation is missed.
        if Task.isCancelled { return .failure(CancellationError()) }
        guard state.reader == nil || state.reader == reader, state.waiting == nil else {
            return .failure(
                VaencError(
                    .usage, "the session's \(noun) are being read already",
                    remedy: "read them in one task, and distribute them from it"))
        }
        state.reader = reader
        state.readerActor = actor
        state.hadReader = true
        state.requestCount &+= 1
        if let result = state.removeFirst() { return .success(result) }
        switch state.end {
        case nil:
            state.waiting = continuation
            return nil
        case .success: return .success(nil)
        case .failure(let error):
            state.end = .success(())
            return .failure(error)
        }
    }

    func leave(_ reader: ObjectIdentifier) {
        state.withLock { if $0.reader == reader { $0.reader = nil } }
    }
}

typealias PacketChannel = DeliveryChannel<EncodedPacket>
