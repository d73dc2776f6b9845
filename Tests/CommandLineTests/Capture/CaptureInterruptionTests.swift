import TestOracles
import Testing

/// Recordings end at any moment, in every container, by Ctrl-C, a kill, or an unplugged camera: before the first picture,
/// in the first GOP, after its end, and after several. CaptureMomentTests tries each of twelve pictures.
@Suite struct CaptureInterruptionTests {
    enum Ending: String, CaseIterable {
        case unplug, interrupt, kill
    }

    /// The outputs of one run, because --format applies to all of them.
    enum Outputs: CaseIterable {
        case several, fragments, device

        var names: [String] { self == .several ? ["a.flv", "a.h264", "a.mkv", "a.mp4", "a.ts"] : ["a.mp4"] }

        var arguments: [String] {
            let device = self == .device ? "reference" : "software"
            return names.flatMap { ["-o", $0] } + (self == .fragments ? ["--format", "fmp4"] : []) + ["--device", device]
        }
    }

    /// Records until `count` pictures. A picture lasts 150 ms but arrives after 10 ms, so that a few pictures make
    /// several fragments.
    private func record(_ outputs: Outputs, _ ending: Ending, _ count: Int, in folder: String) throws -> CaptureRun {
        try CaptureRun(
            "9:formats=NV12,rate=100,stretch=15,\(ending.rawValue)=\(count)",
            ["/dev/video9", "--codec", "h264", "--low-latency", "--gop", "3", "--qp", "30", "--preset", "7", "--late-frames", "keep"]
                + outputs.arguments,
            in: folder)
    }

    /// Returns the number of pictures that ffmpeg decodes from each file.
    private func pictures(_ names: [String], in folder: String, level: String = "error") throws -> [Int] {
        let inputs = names.flatMap { ["-i", $0] } + names.indices.flatMap { ["-map", "\($0):v"] }
        let result = try ProcessRunner.run(
            "ffmpeg",
            ["-v", level, "-nostdin"] + (level == "error" ? ["-xerror"] : []) + inputs
                + ["-fps_mode", "passthrough", "-enc_time_base", "-1", "-f", "framemd5", "-"],
            directory: folder)
        #expect(result.status == 0 && result.errors == "", "\(names): \(result.errors)")
        var counts = names.map { _ in 0 }
        for line in result.output.split(separator: "\n") where !line.hasPrefix("#") {
            if let stream = line.split(separator: ",").first.flatMap({ Int($0) }), counts.indices.contains(stream) { counts[stream] += 1 }
        }
        return counts
    }

    private static func list(_ moments: [(Outputs, [Int])]) -> [(Outputs, Int)] { moments.flatMap { moment in moment.1.map { (moment.0, $0) } } }
    private static let moments = list([(.several, [0, 1, 3, 12]), (.fragments, [1, 12]), (.device, [7])])
    static let allMoments = list([(.several, Array(0...12)), (.fragments, [0, 1, 4, 12]), (.device, [1, 7])])

    /// The files are finished and have every counted picture, and no other file is left.
    @Test(arguments: moments, [Ending.unplug, .interrupt])
    func unplugOrInterruptLeavesFinishedFiles(_ moment: (Outputs, Int), _ ending: Ending) throws {
        try expectFinishedFiles(moment.0, moment.1, ending)
    }

    func expectFinishedFiles(_ outputs: Outputs, _ count: Int, _ ending: Ending) throws {
        try Files.withTemporaryFolder { folder in
            let run = try record(outputs, ending, count, in: folder)
            #expect(run.status == (ending == .unplug ? 75 : 130), "\(run.errors)")
            if count == 0 {
                #expect(Files.list(folder).isEmpty)
                return
            }
            #expect(Files.list(folder) == outputs.names, "\(run.errors)")
            let report = try #require(run.encode.report)
            let encoded = run.encode.outputs.isEmpty ? [report["frames"]?["encoded"]?.int] : run.encode.outputs.map { $0["frames"]?["encoded"]?.int }
            let given = (run.count("captured") ?? -1) - (run.count("late") ?? 0)
            #expect(encoded == outputs.names.map { _ in given })
            #expect(given == count)
            #expect(try pictures(outputs.names, in: folder) == outputs.names.map { _ in given })
        }
    }

    /// No output has its final name, and the part plays up to its last fragment.
    @Test(arguments: moments) func killedRecordingLeavesPlayableParts(_ outputs: Outputs, _ count: Int) throws {
        try expectPlayableParts(outputs, count)
    }

    func expectPlayableParts(_ outputs: Outputs, _ count: Int) throws {
        try Files.withTemporaryFolder { folder in
            let run = try record(outputs, .kill, count, in: folder)
            #expect(run.status == 137, "\(run.errors)")
            let parts = outputs.names.map { $0 + ".part" }
            #expect(Files.list(folder) == parts)
            for part in parts {
                let bytes = try Files.read("\(folder)/\(part)")
                if part.hasPrefix("a.mp4") {
                    // A copy that ends after the last whole `mdat` has the same pictures and decodes without errors.
                    let whole = Self.lastSamples(bytes)
                    #expect(whole > 0 || count < 12)
                    if whole == 0 { continue }
                    try Files.write(Array(bytes[..<whole]), to: folder + "/whole.mp4")
                    let all = try pictures(["whole.mp4"], in: folder)
                    #expect(all[0] > 0 && all[0] <= count)
                    #expect(try pictures([part], in: folder, level: "fatal") == all)
                } else if part.hasPrefix("a.h264") || part.hasPrefix("a.ts") {
                    // The first picture may not be encoded yet.
                    if bytes.isEmpty, count == 0 || part.hasPrefix("a.h264") { continue }
                    let all = try pictures([part], in: folder, level: "fatal")
                    #expect((1...count).contains(all[0]), "\(part): \(all)")
                } else if part.hasPrefix("a.mkv"), count == 12 {
                    // A cluster lasts a second: the first one is complete.
                    let all = try pictures([part], in: folder, level: "fatal")
                    #expect((6...count).contains(all[0]), "\(all)")
                }
            }
        }
    }

    /// Returns the offset of the end of the last whole `mdat`, ISO/IEC 14496-12 4.2.
    private static func lastSamples(_ bytes: [UInt8]) -> Int {
        var (offset, last) = (0, 0)
        while offset + 8 <= bytes.count {
            let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, offset + size <= bytes.count else { break }
            offset += size
            if bytes[offset - size + 4..<offset - size + 8].elementsEqual("mdat".utf8) { last = offset }
        }
        return last
    }
}

/// Recordings end before the first picture and after each of twelve.
@Suite struct CaptureMomentTests {
    typealias Interruption = CaptureInterruptionTests

    @Test(arguments: Interruption.allMoments, [Interruption.Ending.unplug, .interrupt])
    func unplugOrInterruptAtAnyMomentLeavesFinishedFiles(_ moment: (Interruption.Outputs, Int), _ ending: Interruption.Ending) throws {
        try Interruption().expectFinishedFiles(moment.0, moment.1, ending)
    }

    @Test(arguments: Interruption.allMoments)
    func killAtAnyMomentLeavesPlayableParts(_ outputs: Interruption.Outputs, _ count: Int) throws {
        try Interruption().expectPlayableParts(outputs, count)
    }
}
