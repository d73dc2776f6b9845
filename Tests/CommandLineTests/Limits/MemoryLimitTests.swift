import TestOracles
import Testing

/// Under a memory limit (`ulimit -v`) a command succeeds, or fails with one line about memory and leaves no file.
@Suite struct MemoryLimitTests {
    /// - Parameter limit: The limit in kB.
    private func limited(_ arguments: [String], _ limit: Int, in folder: String) throws -> ProcessRunner.Result {
        try ProcessRunner.run(
            "sh", ["-c", "ulimit -v \(limit); exec \"$0\" \"$@\"", Checkout.vaenc] + arguments, directory: folder)
    }

    /// Returns the exit status under each limit, in kB.
    @discardableResult
    private func statuses(_ arguments: [String], _ limits: [Int]) throws -> [Int] {
        try limits.map { limit in
            try Files.withTemporaryFolder { folder in
                let run = try limited(arguments, limit, in: folder)
                let what = "\(limit) kB, \(arguments): \(run.status) \(run.errors)"
                #expect(!run.timedOut && [0, 69].contains(run.status), "\(what)")
                if run.status != 0 {
                    #expect(run.errorLines.count == 1 && run.errors.contains("ulimit -v"), "\(what)")
                    #expect(Files.list(folder).isEmpty, "\(what)")
                }
                return run.status
            }
        }
    }

