import TestOracles
import Testing

/// No option is ignored silently, and every reason is the true one, if the codec, container, device or another option
/// prevents a request.
@Suite struct OptionReasonTests {
    private struct Run {
        var status: Int
        var report: JSONValue?
        var errors: [Substring]
        var files: [String]

        /// `asked > used: why`
        func effective(_ option: String) -> String? {
            let entry = report?["effective"]?.array.first { $0["option"]?.string == option }
            return entry.map { "\($0["asked"]?.string ?? "nothing") > \($0["used"]?.string ?? ""): \($0["why"]?.string ?? "")" }
        }
    }

    private func vaenc(
        _ arguments: String, input: String = "testsrc:64x48@25:2", personality: String? = nil, json: Bool = true,
        device: String = "reference", prepare: String = "true"
    ) throws -> Run {
        try Files.withTemporaryFolder { folder in
            let command = "\(prepare) && exec \"$0\" encode \(input) --device \(device) \(json ? "--json" : "") \(arguments)"
            let result = try ProcessRunner.run(
                "bash", ["-c", command, Checkout.vaenc], environment: ["VAENC_REFERENCE_PERSONALITY": personality],
                directory: folder)
            return Run(
                status: result.status, report: JSONValue(result.output), errors: result.errorLines,
                files: Files.list(folder).sorted())
        }
    }

    // MARK: Sample entries

    /// If no output can have a sample entry, the option is a usage error.
    @Test(arguments: [
        "-o a.mkv", "-o a.ts", "-o a.h265", "-o a.h264", "-o a.mp4 --codec h264", "-o a.mp4 --profile high", "-o a.mov --entropy cavlc",
        "-o a.mkv -o b.h265", "-o a.bin --format avcc", "",
    ])
    func unusableSampleEntryIsRefused(_ options: String) throws {
        let run = try vaenc(options + " --sample-entry hev1")
        #expect(run.status == 64 && run.errors.count == 1 && run.files.isEmpty, "\(run.errors)")
        #expect(run.errors.first?.contains("--sample-entry hev1") == true, "\(run.errors)")
    }

    /// If an output has a sample entry, the report contains it. If the device encodes H.264, it is another one.
    @Test func sampleEntryIsReported() throws {
        for name in ["a.mp4", "a.mov"] {
            let run = try vaenc("-o \(name) --sample-entry hev1 --strict --bframes 0")
            #expect(run.status == 0 && run.effective("sampleEntry") == "hev1 > hev1: as asked", "\(run.errors)")
        }
        #expect(try vaenc("-o a.mp4").effective("sampleEntry") == nil)
        let both = try vaenc("-o a.mp4 -o b.h264 --sample-entry hev1")
        #expect(both.status == 0 && both.effective("sampleEntry") != nil, "\(both.errors)")
        let large = "testsrc:256x144@25:2"
        let other = try vaenc("-o a.mp4 --sample-entry hvc1", input: large, personality: "i965-5916")
        #expect(other.effective("sampleEntry") == "hvc1 > avc1: H.264 has no other sample entry", "\(other.errors)")
        let strict = try vaenc("-o a.mp4 --sample-entry hvc1 --bframes 0 --strict", input: large, personality: "i965-5916")
        #expect(strict.status == 69 && strict.files.isEmpty && strict.errors.first?.contains("--sample-entry") == true, "\(strict.errors)")
    }

    // MARK: Names

    private static let links = "mkdir f && ln -s f link && ln -s /nowhere broken && echo 1 >f/old && ln f/old f/hard && ln -s old f/soft"

    /// One file under two names is a usage error, and nothing is written.
    @Test(arguments: [
        "a.h265 ./a.h265", "a.h265 f/../a.h265", "f/a.h265 link/a.h265", "link/a.h265 f/./a.h265", "a.h265 $PWD/a.h265",
        "f/a.mp4 a.h264 link/a.mp4", "f/old f/hard", "f/old link/soft", "f/soft f/soft", "a.h265 a.h265.part", "no/a.h265 no/a.h265",
        "x.m3u8 x00000.ts", "x123456.ts x.m3u8", "f/x.m3u8 link/x00003.ts", "x.m3u8 x-init.mp4", "x.m3u8 x.M3U8", "no/x.m3u8 no/x00000.ts",
    ])
    func duplicateOutputIsRefused(_ names: String) throws {
        let outputs = names.split(separator: " ").map { "-o \"\($0)\"" }.joined(separator: " ")
        let format = names.contains(".mp4") || names.contains(".m3u8") ? "" : "--format annexb"
        let run = try vaenc("\(outputs) \(format) --overwrite", prepare: Self.links)
        #expect(run.status == 64 && run.errors.count == 1, "\(run.errors)")
        #expect(run.errors.first?.contains("the same file") == true || run.errors.first?.contains("named twice") == true, "\(run.errors)")
        #expect(run.files == ["broken", "f", "link"])
    }

