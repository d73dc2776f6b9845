import Glibc
import MediaFiles
import Synchronization
import Vaenc
import VideoBase

/// The finished parts of a benchmark, which are reported at its end or at a signal, whichever comes first.
final class BenchOutcome: Sendable {
    private struct State {
        var report: BenchReport?
        var isWritten = false
    }

    private let state = Mutex(State())
    private let outputs: BenchOutputs
    private let progress: BenchProgress

    init(_ outputs: BenchOutputs, progress: BenchProgress) { (self.outputs, self.progress) = (outputs, progress) }

    /// Replaces the report of what is finished.
    func update(_ report: BenchReport) { state.withLock { $0.report = report } }

    /// Writes the report of the complete benchmark.
    func write() throws {
        let report = state.withLock { state in
            state.isWritten = true
            return state.report
        }
        progress.finish()
        guard var report else { return }
        report.computeDifferences()
        try outputs.write(report)
    }

    /// Writes the report of the finished parts at a signal.
    ///
    /// - Returns: The line to print and the exit status; nil if no run is finished.
    func writeInterrupted() -> (line: String?, status: Int32)? {
        progress.finish()
        let (report, isWritten) = state.withLock { ($0.report, $0.isWritten) }
        if isWritten { return ("interrupted while the report was written", ErrorCategory.interrupted.exitStatus) }
        guard var report, !report.runs.isEmpty else { return nil }
        report.interrupted = true
        report.computeDifferences()
        do { try outputs.write(report) } catch { return (nil, Failure.report(error)) }
        return (
            "interrupted: the report has \(report.runs.count) of \(report.plannedRuns) runs, and the temporary files were removed",
            ErrorCategory.interrupted.exitStatus
        )
    }
}
