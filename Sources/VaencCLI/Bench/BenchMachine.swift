import FoundationEssentials
import Glibc

extension BenchReport.Machine {
    /// This computer: the name of its first processor in /proc/cpuinfo, and the number of processors that are online.
    static var current: BenchReport.Machine {
        let lines = ((try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? "").split(separator: "\n")
        let name = lines.first { $0.hasPrefix("model name") || $0.hasPrefix("Model") }?.split(separator: ":").dropFirst().joined(separator: ":")
        let trimmed = (name ?? "").split(separator: " ").joined(separator: " ")
        return BenchReport.Machine(
            processor: trimmed.isEmpty ? "unknown processor" : trimmed, processors: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }
}
