import TestOracles
import Testing

/// Pictures that are drawn without a call of the driver: in the program's memory, as iHD reads it, and in surfaces that
/// radeonsi exports.
@Suite struct InputMemoryTests {
    /// Runs `vaenc encode` and sums the driver's counts.
    private func encode(
        _ arguments: [String], on personality: String, in folder: String, environment: [String: String?] = [:]
    ) throws -> (run: EncodeRun, sum: ((JSONValue) -> Int?) -> Int) {
        var environment = environment
        let counts = "\(folder)/counts-\(arguments.last ?? "")"
        environment["VAENC_REFERENCE_COUNTS"] = counts
        environment["VAENC_REFERENCE_PERSONALITY"] = personality
        let run = try EncodeRun(["--device", "reference", "--json", "--overwrite"] + arguments, in: folder, environment: environment)
        #expect(run.status == 0, "\(run.errors)")
        let lines = String(decoding: try Files.read(counts), as: UTF8.self).split(separator: "\n").compactMap { JSONValue(String($0)) }
        return (run, { value in lines.compactMap(value).reduce(0, +) })
    }

    /// The streams are equal, and no surface is mapped or copied.
    @Test(
        arguments: [
            ("258x130", ["--codec", "h264"]), ("258x130", ["--codec", "h264", "--bframes", "3", "--slices", "2"]),
            ("256x136", ["--codec", "hevc", "--bframes", "2"]), ("258x146", ["--codec", "hevc", "--bit-depth", "10"]),
            ("272x128", ["--codec", "h264", "--bitrate", "200k"]),
        ], [("iHD-9A49", "program"), ("radeonsi-navi21", "exported")])
    func directMemoryGivesTheSameStream(_ coding: (size: String, options: [String]), _ device: (name: String, memory: String)) throws {
        try Files.withTemporaryFolder { folder in
            // Decoded pictures would stay on the device.
            let clip = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-i", try Fixture.carphone.path(), "-frames:v", "20", "-s", coding.size, "-pix_fmt", "yuv420p",
                    "in.y4m",
                ],
                directory: folder)
            #expect(clip.status == 0, "\(clip.errors)")
            let arguments = ["in.y4m"] + coding.options
            let (program, sum) = try encode(arguments + ["-o", "a.mkv"], on: device.name, in: folder)
            #expect(program.effective("inputMemory")?["used"]?.string == device.memory)
            #expect(sum { $0["encoded"]?.int } >= 20 && sum { $0["maps"]?.int } == 0)
            for method in ["getImage", "putImage", "deriveImage", "import"] {
                #expect(sum { $0["copies"]?[method]?.int } == 0, "\(method)")
            }
            let (driver, maps) = try encode(
                arguments + ["-o", "b.mkv"], on: device.name, in: folder, environment: ["VAENC_INPUT_MEMORY": "driver"])
            #expect(driver.effective("inputMemory")?["used"]?.string == "driver")
            // radeonsi imitates Mesa 22, which maps no surface.
            #expect(maps { $0["maps"]?.int } + maps { $0["copies"]?["putImage"]?.int } >= 20)
            let streams = try ["a.mkv", "b.mkv"].map { name in
                let result = try ProcessRunner.run(
                    "ffmpeg", ["-v", "error", "-nostdin", "-i", name, "-map", "0:v", "-c", "copy", "-f", "data", "-"], directory: folder)
                return result.stdout
            }
            #expect(!streams[0].isEmpty && streams[0] == streams[1])
        }
    }

    /// Drivers that do not accept such memory get their own, with the reason.
    @Test(
        arguments: [
            ("radeonsi-navi21", "vaExportSurfaceHandle@1=status:20", "vaExportSurfaceHandle"), ("i965-5916", nil, "does not read"),
            ("iHD-9A49", "vaCreateSurfaces@1=status:14", "vaCreateSurfaces"), (nil, nil, "does not read"),
        ] as [(String?, String?, String)])
    func driversMemoryIsTheFallback(_ personality: String?, _ faults: String?, _ why: String) throws {
        try Files.withTemporaryFolder { folder in
            let run = try EncodeRun(
                ["--device", "reference", "--json", "testsrc:256x144@25:4", "--codec", "h264", "-o", "a.h264"], in: folder,
                environment: FakeUDMABuffer.environment(.absent).merging(
                    ["VAENC_REFERENCE_PERSONALITY": personality, "VAENC_FAULT": faults]
                ) { $1 })
            #expect(run.status == 0, "\(run.errors)")
            let memory = run.effective("inputMemory")
            #expect(memory?["used"]?.string == "driver" && memory?["why"]?.string?.contains(why) == true, "\(memory as Any)")
        }
    }
}
