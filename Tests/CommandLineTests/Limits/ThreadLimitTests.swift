import TestOracles
import Testing

/// Under a thread limit a command succeeds, or fails with one line about threads. libx265 must not wait forever for a
/// thread that it could not start.
@Suite struct ThreadLimitTests {
    static let limits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 1000]
    /// None, one, fewer than an encode starts, and enough. ThreadLimitSweepTests has all limits.
    private static let few = [0, 1, 3, 6, 1000]

    private func check(_ arguments: [String], most: Int, in folder: String) throws {
        let run = try ProcessRunner.run(
            Checkout.vaenc, arguments, environment: FewThreads.environment(most: most), directory: folder)
        let what = "\(most) threads, \(arguments): \(run.status) \(run.errors)"
        #expect(!run.timedOut, "\(what)")
        let isEnough = most == Self.limits.last
        #expect(isEnough ? run.status == 0 : [0, 69].contains(run.status), "\(what)")
        if run.status != 0 {
            #expect(run.errorLines.count == 1 && run.errors.contains("thread") && run.errors.contains("ulimit -u"), "\(what)")
            let output = arguments.last ?? ""
            #expect(!Files.list(folder).contains { $0.hasPrefix(output) }, "\(what)")
        }
        // Encoder libraries need at least one thread.
        if most == 0, arguments[0] == "encode" { #expect(run.status == 69, "\(what)") }
    }

    @Test(arguments: ["h264", "hevc"]) func threadLimitInSoftwareEncodingIsReported(_ codec: String) throws {
        try expectReport(ofSoftware: codec, limits: Self.few)
    }

    @Test func threadLimitInDeviceEncodingIsReported() throws { try expectReportOfDevice(limits: Self.few) }

    @Test func threadLimitInDecodingIsReported() throws { try expectReportOfDecoding(limits: Self.few) }

    func expectReport(ofSoftware codec: String, limits: [Int]) throws {
        for most in limits {
            try Files.withTemporaryFolder { folder in
                let output = "out.\(codec == "h264" ? "h264" : "h265")"
                try check(
                    ["encode", "testsrc:64x64@25:3", "--device", "software", "--codec", codec, "-o", output], most: most,
                    in: folder)
            }
        }
    }

    /// The limit applies to the threads of the session and of the reference driver.
    func expectReportOfDevice(limits: [Int]) throws {
        for most in limits {
            try Files.withTemporaryFolder { folder in
                try check(
                    ["encode", "testsrc:64x64@25:3", "--device", "reference", "--codec", "h264", "-o", "out.h264"], most: most,
                    in: folder)
            }
        }
    }

    /// A decoder that gets no thread must report the lack of threads, not bad input.
    func expectReportOfDecoding(limits: [Int]) throws {
        try Files.withTemporaryFolder { clips in
            let clip = clips + "/clip.h264"
            let setup = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "testsrc:64x64@25:3", "--device", "software", "--codec", "h264", "-o", clip])
            #expect(setup.status == 0, "\(setup.errors)")
            for most in limits {
                try Files.withTemporaryFolder { folder in
                    try check(["decode", clip, "--device", "software", "-o", "out.y4m"], most: most, in: folder)
                    try check(["decode", clip, "--device", "reference", "-o", "device.y4m"], most: most, in: folder)
                    try check(["compare", clip, clip], most: most, in: folder)
                }
            }
        }
    }
}

/// Every small thread limit.
@Suite struct ThreadLimitSweepTests {
    @Test(arguments: ["h264", "hevc"]) func everyThreadLimitInSoftwareEncodingIsReported(_ codec: String) throws {
        try ThreadLimitTests().expectReport(ofSoftware: codec, limits: ThreadLimitTests.limits)
    }

    @Test func everyThreadLimitInDeviceEncodingIsReported() throws {
        try ThreadLimitTests().expectReportOfDevice(limits: ThreadLimitTests.limits)
    }

    @Test func everyThreadLimitInDecodingIsReported() throws {
        try ThreadLimitTests().expectReportOfDecoding(limits: ThreadLimitTests.limits)
    }
}
