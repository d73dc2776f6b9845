import FoundationEssentials
import TestOracles
import Testing

/// Each error leads to one clear line on stderr and the exit status of docs/CLI.md, and leaves no file.
@Suite struct BadInputTests {
    /// Runs `vaenc encode …` in a folder with a valid input (`good.y4m`) and several invalid ones.
    private func run(
        _ arguments: [String], environment: [String: String?] = [:], status: Int, leaves: Set<String> = [], says advice: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try Files.withTemporaryFolder { folder in
            let inputs = try Self.layInputs(folder)
            let result = try ProcessRunner.run(
                Checkout.vaenc, ["encode"] + arguments, environment: environment, directory: folder)
            #expect(result.status == status, "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
            #expect(result.errorLines.count == 1, "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
            #expect(advice.isEmpty || result.errors.contains(advice), "\(result.errors)", sourceLocation: sourceLocation)
            // The line has the program's name, the fault and the remedy.
            #expect(result.errors.split(separator: ": ").count >= 3, "\(result.errors)", sourceLocation: sourceLocation)
            #expect(result.stdout.isEmpty, "\(arguments)", sourceLocation: sourceLocation)
            let found = Set(Files.list(folder))
            #expect(found == inputs.union(leaves), "\(arguments)", sourceLocation: sourceLocation)
        }
    }

    private static func layInputs(_ folder: String) throws -> Set<String> {
        var good = Array("YUV4MPEG2 W64 H48 F25:1 Ip C420jpeg\n".utf8)
        for frame in 0..<3 {
            good += Array("FRAME\n".utf8) + [UInt8](repeating: UInt8(frame * 40), count: 64 * 48 * 3 / 2)
        }
        try Files.write(good, to: folder + "/good.y4m")
        try Files.write([], to: folder + "/empty.mp4")
        try Files.write(Array("Dear diary, this is no video.\n".utf8), to: folder + "/text.mp4")
        let movie = try Files.read(Fixture.carphone.path())
        try Files.write(Array(movie[..<(movie.count / 3)]), to: folder + "/cut.mp4")
        try Files.write(Array("YUV4MPEG2 W64 Hx F25:1\nFRAME\n".utf8), to: folder + "/broken.y4m")
        try Files.write(Array(good.dropLast(100)), to: folder + "/short.y4m")
        try Files.write([UInt8](repeating: 0, count: 10_000), to: folder + "/odd.yuv")
        return Set(Files.list(folder))
    }

    private let device = ["--device", "reference"]

    @Test func missingInputIsRefused() throws { try run(["none.mp4", "-o", "a.h264"] + device, status: 66) }

    /// FFmpeg's prefixes are not a part of the output's name. Without advice, the reader of a pipe would get nothing.
    @Test(arguments: [("pipe:1", "use -"), ("pipe:", "use -"), ("file:a.mp4", "leave out file:")])
    func prefixesOfFFmpegAreRefused(_ output: String, _ advice: String) throws {
        for format in [[], ["--format", "ts"]] { try run(["good.y4m", "-o", output] + format + device, status: 64, says: advice) }
        try run([output, "-o", "a.h264"] + device, status: 66, says: advice)
        try Files.withTemporaryFolder { folder in
            _ = try Self.layInputs(folder)
            let decoded = try ProcessRunner.run(Checkout.vaenc, ["decode", "good.y4m", "-o", output + ".y4m"], directory: folder)
            #expect(decoded.status == 64 && decoded.errors.contains(advice) && !Files.exists("\(folder)/\(output).y4m"), "\(decoded.errors)")
        }
    }

    @Test(arguments: ["empty.mp4", "text.mp4", "cut.mp4", "broken.y4m", "short.y4m"], ["a.h264", "a.mp4"])
    func invalidInputContentIsRefused(_ input: String, _ output: String) throws {
        try run([input, "-o", output] + device, status: 65)
    }

