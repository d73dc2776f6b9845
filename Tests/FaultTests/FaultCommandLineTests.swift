import TestOracles
import Testing

/// `vaenc encode` on a device that fails: exit status, message, file and counts.
@Suite struct FaultCommandLineTests {
    private func encode(
        _ faults: String, _ options: [String] = [], output: String = "a.h264", timeout: String? = nil
    ) throws -> (result: ProcessRunner.Result, files: [String], stream: [UInt8]?) {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                Checkout.vaenc,
                ["encode", "testsrc:96x64@30:12", "-o", output, "--device", "reference", "--qp", "26", "--json"] + options,
                environment: ["VAENC_FAULT": faults, "VAENC_DEVICE_TIMEOUT_MS": timeout], directory: folder)
            let stream = Files.exists("\(folder)/\(output)") ? try Files.read("\(folder)/\(output)") : nil
            return (result, Files.list(folder), stream)
        }
    }

    /// Mappings of pictures and of coded data come in any order; so many mappings include some of coded data.
    private static let marked = (6...18).map { "vaMapBuffer@\($0)=corrupt:0x8000" }.joined(separator: "; ")

    @Test(
        arguments: [
            ("vaEndPicture@5=status:24", nil), ("vaSyncBuffer@3=lost", nil), (marked, nil),
            ("vaSyncBuffer@4=hang", "700"), ("vaEndPicture@6=hang", "700"), ("vaCreateContext@1=status:1", nil),
            ("vaInitialize@1=status:1", nil), ("vaEndPicture@*/6=status:1", nil),
        ] as [(String, String?)], [StreamCodec.h264, .hevc])
    func encodingSurvivesTemporaryFaults(_ each: (faults: String, timeout: String?), codec: StreamCodec) throws {
        let (faults, name) = (each.faults, codec == .h264 ? "a.h264" : "a.h265")
        let (result, files, stream) = try encode(faults, output: name, timeout: each.timeout)
        #expect(result.status == 0, "\(result.errors)")
        #expect(files == [name])
        let report = try #require(JSONValue(result.output))
        let input = report["frames"]?["input"]?.int ?? 0
        let encoded = report["frames"]?["encoded"]?.int ?? 0
        let dropped = report["frames"]?["dropped"]?.int ?? -1
        #expect(input == 12 && encoded + dropped == 12)
        // The encoder had accepted the frames that the device lost.
        #expect(!result.output.contains("but declares"))
        #expect(faults.contains("lost") || faults.contains("hang") || dropped == 0)
        if !faults.contains("@1=") { #expect(report["statistics"]?["rebuilds"]?.int ?? 0 >= 1) }
        let decoded = ForeignDecoder.libavcodec.decode(try #require(stream), codec: codec)
        #expect(decoded.messages == [])
        #expect(decoded.frames.count == encoded)
    }

    /// Two outputs read each picture from one surface. A fault of one encoder costs the other no picture.
    @Test(
        arguments: [
            "vaEndPicture@7=status:1", "vaEndPicture@8=status:1", "vaSyncBuffer@8=status:1", "vaUnmapBuffer@9=status:1",
            "vaUnmapBuffer@14=status:1", "vaMapBuffer@20=status:1", "vaBeginPicture@11=status:5", "vaEndPicture@*/9=status:1",
            "vaSyncBuffer@7=lost", "vaEndPicture@9=hang", "vaUnmapBuffer@15=hang",
        ], [nil, "iHD-9A49"] as [String?])
    func faultsOfSharedSurfacesLoseNoPicture(_ faults: String, _ personality: String?) throws {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                Checkout.vaenc,
                [
                    "encode", "testsrc:144x128@30:24", "-o", "a.h264", "-o", "b.h265", "--bframes", "1", "--device", "reference", "--qp", "26",
                    "--json",
                ],
                environment: [
                    "VAENC_FAULT": faults, "VAENC_DEVICE_TIMEOUT_MS": faults.contains("hang") ? "700" : nil,
                    "VAENC_REFERENCE_PERSONALITY": personality,
                ], directory: folder)
            #expect(result.status == 0, "\(result.errors)")
            let outputs = try #require(JSONValue(result.output))["outputs"]?.array ?? []
            #expect(outputs.count == 2)
            for (output, (name, codec)) in zip(outputs, [("a.h264", StreamCodec.h264), ("b.h265", .hevc)]) {
                let encoded = output["frames"]?["encoded"]?.int ?? 0
                let dropped = output["frames"]?["dropped"]?.int ?? -1
                #expect(encoded + dropped == 24 && output["error"] == .null, "\(name): \(result.errors)")
                #expect(faults.contains("lost") || faults.contains("hang") || dropped == 0, "\(name)")
                let decoded = ForeignDecoder.libavcodec.decode(try Files.read("\(folder)/\(name)"), codec: codec)
                #expect(decoded.messages == [] && decoded.frames.count == encoded, "\(name): \(decoded.messages)")
            }
        }
    }

    /// A call of a decoder returns a little after its timeout (500 ms for waits, twice that for other calls), usually
    /// while decoding continues without it. Every picture is delivered and equals ffmpeg's.
    @Test(
        arguments: ["vaCreateContext@1=delay:1100", "vaBeginPicture@4=delay:1100", "vaEndPicture@4=delay:1100", "vaSyncSurface2@4=delay:600"],
        ["libx264", "libx265"])
    func decodingSurvivesLateCalls(_ faults: String, encoder: String) throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=96x64:r=25:d=24 -c:v \(encoder) -preset ultrafast -pix_fmt yuv420p in.mp4 2>log
                ffmpeg -v error -nostdin -i in.mp4 -f rawvideo -pix_fmt yuv420p right.yuv
                "$0" decode in.mp4 --device reference -o out.yuv
                cmp right.yuv out.yuv
                """
            let result = try ProcessRunner.run(
                "bash", ["-c", script, Checkout.vaenc],
                environment: ["VAENC_FAULT": faults, "VAENC_DEVICE_TIMEOUT_MS": "500"], directory: folder)
            #expect(result.status == 0, "\(result.output) \(result.errors)")
        }
    }

    @Test(
        arguments: [
            ("vaEndPicture@5+=status:1", "vaEndPicture failed (operation failed)", nil),
            ("vaSyncBuffer@3+=status:24", "vaSyncBuffer failed (encoding error)", nil),
            ("vaMapBuffer@*=corrupt:0x8000", "BAD_BITSTREAM", nil),
            ("vaSyncBuffer@3=lost; vaInitialize@2+=status:1; vaCreateContext@2+=status:5", "failed", nil),
            ("vaCreateContext@*=status:1", "vaCreateContext failed (operation failed)", nil),
            ("vaEndPicture@3+=hang; vaInitialize@2+=status:1", "", "400"),
        ] as [(String, String, String?)])
    func permanentFailureLeavesNoOutputFile(_ faults: String, _ words: String, _ timeout: String?) throws {
        for output in ["a.h264", "a.h265", "a.mp4"] {
            let (result, files, _) = try encode(faults, output: output, timeout: timeout)
            #expect(result.status == 75, "\(result.errors)")
            #expect(files == [], "something half-written")
            #expect(result.errorLines.count == 1, "\(result.errors)")
            #expect(result.errors.contains(words) && result.errors.hasPrefix("vaenc: "), "\(result.errors)")
        }
    }

    /// A refusal of the driver or a lack of memory means that no encoder is available (69); a failed call is a failure
    /// of the device (75), whichever call it is.
    @Test(
        arguments: ["vaCreateConfig", "vaCreateContext", "vaCreateSurfaces"],
        [(1, 75, "dmesg"), (2, 69, "ulimit -v"), (0x0C, 69, "not supported"), (0x22, 75, "dmesg")])
    func setUpFailureHasItsExitStatus(_ call: String, _ each: (status: Int, exit: Int, words: String)) throws {
        let (result, files, _) = try encode("\(call)@*=status:\(each.status)")
        #expect(result.status == each.exit && files == [], "\(result.status) \(result.errors)")
        #expect(result.errorLines.count == 1 && result.errors.contains("\(call) failed") && result.errors.contains(each.words), "\(result.errors)")
    }

    /// A trial in another process finds a driver that ends its process.
    @Test(arguments: ["vaInitialize", "vaCreateConfig", "vaCreateContext", "vaEndPicture"]) func abortingDriverIsReportedAsFailure(_ call: String)
        throws
    {
        for output in ["a.h264", "a.mp4"] {
            let (result, files, _) = try encode("\(call)@*=abort", output: output)
            #expect(result.status == 75 && files == [], "\(result.status): \(result.errors)")
            #expect(result.errorLines.count == 1 && result.errors.contains("abort in \(call)"), "\(result.errors)")
        }
    }

    @Test func unreadableFaultRulesAreReported() throws {
        let (result, files, _) = try encode("vaEndPicture@soon=hang")
        #expect(result.status == 69)
        #expect(files == [])
        #expect(result.errors.contains("VAENC_FAULT: 'soon'"), "\(result.errors)")
    }

    @Test func missingWrappedDriverIsReported() throws {
        let result = try ProcessRunner.run(
            Checkout.vaenc, ["encode", "testsrc:96x64@30:2", "-o", "/dev/null", "--overwrite", "--device", "reference"],
            environment: ["VAENC_FAULT": "vaEndPicture@1=hang", "VAENC_FAULT_DRIVER": "nosuch"])
        #expect(result.status == 69)
        #expect(result.errors.contains("there is no driver 'nosuch'"), "\(result.errors)")
    }

    /// A program that does not know the fault driver sees the wrapped driver's name, capabilities and faults.
    @Test func vainfoShowsTheWrappedDriver() throws {
        func vainfo(_ faults: String) throws -> ProcessRunner.Result {
            try VirtualScreen.run(
                "vainfo", ["--display", "x11"],
                environment: [
                    "LIBVA_DRIVERS_PATH": Checkout.driverFolder, "LIBVA_DRIVER_NAME": "libvaenc_fault",
                    "VAENC_FAULT_DRIVER": "libvaenc", "VAENC_FAULT": faults, "XDG_RUNTIME_DIR": "/tmp",
                ])
        }
        let sound = try vainfo("")
        #expect(sound.status == 0, "\(sound.errors)")
        #expect(sound.output.contains("vaenc reference driver"))
        #expect(sound.output.contains("VAProfileH264High"))
        #expect(try vainfo("vaQueryConfigProfiles@1=status:1").status != 0)
        #expect(try vainfo("vaInitialize@1=status:1").status != 0)
    }
}
