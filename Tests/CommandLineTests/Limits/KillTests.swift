import TestOracles
import Testing

/// Runs that are ended early, at many moments: no broken file has a final name.
@Suite struct KillTests {
    /// A command that writes files.
    enum Job: String, CaseIterable {
        case encode, remux, convert, decode

        /// The arguments before the outputs. The input is `c.mp4` or `s.h264`.
        var arguments: [String] {
            switch self {
            case .encode:
                ["encode", "c.mp4", "--device", "software", "--codec", "h264", "--preset", "7", "--qp", "10", "--frames", "30"]
            case .remux: ["remux", "c.mp4"]
            case .convert: ["convert", "s.h264"]
            case .decode: ["decode", "c.mp4", "--device", "software", "--frames", "30"]
            }
        }

        /// The outputs of one run.
        var outputs: [String] {
            switch self {
            case .encode: ["a.mp4", "a.mkv", "a.ts", "a.h264"]
            case .remux: ["a.mov"]
            case .convert: ["a.avcc"]
            case .decode: ["a.y4m"]
            }
        }

        /// The output options of separate runs.
        var disks: [[String]] {
            switch self {
            case .remux: ["mp4", "mov", "mkv", "ts", "flv", "h264", "avcc"].map { ["-o", "a.\($0)"] } + [["-o", "a.mp4", "--format", "fmp4"]]
            default: outputs.map { ["-o", $0] }
            }
        }

        /// The options of formats on stdout.
        var pipes: [[String]] {
            switch self {
            case .encode: ["annexb", "ts", "mkv", "mp4"].map { ["--format", $0] }
            case .remux: ["ts", "mov"].map { ["--format", $0] }
            case .convert: [["--format", "avcc"]]
            case .decode: [[]]
            }
        }
    }

    private struct Workspace {
        let folder: String
        let job: Job
        /// The files in the folder before a run.
        let before: [String]

        func run(_ program: [String], _ more: [String]) throws -> ProcessRunner.Result {
            try ProcessRunner.run(program[0], program.dropFirst() + job.arguments + more, directory: folder)
        }

        /// Returns the files that a run left.
        func left() throws -> [String: [UInt8]] {
            var files: [String: [UInt8]] = [:]
            for name in Files.list(folder) where !before.contains(name) { files[name] = try Files.read("\(folder)/\(name)") }
            return files
        }

        func clear() throws {
            let names = Files.list(folder).filter { !before.contains($0) }
            if !names.isEmpty { _ = try ProcessRunner.run("rm", ["-f"] + names, directory: folder) }
        }

        /// Returns the number of pictures that ffmpeg decodes, or nil if it reports an error.
        func pictures(_ name: String) throws -> Int? {
            let result = try ProcessRunner.run(
                "ffmpeg", ["-v", "error", "-xerror", "-nostdin", "-i", name, "-fps_mode", "passthrough", "-f", "framecrc", "-"], directory: folder)
            if result.status != 0 || result.errors != "" { return nil }
            return result.output.split(separator: "\n").count { !$0.hasPrefix("#") }
        }
    }

    private func inWorkspace(_ job: Job, _ body: (Workspace) throws -> Void) throws {
        try Files.withTemporaryFolder { folder in
            _ = try StreamSample.carphone.make(in: folder)
            try body(Workspace(folder: folder, job: job, before: Files.list(folder)))
        }
    }

    /// After SIGKILL a file is complete or absent. After SIGINT a file plays, and no unfinished file is left.
    @Test(arguments: Job.allCases, ["KILL", "INT"]) func signalsLeaveNoBrokenFile(_ job: Job, _ signal: String) throws {
        try inWorkspace(job) { workspace in
            let outputs = job.outputs.flatMap { ["-o", $0] }
            let whole = try workspace.run([Checkout.vaenc], outputs)
            #expect(whole.status == 0, "\(whole.errors)")
            let complete = try workspace.left()
            #expect(complete.keys.sorted() == job.outputs.sorted())
            let frames = try job == .convert ? 0 : #require(try workspace.pictures(job.outputs[0]))
            let moments = 6
            for moment in 0..<moments {
                try workspace.clear()
                let seconds = whole.wallSeconds * (Double(moment) + 0.5) / Double(moments) * 1.05
                let run = try workspace.run(["timeout", "--foreground", "--preserve-status", "-s", signal, "\(seconds)", Checkout.vaenc], outputs)
                let left = try workspace.left()
                let about = "\(signal) after \(seconds) s: \(run.status), \(left.keys.sorted()), \(run.errors)"
                #expect([0, signal == "KILL" ? 137 : 130].contains(run.status), "\(about)")
                for name in job.outputs {
                    guard let bytes = left[name] else {
                        #expect(run.status != 0, "\(about)")
                        continue
                    }
                    if job == .convert {
                        let isWhole = bytes == complete[name]
                        #expect(isWhole, "\(name) \(about)")
                        continue
                    }
                    let shown = try workspace.pictures(name)
                    #expect(shown == frames || signal == "INT" && run.status == 130 && shown ?? 0 > 0, "\(name): \(shown ?? -1) pictures, \(about)")
                }
                if signal == "INT" {
                    #expect(left.keys.allSatisfy { job.outputs.contains($0) }, "\(about)")
                    #expect(run.errorLines.allSatisfy { $0.hasPrefix("vaenc: ") } && run.errorLines.count <= job.outputs.count, "\(about)")
                }
            }
        }
    }

