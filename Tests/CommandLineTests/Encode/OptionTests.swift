import TestOracles
import Testing

/// Each encoder option of docs/CLI.md reaches the encoder: the effective configuration equals the request.
@Suite struct OptionTests {
    private func encode(
        _ options: [String], size: String = "192x128", frames: Int = 12, device: String = "reference",
        environment: [String: String?] = [:], name: String = "o.h264"
    ) throws -> EncodeRun {
        try Files.withTemporaryFolder { folder in
            try EncodeRun(
                ["testsrc:\(size)@25:\(frames)", "--device", device, "--json", "-o", folder + "/" + name] + options,
                environment: environment)
        }
    }

    private static let requested: [[(option: String, name: String, used: String)]] = [
        [
            ("--qp 33", "qp", "33"), ("--qp-i 30", "qpI", "30"), ("--qp-b 35", "qpB", "35"), ("--gop 6", "gop", "6"),
            ("--idr-interval 2", "idrInterval", "2"), ("--open-gop", "openGOP", "on"), ("--bframes 3", "bFrames", "3"),
            ("--b-pyramid", "bPyramid", "on"), ("--refs 3", "references", "3"), ("--slices 2", "slices", "2"),
            ("--preset 3", "preset", "3"), ("--roi 0,0,32x32:-5", "regionsOfInterest", "1"),
            ("--deblock 2:-3", "deblocking", "2:-3"), ("--entropy cavlc", "entropy", "cavlc"),
            ("--aud", "accessUnitDelimiters", "on"), ("--identifier off", "identifier", "off"),
            ("--async-depth 3", "asyncDepth", "3"), ("--max-frame-delay 5", "maxFrameDelay", "5"),
            ("--profile main", "profile", "Main"), ("--level 4.1", "level", "4.1"),
            ("--low-power off", "entryPoint", "EncSlice"), ("--rate-control cqp", "rateControl", "cqp"),
        ],
        [
            ("--bitrate 300k", "bitrate", "300000 bit/s"), ("--max-bitrate 400k", "maxBitrate", "400000 bit/s"),
            ("--vbv-size 500k", "vbvSize", "500000"), ("--vbv-initial 60", "vbvInitial", "60"),
            ("--min-qp 20", "minQP", "20"), ("--max-qp 40", "maxQP", "40"), ("--max-frame-bytes 5000", "maxFrameBytes", "5000"),
            ("--data-rate-limit 60000/1", "dataRateLimits", "60000 bytes in 1.0 s"),
            ("--rate-controller vaenc", "rateController", "vaenc"), ("--hrd on", "hrdParameters", "on"),
            ("--gop-seconds 0.4", "gop", "10"), ("--temporal-layers 3", "temporalLayers", "3"),
            ("--transform-8x8 off", "transform8x8", "off"),
        ],
        [
            ("--rate-control qvbr", "rateControl", "qvbr"), ("--bitrate 300k", "bitrate", "300000 bit/s"),
            ("--quality 30", "quality", "30"), ("--ltr 2", "longTermReferences", "2"),
            ("--macroblock-rate-control on", "macroblockRateControl", "on"), ("--rate-controller driver", "rateController", "driver"),
        ],
        [("--rate-control avbr", "rateControl", "avbr"), ("--bitrate 300k", "bitrate", "300000 bit/s")],
        [("--rate-control cbr", "rateControl", "cbr"), ("--bitrate 300k", "bitrate", "300000 bit/s")],
        [("--rate-control icq", "rateControl", "icq"), ("--quality 20", "quality", "20"), ("--no-b-pyramid --bframes 3", "bPyramid", "off")],
        [("--intra-refresh", "intraRefresh", "on"), ("--low-latency", "lowLatency", "on"), ("--strict", "bFrames", "0")],
    ]

    /// Options that HEVC does not have, or whose values differ there.
    private static let ofH264 = ["entropy", "transform8x8", "profile"]

