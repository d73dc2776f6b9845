import TestOracles
import Testing

/// A driver that libva loads and that does what no driver should (Tests/OddDriver).
@Suite struct OddDriverTests {
    private func vaenc(_ arguments: [String], _ environment: [String: String?] = [:]) throws -> (result: ProcessRunner.Result, files: [String]) {
        try Files.withTemporaryFolder { folder in
            let built = try ProcessRunner.run(
                "cc", ["-shared", "-fPIC", "-o", folder + "/libvaenc_drv_video.so", Checkout.root + "/Tests/OddDriver/driver.c"])
            try #require(built.status == 0, "\(built.errors)")
            let result = try ProcessRunner.run(
                Checkout.vaenc, arguments, environment: environment.merging(["VAENC_DRIVER_DIR": folder]) { $1 }, directory: folder,
                timeout: 60)
            return (result, Files.list(folder).filter { $0 != "libvaenc_drv_video.so" })
        }
    }

    /// Terminals obey control characters, whoever wrote them.
    @Test func controlCharactersOfADriversNameReachNoTerminal() throws {
        for arguments in [["probe"], ["probe", "--json"], ["encode", "testsrc:64x64@25:5", "-o", "a.mp4", "--device", "reference"]] {
            let (result, _) = try vaenc(arguments)
            let text = result.stdout + result.stderr
            #expect(!text.contains(where: { $0 == 0x1B || $0 == 0x7F }), "\(result.output)\(result.errors)")
            if arguments[0] == "probe" { #expect(result.output.contains("red"), "\(result.output)") }
        }
    }

    /// The loader's lock is held for good: the program says so, and ends.
    @Test func aDriverWhoseLoadingNeverEnds() throws {
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
