import Glibc
import VideoBase

/// A call that blocks, and what it keeps from running: its caller's actor, and the main actor if it is made on the main
/// thread. A reader that runs there could not go on, and the call would wait for it without end.
///
/// A function that is on no actor itself may have been called on one: of a task's call, the actor that it blocks is not known.
struct BlockingCall: Sendable {
    /// The caller's actor; nil for a call from none, or from one that is not known.
    let actor: ObjectIdentifier?
    /// A task makes the call: it blocks a thread that tasks run on.
    var isInTask: Bool
    var isOnMainThread: @Sendable () -> Bool = { Self.isMainThread }
    /// How long the call waits for the first reader to begin, in nanoseconds.
    var patience: UInt64 = 5_000_000_000
    /// How long the place where the reader runs may be busy before the call takes it for blocked, in nanoseconds.
    var readerPatience: UInt64 = 30_000_000_000

    init(on actor: (any Actor)?) {
        self.actor = actor.map { ObjectIdentifier($0) }
        isInTask = unsafe withUnsafeCurrentTask { unsafe $0 != nil }
    }

    private static let mainActor = ObjectIdentifier(MainActor.shared)

    /// The main thread's number is the process's: /proc/thread-self is a link to PID/task/TID.
    private static var isMainThread: Bool {
        var link = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/thread-self", &link, link.count)
        let parts = link[..<max(0, count)].split(separator: CChar(UInt8(ascii: "/")))
        return parts.count == 3 && parts[0] == parts[2]
    }

    /// Whether a reader on `reader` cannot run during the call.
    func keeps(_ reader: (any Actor)?, _ keepsMainActor: Bool) -> Bool {
        guard let reader = reader.map({ ObjectIdentifier($0) }) else { return false }
        return reader == actor || keepsMainActor && reader == Self.mainActor
    }

    /// Whether it may keep a reader from running of which nothing is known.
    func mayBlock(_ keepsMainActor: Bool) -> Bool { isInTask || actor != nil || keepsMainActor }

    /// The error in place of a wait that would not end.
    ///
    /// - Parameters:
    ///   - what: what waits, up to the name of the actor.
    ///   - noun: the results that are read.
    func deadlock(_ what: String, _ noun: String, _ keepsMainActor: Bool) -> VaencError {
        let name = keepsMainActor || actor == Self.mainActor ? "the main actor" : "the actor"
        return VaencError(.usage, "\(what) \(name), which this call blocks", remedy: Self.remedy(noun))
    }

    static func remedy(_ noun: String) -> String {
        "make the call with 'await' in an async function, or read the \(noun) in a detached task"
    }
}

/// A piece of work where a reader runs: whether it was done says whether that place is free.
struct ReaderProbe: Sendable {
    private let isDone = Monitor(false)

    /// - Parameter actor: the reader's; nil for one that is on no actor.
    init(on actor: (any Actor)?) {
        let isDone = isDone
        Task.detached { await Self.finish(isDone, on: actor) }
    }

    var hasRun: Bool { isDone.withLock { $0 } }

    private static func finish(_ isDone: Monitor<Bool>, on actor: isolated (any Actor)?) { isDone.withLock { $0 = true } }
}
