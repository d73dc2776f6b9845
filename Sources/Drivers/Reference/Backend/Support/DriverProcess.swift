internal import Glibc

/// What all displays of a process share: counters, and the lines already said on stderr.
final class DriverProcess: @unchecked Sendable {
    static let shared = DriverProcess()

    private let monitor = Monitor()
    private var displays = 0
    private var recordings = 0
    private var said: Set<String> = []
    private var warned: Set<Tolerance> = []

    /// 0 for the first display.
    func nextDisplay() -> Int {
        monitor.withLock {
            defer { displays += 1 }
            return displays
        }
    }

    /// 0 for the first context that records its reconstruction.
    func nextRecording() -> Int {
        monitor.withLock {
            defer { recordings += 1 }
            return recordings
        }
    }

    /// A warning on stderr, the first of its kind.
    func warn(_ kind: Tolerance, _ reason: String) {
        guard monitor.withLock({ warned.insert(kind).inserted }) else { return }
        say("warning: \(reason): accepted, as real drivers do (VAENC_REFERENCE_STRICT=1 rejects it)")
    }

    /// A line on stderr, unless it was said before; falls silent after a thousand different ones.
    func say(_ line: String) {
        let isNew = monitor.withLock { said.count < 1000 && said.insert(line).inserted }
        guard isNew else { return }
        let bytes = Array("vaenc reference driver: \(line)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
