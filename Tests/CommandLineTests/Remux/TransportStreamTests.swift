import TestOracles
import Testing

/// Access unit delimiters, which precede every picture in MPEG-TS: those of HEVC have the TemporalId of their pictures,
/// as FFmpeg's trace_headers reads it, and the HRD parameters include them.
@Suite struct TransportStreamTests {
    private func vaenc(_ arguments: [String], in folder: String) throws -> ProcessRunner.Result {
        let result = try ProcessRunner.run(Checkout.vaenc, arguments, directory: folder)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        return result
    }

    /// Returns the TemporalId of each picture and of the delimiter before it, or -1 without a delimiter.
    private func layers(of path: String) throws -> [(picture: Int, delimiter: Int)] {
        var result: [(Int, Int)] = []
        var delimiter = -1
        for unit in try TraceHeaders(path: path, codec: "mpegts").units {
            guard let id = unit["nuh_temporal_id_plus1"].map({ $0 - 1 }) else { continue }
            if unit.name == "Access Unit Delimiter" { delimiter = id }
            if unit.name == "Slice Segment Header" {
                result.append((id, delimiter))
                delimiter = -1
            }
        }
        return result
    }

    @Test(arguments: [2, 3]) func delimitersHaveTheTemporalIdOfTheirPicture(_ count: Int) throws {
        try Files.withTemporaryFolder { folder in
            let outputs = ["a.ts", "a.m2ts", "a.mp4", "a.mkv", "a.h265"]
            _ = try vaenc(
                ["encode", "testsrc:96x64@25:16", "--codec", "hevc", "--temporal-layers", "\(count)", "--gop", "8", "--device", "reference"]
                    + outputs.flatMap { ["-o", $0] }, in: folder)
            for input in outputs { _ = try vaenc(["remux", input, "-o", "from-\(input).ts"], in: folder) }
            for name in ["a.ts", "a.m2ts"] + outputs.map({ "from-\($0).ts" }) {
                let found = try layers(of: "\(folder)/\(name)")
                #expect(found.count == 16 && Set(found.map(\.picture)) == Set(0..<count), "\(name): \(found)")
                #expect(found.allSatisfy { $0.picture == $0.delimiter }, "\(name): \(found)")
                let report = try ToolRun(["inspect", "\(folder)/\(name)", "--json"]).report
                #expect(report?["violations"]?.array.isEmpty == true, "\(name)")
            }
        }
    }

    /// Whether a container keeps or removes delimiters, requested or not, the stream conforms to its HRD parameters.
    @Test(arguments: ["h264", "hevc"], [false, true]) func delimitersKeepHRDConformance(_ codec: String, _ isRequested: Bool) throws {
        try Files.withTemporaryFolder { folder in
            // The delimiters of 160 pictures have a third of the bits of the decoder's buffer. HLS chooses HEVC itself.
            let named = codec == "hevc" ? [] : ["--codec", codec]
            for (names, options) in [(["a.ts", "a.mp4", "a.mkv"], ["--codec", codec]), (["a.m3u8"], named)] {
                let run = try EncodeRun(
                    ["testsrc:64x48@15:160", "--device", "reference", "--rate-control", "cbr", "--bitrate", "30k", "--hrd", "on", "--json"]
                        + options + (isRequested ? ["--aud"] : []) + names.flatMap { ["-o", $0] }, in: folder)
                #expect(run.status == 0, "\(run.errors)")
                for (index, name) in names.enumerated() {
                    let hrd = try ToolRun(["inspect", "\(folder)/\(name)", "--json"]).report?["hrd"]
                    #expect(hrd?["conforms"]?.bool == true, "\(name): \(String(describing: hrd))")
                    let entry = run.effective("accessUnitDelimiters", output: names.count > 1 ? index : nil)
                    let isHeld = name == "a.ts" || name == "a.m3u8" && codec == "h264"
                    #expect(entry?["asked"]?.string == (isRequested ? "on" : nil), "\(name)")
                    #expect(entry?["used"]?.string == (isHeld ? "on" : "off"), "\(name)")
                }
            }
        }
    }
}
