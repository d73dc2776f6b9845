import TestOracles
import Testing

/// A driver that returns senseless numbers (Tests/GarbageDriver): vaenc reports or ignores them, and never traps or
/// blocks.
@Suite struct GarbageDriverTests {
    @Test(arguments: [
        "", "profiles:-1", "profiles:100000", "entrypoints:-1", "entrypoints:1000000000", "maxProfiles:-5",
        "maxProfiles:2147483647", "maxEntrypoints:-1", "maxEntrypoints:2147483647", "side:-1", "side:-2147483648",
        "side:0",
        "side:2147483647", "surfaceAttributes:-1", "attributes:-1", "attributes:0", "attributes:2147483647",
    ])
    func senselessDriverNumbersAreSurvived(_ garbage: String) throws {
        try Files.withTemporaryFolder { folder in
            let flags = try ProcessRunner.run("pkg-config", ["--cflags", "libva"])
            let setup = try ProcessRunner.run(
                "cc",
                [
                    "-shared", "-fPIC", "-O1", "-o", folder + "/libvaenc_drv_video.so",
                    Checkout.root + "/Tests/GarbageDriver/driver.c",
                ]
                    + flags.output.split(whereSeparator: \.isWhitespace).map(String.init))
            try #require(setup.status == 0, "\(setup.errors)")
            let environment = ["VAENC_DRIVER_DIR": folder, "GARBAGE": garbage]
            let probe = try ProcessRunner.runMeasuringMemory(
                Checkout.vaenc, ["probe", "--device", "reference", "--json"], environment: environment)
            #expect(probe.status == 0 && !probe.timedOut, "\(probe.status) \(probe.errors)")
            let device = try #require(JSONValue(probe.output)?["devices"]?.array.first)
            // With a wrong count the capabilities cannot be listed. Otherwise they can.
            let isCount = ["rofiles", "ntrypoints"].contains { garbage.contains($0) }
            #expect((device["capabilities"]?.array.count ?? 0 > 0) == !isCount, "\(probe.output)")
            #expect(probe.peakKB < 250_000)
            let encode = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "testsrc:64x64@25:2", "--device", "reference", "-o", folder + "/o.h264"],
                environment: environment)
            #expect(encode.status == 69 && encode.errorLines.count == 1, "\(encode.status) \(encode.errors)")
            #expect(!Files.exists(folder + "/o.h264") && !Files.exists(folder + "/o.h264.part"))
        }
    }

    /// No kernel creates nodes of these names.
    @Test(arguments: [
        "/dev/dri/renderD-1", "/dev/dri/renderD99999999999", "/dev/dri/renderD", "-1:00.0", "ffffffff:ff:ff.9",
    ])
    func impossibleDeviceNamesAreRefused(_ name: String) throws {
        for command in [["probe"], ["encode", "testsrc:64x64@25:2", "-o", "/nonexistent/o.h264"]] {
            let run = try ToolRun(command + ["--device", name])
            #expect(
                [64, 69].contains(run.status) && run.errorLines.count == 1,
                "\(command): \(run.status) \(run.errorLines)")
        }
    }
}
