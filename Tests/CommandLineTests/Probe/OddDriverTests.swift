import TestOracles
import Testing

/// A driver that libva loads and that misbehaves (Tests/OddDriver).
@Suite struct OddDriverTests {
    private func vaenc(_ arguments: [String], _ environment: [String: String?] = [:]) throws -> (result: ProcessRunner.Result, files: [String]) {
        try Files.withTemporaryFolder { folder in
            let built = try ProcessRunner.run(
                "cc", ["-shared", "-fPIC", "-o", folder + "/libvaenc_drv_video.so", Checkout.root + "/Tests/OddDriver/driver.c"])
            try #require(built.status == 0, "\(built.errors)")
            let result = try ProcessRunner.run(
                Checkout.vaenc, arguments, environment: environment.merging(["VAENC_DRIVER_DIR": folder]) { $1 }, directory: folder)
            return (result, Files.list(folder).filter { $0 != "libvaenc_drv_video.so" })
        }
    }

    /// A terminal executes control characters of any origin.
    @Test func controlCharactersOfDriverNamesAreRemoved() throws {
        for arguments in [["probe"], ["probe", "--json"], ["encode", "testsrc:64x64@25:5", "-o", "a.mp4", "--device", "reference"]] {
            let (result, _) = try vaenc(arguments)
            let text = result.stdout + result.stderr
            #expect(!text.contains(where: { $0 == 0x1B || $0 == 0x7F }), "\(result.output)\(result.errors)")
            if arguments[0] == "probe" { #expect(result.output.contains("red"), "\(result.output)") }
        }
    }

    /// An invalid value of a reference driver's variable is refused, with its name and a remedy.
    @Test(arguments: [
        ("VAENC_REFERENCE_MODE", "nix"), ("VAENC_REFERENCE_HASH", "sha"), ("VAENC_REFERENCE_NULL_BYTES", "abc"), ("VAENC_REFERENCE_STRICT", "yes"),
        ("VAENC_REFERENCE_LOG", "2"), ("VAENC_REFERENCE_HEVC", "off"), ("VAENC_REFERENCE_PERSONALITY", "none"),
    ])
    func invalidDriverVariablesAreRefused(_ name: String, _ value: String) throws {
        try Files.withTemporaryFolder { folder in
            let run = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "testsrc:64x64@25:2", "--device", "reference", "-o", "a.h264"], environment: [name: value],
                directory: folder)
            #expect(run.status == 69 && run.errorLines.count == 1, "\(run.status) \(run.errors)")
            #expect(run.errors.contains("\(name)=\(value) ") && run.errors.contains("\(name) is set"), "\(run.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }

    /// The driver file is truncated: the loader would map it, and the process would end by SIGBUS.
    @Test func truncatedDriverIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            let whole = try Files.read(Checkout.driverFolder + "/libvaenc_drv_video.so")
            let film = try Fixture.bikes.path()
            for count in [0, 10, 64, 4096, whole.count / 4, whole.count / 2, whole.count - 1] {
                try Files.write(Array(whole[..<count]), to: folder + "/libvaenc_drv_video.so")
                for (command, status) in [
                    (["probe"], 0), (["encode", "testsrc:64x64@25:2", "-o", "a.h264", "--device", "reference"], 69),
                    (["decode", film, "-o", "a.y4m", "--device", "reference"], 69),
                ] as [([String], Int32)] {
                    let run = try ProcessRunner.run(
                        Checkout.vaenc, command, environment: ["VAENC_DRIVER_DIR": folder], directory: folder)
                    #expect(run.status == status, "\(count) \(command): \(run.status) \(run.errors)")
                    if status != 0 { #expect(run.errors.contains("is incomplete or damaged") && run.errorLines.count == 1, "\(run.errors)") }
                }
            }
        }
    }

    @Test(arguments: ["foo", "0", "-1", "1.5", ""]) func invalidTimeoutVariableIsRefused(_ value: String) throws {
        let run = try ProcessRunner.run(
            Checkout.vaenc, ["probe"], environment: ["VAENC_DEVICE_TIMEOUT_MS": value])
        #expect(run.status == 64 && run.errors.contains("VAENC_DEVICE_TIMEOUT_MS") && run.errorLines.count == 1, "\(run.errors)")
    }

    @Test func unwritableFaultTraceIsRefused() throws {
        let run = try ProcessRunner.run(
            Checkout.vaenc, ["encode", "testsrc:64x64@25:2", "-o", "/dev/null", "--format", "annexb", "--device", "reference"],
            environment: ["VAENC_FAULT": "vaEndPicture@900=status:1", "VAENC_FAULT_TRACE": "/nonexistent/trace"])
        #expect(run.status == 69 && run.errors.contains("/nonexistent/trace cannot be written"), "\(run.status) \(run.errors)")
    }

    /// The driver never returns while the loader's lock is held. The program reports this and ends.
    @Test func hangingDriverLoadTimesOut() throws {
        let environment: [String: String?] = ["ODD_DRIVER": "hang", "VAENC_DEVICE_TIMEOUT_MS": "200"]
        let (encode, files) = try vaenc(["encode", "testsrc:64x64@25:5", "-o", "a.mp4", "--device", "reference"], environment)
        #expect(encode.status == 75 && !encode.timedOut && files == [], "\(encode.status) \(encode.errors)")
        #expect(encode.errorLines.count == 1 && encode.errors.contains("vaInitialize failed (timed out)"), "\(encode.errors)")
        let (probe, _) = try vaenc(["probe", "--json"], environment)
        #expect(probe.status == 0 && !probe.timedOut, "\(probe.errors)")
        let devices = JSONValue(probe.output)?["devices"]?.array ?? []
        #expect(devices.contains { $0["kind"]?.string == "software" && $0["usable"]?.bool == true }, "\(probe.output)")
        #expect(devices.contains { $0["kind"]?.string == "reference" && $0["why"]?.string?.contains("timed out") == true })
    }
}
