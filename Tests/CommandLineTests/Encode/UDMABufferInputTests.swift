import TestOracles
import Testing

/// Pictures that are drawn in the program's memory and imported as DMA-BUFs, with a simulated udmabuf device.
@Suite struct UDMABufferInputTests {
    /// The result of `vaenc encode`, with the sums of the counts of the driver and of the simulated device.
    private struct Run {
        var run: EncodeRun
        var driver: [JSONValue]
        var device: [JSONValue]
        var stream: [UInt8]

        var used: String? { run.effective("inputMemory")?["used"]?.string }
        var why: String { run.effective("inputMemory")?["why"]?.string ?? "" }

        func count(_ name: String) -> Int { (driver + device).compactMap { $0[name]?.int }.reduce(0, +) }
        func copies(_ method: String) -> Int { driver.compactMap { $0["copies"]?[method]?.int }.reduce(0, +) }
    }

    /// Encodes a test pattern.
    ///
    /// - Parameters:
    ///   - node: Whether the driver runs on a render node, so that the memory is tried.
    ///   - hasTwoOutputs: Whether a second output has the same pictures.
    private func encode(
        _ mode: FakeUDMABuffer.Mode, _ options: [String] = ["--codec", "h264"], input: String = "testsrc:258x146@25:10",
        node: Bool = false, hasTwoOutputs: Bool = false, variables: [String: String?] = [:]
    ) throws -> Run {
        try Files.withTemporaryFolder { folder in
            let (counts, log) = ("\(folder)/counts", "\(folder)/log")
            try Files.write([], to: counts)
            try Files.write([], to: log)
            var environment = try FakeUDMABuffer.environment(mode, log: log)
            environment["VAENC_REFERENCE_COUNTS"] = counts
            environment["VAENC_DRIVER_TRIALS"] = "0"
            environment.merge(variables) { $1 }
            let output = "\(folder)/out.\(options.contains("hevc") ? "h265" : "h264")"
            let device = node ? "/dev/dri/renderD128" : "reference"
            let arguments =
                ["encode", input, "--device", device, "--json", "--overwrite", "-o", output] + options
                + (hasTwoOutputs ? ["-o", "\(folder)/second.h264"] : [])
            let result =
                node
                ? try RenderNode.runOnDriver(
                    behind: FakeUDMABuffer.library, Checkout.vaenc, arguments, environment: environment.filter { $0.key != "LD_PRELOAD" })
                : try ProcessRunner.run(Checkout.vaenc, arguments, environment: environment)
            try #require(result.status == 0, "\(result.errors)")
            func lines(_ path: String) throws -> [JSONValue] {
                String(decoding: try Files.read(path), as: UTF8.self).split(separator: "\n").compactMap { JSONValue(String($0)) }
            }
            return Run(run: EncodeRun(result), driver: try lines(counts), device: try lines(log), stream: try Files.read(output))
        }
    }

