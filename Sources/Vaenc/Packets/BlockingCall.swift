import Glibc
import Threads
import VideoBase

/// A call that blocks, and the actors that it prevents from running: the caller's actor, and the main actor if the call
/// is on the main thread. A reader on one of these actors could not run, and the call would wait forever.
///
/// A function that is on no actor may have been called on one. If a task makes the call, the actor that it blocks is
/// not known.
struct BlockingCall: Sendable {
    /// The caller's actor; nil if there is none, or if it is not known.
    let actor: ObjectIdentifier?
    /// Whether a task makes the call. The call then blocks a thread of the cooperative pool.
    var isInTask: Bool
    var isOnMainThread: @Sendable () -> Bool = { Self.isMainThread }
    /// The time that the call waits for the first reader to begin, in nanoseconds.
    var readerStartTimeout: UInt64 = 5_000_000_000
    /// The time that the reader's actor may be busy before the call considers it blocked, in nanoseconds.
    var busyReaderTimeout: UInt64 = 30_000_000_000

    init(on actor: (any Actor)?) {
        self.actor = actor.map { ObjectIdentifier($0) }
        isInTask = unsafe withUnsafeCurrentTask { unsafe $0 != nil }
    }

    private static let mainActor = ObjectIdentifier(MainActor.shared)

    /// Whether this is the main thread: its thread id is the process id. /proc/thread-self is a link to PID/task/TID.
    private static var isMainThread: Bool {
        var link = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/thread-self", &link, link.count)
        let parts = link[..<max(0, count)].split(separator: CChar(UInt8(ascii: "/")))
        return parts.count == 3 && parts[0] == parts[2]
    }

    /// Returns whether a reader on `reader` cannot run during the call.
    func blocks(_ reader: (any Actor)?, _ blocksMainActor: Bool) -> Bool {
        guard let reader = reader.map({ ObjectIdentifier($0) }) else { return false }
        return reader == actor || blocksMainActor && reader == Self.mainActor
    }

    /// Returns whether the call may prevent a reader on an unknown actor from running.
    func mayBlock(_ blocksMainActor: Bool) -> Bool { isInTask || actor != nil || blocksMainActor }

    /// Returns the error that is thrown instead of waiting forever.
    ///
    /// - Parameters:
    ///   - what: The beginning of the message, up to the name of the actor.
    ///   - noun: The name of the results that are read.
    func deadlock(_ what: String, noun: String, blocksMainActor: Bool) -> VaencError {
        let name = blocksMainActor || actor == Self.mainActor ? "the main actor" : "the actor"
        return VaencError(.usage, "\(what) \(name), which this call blocks", remedy: Self.remedy(noun))
    }

    static func remedy(_ noun: String) -> String {
        "use 'await' in an async function, or read the \(noun) in a detached task"
    }
}

/// A small task on the reader's actor. If it has run, the actor is not blocked.
struct ReaderProbe: Sendable {
    private let isDone = Monitor(false)

    /// - Parameter actor: The reader's actor; nil if the reader is on no actor.
    init(on actor: (any Actor)?) {
        let isDone = isDone
        Task.detached { await Self.finish(isDone, on: actor) }
    }

    var hasRun: Bool { isDone.withLock { $0 } }

    private static func finish(_ isDone: Monitor<Bool>, on actor: isolated (any Actor)?) { isDone.withLock { $0 = true } }
}
