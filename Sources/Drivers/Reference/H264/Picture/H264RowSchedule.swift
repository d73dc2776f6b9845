/// The order of the work on the macroblock rows of a picture. Several threads take the work.
///
/// Each row is coded, then written, then filtered. When a row is filtered, half samples can be computed around it. Rows
/// are coded at the same time, each some macroblocks behind the row above it (see `RowProgress`). Rows are written one
/// at a time, and filtered one at a time.
///
/// SAFETY: the fields are only accessed with the monitor's lock held.
package final class H264RowSchedule: @unchecked Sendable {
    package enum Work: Hashable, Sendable {
        case code(Int), write(Int), filter(Int), interpolate(Int)
    }

    private let monitor = Monitor()
    private let rows: Int
    /// The number of coded rows that can be stored until they are written.
    private let capacity: Int
    /// Whether a row must be complete before the next row begins.
    private let isSerial: Bool
    private let interpolates: Bool
    private var isCoded: [Bool]
    /// The number of rows that are coded with all rows above them.
    private var coded = 0
    private var nextToCode = 0
    private var written = 0
    private var isWriting = false
    private var filtered = 0
    private var isFiltering = false
    private var nextToInterpolate = 0

    /// - Parameters:
    ///   - isWritten: Whether all rows are already coded and written.
    ///   - interpolates: Whether half samples are computed.
    package init(rows: Int, capacity: Int, isSerial: Bool, isWritten: Bool, interpolates: Bool) {
        self.rows = rows
        self.capacity = capacity
        self.isSerial = isSerial
        self.interpolates = interpolates
        isCoded = [Bool](repeating: isWritten, count: rows)
        if isWritten { (coded, nextToCode, written) = (rows, rows, rows) }
    }

    /// Returns work that the calling thread must do now, and call `finish` afterwards. Waits if there is none yet.
    /// Returns nil if no work is left for another thread.
    ///
    /// - Parameter worker: The number of the thread. Thread 0 always works.
    package func next(worker: Int = 0) -> Work? {
        monitor.withLock {
            while true {
                if let work = available(worker) { return work }
                if written == rows && filtered == rows { return nil }
                _ = monitor.wait()
            }
        }
    }

    /// Returns work that the calling thread must do now, and call `finish` afterwards, or nil if there is none yet.
    package func poll(worker: Int = 0) -> Work? { monitor.withLock { available(worker) } }

    /// Rows are coded last, because everything else makes room for them or is needed at the end of the picture. If rows
    /// are serial, thread 0 codes them all, because it has the samples around them in its caches, and the others do the
    /// rest.
    private func available(_ worker: Int) -> Work? {
        if isSerial && worker == 0, let row = rowToCode() { return row }
        if !isWriting && written < coded {
            isWriting = true
            return .write(written)
        }
        // Prediction reads the samples of the row above before they are filtered. The QPs are known when a row is
        // written.
        if !isFiltering && filtered < written && coded > min(filtered + 1, rows - 1) {
            isFiltering = true
            return .filter(filtered)
        }
        if interpolates && nextToInterpolate < filtered {
            nextToInterpolate += 1
            return .interpolate(nextToInterpolate - 1)
        }
        return isSerial ? nil : rowToCode()
    }

    private func rowToCode() -> Work? {
        guard nextToCode < rows, nextToCode - written < capacity, !isSerial || coded == nextToCode else { return nil }
        nextToCode += 1
        return .code(nextToCode - 1)
    }

    package func finish(_ work: Work) {
        monitor.withLock {
            switch work {
            case .code(let row):
                isCoded[row] = true
                while coded < rows && isCoded[coded] { coded += 1 }
            case .write:
                isWriting = false
                written += 1
            case .filter:
                isFiltering = false
                filtered += 1
            case .interpolate: return
            }
            monitor.wakeAll()
        }
    }
}
