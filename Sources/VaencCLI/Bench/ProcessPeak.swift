import Glibc

/// Follows the peak resident set of a running process: VmHWM in kB, proc_pid_status(5).
struct ProcessPeak {
    /// The time between two readings in ms.
    static let interval: Int32 = 20

    /// The largest value that was read.
    private(set) var kilobytes = 0
    private let path: String
    private var next = 0.0

    init(_ process: pid_t) { path = "/proc/\(process)/status" }

    /// Reads the value if the interval has passed. After the end of the process, it has no effect.
    mutating func update() {
        guard Clock.now >= next else { return }
        next = Clock.now + Double(Self.interval) / 1000
        kilobytes = max(kilobytes, Self.read(path) ?? 0)
    }

    /// Reduces the peak of this process to its present size if the kernel permits it (proc_pid_clear_refs(5)).
    ///
    /// - Returns: The peak.
    static func resetOwn() -> Int? {
        let file = unsafe open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        if file >= 0 {
            _ = unsafe write(file, "5", 1)
            close(file)
        }
        return read("/proc/self/status")
    }

    private static func read(_ path: String) -> Int? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        // SAFETY: the count is that of the array.
        let count = unsafe Glibc.read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let line = bytes[..<count].split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "VmHWM:".utf8) }
        let digits = line?.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return digits.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }
}
