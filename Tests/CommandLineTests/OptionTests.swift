import TestOracles
import Testing

/// Each option of docs/CLI.md that an H.264 encoder has reaches it: what the encoder says that it uses is what was asked.
@Suite struct OptionTests {
    private struct Run {
        var status: Int
        var report: JSONValue?
        var errors: String

        func effective(_ option: String) -> JSONValue? {
            report?["effective"]?.array.first { $0["option"]?.string == option }
        }
    }

    private func encode(
        _ options: [String], size: String = "192x128", frames: Int = 12, device: String = "reference",
        environment: [String: String?] = [:]
    ) throws -> Run {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                Checkout.vaenc,
                ["encode", "testsrc:\(size)@25:\(frames)", "--device", device, "--json", "-o", folder + "/o.h264"] + options,
                environment: environment, timeout: 60)
            return Run(status: result.status, report: JSONValue(result.output), errors: result.errors)
        }
    }

    private static let asked: [[(option: String, name: String, used: String)]] = [
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

    @Test(arguments: asked.indices) func arrives(_ index: Int) throws {
        let group = Self.asked[index]
        let run = try encode(group.flatMap { $0.option.split(separator: " ").map(String.init) })
        #expect(run.status == 0, "\(run.errors)")
        for (option, name, used) in group {
            #expect(run.effective(name)?["used"]?.string == used, "\(option)")
        }
        #expect(run.report?["frames"]?["encoded"]?.int == 12)
    }

    /// Key frames where they are forced, by number and by time.
    @Test func forcedKeyFrames() throws {
        let run = try encode(["--force-key", "3,0.32s", "--bframes", "0", "--gop", "100"])
        #expect(run.report?["frames"]?["key"]?.int == 3)
    }

    /// What was not asked for is not said to have been.
    @Test func whatWasNotAskedHasAReason() throws {
        let run = try encode(["--qp", "30"])
        #expect(run.effective("rateControl")?["why"]?.string == "a QP is asked for")
        #expect(run.effective("frameRate")?["why"]?.string == "the input's")
        for entry in run.report?["effective"]?.array ?? [] where entry["asked"]?.string == nil {
            #expect(entry["why"]?.string != "as asked", "\(entry)")
        }
    }

    /// What a chip lacks stands in the effective configuration, and `--strict` refuses it by name.
    @Test(arguments: [
        ("iHD-9A49", ["--bframes", "2"], "bFrames", "0"), ("iHD-9A49", ["--refs", "8"], "references", "3"),
        ("i965-5916", ["--trellis", "on"], "trellis", "driver's"), ("i965-5916", ["--roi", "0,0,32x32:-5"], "regionsOfInterest", "0"),
        ("radeonsi25-navi31", ["--refs", "4"], "references", "1"), ("radeonsi-navi21", ["--ltr", "2"], "longTermReferences", "0"),
        ("radeonsi-navi21", ["--temporal-layers", "2"], "temporalLayers", "1"), ("radeonsi-navi21", ["--intra-refresh"], "intraRefresh", "off"),
    ])
    func whatAChipLacks(_ personality: String, _ options: [String], _ name: String, _ used: String) throws {
        let environment: [String: String?] = ["VAENC_REFERENCE_PERSONALITY": personality]
        let run = try encode(options, size: "256x144", frames: 6, environment: environment)
        #expect(run.status == 0, "\(run.errors)")
        let entry = try #require(run.effective(name))
        #expect(entry["used"]?.string == used && entry["asked"]?.string != used, "\(entry)")
        #expect((entry["why"]?.string?.count ?? 0) > 5)
        let strict = try encode(options + ["--strict"], size: "256x144", frames: 6, environment: environment)
        #expect(strict.status == 69 && strict.report == nil)
        #expect(strict.errors.contains(name), "\(strict.errors)")
    }

    /// The software path says the same of itself.
    @Test func softwareReportsWhatItLacks() throws {
        let run = try encode(["--ltr", "2", "--qp", "30", "--slices", "2"], device: "software")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.report?["effective"]?.array.contains { $0["option"]?.string == "longTermReferences" && $0["used"]?.string != "2" } == true)
        #expect(try encode(["--ltr", "2", "--strict"], device: "software").status == 69)
    }

    /// Options that exclude each other.
    @Test(arguments: [
        ["--quality", "20", "--bitrate", "1M"], ["--rate-control", "cbr"], ["--rate-control", "icq", "--bitrate", "1M"],
        ["--rate-control", "cbr", "--bitrate", "1M", "--max-bitrate", "2M"], ["--min-qp", "30", "--max-qp", "20"],
        ["--intra-refresh", "--bframes", "1"], ["--intra-refresh", "--open-gop"], ["--low-latency", "--async-depth", "2"],
        ["--require-hardware"], ["--gop-seconds", "0"], ["--max-frame-delay", "65"], ["--async-depth", "0"],
        ["--rate-controller", "nobody"], ["--trellis", "maybe"], ["--low-power", "2"], ["--max-slice-bytes", "5"],
        ["--vbv-size", "12"], ["--quality", "0"], ["--progress", "loud"], ["--color-range", "wide"],
    ])
    func contradictions(_ options: [String]) throws {
        let run = try encode(options, frames: 2)
        #expect(run.status == 64, "\(options): \(run.errors)")
        #expect(run.errors.contains(options[0]), "\(run.errors)")
    }
}