    /// The last frame is sixty thousand years after the first.
    @Test func timeOutOfRangeIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            let far = folder + "/far.nut"
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc=s=64x48:r=25", "-frames:v", "3", "-vf",
                    "settb=1,setpts='if(eq(N,2),2000000000000,N)'", "-fps_mode", "passthrough", "-enc_time_base", "1",
                    "-c:v", "rawvideo", "-f", "nut", far,
                ])
            try #require(setup.status == 0, "\(setup.errors)")
            try run([far, "-o", "a.h264"] + device, status: 65)
        }
    }

    @Test func rawInputWithAPartialFrameIsRefused() throws {
        try run(["odd.yuv", "--input-size", "64x48", "--input-format", "i420", "-o", "a.h264"] + device, status: 65)
    }

    @Test func rawInputWithoutSizeIsRefused() throws { try run(["odd.yuv", "-o", "a.h264"] + device, status: 64) }

    @Test func missingOutputFolderIsRefused() throws { try run(["good.y4m", "-o", "no/such/a.h264"] + device, status: 73) }

    @Test(arguments: ["a.h264", "a.mp4"]) func existingOutputNeedsOverwrite(_ name: String) throws {
        try Files.withTemporaryFolder { folder in
            _ = try Self.layInputs(folder)
            try Files.write([1, 2, 3], to: folder + "/" + name)
            let arguments = ["encode", "good.y4m", "-o", name] + device
            let refused = try ProcessRunner.run(Checkout.vaenc, arguments, directory: folder)
            #expect(refused.status == 73 && refused.errorLines.count == 1, "\(refused.errors)")
            #expect(try Files.read(folder + "/" + name) == [1, 2, 3])
            let forced = try ProcessRunner.run(Checkout.vaenc, arguments + ["--overwrite"], directory: folder)
            #expect(forced.status == 0, "\(forced.errors)")
            #expect(try #require(Files.size(folder + "/" + name)) > 100)
        }
    }

    @Test(arguments: ["nonsense", "/dev/dri/renderD999", "0000:99:00.0"]) func unknownDeviceIsRefused(_ name: String) throws {
        try run(["good.y4m", "-o", "a.h264", "--device", name], status: 69)
    }

    @Test(arguments: [
        ["--qp", "99"], ["--qp", "-1"], ["--qp", "many"], ["--preset", "0"], ["--preset", "8"], ["--gop", "0"],
        ["--slices", "0"], ["--profile", "baseline", "--entropy", "cabac"], ["--codec", "hevc"], ["--no-such-option"],
        ["--qp", "30", "--bitrate", "2M"], ["--rate-control", "cqp", "--bitrate", "2M"], ["--fps", "0"],
        ["--level", "9.9"], ["--bitrate", "nothing"], ["--roi", "0,0,16:-3"], ["--roi", "0,0,16x16:-60"], ["--roi", "4000,0,16x16:-6"],
        ["--temporal-layers", "5"], ["--ltr", "-1"], ["--vbv-initial", "101"], ["--force-key", "3,x"], ["--deblock", "7:0"],
        ["--idr-interval", "0"], ["--max-bitrate", "1M", "--bitrate", "2M"], ["--max-bitrate", "1M"], ["--b-pyramid", "--bframes", "1"],
        ["--low-latency", "--bframes", "2"], ["--data-rate-limit", "5"], ["--rate-control", "qvbr", "--qp", "3", "--bitrate", "1M"],
        ["--format", "mp4"],
    ])
    func wrongOptionsAreUsageErrors(_ options: [String]) throws {
        try Files.withTemporaryFolder { folder in
            let inputs = try Self.layInputs(folder)
            let result = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "good.y4m", "-o", "a.h264"] + device + options, directory: folder)
            #expect(result.status == 64, "\(options): \(result.errors)")
            // The argument parser adds how to ask for help.
            #expect((1...3).contains(result.errorLines.count), "\(options): \(result.errors)")
            #expect(Set(Files.list(folder)) == inputs)
        }
    }

    @Test(arguments: ["2x2", "16384x15000"]) func unsupportedSizeIsRefused(_ size: String) throws {
        try run(["testsrc:\(size)@25:2", "-o", "a.h264"] + device, status: 69)
    }

    @Test(arguments: [["--two-pass"], ["--lookahead", "10"], ["--target-ssim", "0.9"]])
    func unbuiltFeaturesAreRefused(_ options: [String]) throws {
        try run(["good.y4m", "-o", "a.h264"] + device + options, status: 69)
    }

    @Test(arguments: ["--qp", "--gop", "--bframes", "--vbv-initial", "--frames"])
    func negativeNumberErrorNamesTheOption(_ option: String) throws {
        let result = try ProcessRunner.run(
            Checkout.vaenc, ["encode", "testsrc:64x48@25:2", "-o", "-", option, "-1"])
        #expect(result.status == 64)
        #expect(result.errors.contains("\(option) -1") && result.errors.contains(" 1") || result.errors.contains("use 0 to"))
    }

    /// An output through a link writes the link's target. An obstacle is named in the error. File names need not be
    /// UTF-8.
    @Test func linksAndOddNamesAreHandled() throws {
        let script = """
            set -e
            encode() { "$0" encode testsrc:64x48@25:2 --device software "$@" 2>>err; }
            touch real.h264; ln -s real.h264 link.h264; encode -o link.h264 --overwrite
            test -L link.h264; test -s real.h264
            ln -s nowhere.h264 broken.h264; encode -o broken.h264 --overwrite && exit 1 || test $? = 73
            mkdir way.h264.part; encode -o way.h264 && exit 1 || test $? = 73
            name=$(printf 'caf\\351.h264'); encode -o "$name"; test -s "$name"
            "$0" encode "$name" -o again.h264 --device software 2>>err; test -s again.h264
            "$0" encode "$name" -o "$name" --overwrite --device software 2>>err && exit 1 || test $? = 64
            encode -o one.h264 --frames 1
            """
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            let errors = String(decoding: try Files.read(folder + "/err"), as: UTF8.self)
            #expect(result.status == 0, "\(result.errors) \(errors)")
            #expect(errors.contains("leads nowhere") && errors.contains("way.h264.part is in the way"))
            #expect(errors.contains(#"caf\xE9.h264 is the input itself"#) && errors.contains(" 1 frame,"))
        }
    }

    /// The report on stderr is valid JSON even if there are notices.
    @Test func reportBesideAPipedStreamIsJSON() throws {
        let result = try ProcessRunner.run(
            Checkout.vaenc, ["encode", "testsrc:64x48@25:2", "-o", "-", "--json", "--roi", "0,0,16x16:-3"])
        #expect(result.status == 0)
        struct Report: Decodable {
            var notices: [String]
            var frames: [String: Int]
            var statistics: Statistics
        }
        struct Statistics: Decodable {
            var rebuilds: Int
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(result.errors.utf8))
        #expect(report.frames["encoded"] == 2 && report.statistics.rebuilds == 0)
    }

    @Test func closedPipeIsAnOutputError() throws {
        // The reader closes the pipe early: the writer must not die of SIGPIPE.
        let script =
            "\"$0\" encode testsrc:320x192@25:60 --device reference --qp 12 --format annexb -o - 2>err | head -c 100 >/dev/null; echo ${PIPESTATUS[0]}"
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            #expect(result.output == "74\n", "\(result.output) \(result.errors)")
            let errors = String(decoding: try Files.read(folder + "/err"), as: UTF8.self)
            #expect(errors.split(separator: "\n").count == 1, "\(errors)")
        }
    }

    /// A file size limit simulates a full disk: the write fails halfway.
    @Test(arguments: ["a.h264", "a.mp4"]) func failedWriteRemovesTheOutput(_ name: String) throws {
        let script =
            "ulimit -f 8; trap '' XFSZ; exec \"$0\" encode testsrc:192x128@25:60 --device reference --qp 12 -o \(name)"
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            #expect(result.status == 74, "\(result.errors)")
            #expect(result.errorLines.count == 1, "\(result.errors)")
            #expect(!Files.exists(folder + "/" + name))
        }
    }

    @Test func fullDiskRemovesTheOutput() throws {
        // Mounts a file system of 64 KiB in a mount namespace that ends with the process.
        let script = """
            mount --make-rprivate / 2>/dev/null  # fails where / is no mount point; then it is private already
            mount -t tmpfs -o size=64k tmpfs "$1" || exit 99
            "$0" encode testsrc:320x192@25:60 --device reference --qp 12 -o "$1/a.h264"
            status=$?
            ls "$1"
            exit $status
            """
        try Files.withTemporaryFolder { folder in
            let namespace = try ProcessRunner.run("id", ["-u"]).output == "0\n" ? "-m" : "-rm"
            let result = try ProcessRunner.run(
                "unshare", [namespace, "--propagation", "unchanged", "bash", "-c", script, Checkout.vaenc, folder])
            #expect(result.status == 74, "\(result.errors)")
            #expect(result.errorLines.count == 1, "\(result.errors)")
            #expect(!result.output.split(separator: "\n").contains("a.h264"))
        }
    }

    /// The disk has room for the stream, but not for its record. Neither gets its final name.
    @Test func fullDiskRemovesStreamAndRecord() throws {
        let script = """
            mount --make-rprivate / 2>/dev/null
            ffmpeg -v error -nostdin -f lavfi -i testsrc=size=320x240:rate=25:duration=1 -c:v libx264 "$1/in.h264" || exit 98
            "$0" convert "$1/in.h264" -o "$1/whole.avcc" || exit 98
            pages=$(( ($(stat -c %s "$1/whole.avcc") + 4095) / 4096 ))
            mkdir "$1/disk" && mount -t tmpfs -o size=$((pages * 4))k tmpfs "$1/disk" || exit 99
            "$0" convert "$1/in.h264" -o "$1/disk/a.avcc" --record "$1/disk/a.avcC"
            status=$?
            ls -A "$1/disk"
            exit $status
            """
        try Files.withTemporaryFolder { folder in
            let namespace = try ProcessRunner.run("id", ["-u"]).output == "0\n" ? "-m" : "-rm"
            let result = try ProcessRunner.run(
                "unshare", [namespace, "--propagation", "unchanged", "bash", "-c", script, Checkout.vaenc, folder])
            #expect(result.status == 74 && result.errorLines.last?.contains("the disk is full") == true, "\(result.errors)")
            #expect(result.output == "", "\(result.output)")
        }
    }

    @Test func renderNodeWithoutPermissionIsRefused() throws {
        // Root may open every node, so the test runs as another user then, in a folder which that user may enter.
        let script = """
            chmod 755 "$1"
            cp "$0" "$1/vaenc"
            touch "$1/renderD128"
            chmod 0 "$1/renderD128"
            if [ "$(id -u)" = 0 ]; then as="setpriv --reuid 65534 --clear-groups"; fi
            $as "$1/vaenc" encode testsrc:64x48@25:2 --device "$1/renderD128" -o /tmp/never.h264
            """
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc, folder])
            #expect(result.status == 77, "\(result.errors)")
            #expect(result.errorLines.count == 1, "\(result.errors)")
        }
    }

    @Test func interruptionLeavesAFinishedFile() throws {
        try Files.withTemporaryFolder { folder in
            // The signal comes once the file has pictures.
            let run = try EncodeRun.interrupted(
                ["testsrc:320x240@25:100000", "--device", "reference", "--preset", "7", "-o", "a.mp4"], once: "a.mp4",
                hasMoreThan: 20_000, in: folder)
            #expect(run.status == 130, "\(run.errors)")
            #expect(Files.list(folder) == ["a.mp4"])
            let probe = try ProcessRunner.run(
                "ffprobe",
                ["-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", "a.mp4"],
                directory: folder)
            #expect(probe.status == 0 && probe.errors.isEmpty, "\(probe.errors)")
            #expect(try #require(Int(probe.output.filter(\.isNumber))) > 0)
        }
    }
}
