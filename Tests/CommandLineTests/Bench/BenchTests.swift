import TestOracles
import Testing

/// `vaenc bench`: its progress, its measurements and its end by a signal.
@Suite struct BenchTests {
    @Test func benchReportsItsProgress() throws {
        let result = try ProcessRunner.run(
            Checkout.vaenc, ["bench", "testsrc:64x48@25:2", "--frames", "2", "--qp", "30,40", "--device", "software", "--no-ffmpeg", "--json"])
        #expect(result.status == 0, "\(result.errors)")
        let runs = JSONValue(result.output)?["runs"]?.array ?? []
        let lines = result.errorLines.filter { $0.contains("bench: ") }
        #expect(lines.first?.contains("looking for encoders") == true, "\(result.errors)")
        #expect(!runs.isEmpty && lines.count { $0.contains("run ") && $0.contains(" of \(runs.count)") } == runs.count, "\(result.errors)")
    }

    /// Until a child runs its own program, it shares its parent's memory, which the kernel counts. The encoder of small
    /// pictures had the peak of the larger clip before it.
    @Test func peakIsThatOfTheEncoder() throws {
        let result = try ProcessRunner.run(
            Checkout.vaenc,
            ["bench", "testsrc:1920x1080@25:4", "testsrc:64x64@25:4", "--frames", "4", "--qp", "40", "--device", "software", "--no-ffmpeg", "--json"])
        let runs = try #require(JSONValue(result.output)?["runs"]?.array, "\(result.errors)")
        for encoder in ["libx264", "libx265"] {
            let peaks = runs.filter { $0["encoder"]?.string == encoder }.compactMap { $0["peakKB"]?.int }
            try #require(peaks.count == 2)
            #expect(peaks[1] > 10_000 && peaks[1] * 2 < peaks[0], "\(encoder): \(peaks)")
        }
    }

    /// A signal ends the benchmark and its encoders, and removes its files and its X server, at every moment: after
    /// some seconds, or at a line of the progress. Run 3 is that of FFmpeg. The finished runs are reported.
    @Test(arguments: [
        ("INT", "0"), ("INT", "0.03"), ("INT", "0.2"), ("INT", "run 1 of"), ("INT", "run 2 of"), ("INT", "run 3 of"), ("TERM", "run 1 of"),
        ("HUP", "run 3 of"),
    ])
    func signalLeavesNothing(signal: String, moment: String) throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                mkdir -p tmp
                env -u DISPLAY --default-signal=HUP,INT TMPDIR="$PWD/tmp" "$0" bench testsrc:$4@25:$3 --frames $3 --qp 10,20 --device reference --json > report 2> log &
                pid=$!
                case $2 in
                    run*) until grep -q "$2" log; do kill -0 $pid || exit 1; sleep 0.02; done;;
                    # SIGINT is the second bit of the blocked signals.
                    *) until grep -q vaenc /proc/$pid/comm && grep -q '^SigBlk.*[2367abef]$' /proc/$pid/status; do kill -0 $pid || exit 1; done; sleep $2;;
                esac
                kill -$1 $pid
                wait $pid; echo "status $?"
                # The encoder ends a moment after the small process that measures it.
                for attempt in $(seq 1200); do grep -q "TMPDIR=$PWD/tmp" /proc/[0-9]*/environ 2>/dev/null || break; sleep 0.05; done
                grep -l "TMPDIR=$PWD/tmp" /proc/[0-9]*/environ 2>/dev/null
                ls tmp
                """
            // A long run would still go on if the signal did not end it.
            var (frames, size) = moment.hasSuffix("1 of") ? (900, "176x144") : (60, "96x64")
            func run() throws -> ProcessRunner.Result {
                try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc, signal, moment, "\(frames)", size], directory: folder)
            }
            var result = try run()
            // On a busy machine the benchmark may end before the signal comes. Then it gets more frames.
            while result.output.hasPrefix("status 0"), frames < 10_000 {
                frames *= 10
                result = try run()
            }
            let log = String(decoding: try Files.read(folder + "/log"), as: UTF8.self)
            #expect(result.output == "status 130\n", "\(result.output) \(result.errors) \(log)")
            let report = String(decoding: try Files.read(folder + "/report"), as: UTF8.self)
            let runs = JSONValue(report)?["runs"]?.array.count ?? 0
            let what = runs == 0 ? "the benchmark has no result, and its" : "the report has \(runs) of 12 runs, and the"
            #expect(log.split(separator: "\n").last == "vaenc: interrupted: \(what) temporary files were removed", "\(log)")
            #expect(report.isEmpty == (runs == 0) && (runs > 0 || !["run 2 of", "run 3 of"].contains(moment)), "\(log)")
            if runs > 0 { #expect(JSONValue(report)?["interrupted"]?.bool == true) }
        }
    }
}
