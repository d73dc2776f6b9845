import Glibc
import Threads
import VideoBase

/// Checks that threads can be started, for a library that waits forever if one of its threads does not start.
enum ThreadTrial {
    /// The number of threads that are needed: those that libx265 starts (a pool with one thread for each processor, and
    /// one for each picture that is encoded in parallel), the one that opens it, and the one that passes it pictures.
    static var libx265Count: Int {
        let processors = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
        return processors + (processors >= 8 ? 6 : processors >= 4 ? 2 : 1) + 2
    }

    private struct State {
        /// The directories of the threads in /proc; an empty string if /proc is not available.
        var folders: [String] = []
        var isOver = false
    }

    /// Returns whether this number of threads can exist at the same time. The threads have ended when this function
    /// returns.
    static func canStart(_ count: Int) -> Bool {
        let gate = Monitor(State())
        var started = 0
        while started < count,
            DedicatedThread.start(
                "vaenc-trial",
                {
                    let folder = ownFolder
                    gate.withLock { $0.folders.append(folder) }
                    gate.wait { $0.isOver ? () : nil }
                })
        { started += 1 }
        let folders = gate.wait { $0.folders.count == started ? $0.folders : nil }
        gate.withLock { $0.isOver = true }
        // The kernel counts a thread until its directory is gone. This takes much less than the limit of one second.
        var waits = 1000
        for folder in folders where !folder.isEmpty {
            while waits > 0, unsafe access("/proc/\(folder)", F_OK) == 0 {
                usleep(1000)
                waits -= 1
            }
        }
        return started == count
    }

    /// The directory of the current thread in /proc, for example `17/task/19`.
    private static var ownFolder: String {
        var text = [CChar](repeating: 0, count: 64)
        // SAFETY: readlink writes at most the given number of bytes.
        let count = unsafe readlink("/proc/thread-self", &text, text.count)
        return String(decoding: text.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
