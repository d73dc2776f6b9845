import TestOracles
import Testing

/// Several outputs of one input, bit depths, and automatic choices, by the command line.
@Suite struct OutputsTests {
    private func vaenc(_ arguments: [String], input: [UInt8] = []) throws -> EncodeRun {
        try EncodeRun(arguments, input: input)
    }

    private func decoded(_ path: String) throws -> [UInt8] {
        let result = try ProcessRunner.run(
            "ffmpeg", ["-nostdin", "-v", "warning", "-xerror", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"])
        #expect(result.status == 0 && result.errors == "", "\(path): \(result.errors)")
        return result.stdout
    }

    private func probe(_ path: String, _ entries: String) throws -> String {
        let result = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-select_streams", "v", "-show_entries", "stream=\(entries)", "-of", "csv=p=0", path])
        #expect(result.status == 0)
        return String(result.output.prefix { !$0.isNewline })
    }

    private let software = ["--device", "software", "--json", "--preset", "7"]

    /// A pipe can be read only once: both outputs have all frames, and each equals that of its own run.
    @Test func pipedInputReachesBothOutputs() throws {
        try Files.withTemporaryFolder { folder in
            let raw = "\(folder)/in.yuv"
            let pattern = try ProcessRunner.run(
                "ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.4", "-pix_fmt", "yuv420p", raw])
            #expect(pattern.status == 0)
            let layout = ["--input-size", "64x48", "--fps", "25", "--qp", "20"]
            let input = try Files.read(raw)
            let both = try vaenc(
                ["-", "-o", "\(folder)/a.h264", "-o", "\(folder)/b.h265"] + layout + software, input: input)
            #expect(both.status == 0, "\(both.errors)")
            let outputs = try #require(both.report?["outputs"]?.array)
            #expect(outputs.compactMap { $0["codec"]?.string } == ["h264", "hevc"])
            #expect(both.report?["codec"]?.string == "h264" && both.report?["output"]?.string == "\(folder)/a.h264")
            for (index, name) in ["a.h264", "b.h265"].enumerated() {
                let alone = try vaenc(["-", "-o", "\(folder)/alone-\(name)"] + layout + software, input: input)
                #expect(alone.status == 0 && alone.report?["outputs"] == nil)
                let isSame = try Files.read("\(folder)/\(name)") == Files.read("\(folder)/alone-\(name)")
                #expect(isSame, "\(name)")
                #expect(try decoded("\(folder)/\(name)").count == 10 * 64 * 48 * 3 / 2)
                let one = outputs[index]
                #expect(one["frames"]?["encoded"]?.int == 10 && one["error"] == .null)
                #expect(one["bytes"]?.int == Files.size("\(folder)/\(name)"))
                #expect(one["output"]?.string == "\(folder)/\(name)")
                for key in ["codec", "profile", "level", "bytes", "bitrate", "frames", "effective", "output"] {
                    #expect(one[key] != nil, "\(key)")
                }
            }
        }
    }

    /// One output has ten bits. The other one has eight, which is reported.
    @Test func outputsMayDifferInBitDepth() throws {
        try Files.withTemporaryFolder { folder in
            let run = try vaenc(
                ["testsrc:64x48@25:5", "--input-format", "p010", "-o", "\(folder)/a.mkv", "-o", "\(folder)/b.h264"]
                    + software + ["--qp", "10"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.effective("codec", output: 0)?["used"]?.string == "hevc")
            #expect(try probe("\(folder)/a.mkv", "profile,pix_fmt") == "Main 10,yuv420p10le")
            #expect(try probe("\(folder)/b.h264", "pix_fmt") == "yuv420p")
            #expect(run.effective("pixelFormat", output: 0) == nil)
            #expect(run.effective("pixelFormat", output: 1)?["asked"]?.string == "p010")
            #expect(run.effective("pixelFormat", output: 1)?["why"]?.string?.contains("rounded") == true)
        }
    }

    /// The other output is finished. The status and the report name the failed one.
    @Test(arguments: [0, 1]) func failedOutputLeavesTheOtherComplete(_ index: Int) throws {
        try Files.withTemporaryFolder { folder in
            var names = ["\(folder)/a.h264"]
            names.insert("/dev/full", at: index)
            let run = try vaenc(["testsrc:64x48@25:30"] + names.flatMap { ["-o", $0] } + software)
            #expect(run.status == 74, "\(run.errors)")
            #expect(run.errorLines.count == 1 && run.errors.contains("/dev/full"), "\(run.errors)")
            let outputs = try #require(run.report?["outputs"]?.array)
            try #require(outputs.count == 2)
            #expect(outputs[index]["error"]?.string?.contains("the disk is full") == true)
            #expect(outputs[1 - index]["error"] == .null)
            #expect(outputs[1 - index]["frames"]?["encoded"]?.int == 30)
            #expect(try decoded("\(folder)/a.h264").count == 30 * 64 * 48 * 3 / 2)
        }
    }

    /// If one output cannot be created, none is left.
    @Test func refusedOutputLeavesNoOtherOutput() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write([1], to: "\(folder)/b.h265")
            let run = try vaenc(["testsrc:64x48@25:5", "-o", "\(folder)/a.h264", "-o", "\(folder)/b.h265"] + software)
            #expect(run.status == 73 && Files.list(folder) == ["b.h265"], "\(run.errors)")
        }
        for names in [["-o", "a.h264", "-o", "a.h264"], ["-o", "-", "-o", "-"], ["-o", "a.flv", "--codec", "hevc"]] {
            #expect(try vaenc(["testsrc:64x48@25:5"] + names + software).status == 64, "\(names)")
        }
    }