    /// The signal comes in the first moments, before and while the handler is installed, also if the parent has SIGINT
    /// ignored, as scripts do for background jobs. No file is left.
    @Test(arguments: [Job.encode, .convert, .decode]) func earlyInterruptionLeavesNoFile(_ job: Job) throws {
        try inWorkspace(job) { workspace in
            for milliseconds in stride(from: 2, through: 38, by: 6) {
                let run = try workspace.run(
                    [
                        "timeout", "--foreground", "--preserve-status", "-s", "INT", "0.0\(milliseconds < 10 ? "0" : "")\(milliseconds)",
                        Checkout.vaenc,
                    ],
                    ["-o", job.outputs[0]])
                let left = try workspace.left().keys.sorted()
                #expect(run.status == 130 && left.isEmpty || left == [job.outputs[0]], "\(milliseconds) ms: \(run.status), \(left)")
                try workspace.clear()
            }
            // Nobody writes to the input pipe, so only the signal ends the run.
            let script = """
                mkfifo p; (trap '' INT; exec "$0" "$@") < p & exec 3> p; rm p
                until grep -sqx vaenc /proc/$!/comm && grep -q '^SigBlk:.*[1-9a-f]' /proc/$!/status; do kill -0 $! || break; sleep 0.01; done
                kill -INT $!; wait $!
                """
            let arguments = job.arguments.map { $0 == "c.mp4" || $0 == "s.h264" ? "-" : $0 }
            let ignored = try ProcessRunner.run(
                "bash", ["-c", script, Checkout.vaenc] + arguments + ["-o", job.outputs[0]], directory: workspace.folder)
            #expect(ignored.status == 130, "\(ignored.errors)")
            #expect(try workspace.left().isEmpty)
        }
    }

    /// Nobody reads the pipe, so the run cannot finish. A second signal ends it at once, also soon after the first: two
    /// signals of a program 0.2 s apart, and Ctrl-C on a terminal at any interval.
    @Test(arguments: ["program", "terminal"]) func secondSignalEndsABlockedRun(_ sender: String) throws {
        let options = "encode testsrc:640x480@30:3000 --device software --codec h264 --preset 7 --qp 10 -o - --format annexb"
        let start =
            sender == "program"
            ? "\"$0\" \(options) > pipe 2> log 4<&- &"
            : "script -qec \"exec '$0' \(options) > pipe 2> log\" screen < keys > /dev/null 3<&- 4<&- &"
        let signals =
            sender == "program"
            ? """
            thread=$(grep -lx vaenc-signals /proc/$!/task/*/comm); thread=${thread%comm}status
            kill -INT $!
            # The thread has read the time of the signal when it sleeps again.
            until grep -q 'ShdPnd:.0*$' $thread && grep -q '^State:.S' $thread; do sleep 0.01; done
            sleep 0.2; kill -INT $!
            """
            : "while kill -0 $! 2> /dev/null; do printf '\\003' >&3; sleep 0.05; done"
        let script = """
            mkfifo pipe keys; exec 3<> keys 4<> pipe
            \(start)
            head -c 1 <&4 > first
            \(signals)
            wait $!; echo $?; cat log
            """
        try Files.withTemporaryFolder { folder in
            let run = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            #expect(run.output == "130\nvaenc: interrupted twice: unfinished files were removed\n", "\(run.output) \(run.errors)")
        }
    }

    /// A limit on file sizes that sends no signal simulates a full disk: the status is 74 with one line, and no file is
    /// left.
    @Test(arguments: Job.allCases) func fullDiskLeavesNoFile(_ job: Job) throws {
        try inWorkspace(job) { workspace in
            for output in job.disks {
                let whole = try workspace.run([Checkout.vaenc], output)
                let size = try workspace.left()[output[1]]?.count ?? 0
                #expect(whole.status == 0 && size > 20_000, "\(output): \(whole.errors)")
                for share in [0, 0.3, 0.97, 2] {
                    try workspace.clear()
                    let script = "trap '' XFSZ; ulimit -f \(Int(Double(size) * share / 1024)); exec \"$0\" \"$@\""
                    let run = try workspace.run(["bash", "-c", script, Checkout.vaenc], output)
                    let left = try workspace.left()
                    #expect(run.status == (share > 1 ? 0 : 74), "\(output) \(share): \(run.status) \(run.errors)")
                    #expect(run.errorLines.count == 1, "\(output) \(share): \(run.errors)")
                    #expect(left.keys.sorted() == (share > 1 ? [output[1]] : []), "\(output) \(share)")
                    if share > 1 { #expect(left[output[1]]?.count == size) }
                }
                try workspace.clear()
            }
        }
    }

    /// If the reader closes the pipe early, the status is 74 with one line. If it reads everything, the status is 0.
    @Test(arguments: Job.allCases) func closedPipeIsAnOutputError(_ job: Job) throws {
        try inWorkspace(job) { workspace in
            for format in job.pipes {
                let whole = try workspace.run([Checkout.vaenc], ["-o", "-"] + format)
                // The bytes that fit the pipe and the reader's buffer may be written before the close is detected.
                let room = whole.stdout.count - 0x18000
                #expect(whole.status == 0 && room > 1000, "\(format): \(whole.stdout.count) bytes, \(whole.errors)")
                for count in [0, 1000, room, whole.stdout.count] {
                    let script = "\"$0\" \"$@\" | head -c \(count) | wc -c; exit ${PIPESTATUS[0]}"
                    let run = try workspace.run(["bash", "-c", script, Checkout.vaenc], ["-o", "-"] + format)
                    let isAll = count == whole.stdout.count
                    #expect(run.status == (isAll ? 0 : 74), "\(format) \(count): \(run.status) \(run.errors)")
                    #expect(run.output.split(separator: "\n").first == "\(count)", "\(format): \(run.output)")
                    if !isAll { #expect(run.errorLines.count == 1, "\(format) \(count): \(run.errors)") }
                }
                #expect(try workspace.left().isEmpty)
            }
        }
    }
}
