import Glibc
import VideoBase

/// A call that blocks, and what it keeps from running: its caller's actor, and the main actor if it is made on the main
/// thread. A reader that runs there could not go on, and the call would wait for it without end.
struct BlockingCall: Sendable {
    /// The caller's actor; nil for a call from none.
    let actor: ObjectIdentifier?
    var isOnMainThread: @Sendable () -> Bool = { Self.isMainThread }
    /// How long the call waits for the first reader to begin, in nanoseconds.
    var patience: UInt64 = 5_000_000_000

    init(on actor: (any Actor)?) { self.actor = actor.map { ObjectIdentifier($0) } }

    private static let mainActor = ObjectIdentifier(MainActor.shared)

    /// The main thread's number is the process's: /proc/thread-self is a link to PID/task/TID.
    private static var isMainThread: Bool {
        var link = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/thread-self", &link, link.count)
        let parts = link[..<max(0, count)].split(separator: CChar(UInt8(ascii: "/")))
        return parts.count == 3 && parts[0] == parts[2]
    }

    /// Whether a reader on `reader` cannot run during the call.
    func keeps(_ reader: ObjectIdentifier?, _ keepsMainActor: Bool) -> Bool {
        guard let reader else { return false }
        return reader == actor || keepsMainActor && reader == Self.mainActor
    }

    /// The error in place of a wait that would not end.
    ///
    /// - Parameters:
    ///   - what: what waits, up to the name of the actor.
    ///   - noun: the results that are read.
    func deadlock(_ what: String, _ noun: String, _ keepsMainActor: Bool) -> VaencError {
        let name = keepsMainActor || actor == Self.mainActor ? "the main actor" : "the actor"
        return VaencError(
            .usage, "\(what) \(name), which this call blocks",
            remedy: "make the call with 'await' in an async function, or read the \(noun) in a detached task")
    }
}
