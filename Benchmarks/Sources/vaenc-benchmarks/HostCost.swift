import TestOracles

/// Measures CPU time, memory and elapsed time beside FFmpeg and GStreamer.
enum HostCost {
    static let defaultRounds = 5

    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        try Workbench.with(rounds: options.runs ?? defaultRounds) { bench in
            if try !bench.runsGStreamer(.h264) { report.note("GStreamer does not run on the null device, so it is not measured") }
            for item in HostCase.all where options.cases.isEmpty || options.cases.contains(item.name) {
                let isFaked = HostCase.onFakedGPUs.contains { $0.name == item.name }
                if isFaked && !FakedGPU.isPresent {
                    report.note("\(item.name) is not measured: SHARED=… names the folder with tools/fakegpu")
                    continue
                }
                do { try item.run(bench, report) } catch { report.fail(item.name, error) }
            }
        }
    }
}
