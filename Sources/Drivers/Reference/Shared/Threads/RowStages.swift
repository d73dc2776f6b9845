/// Work on all rows of a picture in several stages: a stage begins when the stage before it is complete. Within a stage
/// the rows may be processed at the same time and in any order.
///
/// SAFETY: all fields are only accessed with the monitor's lock held. The functions of a stage are called once for each
/// row, after the return of all calls of the stage before.
final class RowStages: @unchecked Sendable {
    private let monitor = Monitor()
    private let rows: Int
    private let stages: [(Int) -> Void]
    private var aside: (() -> Void)?
    private var taken = 0
    private var done = 0

    /// - Parameters:
    ///   - stages: The functions of the stages, which receive the number of a row.
    ///   - aside: Other work, which one of the threads does at the same time.
    init(rows: Int, _ stages: [(Int) -> Void], aside: (() -> Void)? = nil) {
        self.rows = rows
        self.stages = stages
        self.aside = aside
    }

    /// Works until nothing is left to take. Each thread calls this once.
    func run() {
        takeAside()?()
        while let index = take() {
            stages[index / rows](index % rows)
            monitor.withLock {
                done += 1
                if done % rows == 0 { monitor.wakeAll() }
            }
        }
    }

    private func takeAside() -> (() -> Void)? {
        monitor.withLock {
            defer { aside = nil }
            return aside
        }
    }

    /// Returns the next row to process, plus the stage's number times the number of rows.
    private func take() -> Int? {
        monitor.withLock {
            let index = taken
            guard index < rows * stages.count else { return nil }
            taken += 1
            while done < index / rows * rows { _ = monitor.wait() }
            return index
        }
    }
}
