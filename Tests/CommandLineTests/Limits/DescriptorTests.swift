import TestOracles
import Testing

@Suite struct DescriptorTests {
    /// The descriptor table is enlarged before there are threads, because with threads its growth blocks.
    @Test func descriptorTableIsEnlargedAtStart() throws {
        // Opening the pipe for writing waits until vaenc opens it for reading.
        let script = """
            mkfifo in.y4m
            "$1" encode in.y4m -o out.h264 --device reference &
            exec 3>in.y4m
            ulimit -n
            sed -n 's/^FDSize:[[:space:]]*//p' /proc/$!/status
            kill -KILL $!
            """
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                "sh", ["-c", script, "sh", Checkout.vaenc], directory: folder)
            let numbers = result.output.split(separator: "\n").map { Int($0) ?? .max }
            try #require(numbers.count == 2, "\(result.output)\(result.errors)")
            #expect(numbers[1] >= min(numbers[0], 1024))
        }
    }

    /// With few descriptors (`ulimit -n`) a command succeeds, or fails with one line that names the limit and leaves no
    /// file. A failed segment must not be blamed on its name, nor a benchmark without pipes on input or output.
    @Test(arguments: [
        ["encode", "clip.mp4", "--device", "software", "--codec", "h264", "-o", "o.mp4", "-o", "o.h264"],
        ["encode", "clip.mp4", "--device", "software", "--codec", "hevc", "-o", "o.mkv"],
        ["encode", "clip.mp4", "--device", "reference", "--codec", "h264", "-o", "o.ts"],
        ["remux", "clip.mp4", "-o", "o.mkv"], ["remux", "clip.mp4", "-o", "o.m3u8"],
        ["decode", "clip.mp4", "--device", "software", "-o", "o.y4m"], ["decode", "clip.mp4", "--device", "reference", "-o", "o.y4m"],
        ["inspect", "clip.mp4"], ["compare", "clip.mp4", "clip.mp4"], ["probe"],
        ["bench", "clip.mp4", "--device", "software", "--qp", "30,34", "--frames", "3", "--no-ffmpeg"],
    ])
    func descriptorLimitIsReportedCleanly(_ command: [String]) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg("-i", Fixture.carphone.path(), "-frames:v", "3", "-an", "-c", "copy", folder + "/clip.mp4")
            let arguments = command.map { $0 == "clip.mp4" ? folder + "/clip.mp4" : $0 }
            // Descriptors that the tests have inherited, such as a lock's, do not count.
            let script = """
                limit=$1
                shift
                for entry in /proc/self/fd/*; do
                    number=${entry##*/}
                    if ((number > 2)); then eval "exec $number>&-"; fi
                done
                ulimit -n $limit
                exec "$0" "$@"
                """
            // With three descriptors, only the standard streams, no program can be loaded.
            for limit in 4...30 {
                try Files.withTemporaryFolder { workFolder in
                    let run = try ProcessRunner.run(
                        "bash", ["-c", script, Checkout.vaenc, "\(limit)"] + arguments, directory: workFolder)
                    let what = "\(limit), \(command): \(run.status) \(run.errors)"
                    #expect(!run.timedOut && [0, 69].contains(run.status) && (limit < 30 || run.status == 0), "\(what)")
                    if run.status != 0 {
                        // The benchmark prints its progress.
                        let lines = run.errorLines.filter { !$0.hasPrefix("vaenc: bench: ") }
                        #expect(lines.count == 1 && run.errors.contains("ulimit -n"), "\(what)")
                        #expect(Files.list(workFolder).isEmpty, "\(what)")
                    }
                }
            }
        }
    }

    /// If the benchmark cannot write its clip, the error names the errno and its remedy.
    @Test func benchmarkNamesItsFileErrors() throws {
        let command = "exec \"$0\" bench testsrc:96x64@25:3 --device software --qp 30,34 --frames 3 --no-ffmpeg"
        let cases = [
            ("trap '' XFSZ; ulimit -f 1", 74, ["clip.nv12", "File too large", "ulimit -f"]),
            ("export TMPDIR=$PWD/none", 73, ["a folder in ", "No such file or directory", "TMPDIR"]),
        ]
        for (limit, status, words) in cases {
            try Files.withTemporaryFolder { folder in
                let run = try ProcessRunner.run(
                    "bash", ["-c", "\(limit); \(command)", Checkout.vaenc], environment: ["TMPDIR": folder], directory: folder)
                #expect(run.status == status && words.allSatisfy { run.errors.contains($0) }, "\(run.status) \(run.errors)")
                #expect(Files.list(folder).isEmpty)
            }
        }
    }

    /// If standard streams are closed, no output file gets their descriptors, so no messages are written into it.
    @Test func closedStandardStreamsAreNoOutputs() throws {
        let encode = "\"$1\" encode testsrc:64x48@25:10 --device software --codec h264 --progress json --overwrite"
        try Files.withTemporaryFolder { folder in
            let whole = try ProcessRunner.run("sh", ["-c", encode + " -o whole.ts", "sh", Checkout.vaenc], directory: folder)
            #expect(whole.status == 0, "\(whole.errors)")
            let expected = try Files.read(folder + "/whole.ts")
            for closed in ["2>&-", "1>&- 2>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"] {
                let run = try ProcessRunner.run("sh", ["-c", "\(encode) -o a.ts \(closed)", "sh", Checkout.vaenc], directory: folder)
                #expect(run.status == 0)
                let isWhole = try Files.read(folder + "/a.ts") == expected
                #expect(isWhole, "\(closed)")
            }
            // Requested input or output on a closed stream fails.
            for (line, words) in [
                ("--version >&-", "Bad file descriptor"), ("encode - -o b.ts <&-", "standard input is closed: connect a pipe or a file to it"),
                ("decode whole.ts --device software -o - >&-", "Bad file descriptor"),
            ] {
                let run = try ProcessRunner.run("sh", ["-c", "\"$1\" \(line)", "sh", Checkout.vaenc], directory: folder)
                #expect(run.status == 74 && run.errors.contains(words), "\(line): \(run.status) \(run.errors)")
            }
        }
    }
}
