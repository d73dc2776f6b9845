import TestOracles
import Testing

/// HDR10, HDR10+ and HLG through VA-API, from options and from input files, into streams and containers; judged by
/// ffprobe.
@Suite struct HDRTests {
    private static let display = "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"
    private static let hdr10 = [
        "--color-primaries", "bt2020", "--color-transfer", "smpte2084", "--color-matrix", "bt2020nc", "--color-range", "limited",
        "--mastering-display", display, "--content-light", "1000,400",
    ]
    /// The color description, as ffprobe prints it.
    private static let colors = ["color_primaries=bt2020", "color_transfer=smpte2084", "color_space=bt2020nc", "color_range=tv"]
    private static let metadata = [
        "red_x=34000/50000", "red_y=16000/50000", "green_x=13250/50000", "green_y=34500/50000", "blue_x=7500/50000",
        "blue_y=3000/50000", "white_point_x=15635/50000", "white_point_y=16450/50000", "min_luminance=50/10000",
        "max_luminance=10000000/10000", "max_content=1000", "max_average=400",
    ]

    private func vaenc(_ arguments: [String], in folder: String, personality: String? = nil, input: [UInt8] = []) throws -> EncodeRun {
        try EncodeRun(
            arguments + ["--device", "reference", "--qp", "32", "--json"], in: folder, input: input,
            environment: ["VAENC_REFERENCE_PERSONALITY": personality])
    }

    private func ffprobe(_ name: String, _ show: String, in folder: String) throws -> [String] {
        let result = try ProcessRunner.run(
            "ffprobe", ["-v", "warning", "-select_streams", "v", show, name], directory: folder)
        #expect(result.status == 0 && result.errors == "", "\(name): \(result.errors)")
        return result.output.split(separator: "[FRAME]").map { String($0) }
    }

    private func expect(_ lines: [String], in text: String, _ context: String, _ sourceLocation: SourceLocation = #_sourceLocation) {
        for line in lines { #expect(text.contains("\(line)\n"), "\(context): \(line)", sourceLocation: sourceLocation) }
    }

    private static let names = ["a.h265", "a.mp4", "a.mov", "a.mkv", "a.ts"]

    /// Metadata from options is in every key frame of the stream, in each container, and in the containers' own fields.
    /// A personality changes the stream, and not the containers.
    @Test(arguments: [nil, "iHD-9A49", "radeonsi-navi21"]) func metadataFromOptionsIsWritten(_ personality: String?) throws {
        try Files.withTemporaryFolder { folder in
            let names = personality == nil ? Self.names : ["a.h265", "a.mp4"]
            let run = try vaenc(
                ["testsrc:256x144@25:5", "--input-format", "p010", "--gop", "3", "--bframes", "0"] + Self.hdr10
                    + names.flatMap { ["-o", $0] }, in: folder, personality: personality)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.report?["profile"]?.string == "Main 10" && run.effective("codec")?["used"]?.string == "hevc")
            #expect(run.effective("masteringDisplay")?["used"]?.string == Self.display)
            #expect(run.effective("contentLight")?["used"]?.string == "1000,400")
            for name in names {
                let frames = try ffprobe(name, "-show_frames", in: folder)
                #expect(frames.count == 5, "\(name)")
                for index in [0, 3] where index < frames.count {
                    expect(Self.colors + Self.metadata + ["pix_fmt=yuv420p10le"], in: frames[index], "\(name) \(index)")
                }
                let stream = try ffprobe(name, "-show_streams", in: folder)[0]
                expect(Self.colors + ["codec_name=hevc", "profile=Main 10"], in: stream, name)
                if name == "a.mp4" || name == "a.mov" {
                    expect(Self.metadata + ["codec_tag_string=hvc1"], in: stream, "\(name)'s header")
                }
                // Matroska stores floating-point numbers.
                if name == "a.mkv" {
                    expect(
                        ["red_x=17/25", "white_point_y=329/1000", "max_luminance=1000/1", "max_content=1000", "max_average=400"], in: stream, name)
                }
            }
        }
    }