    /// A decoder without memory for a picture reports damage. The command must not report this as bad input (65).
    ///
    /// Tests every limit up to the first sufficient one, in steps of 20 MB. If Swift's own allocation fails, the
    /// process aborts (134).
    @Test(arguments: [
        ["compare", "clip.mp4", "clip.mp4"], ["decode", "clip.mp4", "--device", "software", "-o", "o.y4m"],
        ["decode", "clip.mp4", "--device", "reference", "-o", "o.y4m"],
        ["encode", "clip.mp4", "--device", "software", "--codec", "h264", "--preset", "7", "-o", "o.h264"],
        ["encode", "clip.mp4", "--device", "reference", "--codec", "h264", "-o", "o.h264"],
    ])
    func lackOfMemoryIsNotBadInput(_ command: [String]) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg("-i", Fixture.bigBuckBunny.path(), "-frames:v", "20", "-an", "-c", "copy", folder + "/clip.mp4")
            let arguments = command.map { $0 == "clip.mp4" ? folder + "/clip.mp4" : $0 }
            let isEnough = try stride(from: 200_000, through: 600_000, by: 20_000).contains { limit in
                try Files.withTemporaryFolder { workFolder in
                    let run = try limited(arguments, limit, in: workFolder)
                    let what = "\(limit) kB, \(command): \(run.status) \(run.errors)"
                    #expect(!run.timedOut && run.status != 65, "\(what)")
                    for words in ["damaged", "install", "cannot be read as video"] {
                        #expect(!run.errors.contains(words), "\(what)")
                    }
                    return run.status == 0
                }
            }
            #expect(isEnough)
        }
    }

    /// If there is no memory for a stream of 60 MB, which `inspect` keeps in memory, the process reports an error and
    /// is not killed.
    @Test(arguments: ["h264", "avcc", "mp4"]) func lackOfMemoryForAStreamIsReported(_ ending: String) throws {
        try Files.withTemporaryFolder { folder in
            let (one, stream, file) = (folder + "/one.h264", folder + "/all.h264", folder + "/all." + ending)
            try ffmpeg("-i", Fixture.bikes.path(), "-an", "-c", "copy", "-bsf:v", "h264_mp4toannexb", one)
            let bytes = try Files.read(one)
            var all: [UInt8] = []
            for _ in 0..<120 { all += bytes }
            try Files.write(all, to: stream)
            if ending == "avcc" { #expect(try ToolRun(["convert", stream, "-o", file]).status == 0) }
            if ending == "mp4" { try ffmpeg("-i", stream, "-c", "copy", file) }
            let found = try statuses(["inspect", file, "--json"], Array(stride(from: 60_000, through: 500_000, by: 40_000)))
            #expect(found.first == 69 && found.last == 0, "\(found)")
        }
    }

    /// There are many small pictures, whose report takes much more memory than the stream.
    @Test func lackOfMemoryForAReportIsReported() throws {
        try Files.withTemporaryFolder { folder in
            let (one, stream) = (folder + "/one.h265", folder + "/all.h265")
            try ffmpeg(
                "-f", "lavfi", "-i", "color=black:s=64x64:r=25", "-frames:v", "1000", "-c:v", "libx265", "-preset", "ultrafast",
                "-x265-params", "log-level=none:keyint=250", one)
            let bytes = try Files.read(one)
            var all: [UInt8] = []
            for _ in 0..<60 { all += bytes }
            try Files.write(all, to: stream)
            let found = try statuses(["inspect", stream, "--json"], Array(stride(from: 60_000, through: 300_000, by: 20_000)))
            #expect(found.first == 69 && found.last == 0, "\(found)")
        }
    }

    /// The stream is one NAL unit of 100 MB.
    @Test func lackOfMemoryForANALUnitIsReported() throws {
        try Files.withTemporaryFolder { folder in
            let stream = folder + "/unit.h264"
            try Files.write([0, 0, 0, 1, 0x65] + [UInt8](repeating: 0xFF, count: 100_000_000), to: stream)
            let all = try statuses(["convert", stream, "-o", "o.avcc"], Array(stride(from: 60_000, through: 660_000, by: 100_000)))
            #expect(all.first == 69 && all.last == 0, "\(all)")
        }
    }

    /// A copy of the coded picture needs memory beside the decoder's.
    @Test func lackOfMemoryForLargePicturesIsReported() throws {
        try Files.withTemporaryFolder { folder in
            let clip = folder + "/clip.mp4"
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=8192x4320:r=25", "-frames:v", "2", "-c:v", "libx264", "-preset", "ultrafast",
                "-pix_fmt", "yuv420p", clip)
            for command in [["decode", clip, "--device", "software", "-o", "o.y4m"], ["compare", clip, clip]] {
                try statuses(command, Array(stride(from: 250_000, through: 400_000, by: 10_000)))
            }
        }
    }

    /// If a library cannot be loaded or a driver fails for lack of memory, the remedy is not to install something.
    @Test func lackOfMemoryIsNotAMissingLibrary() throws {
        try Files.withTemporaryFolder { folder in
            for (limit, command) in [
                (50_000, ["encode", "testsrc:64x48@25:2", "--device", "reference", "-o", "o.h264"]),
                (50_000, ["encode", "testsrc:64x48@25:2", "-o", "o.h264"]), (50_000, ["probe"]), (100_000, ["probe"]),
            ] {
                let run = try limited(command, limit, in: folder)
                let what = "\(limit) kB, \(command): \(run.status) \(run.output) \(run.errors)"
                #expect(run.status == (command[0] == "probe" ? 0 : 69), "\(what)")
                #expect((run.output + run.errors).contains("ulimit -v"), "\(what)")
                let advice = (run.output + run.errors).split(separator: "\n").filter { !$0.hasPrefix("With a GPU: ") }
                #expect(!advice.contains { $0.contains("install") }, "\(what)")
            }
            let run = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "testsrc:64x48@25:2", "--device", "reference", "-o", "o.h264"],
                environment: ["VAENC_FAULT": "vaInitialize@*=status:2"], directory: folder)
            #expect(run.status == 69 && run.errorLines.count == 1, "\(run.status) \(run.errors)")
            #expect(run.errors.contains("out of memory") && run.errors.contains("ulimit -v") && !run.errors.contains("install"), "\(run.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }

    /// libx265 does not check its allocations. The lack of memory must be reported, without a SIGSEGV and without a
    /// `.part` file. The last limit is sufficient.
    @Test func lackOfMemoryInLibx265IsReported() throws {
        let all = try statuses(
            [
                "encode", "testsrc:1280x720@25:40", "--device", "software", "--codec", "hevc", "--preset", "7", "-o",
                "o.h265",
            ],
            Array(stride(from: 250_000, through: 600_000, by: 50_000)))
        #expect(all.first == 69 && all.last == 0, "\(all)")
    }

    @Test func lackOfMemoryForLargeHEVCPicturesIsReported() throws {
        let all = try statuses(
            [
                "encode", "testsrc:3840x2160@25:12", "--device", "software", "--codec", "hevc", "--preset", "7", "-o",
                "o.mp4",
            ],
            [400_000, 600_000, 800_000])
        #expect(all == [69, 69, 69])
    }
}
