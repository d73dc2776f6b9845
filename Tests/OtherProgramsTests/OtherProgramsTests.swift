import TestOracles
import Testing

/// Programs that do not know vaenc use the reference driver, on an X display without a GPU.
@Suite(.serialized) struct OtherProgramsTests {
    /// The display's server does not change a program's status when the program ends.
    @Test func virtualScreenReturnsTheProgramsStatus() throws {
        for status in [0, 75] {
            let result = try VirtualScreen.runOnDriver("sh", ["-c", "vainfo --display x11; exit \(status)"])
            #expect(result.status == status, "\(result.errors)")
            #expect(result.output.contains("vaenc reference driver"))
        }
        #expect(try VirtualScreen.runOnDriver("nosuch-program", []).status == 127)
    }

    @Test func vainfoShowsEveryProfile() throws {
        let result = try VirtualScreen.runOnDriver("vainfo", ["-a", "--display", "x11"])
        #expect(result.status == 0)
        for text in [
            "vaenc reference driver", "VAProfileH264ConstrainedBaseline/VAEntrypointEncSlice",
            "VAProfileH264Main/VAEntrypointEncSlice", "VAProfileH264High/VAEntrypointEncSlice", "VA_RC_CQP", "VA_RC_CBR",
            "VA_RC_QVBR", "VA_RC_MB", "VA_ENC_QUANTIZATION_TRELLIS_SUPPORTED", "VA_ENC_SLICE_STRUCTURE_MAX_SLICE_SIZE",
            "VA_RT_FORMAT_YUV420", "VA_ENC_PACKED_HEADER_RAW_DATA", "l0=16", "VAProfileHEVCMain/VAEntrypointEncSlice",
            "VAProfileHEVCMain10/VAEntrypointEncSlice", "VA_RT_FORMAT_YUV420_10", "l0=15",
        ] {
            #expect(result.output.contains(text), "\(text)")
        }
    }

