import TestOracles
import Testing

/// An unfinished recording is kept: through later runs with the same name, and on a full disk.
@Suite struct KeptRecordingTests {
    private static let options = [
        "/dev/video9", "--device", "software", "--codec", "h264", "--preset", "7", "--low-latency", "--late-frames", "keep",
    ]

    /// Returns the number of pictures that ffmpeg decodes from a file.
    private func pictures(_ name: String, in folder: String) throws -> Int {
        let run = try ProcessRunner.run(
            "ffmpeg", ["-v", "fatal", "-nostdin", "-i", name, "-fps_mode", "passthrough", "-enc_time_base", "-1", "-f", "framecrc", "-"],
            directory: folder)
        #expect(run.status == 0 && run.errors == "", "\(name): \(run.errors)")
        return run.output.split(separator: "\n").count { !$0.hasPrefix("#") }
    }

    /// The program is killed and restarted, as supervisors do. Whatever the later runs do, each recording is kept.
    @Test func restartsKeepEveryRecording() throws {
        try Files.withTemporaryFolder { folder in
            func run(_ camera: String, _ more: [String] = []) throws -> CaptureRun {
                try CaptureRun(
                    "9:formats=NV12,rate=100,stretch=15\(camera)", Self.options + ["--gop", "3", "-o", "a.mp4", "-o", "a.h264"] + more, in: folder)
            }
            func bytes(_ name: String) throws -> [UInt8] { try Files.read("\(folder)/\(name)") }
            // An empty part is not kept.
            try Files.write([], to: folder + "/a.mp4.part")
            #expect(try run(",kill=12").status == 137)
            #expect(Files.list(folder) == ["a.h264.part", "a.mp4.part"])
            let first = try [bytes("a.mp4.part"), bytes("a.h264.part")]

            let again = try run(",kill=9")
            #expect(again.status == 137 && again.encode.errorLines.count == 2, "\(again.errors)")
            #expect(again.errors.contains("kept as a.mp4.part.1") && again.errors.contains("kept as a.h264.part.1"), "\(again.errors)")
            #expect(try [bytes("a.mp4.part.1"), bytes("a.h264.part.1")] == first)
            let second = try [bytes("a.mp4.part"), bytes("a.h264.part")]

            // The third run gets no picture and leaves no file.
            #expect(try run(",unplug=0").status == 75)
            let names = Files.list(folder)
            let kept = try names.filter { $0.hasPrefix("a.mp4") }.map(bytes)
            #expect(names.count == 4 && kept.contains(first[0]) && kept.contains(second[0]), "\(names)")

            let whole = try run("", ["--frames", "9"])
            #expect(whole.status == 0, "\(whole.errors)")
            let notices = (whole.encode.report?["notices"]?.array ?? []).compactMap(\.string)
            #expect(names.contains("a.mp4.part.2") || notices.contains { $0.hasSuffix("kept as a.mp4.part.2") }, "\(notices)")
            #expect(Files.list(folder) == ["a.h264", "a.h264.part.1", "a.h264.part.2", "a.mp4", "a.mp4.part.1", "a.mp4.part.2"])
            #expect(try [bytes("a.mp4.part.1"), bytes("a.h264.part.1"), bytes("a.mp4.part.2"), bytes("a.h264.part.2")] == first + second)
            #expect(try pictures("a.mp4", in: folder) == 9)
        }
    }

