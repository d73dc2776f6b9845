/// The progress of rows that are coded at the same time: each row may go on as far as the row above it permits.
///
/// The fields are only accessed with the monitor's lock held.
final class RowProgress: @unchecked Sendable {
    private let monitor = Monitor()
    private let rows: Int
    private var next = 0
    private var done: [Int]
    private var waiting = 0

    init(rows: Int) {
        self.rows = rows
        done = [Int](repeating: 0, count: rows)
    }

    /// Returns the next row that no thread has taken; nil if there is none. Rows are taken in order, so that the first
    /// row that is not complete never waits.
    func take() -> Int? {
        monitor.withLock {
            guard next < rows else { return nil }
            defer { next += 1 }
            return next
        }
    }

    /// Waits until `count` units of a row are done, and returns how many are done.
    func wait(row: Int, count: Int) -> Int {
        monitor.withLock {
            waiting += 1
            while done[row] < count { _ = monitor.wait() }
            waiting -= 1
            return done[row]
        }
    }

    /// Declares that `count` units of a row are done.
    func report(row: Int, count: Int) {
        monitor.withLock {
            done[row] = count
            if waiting > 0 { monitor.wakeAll() }
        }
    }
}
