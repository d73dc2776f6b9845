import TestOracles
import Testing

/// `vaenc decode` and transcodes on a device that fails.
@Suite struct DeviceFaultCommandTests {
    private static let faults = [
        "vaUnmapBuffer@1=lost", "vaEndPicture@4=lost", "vaRenderPicture@*=lost", "vaDestroyBuffer@5+=lost",
        "vaSyncSurface2@3=status:7", "vaMapBuffer@2=lost", "vaCreateSurfaces@2=status:2", "vaCreateContext@1=status:1",
        "vaQueryConfigProfiles@1=status:7", "vaQueryConfigProfiles@*=status:7", "vaQueryImageFormats@1=status:1",
        "vaCreateBuffer@20=status:2", "vaBeginPicture@9+=status:6", "vaSyncSurface2@4=status:0x26",
    ]

    private func clip(_ folder: String, _ codec: String) throws -> String {
        let path = "\(folder)/in.mkv"
        let setup = try ProcessRunner.run(
            "ffmpeg",
            ["-v", "error", "-i", try Fixture.carphone.path(), "-an", "-frames:v", "16", "-c:v", codec, "-bf", "2", "-g", "8"]
                + (codec == "libx265" ? ["-x265-params", "log-level=none"] : []) + [path])
        #expect(setup.status == 0, "\(setup.errors)")
        return path
    }

    /// Every picture is as libavcodec decodes it in software.
    @Test(arguments: ["libx264", "libx265"]) func decodingSurvivesDeviceFaults(encoder: String) throws {
        try Files.withTemporaryFolder { folder in
            let input = try clip(folder, encoder)
            func decode(_ device: String, _ fault: String?) throws -> ProcessRunner.Result {
                try ProcessRunner.run(
                    Checkout.vaenc, ["decode", input, "-o", "-", "--device", device], environment: ["VAENC_FAULT": fault])
            }
            let expected = try decode("software", nil).stdout
            for fault in Self.faults {
                let run = try decode("reference", fault)
                #expect(run.status == 0, "\(fault): \(run.errors)")
                #expect((run.stdout == expected) as Bool, "\(fault): \(run.stdout.count) of \(expected.count) bytes")
                #expect(run.errorLines.count == 1, "\(fault): \(run.errors)")
            }
        }
    }

    /// Every picture is encoded, or counted as dropped because the lost device held it. Otherwise one error reports the
    /// device failure.
    @Test func transcodesSurviveDeviceFaults() throws {
        try Files.withTemporaryFolder { folder in
            let input = try clip(folder, "libx264")
            for fault in Self.faults + ["vaUnmapBuffer@9=lost", "vaEndPicture@11=lost", "vaSyncBuffer@3=lost"] {
                let run = try ProcessRunner.run(
                    Checkout.vaenc,
                    ["encode", input, "-o", "a.mkv", "--overwrite", "--device", "reference", "--codec", "h264", "--qp", "34", "--json"],
                    environment: ["VAENC_FAULT": fault], directory: folder)
                #expect(run.status == 0 || run.status == 75, "\(fault): \(run.status) \(run.errors)")
                guard run.status == 0 else {
                    #expect(run.errorLines.count == 1, "\(fault): \(run.errors)")
                    continue
                }
                let frames = JSONValue(run.output)?["frames"]
                let (encoded, dropped) = (frames?["encoded"]?.int ?? 0, frames?["dropped"]?.int ?? 0)
                #expect(encoded + dropped == 16 && encoded > 0, "\(fault): \(run.output)")
                #expect(fault.contains("lost") || dropped == 0, "\(fault)")
            }
        }
    }
}
