import Glibc
import VideoBase

/// Starts threads beforehand, for a library that waits for ever where one of its own does not start.
enum ThreadTrial {
    /// What libx265 starts (a pool of as many threads as there are processors, and one for each picture that is encoded
    /// beside others), the one that opens it, and the one that gives it pictures.
    static var libx265Count: Int {
        let processors = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
        return processors + (processors >= 8 ? 6 : processors >= 4 ? 2 : 1) + 2
    }

    private struct State {
        /// In /proc; empty where that is not there.
        var folders: [String] = []
        var isOver = false
    }

    /// Whether so many threads can be there at once. Those that were started have ended when this returns.
    static func canStart(_ count: Int) -> Bool {
        let gate = Monitor(State())
        var started = 0
        while started < count,
            OwnThread.start({
                let folder = ownFolder
                gate.withLock { $0.folders.append(folder) }
                gate.wait { $0.isOver ? () : nil }
            })
        { started += 1 }
        let folders = gate.wait { $0.folders.count == started ? $0.folders : nil }
        gate.withLock { $0.isOver = true }
        // The kernel counts a thread until its folder is gone; a second is far more than that takes.
        var waits = 1000
        for folder in folders where !folder.isEmpty {
            while waits > 0, unsafe access("/proc/\(folder)", F_OK) == 0 {
                usleep(1000)
                waits -= 1
            }
        }
        return started == count
    }

    /// This thread's folder in /proc, as `17/task/19`.
    private static var ownFolder: String {
        var text = [CChar](repeating: 0, count: 64)
        // SAFETY: readlink writes inside the given size.
        let count = unsafe readlink("/proc/thread-self", &text, text.count)
        return String(decoding: text.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