    /// The input is from another encoder, and no options are given.
    @Test func metadataFromTheInputIsKept() throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=0.2", "-pix_fmt", "yuv420p10le", "-c:v",
                    "libx265", "-preset", "ultrafast", "-x265-params",
                    "log-level=none:hdr10=1:repeat-headers=1:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:range=limited"
                        + ":master-display=\(Self.display):max-cll=1000,400", "in.mp4",
                ], directory: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            let run = try vaenc(["in.mp4", "-o", "b.h265", "-o", "b.mp4", "-o", "b.mov", "-o", "b.mkv"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.effective("masteringDisplay")?["asked"] == .null)
            #expect(run.effective("masteringDisplay")?["used"]?.string == Self.display)
            for name in ["in.mp4", "b.h265", "b.mp4", "b.mov", "b.mkv"] {
                let frames = try ffprobe(name, "-show_frames", in: folder)
                #expect(frames.count == 5)
                expect(Self.colors + Self.metadata, in: frames.first ?? "", name)
            }
            // Options override the input.
            let other = try vaenc(["in.mp4", "-o", "c.h265", "--content-light", "600,200"], in: folder)
            #expect(other.effective("contentLight")?["asked"]?.string == "600,200", "\(other.errors)")
            expect(["max_content=600", "max_average=200", "red_x=34000/50000"], in: try ffprobe("c.h265", "-show_frames", in: folder)[0], "c")
        }
    }

    /// HDR10+ metadata stays with its picture, also with reordering.
    @Test(arguments: [0, 2]) func dynamicMetadataStaysWithItsPicture(_ bFrames: Int) throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=0.24", "-pix_fmt", "yuv420p10le", "-c:v",
                    "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:bframes=0:slices=1", "-f", "hevc", "plain.h265",
                ], directory: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            try Files.write(HDR10Plus.inserted(in: try Files.read("\(folder)/plain.h265")), to: "\(folder)/in.h265")
            let run = try vaenc(["in.h265", "-o", "a.h265", "-o", "a.mp4", "-o", "a.mkv", "--bframes", "\(bFrames)"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            if bFrames > 0 { #expect((run.report?["frames"]?["b"]?.int ?? 0) > 0) }
            for name in ["in.h265", "a.h265", "a.mp4", "a.mkv"] {
                let frames = try ffprobe(name, "-show_frames", in: folder)
                #expect(frames.count == 6, "\(name)")
                for (number, frame) in frames.enumerated() {
                    expect(["maxscl=\(10_000 + number)/100000", "targeted_system_display_maximum_luminance=400/1"], in: frame, "\(name) \(number)")
                }
            }
        }
    }

    /// HLG needs no metadata: the transfer characteristics signal it, from options or from the input.
    @Test func hlgIsSignaledByTheTransfer() throws {
        let colors = ["color_primaries=bt2020", "color_transfer=arib-std-b67", "color_space=bt2020nc"]
        try Files.withTemporaryFolder { folder in
            let options = ["--color-primaries", "bt2020", "--color-transfer", "arib-std-b67", "--color-matrix", "bt2020nc", "--bit-depth", "10"]
            let run = try vaenc(
                ["testsrc:96x64@25:3", "-o", "a.h265", "-o", "a.mp4", "-o", "a.mov", "-o", "a.mkv"] + options, in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let again = try vaenc(["a.mkv", "-o", "b.mp4", "-o", "b.h265"], in: folder)
            #expect(again.status == 0 && again.report?["profile"]?.string == "Main 10", "\(again.errors)")
            for name in ["a.h265", "a.mp4", "a.mov", "a.mkv", "b.mp4", "b.h265"] {
                let stream = try ffprobe(name, "-show_streams", in: folder)[0]
                expect(colors + ["pix_fmt=yuv420p10le"], in: stream, name)
                #expect(!stream.contains("side_data_type=Mastering"), "\(name)")
            }
        }
    }

    /// The sample entry is `hvc1` unless `hev1` is requested, in both depths. Both play.
    @Test func sampleEntryFollowsTheOption() throws {
        try Files.withTemporaryFolder { folder in
            for (options, tag) in [([], "hvc1"), (["--sample-entry", "hev1"], "hev1"), (["--sample-entry", "hvc1"], "hvc1")] {
                for depth in ["8", "10"] {
                    let run = try vaenc(
                        ["testsrc:96x64@25:3", "--bit-depth", depth, "--codec", "hevc", "-o", "a.mp4", "-o", "a.mov", "--overwrite"]
                            + options, in: folder)
                    #expect(run.status == 0, "\(run.errors)")
                    for name in ["a.mp4", "a.mov"] {
                        expect(["codec_tag_string=\(tag)", "codec_name=hevc"], in: try ffprobe(name, "-show_streams", in: folder)[0], name)
                        #expect(try ffprobe(name, "-show_frames", in: folder).count == 3)
                    }
                }
            }
        }
    }

    /// A conversion between 8 and 10 bits is reported on stderr and refused by `--strict`. Without one, there is no
    /// message.
    @Test func bitDepthConversionIsReported() throws {
        // A ramp whose samples are not multiples of 4.
        let deep: [UInt8] = (0..<64 * 48 * 3 / 2).flatMap { index -> [UInt8] in
            let sample = 256 + index % 509
            return [UInt8(truncatingIfNeeded: sample << 6), UInt8(sample >> 2)]
        }
        let layout = ["-", "--input-size", "64x48", "--fps", "25", "--input-format"]
        let cases: [(format: String, options: [String], name: String, pixels: String, words: String?)] = [
            ("p010", [], "a.h265", "yuv420p10le", nil), ("p010", ["--profile", "main", "--codec", "hevc"], "b.h265", "yuv420p", "rounded"),
            ("p010", ["--bit-depth", "8"], "c.h265", "yuv420p", "rounded"), ("p010", ["--codec", "h264"], "d.mp4", "yuv420p", "rounded"),
            ("nv12", ["--bit-depth", "10"], "e.h265", "yuv420p10le", "scaled up"),
            ("nv12", ["--profile", "main10"], "f.mp4", "yuv420p10le", "scaled up"),
            ("nv12", [], "g.h265", "yuv420p", nil),
        ]
        try Files.withTemporaryFolder { folder in
            for (format, options, name, pixels, words) in cases {
                let input = format == "p010" ? deep : stride(from: 1, to: deep.count, by: 2).map { deep[$0] }
                let arguments = layout + [format] + options + ["-o", name, "--qp", "4"]
                let result = try ProcessRunner.run(
                    Checkout.vaenc, ["encode", "--device", "reference"] + arguments, input: input, directory: folder)
                #expect(result.status == 0, "\(name): \(result.errors)")
                let warnings = result.errorLines.filter { $0.contains("pixelFormat") }
                #expect(warnings.count == (words == nil ? 0 : 1) && warnings.allSatisfy { $0.contains(words ?? "") }, "\(name): \(result.errors)")
                expect(["pix_fmt=\(pixels)"], in: try ffprobe(name, "-show_streams", in: folder)[0], name)
                let strict = try ProcessRunner.run(
                    Checkout.vaenc, ["encode", "--device", "reference", "--overwrite", "--strict"] + arguments, input: input, directory: folder)
                #expect(strict.status == (words == nil ? 0 : 69), "\(name): \(strict.errors)")
                // The samples equal the input's within the coding error.
                let decoded = try ProcessRunner.run(
                    "ffmpeg", ["-v", "error", "-nostdin", "-i", name, "-f", "rawvideo", "-pix_fmt", "yuv420p10le", "-"], directory: folder)
                let bytes = decoded.stdout
                try #require(bytes.count == deep.count, "\(name)")
                let errors = stride(from: 0, to: 64 * 48 * 2, by: 2).map { offset in
                    abs(Int(bytes[offset]) + Int(bytes[offset + 1]) << 8 - (Int(deep[offset]) >> 6 + Int(deep[offset + 1]) << 2))
                }
                #expect(errors.reduce(0, +) < errors.count * 6, "\(name) \(errors.reduce(0, +))")
            }
        }
    }

    /// H.264 carries the metadata too, with 8 bits.
    @Test func h264CarriesTheMetadata() throws {
        try Files.withTemporaryFolder { folder in
            let run = try vaenc(["testsrc:96x64@25:3", "-o", "a.mp4", "--codec", "h264"] + Self.hdr10, in: folder)
            #expect(run.status == 0, "\(run.errors)")
            expect(Self.colors + Self.metadata + ["codec_tag_string=avc1"], in: try ffprobe("a.mp4", "-show_streams", in: folder)[0], "a.mp4")
        }
    }
}