    @Test(arguments: [
        ("iHDnonfree-9A49", "Intel iHD driver", "VAEntrypointEncSliceLP", "VA_RC_TCBRC", "VA_ENC_PACKED_HEADER_NONE"),
        ("i965-5916", "Intel i965 driver for Intel(R) Kaby Lake", "VAEntrypointEncSliceLP", "VA_RC_MB", "VA_RC_ICQ"),
        ("radeonsi-navi21", "RX 6800 (navi21", "VA_ENC_PACKED_HEADER_NONE", "l0=1", "VAEntrypointEncSliceLP"),
        ("radeonsi25-navi31", "radeonsi, navi31", "VA_RC_QVBR", "l1=1", "VA_RC_ICQ"),
    ])
    func vainfoShowsThePersonality(name: String, driver: String, one: String, other: String, absent: String) throws {
        let result = try VirtualScreen.runOnDriver(
            "vainfo", ["-a", "--display", "x11"], environment: ["VAENC_REFERENCE_PERSONALITY": name])
        #expect(result.status == 0)
        for text in [name, driver, one, other] { #expect(result.output.contains(text), "\(text)") }
        #expect(!result.output.contains(absent))
    }

    @Test(arguments: [
        (176, 144, ["-coder", "cavlc"]),
        (176, 144, ["-coder", "cabac", "-g", "5", "-aud", "1"]),
        (640, 272, ["-slices", "4"]),
        (640, 272, ["-profile:v", "main", "-compression_level", "7"]),
        (1280, 720, ["-compression_level", "1"]),
        (130, 98, ["-profile:v", "constrained_baseline"]),
        (34, 50, ["-g", "1"]),
        (178, 146, ["-profile:v", "high", "-coder", "cavlc", "-slices", "3", "-sei", "identifier+timing"]),
        (70, 18, []),
    ])
    func ffmpegEncodes(width: Int, height: Int, options: [String]) throws {
        let frames = width > 1000 ? 3 : 12
        let stream = try ForeignStream.ffmpeg(width, height, frames: frames, options: options)
        try stream.judge(frames: frames)
        #expect(stream.reconstruction.pictures.first?.type == "IDR")
    }

    @Test(arguments: [
        ["-bf", "2"], ["-bf", "1", "-slices", "3"], ["-bf", "3", "-b_depth", "3"], ["-bf", "7", "-b_depth", "4"],
        ["-bf", "2", "-coder", "cavlc", "-profile:v", "main"],
        ["-bf", "2", "-rc_mode", "CBR", "-b:v", "900k"],
        ["-bf", "3", "-b_depth", "3", "-rc_mode", "CBR", "-b:v", "900k"],
        ["-bf", "3", "-b_depth", "3", "-rc_mode", "VBR", "-b:v", "700k", "-maxrate", "900k"],
        ["-bf", "3", "-b_depth", "3", "-rc_mode", "ICQ", "-global_quality", "26"],
        ["-bf", "3", "-b_depth", "3", "-rc_mode", "QVBR", "-b:v", "900k", "-global_quality", "26"],
        ["-bf", "3", "-b_depth", "3", "-rc_mode", "AVBR", "-b:v", "900k"],
    ])
    func ffmpegEncodesWithBPictures(options: [String]) throws {
        let stream = try ForeignStream.ffmpeg(176, 144, frames: 20, options: options)
        try stream.judge(frames: 20)
        #expect(stream.reconstruction.pictures.contains { $0.type == "B" })
    }

    /// FFmpeg queries the driver's capabilities: headers, references and entry points differ with each personality.
    @Test(arguments: [
        ("iHD-9A49", ["-low_power", "1", "-slices", "3"], 0), ("iHDnonfree-9A49", ["-bf", "2", "-b_depth", "2"], 1),
        ("iHDnonfree-9A49", ["-bf", "2", "-rc_mode", "CBR", "-b:v", "900k"], 1), ("i965-5916", ["-bf", "2"], 1),
        ("i965-5916", ["-low_power", "1"], 0), ("iHD25nonfree-7D55", ["-rc_mode", "VBR", "-b:v", "900k"], 0),
        ("radeonsi-raven", ["-rc_mode", "VBR", "-b:v", "900k"], 0), ("radeonsi-navi21", ["-slices", "2"], 0),
        ("radeonsi25-navi31", ["-bf", "2"], 1), ("radeonsi25-renoir", ["-rc_mode", "CBR", "-b:v", "900k"], 0),
    ])
    func ffmpegEncodesOnPersonalities(name: String, options: [String], mostB: Int) throws {
        let stream = try ForeignStream.ffmpeg(
            320, 180, options: options, environment: ["VAENC_REFERENCE_PERSONALITY": name])
        try stream.judge()
        #expect(stream.reconstruction.pictures.contains { $0.type == "B" } == (mostB > 0))
    }

    @Test(arguments: ["CBR", "VBR", "ICQ", "QVBR", "AVBR"])
    func ffmpegsRateModesAreKept(mode: String) throws {
        let stream = try ForeignStream.ffmpeg(
            176, 144, frames: 60, options: ["-rc_mode", mode, "-b:v", "900k", "-global_quality", "26", "-g", "20"])
        try stream.judge(frames: 60)
        let qps = Set(stream.reconstruction.pictures.map(\.qp))
        let rate = Double(stream.bytes.count * 8) / 2
        switch mode {
        case "ICQ": #expect(qps == [23, 26])
        case "QVBR": #expect(qps.allSatisfy { $0 >= 23 } && rate < 1_000_000)
        default: #expect(qps.count > 2 && abs(rate / 900_000 - 1) < 0.15, "\(rate)")
        }
    }

    @Test func streamHasFFmpegsQP() throws {
        let coarse = try ForeignStream.ffmpeg(176, 144, options: ["-qp", "40"])
        let fine = try ForeignStream.ffmpeg(176, 144, options: ["-qp", "16"])
        #expect(coarse.bytes.count * 2 < fine.bytes.count)
        #expect(Set(fine.reconstruction.pictures.map(\.qp)).isSubset(of: Set(10...22)))
    }

    @Test func nullModeStreamIsTinyAndDecodes() throws {
        let stream = try ForeignStream.ffmpeg(
            640, 272, frames: 30, options: [], environment: ["VAENC_REFERENCE_MODE": "null"])
        #expect(stream.bytes.count < 2000)
        #expect(stream.reconstruction.frames.isEmpty)
        for decoder in ForeignDecoder.all(for: .h264) {
            let video = decoder.decode(stream.bytes)
            #expect(video.messages == [] && video.frames.count == 30)
        }
    }

    @Test func libvaTraceLogsCalls() throws {
        try Files.withTemporaryFolder { folder in
            let trace = folder + "/trace"
            _ = try ForeignStream.ffmpeg(
                64, 64, frames: 4, options: ["-slices", "2"],
                environment: ["LIBVA_TRACE": trace, "LIBVA_TRACE_CODEDBUF": folder + "/coded"])
            let logs = Files.list(folder).filter { $0.contains("trace") }
            #expect(!logs.isEmpty)
            let text = try logs.map { String(decoding: try Files.read(folder + "/" + $0), as: UTF8.self) }.joined()
            #expect(text.contains("TraceEndPicture") || text.contains("vaEndPicture"))
        }
    }

    /// The log names the layout of a surface that cannot be encoded: an I420 surface does have 8 bits.
    @Test(arguments: ["h264_vaapi", "hevc_vaapi"]) func refusedLayoutIsNamed(_ encoder: String) throws {
        let errors = try VirtualScreen.runOnDriver(
            "ffmpeg",
            [
                "-hide_banner", "-loglevel", "quiet", "-nostdin", "-init_hw_device", "vaapi=va:,connection_type=x11",
                "-f", "lavfi", "-i", "testsrc2=s=64x64", "-frames:v", "2", "-vf", "format=yuv420p,hwupload",
                "-c:v", encoder, "-f", "null", "-",
            ], environment: ["VAENC_REFERENCE_LOG": "1"]
        ).errors
        #expect(errors.contains("has the format I420, but the context encodes NV12"), "\(errors)")
    }

    @Test func refusalsAreLoggedOnRequest() throws {
        func errors(_ log: String?) throws -> String {
            try VirtualScreen.runOnDriver(
                "ffmpeg",
                [
                    "-hide_banner", "-loglevel", "quiet", "-nostdin", "-init_hw_device",
                    "vaapi=va:,connection_type=x11",
                    "-f", "lavfi", "-i", "testsrc2=s=64x64", "-frames:v", "2", "-vf", "format=p010,hwupload",
                    "-c:v", "hevc_vaapi", "-f", "null", "-",
                ], environment: ["VAENC_REFERENCE_LOG": log]
            ).errors
        }
        #expect(try errors("1").contains("vaenc reference driver: status"))
        #expect(try errors(nil) == "")
    }

    @Test(
        arguments: [
            (176, 144, []),
            (640, 272, ["cabac=true", "dct8x8=true"]),
            (328, 242, ["num-slices=4", "refs=3", "keyframe-period=7", "aud=true"]),
            (176, 144, ["max-bframes=2", "cabac=true"]),
            (176, 144, ["max-bframes=3", "prediction-type=hierarchical-b", "refs=2"]),
            (176, 144, ["rate-control=cbr", "bitrate=900", "max-bframes=3", "prediction-type=hierarchical-b"]),
            (176, 144, ["rate-control=vbr", "bitrate=900", "max-bframes=3", "prediction-type=hierarchical-b"]),
            (176, 144, ["rate-control=cbr", "bitrate=900"]),
            (176, 144, ["rate-control=vbr", "bitrate=900", "max-bframes=1"]),
            (176, 144, ["rate-control=cbr", "bitrate=900", "max-bframes=2"]),
            (176, 144, ["rate-control=icq", "quality-factor=24", "max-bframes=2"]),
            (176, 144, ["rate-control=qvbr", "bitrate=900", "quality-factor=24", "max-bframes=2"]),
            (176, 144, ["rate-control=icq", "quality-factor=24"]),
            (176, 144, ["rate-control=qvbr", "bitrate=900", "quality-factor=24"]),
        ] as [(Int, Int, [String])])
    func gstreamerEncodes(width: Int, height: Int, options: [String]) throws {
        let stream = try ForeignStream.gstreamer(width, height, options: options)
        try stream.judge(saysOrder: !options.contains("prediction-type=hierarchical-b"))
        #expect(
            stream.reconstruction.pictures.contains { $0.type == "B" }
                == options.contains { $0.hasPrefix("max-bframes=") })
    }
}
