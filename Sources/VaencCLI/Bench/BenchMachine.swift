import Glibc

extension BenchReport.Machine {
    /// This computer: the name of its first processor in /proc/cpuinfo, and the number of processors that are online.
    static var current: BenchReport.Machine {
        let lines = beginning(of: "/proc/cpuinfo").split(separator: "\n")
        let name = lines.first { $0.hasPrefix("model name") || $0.hasPrefix("Model") }?.split(separator: ":").dropFirst().joined(separator: ":")
        let trimmed = (name ?? "").split(separator: " ").joined(separator: " ")
        return BenchReport.Machine(
            processor: trimmed.isEmpty ? "unknown processor" : trimmed, processors: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    /// Returns the first 64 KiB of a file; nothing if it cannot be read.
    private static func beginning(of path: String) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var count = 0
        while count < bytes.count {
            // SAFETY: read writes at most the bytes after the first `count`.
            let got = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress! + count, $0.count - count) }
            if got <= 0 { break }
            count += got
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
