import Glibc
import TestOracles

/// Writes a message to stderr and ends the program.
func stop(_ message: String, _ status: Int32) -> Never {
    for byte in "benchmarks: \(message)\n".utf8 { _ = unsafe withUnsafePointer(to: byte) { unsafe write(2, $0, 1) } }
    exit(status)
}

let options: BenchmarkOptions
do { options = try BenchmarkOptions(Array(CommandLine.arguments.dropFirst())) } catch { stop(error.description, 64) }
if options.isCheck { exit(0) }
if options.showsHelp {
    print(BenchmarkOptions.help)
    exit(0)
}
guard Files.exists(Checkout.vaenc) else { stop("there is no \(Checkout.vaenc): run make build-all, or set VAENC_BUILD", 69) }
guard (try? ProcessRunner.run("ffmpeg", ["-version"]))?.status == 0 else {
    stop("ffmpeg does not run: install it with scripts/install-packages.sh test", 69)
}
if options.isFirst {
    // Children inherit the scheduling policy.
    var priority = sched_param(sched_priority: 1)
    guard unsafe sched_setscheduler(0, SCHED_RR, &priority) == 0 else { stop("--first needs root: \(unsafe String(cString: strerror(errno)))", 77) }
}

let report = Report()
print(Report.conditions)
for part in Part.all where options.parts.isEmpty || options.parts.contains(part.name) {
    report.begin(part)
    do { try part.run(options, report) } catch { report.fail(part.name, error) }
}
if let path = options.jsonPath {
    do { try Files.write(Array(report.json.utf8), to: path) } catch { stop("\(error)", 73) }
}
exit(report.missed == 0 ? 0 : 1)