    @Test(arguments: requested.indices, ["o.h264", "o.h265"]) func optionsReachTheEncoder(_ index: Int, _ name: String) throws {
        let group = Self.requested[index].filter { name == "o.h264" || !Self.ofH264.contains($0.name) }
        let run = try encode(group.flatMap { $0.option.split(separator: " ").map(String.init) }, name: name)
        #expect(run.status == 0, "\(run.errors)")
        for (option, name, used) in group {
            #expect(run.effective(name)?["used"]?.string == used, "\(option)")
        }
        #expect(run.report?["codec"]?.string == (name == "o.h264" ? "h264" : "hevc"))
        #expect(run.report?["frames"]?["encoded"]?.int == 12)
    }

    /// The range of `--vbv-size` exceeds libavcodec's int: the largest supported value is used and reported.
    @Test(arguments: ["o.h264", "o.h265"]) func vbvSizeIsLimitedToLibavcodecsRange(_ name: String) throws {
        let run = try encode(["--bitrate", "1M", "--vbv-size", "4G"], frames: 3, device: "software", name: name)
        #expect(run.status == 0 && run.effective("vbvSize")?["used"]?.string == "2147483647", "\(run.errors)")
        let strict = try encode(["--bitrate", "1M", "--vbv-size", "4G", "--strict"], frames: 3, device: "software", name: name)
        #expect(strict.status == 69 && strict.errors.contains("--vbv-size: asked 4000000000"), "\(strict.errors)")
    }

    /// Key frames are forced by number and by time.
    @Test func keyFramesAreForced() throws {
        let run = try encode(["--force-key", "3,0.32s", "--bframes", "0", "--gop", "100"])
        #expect(run.report?["frames"]?["key"]?.int == 3)
    }

    /// A value that was not requested does not have the reason "as asked".
    @Test func unrequestedValuesHaveAReason() throws {
        let run = try encode(["--qp", "30"])
        #expect(run.effective("rateControl")?["why"]?.string == "a QP is requested")
        #expect(run.effective("frameRate")?["why"]?.string == "the input's")
        for entry in run.report?["effective"]?.array ?? [] where entry["asked"]?.string == nil {
            #expect(entry["why"]?.string != "as asked", "\(entry)")
        }
    }

    /// A feature that the device lacks is in the effective configuration, and `--strict` refuses it by name.
    @Test(arguments: [
        ("iHD-9A49", ["--bframes", "2"], "bFrames", "0"), ("iHD-9A49", ["--refs", "8"], "references", "3"),
        ("i965-5916", ["--trellis", "on"], "trellis", "driver's"), ("i965-5916", ["--roi", "0,0,32x32:-5"], "regionsOfInterest", "0"),
        ("radeonsi25-navi31", ["--refs", "4"], "references", "1"), ("radeonsi-navi21", ["--ltr", "2"], "longTermReferences", "0"),
        ("radeonsi-navi21", ["--temporal-layers", "2"], "temporalLayers", "1"), ("radeonsi-navi21", ["--intra-refresh"], "intraRefresh", "off"),
    ])
    func missingDeviceFeaturesAreReported(_ personality: String, _ options: [String], _ name: String, _ used: String) throws {
        let environment: [String: String?] = ["VAENC_REFERENCE_PERSONALITY": personality]
        let run = try encode(options, size: "256x144", frames: 2, environment: environment)
        #expect(run.status == 0, "\(run.errors)")
        let entry = try #require(run.effective(name))
        #expect(entry["used"]?.string == used && entry["asked"]?.string != used, "\(entry)")
        #expect((entry["why"]?.string?.count ?? 0) > 5)
        let strict = try encode(options + ["--strict"], size: "256x144", frames: 2, environment: environment)
        #expect(strict.status == 69 && strict.report == nil)
        #expect(strict.errors.contains("\(options[0]): asked"), "\(strict.errors)")
        // The printed text names the given option too, not the library's property.
        let printed = try Files.withTemporaryFolder { folder in
            try EncodeRun(
                ["testsrc:256x144@25:2", "--device", "reference", "-o", folder + "/o.h264"] + options, environment: environment)
        }
        #expect(printed.errors.contains("\(options[0]): asked"), "\(printed.errors)")
        #expect(!printed.errors.contains("`") && !printed.errors.contains(" \(name): asked"), "\(printed.errors)")
    }

