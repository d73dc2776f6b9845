import Glibc
import Synchronization

/// The unfinished files that this process has, for an end that lets go of nothing: `_exit`.
package enum UnfinishedFiles {
    private static let names = Mutex<Set<[CChar]>>([])

    /// Runs `body`, which opens the file of that name: its descriptor, negative where it failed, and whether it is this
    /// process's to write.
    static func open(_ name: [CChar], _ body: () -> (descriptor: Int32, isOwn: Bool)) -> Int32 {
        names.withLock { names in
            let (descriptor, isOwn) = body()
            if descriptor >= 0, isOwn { names.insert(name) }
            return descriptor
        }
    }

    /// Runs `body`, which takes the name away: the file is finished or removed.
    static func close<R>(_ name: [CChar], _ body: () throws -> R) rethrows -> R {
        try names.withLock { names in
            let result = try body()
            names.remove(name)
            return result
        }
    }

    /// Removes them all and ends the process: none is opened or finished any more.
    package static func remove(andEnd end: () -> Never) -> Never {
        names.withLock { names in
            // SAFETY: unlink reads the string.
            for name in names { _ = unsafe unlink(name) }
            end()
        }
    }
}
