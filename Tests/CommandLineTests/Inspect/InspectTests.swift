import TestOracles
import Testing

/// `vaenc inspect` against ffprobe and FFmpeg's trace_headers.
@Suite struct InspectTests {
    /// ffprobe's packets in coding order and pictures in output order.
    private struct Probed {
        var packets: [JSONValue]
        var frames: [JSONValue]
        var stream: JSONValue

        init(_ file: String) throws {
            let run = try ProcessRunner.run(
                "ffprobe",
                [
                    "-v", "error", "-select_streams", "v:0", "-show_entries",
                    "packet=size,flags,pts_time,dts_time:frame=pict_type:stream=codec_name,profile,level,width,height", "-of", "json", file,
                ])
            try #require(run.status == 0, "\(run.errors)")
            let report = try #require(JSONValue(run.output))
            let mixed = report["packets_and_frames"]?.array ?? []
            packets = mixed.filter { $0["type"]?.string == "packet" }
            frames = mixed.filter { $0["type"]?.string == "frame" }
            stream = try #require(report["streams"]?.array.first)
        }
    }

    /// Samples of a container may begin with a delimiter, because the parameter sets of the container's record are
    /// outside of them.
    @Test(arguments: ["libx264", "libx265"]) func delimitersInSamplesAreAllowed(_ encoder: String) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=0.4", "-pix_fmt", "yuv420p", "-c:v", encoder, "-g", "5", "-x265-params",
                "log-level=none", "-bsf:v", encoder == "libx264" ? "h264_metadata=aud=insert" : "hevc_metadata=aud=insert", folder + "/in.ts")
            for name in ["a.mp4", "a.mov", "a.mkv"] {
                try ffmpeg("-i", folder + "/in.ts", "-c", "copy", "\(folder)/\(name)")
                let run = try ProcessRunner.run(Checkout.vaenc, ["inspect", name], directory: folder)
                #expect(run.status == 0 && !(run.output + run.errors).contains("delimiter"), "\(name): \(run.output) \(run.errors)")
            }
        }
    }

    /// Intra refresh has recovery points at P pictures, which libavformat marks as key packets.
    @Test(arguments: ["h264", "mp4", "mkv", "ts"]) func intraRefreshHasOneKeyPicture(_ container: String) throws {
        try Files.withTemporaryFolder { folder in
            let encoded = try ProcessRunner.run(
                Checkout.vaenc,
                [
                    "encode", "testsrc:96x64@25:25", "--device", "reference", "--codec", "h264", "--intra-refresh", "--gop", "10", "--bframes", "0",
                    "-o",
                    "a.\(container)",
                ], directory: folder)
            try #require(encoded.status == 0, "\(encoded.errors)")
            let run = try ProcessRunner.run(Checkout.vaenc, ["inspect", "a.\(container)", "--json"], directory: folder)
            let frames = try #require(JSONValue(run.output)?["frames"]?.array)
            #expect(frames.count == 25)
            #expect(frames.filter { $0["key"]?.bool == true }.map { $0["type"]?.string } == ["I"])
        }
    }

    private func number(_ value: JSONValue?) -> Double? { value?.string.flatMap(Double.init) }

    private func expectAgreement(_ file: String, _ report: JSONValue, hasTimes: Bool) throws {
        let probed = try Probed(file)
        #expect(report["codec"]?.string == probed.stream["codec_name"]?.string)
        #expect(report["profile"]?.string == probed.stream["profile"]?.string)
        #expect(report["width"]?.int == probed.stream["width"]?.int && report["height"]?.int == probed.stream["height"]?.int)
        let level = try #require(probed.stream["level"]?.int)
        let tenths = report["codec"]?.string == "hevc" ? level / 3 : level
        #expect(report["level"]?.string == "\(tenths / 10).\(tenths % 10)")
        let frames = try #require(report["frames"]?.array)
        try #require(frames.count == probed.packets.count && frames.count == probed.frames.count)
        for (index, (frame, packet)) in zip(frames, probed.packets).enumerated() {
            #expect(frame["index"]?.int == index)
            // In bare HEVC, FFmpeg's parser assigns the first zero byte of a start code to the previous picture.
            let difference = (frame["bytes"]?.int ?? 0) - Int(number(packet["size"]) ?? -9)
            #expect(difference == 0 || (!hasTimes && abs(difference) == 1), "\(file) picture \(index)")
            #expect(frame["key"]?.bool == packet["flags"]?.string?.hasPrefix("K"), "\(file) picture \(index)")
            for (own, other) in [("pts", "pts_time"), ("dts", "dts_time")] {
                if !hasTimes { #expect(frame[own] == .null) }
                guard hasTimes, let expected = number(packet[other]) else { continue }
                #expect(abs((frame[own]?.double ?? .nan) - expected) < 0.000_01, "\(file) picture \(index) \(own)")
            }
        }
        let shown = frames.sorted { $0["display"]?.int ?? -1 < $1["display"]?.int ?? -1 }
        for (frame, other) in zip(shown, probed.frames) {
            #expect(frame["type"]?.string == other["pict_type"]?.string, "\(file) picture \(frame["index"]?.int ?? -1)")
        }
        for frame in frames {
            let (index, references) = (frame["index"]?.int ?? -1, frame["references"]?.array.compactMap(\.int) ?? [])
            #expect(references.allSatisfy { $0 >= 0 && $0 < index })
            #expect(references.isEmpty == (frame["type"]?.string == "I"))
        }
    }

    @Test(arguments: StreamSample.allCases) func everyContainerMatchesFFprobe(_ sample: StreamSample) throws {
        try Files.withTemporaryFolder { folder in
            let (container, stream) = try sample.make(in: folder, frames: 60)
            var files = [container, stream]
            for ending in sample.isHEVC ? ["mkv", "ts", "mov"] : ["mkv", "ts", "flv"] {
                try ffmpeg("-i", container, "-c", "copy", "\(folder)/x.\(ending)")
                files.append("\(folder)/x.\(ending)")
            }
            var pictures: [[JSONValue?]] = []
            for file in files {
                let run = try ToolRun(["inspect", file, "--json"])
                #expect(run.status == 0, "\(run.errorLines)")
                let report = try #require(run.report)
                #expect(report["fault"] == .null)
                try expectAgreement(file, report, hasTimes: file != stream)
                pictures.append((report["frames"]?.array ?? []).flatMap { [$0["qp"], $0["references"], $0["type"]] })
            }
            #expect(Set(pictures).count == 1)
            try expectHeaders(stream, sample)
            // Length-prefixed, the pictures are the same, and the offsets are those of the lengths.
            let prefixed = "\(folder)/s.avcc"
            #expect(try ToolRun(["convert", stream, "-o", prefixed, "--length-size", "4"]).status == 0)
            let report = try #require(try ToolRun(["inspect", prefixed, "--json"]).report)
            #expect((report["frames"]?.array ?? []).flatMap { [$0["qp"], $0["references"], $0["type"]] } == pictures[0])
            let bytes = try Files.read(prefixed)
            var index = 0
            for unit in report["nalUnits"]?.array ?? [] {
                #expect(unit["offset"]?.int == index)
                index += 4 + bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
            }
            #expect(index == bytes.count)
        }
    }

    /// Compares QPs and NAL unit types with those that trace_headers reads.
    private func expectHeaders(_ stream: String, _ sample: StreamSample) throws {
        let report = try #require(try ToolRun(["inspect", stream, "--json"]).report)
        let trace = try TraceHeaders(stream: try Files.read(stream), codec: sample.codec)
        let slices = trace.units.filter { $0["slice_qp_delta"] != nil }
        let initial = 26 + (trace[sample.isHEVC ? "init_qp_minus26" : "pic_init_qp_minus26"].last ?? 0)
        let qps = slices.map { initial + ($0["slice_qp_delta"] ?? 0) }
        let first = sample.isHEVC ? "first_slice_segment_in_pic_flag" : "first_mb_in_slice"
        let starts = slices.indices.filter { slices[$0][first] == (sample.isHEVC ? 1 : 0) } + [slices.count]
        let means = zip(starts, starts.dropFirst()).map { start, end in
            (Double(qps[start..<end].reduce(0, +)) / Double(end - start) * 100).rounded() / 100
        }
        #expect((report["frames"]?.array ?? []).compactMap { $0["qp"]?.double } == means)
        let names = report["nalUnits"]?.array.compactMap { $0["type"]?.string } ?? []
        #expect(names.count == trace["nal_unit_type"].count)
        for (name, type) in [("SPS", sample.isHEVC ? 33 : 7), ("PPS", sample.isHEVC ? 34 : 8)] {
            #expect(names.count { $0 == name } == trace["nal_unit_type"].count { $0 == type })
        }
        let bytes = report["nalUnits"]?.array.compactMap { $0["bytes"]?.int } ?? []
        #expect(bytes.reduce(0, +) == Files.size(stream))
    }

    /// x264's own buffer, kept, plotted and violated, and a stream without one.
    @Test func bufferConformanceIsCheckedAndPlotted() throws {
        try Files.withTemporaryFolder { folder in
            let (stream, plot) = ("\(folder)/s.h264", "\(folder)/p<&>.svg")
            try ffmpeg(
                "-i", Fixture.carphone.path(), "-c:v", "libx264", "-preset", "veryfast", "-b:v", "300k", "-maxrate", "300k", "-bufsize",
                "200k", "-x264-params", "nal-hrd=cbr:force-cfr=1", stream)
            let run = try ToolRun(["inspect", stream, "--json", "--plot", plot])
            #expect(run.status == 0, "\(run.errorLines)")
            let hrd = try #require(run.report?["hrd"])
            #expect(hrd["conforms"]?.bool == true)
            #expect(hrd["violations"]?.array.isEmpty == true)
            #expect(hrd["schedules"]?.array.first?["constant"]?.bool == true)
            let drawn = try ProcessRunner.run("python3", ["-c", Self.count, plot])
            #expect(drawn.status == 0, "\(drawn.errors)")
            // A bar for each picture and three in the legend; the lines of QP and buffer have a point for each picture.
            #expect(drawn.output == "123 120 240\n", "\(drawn.output)")
            try ToolRun(["inspect", stream, "--plot", plot]).expectRefusal(73, "exists")

            // Filler enlarges a picture so that the buffer underflows or overflows.
            var bytes = try Files.read(stream)
            let middle = try #require(bytes.indices.dropFirst(bytes.count / 2).first { bytes[$0...].starts(with: [0, 0, 0, 1]) })
            bytes.insert(contentsOf: [0, 0, 0, 1, 12] + [UInt8](repeating: 255, count: 40000) + [128], at: middle)
            try Files.write(bytes, to: stream)
            let broken = try ToolRun(["inspect", stream, "--json"])
            #expect(broken.report?["hrd"]?["conforms"]?.bool == false)
            #expect(broken.report?["hrd"]?["violations"]?.array.isEmpty == false)
            #expect(try ToolRun(["inspect", Fixture.bikes.path(), "--json"]).report?["hrd"] == .null)
        }
    }

    /// Checks that the plot is well-formed XML, then prints the number of bars, and of points of the two lines with the
    /// most points.
    private static let count = """
        import sys, xml.dom.minidom as m
        svg = m.parse(sys.argv[1]).documentElement
        assert svg.tagName == "svg"
        bars = [r for r in svg.getElementsByTagName("rect") if r.getElementsByTagName("title")]
        lines = [len(p.getAttribute("points").split()) for p in svg.getElementsByTagName("polyline")]
        lines.sort()
        print(len(bars), *lines[-2:])
        """

    @Test func temporalLayersMatchTheHeaders() throws {
        try Files.withTemporaryFolder { folder in
            let stream = "\(folder)/s.h265"
            var layers: [Int] = []
            // In x265 4 the setting is the number of layers; in earlier versions it is a switch.
            for setting in [3, 1] where Set(layers).count < 2 {
                try ffmpeg(
                    "-i", Fixture.carphone.path(), "-frames:v", "24", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                    "log-level=none:temporal-layers=\(setting):bframes=3:b-adapt=0", stream)
                let trace = try TraceHeaders(stream: try Files.read(stream), codec: "hevc")
                let slices = trace.units.filter { $0["first_slice_segment_in_pic_flag"] == 1 }
                layers = slices.compactMap { $0["nuh_temporal_id_plus1"].map { $0 - 1 } }
            }
            #expect(Set(layers).count > 1)
            let frames = try #require(try ToolRun(["inspect", stream, "--json"]).report?["frames"]?.array)
            #expect(frames.compactMap { $0["temporalLayer"]?.int } == layers)
        }
    }

    /// The text of a playlist, which could be NAL units with lengths of one byte, is a container's. Other text is refused.
    @Test func textIsNotAStream() throws {
        try Files.withTemporaryFolder { folder in
            let run = try EncodeRun(
                ["testsrc:64x48@30:160", "--device", "reference", "--codec", "hevc", "--preset", "7", "-o", "a.m3u8"],
                in: folder)
            try #require(run.status == 0, "\(run.errors)")
            let playlist = try Files.read("\(folder)/a.m3u8")
            #expect(String(decoding: playlist, as: UTF8.self).contains("a00001.m4s"))
            #expect(try ToolRun(["inspect", "\(folder)/a.m3u8", "--json"]).report?["frames"]?.array.count == 160)
            // # is 35.
            let text = "#E" + String(repeating: "x", count: 34)
            try Files.write(Array((text + text).utf8), to: "\(folder)/a.txt")
            try ToolRun(["inspect", "\(folder)/a.txt"]).expectRefusal(65, "a.txt")
        }
    }

    /// Damage is reported, and the pictures before it are listed.
    @Test func damageIsReportedAfterTheGoodPictures() throws {
        try Files.withTemporaryFolder { folder in
            let (container, stream) = try StreamSample.carphone.make(in: folder)
            let prefixed = "\(folder)/s.avcc"
            #expect(try ToolRun(["convert", stream, "-o", prefixed]).status == 0)
            let cut = "\(folder)/cut"
            try ffmpeg("-i", container, "-c", "copy", "-movflags", "+faststart", "\(folder)/front.mp4")
            for file in [prefixed, "\(folder)/front.mp4"] {
                try Files.write(Array(try Files.read(file).prefix((Files.size(file) ?? 0) / 2)), to: cut)
                let run = try ToolRun(["inspect", cut, "--json"])
                #expect(run.status == 65, "\(run.errorLines)")
                #expect(run.errorLines.count == 1)
                #expect((20..<110).contains(run.report?["frames"]?.array.count ?? 0), "\(file)")
                #expect(run.report?["fault"]?.string?.isEmpty == false)
            }
            // A slice header is overwritten.
            var bytes = try Files.read(stream)
            let offset = try #require(bytes.indices.dropFirst(bytes.count / 2).first { bytes[$0...].starts(with: [0, 0, 1]) })
            for byte in offset + 4..<offset + 12 { bytes[byte] = 0xFF }
            bytes.replaceSubrange(offset + 4..<offset + 6, with: [0, 1])
            try Files.write(bytes, to: cut + ".h264")
            let damaged = try ToolRun(["inspect", cut + ".h264", "--json"])
            #expect(damaged.status == 65)
            #expect(damaged.report?["violations"]?.array.isEmpty == false)
            #expect(damaged.report?["frames"]?.array.count ?? 0 > 100)
            try ffmpeg("-i", container, "-c:v", "mpeg4", "\(folder)/other.mp4")
            try ffmpeg("-i", container, "-frames:v", "5", "-c:v", "mpeg2video", "\(folder)/other.ts")
            try ffmpeg("-i", container, "-frames:v", "5", "-c:v", "libvpx-vp9", "-deadline", "realtime", "\(folder)/other.webm")
            let cases: [(String, Int, String)] = [
                ("\(folder)/other.mp4", 69, "mpeg4"), ("\(folder)/other.ts", 69, "mpeg2video"), ("\(folder)/other.webm", 69, "vp9"),
                ("\(folder)/nothing", 66, "no file"), (#filePath, 65, "cannot be read as video"),
            ]
            for (file, status, words) in cases { try ToolRun(["inspect", file, "--json"]).expectRefusal(status, words) }
            try ToolRun(["inspect", "-"]).expectRefusal(65, "empty")
        }
    }

    /// Random bytes lead to a report or an error, and to no crash.
    @Test func randomDamageDoesNotCrash() throws {
        try Files.withTemporaryFolder { folder in
            let whole = try Files.read(StreamSample.hevc.make(in: folder).stream)
            var random = SystemRandomNumberGenerator()
            for _ in 0..<10 {
                var bytes = Array(whole.prefix(20000))
                for _ in 0..<30 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random) }
                try Files.write(bytes, to: "\(folder)/x.h265")
                let run = try ToolRun(["inspect", "\(folder)/x.h265", "--json", "--plot", "\(folder)/x.svg", "--overwrite"])
                #expect([0, 65].contains(run.status), "\(run.status) \(run.errorLines)")
                #expect(run.report != nil)
            }
        }
    }
}