    /// The names only look alike.
    @Test(arguments: [
        "a.h265 f/a.h265", "f/a.h265 link/b.h265", "a.h265 A.h265", "a.h265 a.h265.h265", "x.m3u8 x0000.ts", "x.m3u8 x000001.ts",
        "x.m3u8 f/x00000.ts",
    ])
    func similarOutputNamesAreAccepted(_ names: String) throws {
        let outputs = names.split(separator: " ").map { "-o \($0)" }.joined(separator: " ")
        let run = try vaenc(outputs, prepare: Self.links)
        #expect(run.status == 0, "\(run.errors)")
    }

    /// The input is never overwritten, under any name, also if the unfinished output would replace it.
    @Test(arguments: [
        ("i.y4m", "i.y4m", "i.y4m"), ("i.y4m", "f/../i.y4m", "f/../i.y4m"), ("link/i.y4m", "f/i.y4m", "f/i.y4m"),
        ("i.y4m", "hard.y4m", "hard.y4m"), ("a.h265.part", "a.h265", "a.h265.part"), ("- <i.y4m", "i.y4m", "i.y4m"),
        ("i.y4m", "- >>i.y4m", "standard output"),
    ])
    func outputOntoTheInputIsRefused(_ input: String, _ output: String, _ reportedName: String) throws {
        let make = """
            mkdir f && ln -s f link && (printf 'YUV4MPEG2 W64 H48 F25:1 C420jpeg\\nFRAME\\n'; head -c 4608 /dev/zero) >i.y4m \
            && cp i.y4m f/i.y4m && ln i.y4m hard.y4m && cp i.y4m a.h265.part
            """
        let run = try vaenc("--format annexb --overwrite -o \(output)", input: input, prepare: make)
        #expect(run.status == 64 && run.errors.count == 1, "\(run.errors)")
        #expect(run.errors.first?.contains("\(reportedName) is the input itself") == true, "\(run.errors)")
        #expect(run.files == ["a.h265.part", "f", "hard.y4m", "i.y4m", "link"])
    }

    // MARK: Levels and tiers