    /// The sender of a pipe ends inside a picture. The pictures before it cannot be read again, so they stay.
    @Test(arguments: [
        ("mp4", "- < <(head -c 300000 in.y4m)"), ("mkv", "<(head -c 300000 in.y4m)"), ("ts", "- < <(head -c 300000 in.y4m)"),
        ("h264", "<(head -c 300000 in.y4m)"),
    ])
    func cutPipeKeepsTheRecording(_ ending: String, _ input: String) throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=64x48:r=25:d=4 -pix_fmt yuv420p in.y4m
                "$0" encode \(input) -o a.\(ending) --device software --codec h264 --preset 7 --gop 10
                """
            let run = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            #expect(run.status == 65 && run.errors.contains("the recording up to this error is in a.\(ending).part"), "\(run.errors)")
            #expect(Files.list(folder) == ["a.\(ending).part", "in.y4m"])
            // 300000 bytes hold 65 whole pictures, 20000 hold four.
            #expect(try pictures("a.\(ending).part", in: folder) == 65)
            let short = script.split(separator: "\n")[1].replacing("300000", with: "20000")
            let again = try ProcessRunner.run("bash", ["-c", "rm a.*; \(short)", Checkout.vaenc], directory: folder)
            #expect(try again.status == 65 && pictures("a.\(ending).part", in: folder) == 4, "\(again.errors)")
            // A file can be read again, so nothing stays.
            let file = try ProcessRunner.run(
                "bash",
                [
                    "-c", "head -c 300000 in.y4m > cut.y4m; rm a.*; \"$0\" encode cut.y4m -o a.\(ending) --device software --codec h264 --preset 7",
                    Checkout.vaenc,
                ],
                directory: folder)
            #expect(file.status == 65 && Files.list(folder) == ["cut.y4m", "in.y4m"], "\(file.errors)")
        }
    }

    /// The message names the parts of all outputs.
    @Test func allKeptPartsAreNamed() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=64x48:r=25:d=4 -f yuv4mpegpipe -pix_fmt yuv420p - | head -c 300000 \\
                | "$0" encode - -o a.mp4 -o b.mkv -o c.h264 --device software --codec h264 --preset 7
                """
            let run = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            #expect(
                run.status == 65 && run.errors.contains("the recordings up to this error are in a.mp4.part, b.mkv.part, c.h264.part"), "\(run.errors)"
            )
            for name in Files.list(folder) { #expect(try pictures(name, in: folder) == 65, "\(name)") }
        }
    }

    /// The container rejects the last sound packet when the recording ends. What was written stays.
    @Test func rejectedLastPacketKeepsTheRecording() throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "bash",
                [
                    "-c",
                    "ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=64x48:r=25:d=2 -f lavfi -i sine=d=2.2 -pix_fmt yuv420p -c:v libx264 -c:a aac in.flv",
                ],
                directory: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            var bytes = try Files.read(folder + "/in.flv")
            // A tag has a type, a size of 24 bits and 11 bytes of header, and its whole size follows in 4 bytes.
            var (offset, last) = (13, 0)
            while offset + 15 <= bytes.count {
                if bytes[offset] == 8 { last = offset }
                offset += 15 + Int(bytes[offset + 1]) << 16 + Int(bytes[offset + 2]) << 8 + Int(bytes[offset + 3])
            }
            // Two bytes of header and one of AAC.
            bytes.replaceSubrange((last + 1)..<(last + 4), with: [0, 0, 3])
            bytes = bytes[..<(last + 14)] + [0, 0, 0, 14]
            let run = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "-", "-o", "a.ts", "--device", "software", "--codec", "h264", "--audio", "copy"], input: bytes,
                directory: folder)
            #expect(run.status == 65 && run.errors.contains("the recording up to this error is in a.ts.part"), "\(run.errors)")
            // 50 pictures and the sound.
            #expect(try pictures("a.ts.part", in: folder) > 130)
        }
    }

    /// The second signal ends a run that a blocked device keeps from ending. The recording stays, and the message names
    /// it.
    @Test(arguments: ["mp4", "mkv", "h264"]) func secondInterruptionKeepsTheRecording(_ ending: String) throws {
        let script = """
            rm -f a.*; touch log
            "$0" capture /dev/video9 -o a.\(ending) --stall-timeout 600 --device reference --codec h264 --gop 5 --bframes 0 --progress json 2>log &
            until grep -q '"frames":[1-9]' log; do kill -0 $! || exit 1; sleep 0.05; done
            sleep $1; kill -INT $!; sleep 0.7
            while kill -INT $! 2>/dev/null; do sleep 0.7; done
            wait $!; echo $?; tail -n 1 log
            """
        try Files.withTemporaryFolder { folder in
            let environment = try FakeCameras.environment("9:formats=NV12,sizes=128x64,rate=100,stretch=3")
                .merging(["VAENC_FAULT": "vaSyncBuffer@50=hang"]) { $1 }
            func run(_ pause: String) throws -> ProcessRunner.Result {
                try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc, pause], environment: environment, directory: folder)
            }
            var result = try run("1.5")
            // On a busy machine the first signal may end the recording before the 50th picture. Then it comes later.
            if Files.exists("\(folder)/a.\(ending)") { result = try run("60") }
            #expect(
                result.output.hasPrefix("130\n") && result.output.contains("the recorded part is in a.\(ending).part"),
                "\(result.output) \(result.errors)")
            #expect(Files.list(folder) == ["a.\(ending).part", "log"])
            let count = try pictures("a.\(ending).part", in: folder)
            #expect(count >= 5, "\(count)")
        }
    }

    /// An output of a file can be repeated, so an unfinished one is overwritten.
    @Test func unfinishedEncodeIsOverwritten() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write([1, 2, 3], to: folder + "/a.h264.part")
            let run = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "testsrc:64x48@25:3", "--device", "software", "-o", "a.h264"], directory: folder)
            #expect(run.status == 0 && Files.list(folder) == ["a.h264"], "\(run.errors)")
        }
    }

    /// A recording was killed, and a later run writes the same name from a file.
    @Test(arguments: ["encode", "remux"]) func fileOutputKeepsAnEarlierRecording(_ command: String) throws {
        try Files.withTemporaryFolder { folder in
            let names = ["a.mp4", "a.mkv", "a.ts", "a.h264", "a.avcc"]
            let killed = try CaptureRun(
                "9:formats=NV12,rate=100,stretch=15,kill=20", Self.options + ["--gop", "3"] + names.flatMap { ["-o", $0] }, in: folder)
            #expect(killed.status == 137)
            let parts = names.map { $0 + ".part" }
            #expect(Files.list(folder) == parts.sorted())
            let recorded = try parts.map { try Files.read("\(folder)/\($0)") }
            let encode = ["encode", "testsrc:64x48@25:3", "--device", "software", "--codec", "h264"]
            // An encode writes all names at once.
            let outputs = command == "remux" ? ["b.mp4"] : names
            let encoded = try ProcessRunner.run(Checkout.vaenc, encode + outputs.flatMap { ["-o", $0] }, directory: folder)
            #expect(encoded.status == 0, "\(encoded.errors)")
            for (name, bytes) in zip(names, recorded) {
                let run = command == "remux" ? try ProcessRunner.run(Checkout.vaenc, ["remux", "b.mp4", "-o", name], directory: folder) : encoded
                #expect(run.status == 0 && run.errors.contains("kept as \(name).part.1"), "\(run.errors)")
                #expect(try Files.exists("\(folder)/\(name)") && Files.read("\(folder)/\(name).part.1") == bytes, "\(name)")
            }
        }
    }

    /// The disk becomes full during a recording: the status is 74, the message names the part, and the part plays.
    @Test(arguments: ["mp4", "mov", "mkv", "ts", "flv", "h264", "avcc"]) func fullDiskKeepsTheRecording(_ ending: String) throws {
        // Mounts a file system in a mount namespace that ends with the process.
        let script = """
            mount --make-rprivate / 2>/dev/null  # fails where / is no mount point; then it is private already
            mkdir disk && mount -t tmpfs -o size=64k tmpfs disk || exit 99
            "$0" capture "$@" --stall-timeout 600 -o disk/a.\(ending)
            status=$?
            ls disk
            cp disk/* .
            exit $status
            """
        try Files.withTemporaryFolder { folder in
            let namespace = try ProcessRunner.run("id", ["-u"]).output == "0\n" ? "-m" : "-rm"
            let run = try ProcessRunner.run(
                "unshare",
                [namespace, "--propagation", "unchanged", "bash", "-c", script, Checkout.vaenc] + Self.options + [
                    "--gop", "2", "--qp", "2", "--fps", "100",
                ],
                environment: try FakeCameras.environment("9:formats=NV12,sizes=128x64,rate=100,stretch=15"), directory: folder)
            #expect(run.status == 74 && run.output == "a.\(ending).part\n", "\(run.output) \(run.errors)")
            let lines = run.errorLines.filter { !$0.contains("capturing from") }
            #expect(
                lines.count == 1 && run.errors.contains("the disk is full: the recording up to this error is in disk/a.\(ending).part"),
                "\(run.errors)")
            let size = Files.size("\(folder)/a.\(ending).part") ?? 0
            var name = "a.\(ending).part"
            if ending == "avcc" {
                let copy = try ProcessRunner.run("cp", [name, "b.avcc"], directory: folder)
                #expect(copy.status == 0)
                // The last picture is cut short, which is reported.
                _ = try ProcessRunner.run(
                    Checkout.vaenc, ["decode", "b.avcc", "--device", "software", "--frames", "10", "-o", "b.y4m"], directory: folder)
                name = "b.y4m"
            }
            let count = try pictures(name, in: folder)
            #expect(count >= 10 && size > 40_000, "\(count) pictures, \(size) bytes")
        }
    }
}