    /// The streams are equal, no surface is mapped or copied, and every access to a DMA-BUF is announced to the kernel.
    @Test(
        arguments: [
            ("testsrc:258x130@25:10", ["--codec", "h264", "--bframes", "2"]), ("testsrc:256x136@25:10", ["--codec", "hevc"]),
            ("testsrc:258x146@25:10", ["--codec", "hevc", "--bit-depth", "10"]),
        ], ["iHD-9A49", "radeonsi-navi21", nil] as [String?])
    func theStreamIsThatOfCopiedPictures(_ coding: (input: String, options: [String]), _ personality: String?) throws {
        let device: [String: String?] = ["VAENC_REFERENCE_PERSONALITY": personality]
        func run(_ memory: String) throws -> Run {
            try encode(.works, coding.options, input: coding.input, variables: device.merging(["VAENC_INPUT_MEMORY": memory]) { $1 })
        }
        let (imported, copied) = (try run("udmabuf"), try run("driver"))
        #expect(imported.used == "udmabuf" && imported.why == "requested by VAENC_INPUT_MEMORY")
        #expect(copied.used == "driver")
        #expect(!imported.stream.isEmpty && imported.stream == copied.stream)
        #expect(imported.count("encoded") >= 10 && imported.count("maps") == 0)
        for method in ["getImage", "putImage", "deriveImage", "import"] { #expect(imported.copies(method) == 0, "\(method)") }
        #expect(copied.count("maps") + copied.copies("putImage") >= 10)
        #expect(imported.count("buffers") > 0 && imported.count("ends") >= 10)
        #expect(imported.count("starts") >= imported.count("ends"))
        #expect(copied.count("buffers") == 0)
    }

    /// The kinds that a driver prefers come first. The report has the reason why they were not used.
    @Test(arguments: [("radeonsi-navi21", "vaExportSurfaceHandle@1=status:20", "exported"), ("iHD-9A49", "vaCreateSurfaces@1=status:14", "program")])
    func itFollowsTheKindThatADriverPrefers(_ personality: String, _ fault: String, _ preferred: String) throws {
        let device: [String: String?] = ["VAENC_REFERENCE_PERSONALITY": personality]
        #expect(try encode(.works, variables: device).used == preferred)
        let run = try encode(.works, variables: device.merging(["VAENC_FAULT": fault]) { $1 })
        #expect(run.used == "udmabuf")
        #expect(run.why.contains("\(preferred): \(fault.prefix { $0 != "@" }) failed"), "\(run.why)")
    }

    /// If the kernel or the driver refuses the memory, the driver's memory is used, with the reason.
    @Test(
        arguments: [
            (.absent, nil, "there is no device /dev/udmabuf"), (.denied, nil, "no permission to open /dev/udmabuf"),
            (.refuses, nil, "/dev/udmabuf refuses a DMA-BUF of"), (.works, "vaCreateSurfaces@1=status:14", "vaCreateSurfaces failed"),
        ] as [(FakeUDMABuffer.Mode, String?, String)])
    func refusalsAreReported(_ mode: FakeUDMABuffer.Mode, _ fault: String?, _ reason: String) throws {
        let run = try encode(mode, variables: ["VAENC_INPUT_MEMORY": "udmabuf", "VAENC_FAULT": fault])
        #expect(run.used == "driver" && run.why.hasPrefix("udmabuf: ") && run.why.contains(reason), "\(run.why)")
    }

    /// Without a simulated device.
    @Test(.enabled(if: !Files.exists("/dev/udmabuf"))) func machineWithoutTheDevice() throws {
        let run = try encode(.works, variables: ["VAENC_INPUT_MEMORY": "udmabuf", "LD_PRELOAD": nil])
        #expect(run.used == "driver" && run.why.contains("there is no device /dev/udmabuf"), "\(run.why)")
    }

    /// With the kernel driver xe, iHD could read stale memory at an address of the program.
    @Test func itComesFirstWithTheKernelDriverXe() throws {
        let variables: [String: String?] = ["VAENC_REFERENCE_PERSONALITY": "iHD-9A49", "FAKE_NODE_DRIVER": "xe"]
        let reason = "program: with the kernel driver xe"
        let imported = try encode(.works, node: true, variables: variables)
        #expect(imported.used == "udmabuf" && imported.why.contains(reason), "\(imported.why)")
        let mapped = try encode(.absent, node: true, variables: variables)
        #expect(mapped.used == "driver" && mapped.why.contains(reason) && mapped.why.contains("; udmabuf: there is no"), "\(mapped.why)")
    }

    /// On a render node, one picture in each kind of memory is encoded first, and the streams are compared.
    @Test func memoryOfOthersIsDetected() throws {
        let variables: [String: String?] = ["VAENC_INPUT_MEMORY": "udmabuf"]
        let good = try encode(.works, node: true, variables: variables)
        #expect(good.used == "udmabuf" && good.count("encoded") == 12, "\(good.why)")
        let bad = try encode(.other, node: true, variables: variables)
        #expect(bad.used == "driver" && bad.why.contains("coded differently") && bad.stream == good.stream, "\(bad.why)")
    }

    /// If the kernel cannot synchronize a DMA-BUF, the session continues in the driver's memory. No picture is lost.
    @Test(arguments: [FakeUDMABuffer.Mode.lost, .failing, .unusable], [false, true])
    func failedSynchronizationEndsTheUseOfTheMemory(_ mode: FakeUDMABuffer.Mode, _ hasTwoOutputs: Bool) throws {
        let run = try encode(mode, hasTwoOutputs: hasTwoOutputs, variables: ["VAENC_INPUT_MEMORY": "udmabuf"])
        let reports = hasTwoOutputs ? run.run.outputs : [try #require(run.run.report)]
        #expect(reports.count == (hasTwoOutputs ? 2 : 1))
        for report in reports {
            #expect(report["frames"]?["encoded"]?.int == 10 && report["frames"]?["dropped"]?.int == 0, "\(run.run.errors)")
            // Another session's surfaces are its own.
            if hasTwoOutputs && mode == .lost { continue }
            let memory = report["effective"]?.array.first { $0["option"]?.string == "inputMemory" }
            #expect(memory?["used"]?.string == "driver", "\(String(describing: memory))")
            #expect(memory?["why"]?.string?.contains("DMA_BUF_IOCTL_SYNC failed") == true, "\(String(describing: memory))")
        }
    }
}