    /// The tier follows rate and buffer unless it is requested. H.264 has none.
    @Test func tierFollowsRateAndRequest() throws {
        let rate = "-o a.h265 --bitrate 20M --strict --bframes 0"
        let needed = try vaenc("\(rate) --level 4.0")
        #expect(needed.status == 0 && needed.report?["level"]?.string == "4.0 High", "\(needed.errors)")
        #expect(needed.effective("level") == "4.0 > 4.0: as asked")
        #expect(needed.effective("tier") == "nothing > High: 30000000 bit/s exceeds level 4.0's Main tier")
        let high = try vaenc("\(rate) --level 4.1 --tier high")
        #expect(high.report?["level"]?.string == "4.1 High" && high.effective("tier") == "High > High: as asked", "\(high.errors)")
        // A requested tier that is not needed raises the level to the first one with tiers.
        let alone = try vaenc("-o a.mp4 --tier high --qp 40")
        #expect(alone.report?["level"]?.string == "4.0 High" && alone.effective("codec")?.contains("a tier") == true, "\(alone.errors)")
        let main = try vaenc("-o a.h265 --bitrate 20M --level 4.0 --tier main", json: false)
        #expect(
            main.errors.first?.contains("level: asked 4.0, used 5.1 (needed by 64×48 at 25/1 and 30000000 bit/s in the Main tier)") == true,
            "\(main.errors)")
        #expect(try vaenc("\(rate) --level 4.0 --tier main").status == 69)
        let plain = try vaenc("-o a.h265 --qp 30")
        #expect(plain.effective("tier") == "nothing > Main: default")
        #expect(try vaenc("-o a.h264 --qp 30").effective("tier") == nil)
        let both = try vaenc("-o a.h264 -o b.h265 --qp 30 --tier high")
        #expect(both.report?["outputs"]?.array.last?["level"]?.string == "4.0 High", "\(both.errors)")
        for wrong in ["-o a.h264 --tier main", "-o a.mp4 --profile high --tier high", "-o a.h265 --level 3.1 --tier high", "-o a.mp4 --tier low"] {
            let run = try vaenc(wrong)
            #expect(run.status == 64, "\(wrong): \(run.errors)")
        }
        let software = try vaenc("-o a.h265 --bitrate 1M --tier main", device: "software")
        #expect(software.status == 0 && software.effective("tier") == "Main > Main: as asked", "\(software.errors)")
        // A level alone does not require the High tier.
        for (options, level) in [("--quality 30", "4.1"), ("--bitrate 25M", "4.1 High"), ("--quality 30 --tier high", "4.1 High")] {
            let run = try vaenc("-o a.h265 --level 4.1 \(options)", device: "software")
            #expect(run.report?["level"]?.string == level, "\(options): \(run.errors)")
        }
    }

    /// A level that the pictures exceed is raised, with a warning. `--strict` refuses it.
    @Test(arguments: ["a.h264", "a.h265"]) func exceededLevelIsRaisedAndReported(_ name: String) throws {
        let text = try vaenc("-o \(name) --level 1.0", input: "testsrc:640x360@25:1", json: false)
        let warning = "level: asked 1.0, used \(name == "a.h264" ? "3.0" : "2.1") (needed by 640×360 at 25/1)"
        #expect(text.status == 0 && text.errors.contains { $0.contains(warning) }, "\(text.errors)")
        let strict = try vaenc("-o \(name) --level 1.0 --strict", input: "testsrc:640x360@25:1")
        #expect(strict.status == 69 && strict.files.isEmpty && strict.errors.first?.contains("level: asked 1.0") == true, "\(strict.errors)")
    }

    // MARK: Reasons

    @Test(arguments: ["h264", "hevc"]) func conflictingOptionsAreNamedAsReason(_ codec: String) throws {
        let references = try vaenc("-o a.mp4 --codec \(codec) --ltr 4 --refs 2")
        #expect(references.effective("longTermReferences") == "4 > 2: limited by --refs", "\(references.errors)")
        let open = try vaenc("-o a.mp4 --codec \(codec) --open-gop --idr-interval 1 --bframes 2")
        #expect(open.effective("openGOP") == "on > off: every key frame is an IDR picture", "\(open.errors)")
        let delimiters = try vaenc("-o a.mp4 -o b.ts --codec \(codec) --aud")
        #expect(delimiters.effective("accessUnitDelimiters") == "on > off: mp4 cannot hold them", "\(delimiters.errors)")
        let strict = try vaenc("-o a.mp4 --codec \(codec) --aud --bframes 0 --strict")
        #expect(strict.status == 69 && strict.errors.first?.contains("strict: --aud") == true, "\(strict.errors)")
        for name in ["a.ts", "a.bin"] {
            let run = try vaenc("-o \(name) --codec \(codec) --aud --bframes 0 --strict \(name == "a.ts" ? "" : "--format avcc")")
            #expect(run.status == 0 && run.effective("accessUnitDelimiters") == "on > on: as asked", "\(run.errors)")
        }
    }

    /// The refusal of rounding from ten bits has the same words for each cause.
    @Test(
        arguments: [
            ("-o a.h265 --bit-depth 8", nil, "the profile has 8 bits: samples are rounded"),
            ("-o a.h264", nil, "H.264 is coded in 8 bits: samples are rounded"),
            ("-o a.mp4", "i965-5916", "H.264 is coded in 8 bits: samples are rounded"),
        ] as [(String, String?, String)])
    func roundingReasonNamesTheCause(_ options: String, _ personality: String?, _ why: String) throws {
        let run = try vaenc(
            "\(options) --input-format p010 --bframes 0 --strict", input: "testsrc:256x144@25:2", personality: personality)
        #expect(run.status == 69 && run.files.isEmpty)
        #expect(run.errors.first?.contains("strict: pixelFormat: asked p010, would be nv12 (\(why))") == true, "\(run.errors)")
    }

    /// If the codec was not requested, the error says why it is needed.
    @Test func errorExplainsARequiredCodec() throws {
        let deep = try vaenc("-o a.mp4 --bit-depth 10", input: "testsrc:256x144@25:2", personality: "i965-5916")
        #expect(
            deep.status == 69 && deep.errors.first?.contains("does not encode HEVC (HEVC is needed: 10 bits are requested") == true, "\(deep.errors)")
        let named = try vaenc("-o a.h265", input: "testsrc:256x144@25:2", personality: "i965-5916")
        #expect(named.status == 69 && named.errors.first?.contains("needed") == false, "\(named.errors)")
    }

    /// The options describe raw frames, not a test pattern.
    @Test(arguments: ["--input-size 32x32", "--input-format yuyv"]) func inputOptionsOfATestPatternAreRefused(_ option: String) throws {
        let run = try vaenc("-o a.h265 \(option)")
        #expect(run.status == 64 && run.errors.first?.contains("leave out --input") == true, "\(run.errors)")
    }
}
