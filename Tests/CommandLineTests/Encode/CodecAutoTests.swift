import TestOracles
import Testing

/// `--codec auto` chooses HEVC if the device encodes the requested profile, size and bit depth, and H.264 otherwise.
/// The text and JSON reports contain the choice and its reason.
@Suite struct CodecAutoTests {
    private struct Run {
        var status: Int
        var report: JSONValue?
        var errors: String
        var files: [String]

        var codec: String? { report?["codec"]?.string }
        var why: String {
            report?["effective"]?.array.first { $0["option"]?.string == "codec" }?["why"]?.string ?? ""
        }
    }

    private func vaenc(
        _ arguments: [String], personality: String? = nil, fault: String? = nil, device: String = "reference", json: Bool = true
    ) throws -> Run {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "--device", device, "--qp", "34"] + arguments + (json ? ["--json"] : []),
                environment: ["VAENC_REFERENCE_PERSONALITY": personality, "VAENC_FAULT": fault], directory: folder)
            return Run(
                status: result.status, report: JSONValue(result.output), errors: result.errors, files: Files.list(folder))
        }
    }

    /// The personalities imitate vendors' devices.
    @Test(
        arguments: [
            (nil, "64x48", "hevc", "encodes HEVC Main of 64×48"), ("iHD-9A49", "256x144", "hevc", "encodes HEVC Main of 256×144"),
            ("i965-5916", "256x144", "h264", "does not encode HEVC"), ("radeonsi-navi21", "256x144", "hevc", "encodes HEVC Main of 256×144"),
            // Below the device's minimum for HEVC, but not below its minimum for H.264.
            ("iHD-9A49", "64x48", "h264", "not 64×48"), ("radeonsi25-raven", "128x128", "h264", "not 128×128"),
        ] as [(String?, String, String, String)])
    func deviceSupportDecidesTheCodec(_ personality: String?, _ size: String, _ codec: String, _ why: String) throws {
        let run = try vaenc(["testsrc:\(size)@25:2", "-o", "a.mp4"], personality: personality)
        #expect(run.status == 0 && run.codec == codec, "\(run.errors) \(run.why)")
        #expect(run.why.description.contains(why), "\(run.why)")
        let text = try vaenc(["testsrc:\(size)@25:2", "-o", "a.mp4"], personality: personality, json: false)
        #expect(text.errors.contains(codec == "hevc" ? "HEVC Main@" : "H.264 High@") && text.errors.contains(why), "\(text.errors)")
    }

    /// An input of 10 bits selects HEVC if the device supports Main 10. A requested depth of 10 bits requires it.
    @Test func bitDepthDecidesTheCodec() throws {
        let deep = ["testsrc:256x144@25:2", "--input-format", "p010", "-o", "a.mkv"]
        let main10 = try vaenc(deep, personality: "iHD-9A49")
        #expect(main10.report?["profile"]?.string == "Main 10" && main10.why.description.contains("HEVC Main 10"), "\(main10.errors)")
        for (personality, why) in [("radeonsi-raven", "not Main 10"), ("i965-5916", "not encode HEVC")] {
            let run = try vaenc(deep, personality: personality)
            #expect(run.status == 0 && run.codec == "h264" && run.why.description.contains(why), "\(run.why) \(run.errors)")
            let entry = run.report?["effective"]?.array.first { $0["option"]?.string == "pixelFormat" }
            #expect(entry?["why"]?.string?.contains("rounded") == true)
            #expect(try vaenc(deep + ["--strict"], personality: personality).status == 69)
            for condition in [["--bit-depth", "10"], ["--profile", "main10"]] {
                let refused = try vaenc(deep + condition, personality: personality)
                #expect(refused.status == 69 && refused.files.isEmpty, "\(refused.errors)")
                #expect(refused.errors.contains("HEVC"), "\(refused.errors)")
            }
        }
    }

    /// An option that only one codec has decides the codec. So does the output format.
    @Test(arguments: [
        (["-o", "a.mp4", "--entropy", "cavlc"], "h264", "an entropy coder"),
        (["-o", "a.mp4", "--transform-8x8", "off"], "h264", "the 8×8 transform"),
        (["-o", "a.mp4", "--level", "4.2"], "h264", "requested level"), (["-o", "a.mp4", "--level", "1b"], "h264", "requested level"),
        (["-o", "a.mp4", "--level", "4.1"], "hevc", "the device"), (["-o", "a.mp4", "--profile", "high"], "h264", "requested profile"),
        (["-o", "a.mp4", "--profile", "main"], "h264", "requested profile"), (["-o", "a.mp4", "--profile", "main10"], "hevc", "requested profile"),
        (["-o", "a.mp4", "--bit-depth", "10"], "hevc", "10 bits"), (["-o", "a.mp4", "--bit-depth", "8"], "hevc", "the device"),
        (["-o", "a.h264"], "h264", "extension"), (["-o", "a.h265"], "hevc", "extension"), (["-o", "a.ts"], "hevc", "the device"),
        (["-o", "a.mkv"], "hevc", "the device"), (["-o", "a.bin", "--format", "annexb"], "hevc", "the device"),
        (["-o", "a.mov", "--codec", "h264"], "h264", "asked"), (["-o", "a.mov", "--codec", "hevc"], "hevc", "asked"),
    ])
    func optionsAndOutputDecideTheCodec(_ arguments: [String], _ codec: String, _ why: String) throws {
        let run = try vaenc(["testsrc:64x48@25:2"] + arguments)
        #expect(run.status == 0 && run.codec == codec && run.why.description.contains(why), "\(run.why) \(run.errors)")
    }

    /// FLV and RTMP do not support HEVC: a request for HEVC is a usage error.
    @Test(arguments: ["a.flv", "rtmp://localhost/live"]) func flvAndRTMPAreH264(_ output: String) throws {
        let refused = try vaenc(["testsrc:64x48@25:2", "-o", output, "--codec", "hevc"])
        #expect(refused.status == 64 && refused.errors.contains("does not write HEVC into FLV"), "\(refused.errors)")
        guard output == "a.flv" else { return }
        #expect(try vaenc(["testsrc:64x48@25:2", "-o", output]).codec == "h264")
    }

    /// Without a given name, the output is named after its codec.
    @Test func defaultOutputNameFollowsTheCodec() throws {
        #expect(try vaenc(["testsrc:64x48@25:2"]).files == ["test.h265"])
        #expect(try vaenc(["testsrc:64x48@25:2"], personality: "iHD-9A49").files == ["test.h264"])
        #expect(try vaenc(["testsrc:64x48@25:2", "--level", "3.2"]).files == ["test.h264"])
        #expect(try vaenc(["testsrc:64x48@25:2", "--codec", "h264"]).files == ["test.h264"])
        #expect(try vaenc(["testsrc:64x48@25:2"], device: "software").files == ["test.h264"])
        #expect(try vaenc(["testsrc:64x48@25:2", "--bit-depth", "10"], device: "software").files == ["test.h265"])
    }

    /// The driver lists HEVC but cannot encode it. H.264 is used, and the reason names the failing call.
    @Test func failingHEVCFallsBackToH264() throws {
        // The fault covers every attempt.
        let fault = (1...5).map { "vaCreateContext@\($0)=status:2" }.joined(separator: "; ")
        let run = try vaenc(["testsrc:64x48@25:2", "-o", "a.mp4"], fault: fault)
        #expect(run.status == 0 && run.codec == "h264", "\(run.errors)")
        #expect(run.why.description.contains("HEVC failed") && run.why.description.contains("vaCreateContext"), "\(run.why)")
    }
}