    /// `--format` determines the format of outputs whose name determines none. Other outputs keep their own.
    @Test func formatAppliesToOutputsWithoutAnExtension() throws {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "testsrc:64x48@25:5", "--format", "ts", "-o", "-", "-o", "a.mp4", "-o", "b.ts"] + software,
                directory: folder)
            #expect(result.status == 0, "\(result.errors)")
            try Files.write(result.stdout, to: "\(folder)/c")
            for (name, format) in [("a.mp4", "mov"), ("b.ts", "mpegts"), ("c", "mpegts")] {
                let probe = try ProcessRunner.run(
                    "ffprobe",
                    ["-v", "error", "-count_packets", "-show_entries", "format=format_name:stream=nb_read_packets", "-of", "csv=p=0", name],
                    directory: folder)
                #expect(probe.output.contains(format) && probe.output.contains("5"), "\(name): \(probe.output)")
            }
            for names in [["-o", "a.mkv", "-o", "b.mov"], ["-o", "a.mkv"]] {
                #expect(try vaenc(["testsrc:64x48@25:5", "--format", "ts"] + names + software).status == 64, "\(names)")
            }
        }
    }

    /// A line about exceeded limits names its output.
    @Test func exceededLimitsNameTheirOutput() throws {
        try Files.withTemporaryFolder { folder in
            let paths = ["a.h264", "b.h264"].map { "\(folder)/\($0)" }
            let run = try vaenc(
                [
                    "testsrc:320x192@25:10", "--max-frame-bytes", "1000", "--bitrate", "200k", "--max-qp", "20", "--json", "-o", paths[0], "-o",
                    paths[1], "--device", "reference", "--codec", "h264",
                ])
            let lines = run.errorLines.filter { $0.contains("exceeded --max-frame-bytes") }
            #expect(run.status == 0 && lines.count == 2 && zip(lines, paths).allSatisfy { $0.contains("\($1): ") }, "\(run.errors)")
        }
    }

    /// If the device does not encode ten bits, the input is encoded in eight, which is reported and refused by
    /// --strict.
    @Test func tenBitInputIsReducedToEightBits() throws {
        try Files.withTemporaryFolder { folder in
            let arguments = [
                "testsrc:64x48@25:5", "--input-format", "p010", "--device", "reference", "--codec", "h264", "--json", "-o",
                "\(folder)/a.mp4", "--qp", "30",
            ]
            let run = try vaenc(arguments)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.effective("pixelFormat")?["asked"]?.string == "p010")
            #expect(try vaenc(arguments + ["--strict", "--overwrite"]).status == 69)
        }
    }

    /// On a VA-API device the stream carries the metadata too, which is reported.
    @Test func devicesWriteMetadata() throws {
        try Files.withTemporaryFolder { folder in
            let display = "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"
            let path = "\(folder)/a.h264"
            let run = try vaenc([
                "testsrc:64x48@25:6", "-o", path, "--device", "reference", "--json", "--qp", "30", "--gop", "3", "--bframes", "0",
                "--mastering-display", display, "--content-light", "1000,400",
            ])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.effective("masteringDisplay")?["used"]?.string == display)
            #expect(run.effective("contentLight")?["used"]?.string == "1000,400")
            let traced = try ProcessRunner.run(
                "ffmpeg", ["-nostdin", "-v", "verbose", "-i", path, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-"])
            for (field, value) in [("max_display_mastering_luminance", "10000000"), ("max_content_light_level", "1000")] {
                let found = traced.errors.split(whereSeparator: \.isNewline).filter { $0.contains(" \(field) ") }
                #expect(found.count == 2 && found.allSatisfy { $0.hasSuffix("= \(value)") }, "\(field) \(found.count)")
            }
        }
    }

    @Test func depthAndMetadataOptionsAreApplied() throws {
        try Files.withTemporaryFolder { folder in
            let display = "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"
            let path = "\(folder)/a.mp4"
            func encode(_ options: [String]) throws -> EncodeRun {
                try vaenc(["testsrc:64x48@25:3", "-o", path, "--overwrite"] + options + software)
            }
            let deep = try encode([
                "--bit-depth", "10", "--mastering-display", display, "--content-light", "1000,400", "--color-primaries", "bt2020",
                "--color-transfer", "smpte2084", "--color-matrix", "bt2020nc", "--sample-entry", "hev1",
            ])
            #expect(deep.status == 0, "\(deep.errors)")
            #expect(deep.report?["codec"]?.string == "hevc" && deep.report?["profile"]?.string == "Main 10")
            #expect(deep.effective("masteringDisplay")?["used"]?.string == display)
            #expect(deep.effective("contentLight")?["used"]?.string == "1000,400")
            #expect(try probe(path, "codec_tag_string,pix_fmt,color_transfer").hasPrefix("hev1,yuv420p10le,smpte2084"))
            let all = try ProcessRunner.run("ffprobe", ["-v", "error", "-show_streams", path]).output
            #expect(all.contains("max_content=1000\n") && all.contains("red_x=34000/50000\n"))
            // Metadata of an input file is carried over without an option.
            let again = try vaenc([path, "-o", "\(folder)/b.mkv"] + software)
            #expect(again.status == 0 && again.report?["codec"]?.string == "hevc", "\(again.errors)")
            #expect(again.effective("masteringDisplay")?["asked"] == .null)
            #expect(again.effective("masteringDisplay")?["used"]?.string == display)
            #expect(try encode(["--profile", "main10"]).report?["profile"]?.string == "Main 10")
            #expect(try encode(["--profile", "high"]).report?["codec"]?.string == "h264")
            #expect(try probe(path, "codec_tag_string") == "avc1")
            #expect(try encode(["--codec", "hevc"]).status == 0)
            #expect(try probe(path, "codec_tag_string,pix_fmt") == "hvc1,yuv420p")
            for wrong in [
                ["--bit-depth", "12"], ["--bit-depth", "10", "--codec", "h264"], ["--profile", "main10", "--codec", "h264"],
                ["--bit-depth", "8", "--profile", "main10"], ["--mastering-display", "G(1,2)"], ["--content-light", "1000"],
                ["--entropy", "cavlc", "--codec", "hevc"], ["--sample-entry", "avc1"],
            ] {
                #expect(try encode(wrong).status == 64, "\(wrong)")
            }
        }
    }
}