    @Test func missingSoftwareFeaturesAreReported() throws {
        let run = try encode(["--ltr", "2", "--qp", "30", "--slices", "2"], device: "software")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.report?["effective"]?.array.contains { $0["option"]?.string == "longTermReferences" && $0["used"]?.string != "2" } == true)
        #expect(try encode(["--ltr", "2", "--strict"], device: "software").status == 69)
    }

    @Test(arguments: [
        ["--quality", "20", "--bitrate", "1M"], ["--rate-control", "cbr"], ["--rate-control", "icq", "--bitrate", "1M"],
        ["--rate-control", "cbr", "--bitrate", "1M", "--max-bitrate", "2M"], ["--min-qp", "30", "--max-qp", "20"],
        ["--intra-refresh", "--bframes", "1"], ["--intra-refresh", "--open-gop"], ["--low-latency", "--async-depth", "2"],
        ["--require-hardware"], ["--gop-seconds", "0"], ["--max-frame-delay", "65"], ["--async-depth", "0"],
        ["--rate-controller", "nobody"], ["--trellis", "maybe"], ["--low-power", "2"], ["--max-slice-bytes", "5"],
        ["--max-frame-bytes", "1999", "--bitrate", "400k"], ["--data-rate-limit", "20000/1", "--bitrate", "300k"],
        ["--data-rate-limit", "799/0.01", "--bitrate", "160k"], ["--vbv-size", "7999", "--bitrate", "200k"],
        ["--vbv-initial", "0", "--bitrate", "1M", "--hrd", "on"],
        ["--vbv-size", "12"], ["--quality", "0"], ["--progress", "loud"], ["--color-range", "wide"],
    ])
    func contradictingOptionsAreRefused(_ options: [String]) throws {
        let run = try encode(options, frames: 2)
        #expect(run.status == 64, "\(options): \(run.errors)")
        #expect(run.errors.contains(options[0]), "\(run.errors)")
    }

    /// The nearest values that do not contradict each other.
    @Test(arguments: [
        ["--max-frame-bytes", "2000", "--bitrate", "400k"], ["--data-rate-limit", "800/0.01", "--bitrate", "160k"],
        ["--vbv-initial", "0", "--bitrate", "1M", "--hrd", "off"], ["--rate-control", "qvbr", "--max-bitrate", "200k"],
    ])
    func consistentOptionsAreAccepted(_ options: [String]) throws {
        let run = try encode(options, frames: 2)
        #expect(run.status == 0, "\(options): \(run.errors)")
    }

    /// Limits that were missed during encoding are counted and reported. If they were requested, `--strict` ends the
    /// run.
    @Test(arguments: [
        (["--bitrate", "100k", "--max-qp", "10", "--hrd", "on"], "bufferUnderflows"),
        (["--bitrate", "20k", "--max-qp", "10", "--rate-controller", "vaenc", "--max-frame-bytes", "500"], "overMaxFrameBytes"),
        (["--bitrate", "20k", "--max-qp", "10", "--max-frame-bytes", "500"], "overMaxFrameBytes"),
        (["--qp", "4", "--max-slice-bytes", "100"], "overMaxSliceBytes"),
        (["--bitrate", "20k", "--max-qp", "10", "--data-rate-limit", "3000/1"], "overDataRateLimits"),
        (["--bitrate", "20k", "--max-qp", "10", "--max-bitrate", "30k", "--hrd", "off"], "overMaxBitrate"),
        (["--qp", "0", "--gop", "1", "--level", "1.1"], "overLevel"),
    ])
    func missedLimitsAreCountedAndReported(_ options: [String], _ count: String) throws {
        let run = try encode(options, size: "160x96", frames: 40)
        #expect(run.status == 0, "\(run.errors)")
        #expect((run.report?["statistics"]?["broken"]?[count]?.int ?? 0) > 0)
        let notices = (run.report?["notices"]?.array ?? []).compactMap(\.string)
        #expect(!notices.isEmpty && notices.allSatisfy { run.errors.contains($0) }, "\(notices), \(run.errors)")
        let strict = try encode(options + ["--strict"], size: "160x96", frames: 40)
        #expect(strict.status == 69 && strict.report == nil)
        #expect(strict.errors.contains("strict: frame"), "\(strict.errors)")
        // The messages name options, not the library's properties.
        #expect(strict.errors.contains("--") && !strict.errors.contains("`") && !notices.joined().contains("`"), "\(strict.errors)")
    }

    /// In software, the level follows from the first rate. Pictures of a higher rate that exceed it are counted.
    @Test(arguments: [("20=5M", true), ("20=110k", false)])
    func picturesOverTheLevelAreCountedAfterAChange(_ change: String, _ exceeds: Bool) throws {
        try Files.withTemporaryFolder { folder in
            let run = try EncodeRun(
                [
                    try Fixture.carphone.path(), "--device", "software", "--codec", "h264", "--bitrate", "100k", "--change-bitrate", change,
                    "--frames", "60", "--preset", "7", "--json", "-o", "a.h264",
                ], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(((run.report?["statistics"]?["broken"]?["overLevel"]?.int ?? -1) > 0) == exceeds, "\(run.errors)")
        }
    }

    @Test func keptLimitsAreNotReported() throws {
        let run = try encode(["--bitrate", "300k", "--max-frame-bytes", "8000", "--hrd", "on", "--strict"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.report?["notices"]?.array.count == 0)
        let counts = run.report?["statistics"]?["broken"]
        #expect(counts?["bufferUnderflows"]?.int == 0 && counts?["overMaxFrameBytes"]?.int == 0)
    }

    /// The option sets the QP of B pictures, which the device does not encode.
    @Test func qpOfMissingBPicturesIsUnused() throws {
        let run = try encode(["--qp-b", "30", "--qp", "28"], environment: ["VAENC_REFERENCE_PERSONALITY": "iHD-9A49"])
        #expect(run.effective("qpB")?["used"]?.string == "none")
        let strict = try encode(
            ["--qp-b", "30", "--qp", "28", "--strict"], environment: ["VAENC_REFERENCE_PERSONALITY": "iHD-9A49"])
        #expect(strict.status == 69 && strict.errors.contains("--qp-b: asked"), "\(strict.errors)")
    }

    /// If no controller can keep a limit, the reason does not advise an impossible option.
    @Test func unkeptRateWindowGivesNoImpossibleAdvice() throws {
        let run = try encode(
            ["--bitrate", "200k", "--rate-controller", "vaenc", "--data-rate-limit", "40000/1"], size: "256x144",
            environment: ["VAENC_REFERENCE_PERSONALITY": "radeonsi-navi21"])
        let why = run.effective("dataRateLimits")?["why"]?.string ?? ""
        #expect(why.contains("one QP for all pictures") && !why.contains("use --rate-controller"), "\(why)")
    }

    /// Some frames are missing: the rate is kept over the display time.
    @Test func varyingFrameRateKeepsTheBitRate() throws {
        try Files.withTemporaryFolder { folder in
            let input = folder + "/vfr.mkv"
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc=s=96x64:r=30:d=8", "-vf",
                    "select='not(mod(n,7)*eq(mod(n,3),1))',noise=alls=20:allf=t", "-vsync", "vfr", "-c:v", "libx264", "-qp", "10", input,
                ])
            try #require(setup.status == 0, "\(setup.errors)")
            let result = try ProcessRunner.run(
                Checkout.vaenc,
                [
                    "encode", input, "--device", "reference", "--rate-control", "cbr", "--bitrate", "200k", "--json", "-o",
                    folder + "/o.h264",
                ])
            let report = try #require(JSONValue(result.output), "\(result.errors)")
            let rate = Double(report["bitrate"]?.int ?? 0)
            #expect(abs(rate / 200_000 - 1) < 0.05, "\(rate)")
            #expect(report["notices"]?.array.contains { $0.string?.contains("frame rate varies") == true } == true)
            let why = report["effective"]?.array.first { $0["option"]?.string == "frameRate" }?["why"]?.string
            #expect(why == "average, because the frame times vary")
            let trace = try TraceHeaders(stream: try Files.read(folder + "/o.h264"))
            #expect(Set(trace["fixed_frame_rate_flag"]) == [0])
        }
    }
}
