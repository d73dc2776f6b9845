internal import Glibc

/// The state that all displays of a process share: counters, and the lines already written to stderr.
final class DriverProcess: @unchecked Sendable {
    static let shared = DriverProcess()

    private let monitor = Monitor()
    private var displays = 0
    private var recordings = 0
    private var reportedLines: Set<String> = []
    private var warnedTolerances: Set<Tolerance> = []

    /// Returns the index of a new display; 0 for the first.
    func nextDisplay() -> Int {
        monitor.withLock {
            defer { displays += 1 }
            return displays
        }
    }

    /// Returns the index of a new recording of reconstructions; 0 for the first context that records.
    func nextRecording() -> Int {
        monitor.withLock {
            defer { recordings += 1 }
            return recordings
        }
    }

    /// Writes a warning to stderr, once for each kind of tolerance.
    func warn(_ kind: Tolerance, _ reason: String) {
        guard monitor.withLock({ warnedTolerances.insert(kind).inserted }) else { return }
        say("warning: \(reason): accepted, as real drivers do (VAENC_REFERENCE_STRICT=1 rejects it)")
    }

    /// Writes a line to stderr, unless the same line was written before. Writes at most 1000 different lines.
    func say(_ line: String) {
        let isNew = monitor.withLock { reportedLines.count < 1000 && reportedLines.insert(line).inserted }
        guard isNew else { return }
        let bytes = Array("vaenc reference driver: \(line)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
