import TestOracles
import Testing

/// Several outputs of one input through VA-API. Each frame is read and converted once, and no output affects another.
@Suite struct SeveralOutputsTests {
    private func vaenc(
        _ arguments: [String], in folder: String, personality: String? = nil, input: [UInt8] = []
    ) throws -> EncodeRun {
        try EncodeRun(
            ["--device", "reference", "--json"] + arguments, in: folder, input: input,
            environment: ["VAENC_REFERENCE_PERSONALITY": personality])
    }

    private func count(_ name: String, in folder: String) throws -> Int {
        let result = try ProcessRunner.run(
            "ffprobe",
            ["-v", "warning", "-count_frames", "-select_streams", "v", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", name],
            directory: folder)
        #expect(result.status == 0 && result.errors == "", "\(name): \(result.errors)")
        return Int(result.output.prefix { $0.isNumber }) ?? -1
    }

    /// A pipe can be read only once. Each output equals that of its own run.
    @Test(arguments: [(nil, 64, 48, 10), ("iHD-9A49", 128, 128, 2), ("radeonsi-navi21", 256, 128, 1)] as [(String?, Int, Int, Int)])
    func eachFrameIsReadOnce(_ personality: String?, _ width: Int, _ height: Int, _ count: Int) throws {
        // The frames fit a pipe of 64 KiB, at the minimum sizes for HEVC.
        let input = (0..<width * height * 3 / 2 * count).map { UInt8(truncatingIfNeeded: $0 * $0 >> 7) }
        let layout = ["-", "--input-size", "\(width)x\(height)", "--input-format", "i420", "--fps", "25", "--qp", "28"]
        try Files.withTemporaryFolder { folder in
            let both = try vaenc(layout + ["-o", "a.h264", "-o", "b.h265"], in: folder, personality: personality, input: input)
            #expect(both.status == 0, "\(both.errors)")
            #expect(both.report?["input"]?["framesRead"]?.int == count)
            // Encoders on one device read one surface, except on Mesa before 25.
            #expect(both.report?["input"]?["framesCopied"]?.int == (personality == "radeonsi-navi21" ? 2 * count : 0))
            #expect(both.outputs.compactMap { $0["frames"]?["encoded"]?.int } == [count, count])
            for name in ["a.h264", "b.h265"] {
                let alone = try vaenc(layout + ["-o", "alone-\(name)"], in: folder, personality: personality, input: input)
                #expect(alone.status == 0 && alone.report?["input"]?["framesCopied"]?.int == 0)
                let isSame = try Files.read("\(folder)/\(name)") == Files.read("\(folder)/alone-\(name)")
                #expect(isSame, "\(name)")
            }
        }
    }

    /// All containers at once, each in the codec that its name requires or that is chosen automatically.
    @Test func allContainersAreWrittenAtOnce() throws {
        let names = ["a.h264", "b.h265", "c.mp4", "d.mov", "e.mkv", "f.ts"]
        try Files.withTemporaryFolder { folder in
            let run = try vaenc(
                ["testsrc:320x180@25:12", "--size", "160x90", "--bframes", "2", "--qp", "30"] + names.flatMap { ["-o", $0] }, in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.report?["input"]?["framesRead"]?.int == 12 && run.report?["input"]?["framesCopied"]?.int == 0)
            #expect(run.outputs.compactMap { $0["codec"]?.string } == ["h264", "hevc", "hevc", "hevc", "hevc", "hevc"])
            #expect(run.outputs.allSatisfy { $0["frames"]?["input"]?.int == 12 && $0["frames"]?["encoded"]?.int == 12 })
            for name in names { #expect(try count(name, in: folder) == 12) }
            #expect(Files.list(folder).sorted() == names)
        }
    }

    /// An option that only one codec has applies to the outputs of that codec.
    @Test func codecOptionsApplyToTheirOutputs() throws {
        let both = ["-o", "a.h264", "-o", "b.h265"]
        let cases: [(options: [String], expected: [String])] = [
            (both + ["--bit-depth", "10"], ["h264 High", "hevc Main 10"]), (both + ["--profile", "main"], ["h264 Main", "hevc Main"]),
            (both + ["--profile", "baseline"], ["h264 Constrained Baseline", "hevc Main"]),
            (both + ["--profile", "main10"], ["h264 High", "hevc Main 10"]), (both + ["--entropy", "cavlc"], ["h264 High", "hevc Main"]),
            (["-o", "a.mp4", "-o", "b.h265", "--profile", "high"], ["h264 High", "hevc Main"]),
            (["-o", "a.h264", "-o", "b.mp4", "--bit-depth", "10"], ["h264 High", "hevc Main 10"]),
        ]
        try Files.withTemporaryFolder { folder in
            for (options, expected) in cases {
                let run = try vaenc(["testsrc:64x48@25:2", "--overwrite", "--qp", "34"] + options, in: folder)
                #expect(run.status == 0, "\(options): \(run.errors)")
                #expect(run.outputs.map { "\($0["codec"]?.string ?? "") \($0["profile"]?.string ?? "")" } == expected, "\(options)")
            }
        }
    }

    /// One output cannot be created: it exists, has no folder, has no listener, or its codec is not supported by the
    /// device. The other leaves no file.
    @Test(
        arguments: [
            ("there.h265", nil, 73), ("no/such.h265", nil, 73), ("rtmp://127.0.0.1:1/a", nil, 74), ("b.h265", "i965-5916", 69), ("b.xyz", nil, 64),
        ] as [(String, String?, Int)])
    func refusedOutputLeavesNoOtherOutput(_ name: String, _ personality: String?, _ status: Int) throws {
        try Files.withTemporaryFolder { folder in
            try Files.write([1, 2], to: "\(folder)/there.h265")
            for order in [["-o", "a.h264", "-o", name], ["-o", name, "-o", "a.h264"]] {
                let run = try vaenc(["testsrc:256x144@25:3"] + order, in: folder, personality: personality)
                #expect(run.status == status && run.errorLines.count == 1, "\(run.errors)")
                #expect(run.report == nil && Files.list(folder) == ["there.h265"])
                #expect(try Files.read("\(folder)/there.h265") == [1, 2])
            }
        }
    }

    /// The output that fails during encoding is named. The other is finished.
    @Test(arguments: [0, 1]) func failedOutputLeavesTheOtherComplete(_ index: Int) throws {
        try Files.withTemporaryFolder { folder in
            var names = ["a.h265"]
            names.insert("/dev/full", at: index)
            let run = try vaenc(["testsrc:64x48@25:30", "--qp", "20"] + names.flatMap { ["-o", $0] }, in: folder)
            #expect(run.status == 74 && run.errorLines.count == 1 && run.errors.contains("/dev/full"), "\(run.errors)")
            try #require(run.outputs.count == 2)
            #expect(run.outputs[index]["error"]?.string?.contains("the disk is full") == true)
            #expect(run.outputs[1 - index]["error"] == .null)
            #expect(run.report?["input"]?["framesRead"]?.int == 30)
            #expect(try count("a.h265", in: folder) == 30)
        }
    }

    /// Ctrl-C finishes both outputs, with the same frames.
    @Test func interruptionFinishesAllOutputs() throws {
        try Files.withTemporaryFolder { folder in
            let run = try EncodeRun.interrupted(
                ["testsrc:128x96@25:100000", "--device", "reference", "--preset", "7", "--json", "-o", "a.mp4", "-o", "b.h264"],
                once: "a.mp4", hasMoreThan: 10_000, in: folder)
            #expect(run.status == 130, "\(run.errors)")
            #expect(Files.list(folder).sorted() == ["a.mp4", "b.h264"])
            let frames = run.outputs.compactMap { $0["frames"]?["encoded"]?.int }
            #expect(run.report?["interrupted"]?.bool == true)
            #expect(frames.count == 2 && Set(frames).count == 1 && frames[0] > 0, "\(frames)")
            for (name, expected) in zip(["a.mp4", "b.h264"], frames) { #expect(try count(name, in: folder) == expected) }
        }
    }
}
