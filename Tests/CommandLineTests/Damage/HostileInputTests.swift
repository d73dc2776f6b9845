import TestOracles
import Testing

/// Inputs that are made to break their reader: the exit status is one of docs/CLI.md with one line, and time and memory
/// follow the actual size. A size that a file only claims costs nothing.
@Suite struct HostileInputTests {
    private static let crafted = Checkout.root + "/Tests/Fixtures/inspect"

    /// The fixtures have, for example, HRD times beyond the range of integers, and PPS tiles that do not fit the active
    /// SPS.
    @Test func craftedStreamsAreReportedWithoutCrash() throws {
        let names = Files.list(Self.crafted)
        #expect(names.count == 9)
        for name in names {
            let run = try ToolRun(["inspect", "\(Self.crafted)/\(name)", "--json"])
            #expect(run.status == 0 || run.status == 65, "\(name): \(run.errorLines)")
            #expect(run.report?["schema"]?.int == 1, "\(name)")
            #expect(run.errorLines.count == (run.status == 0 ? 0 : 1), "\(name): \(run.errorLines)")
        }
    }

    /// The stream has 60,000 different sequence parameter sets: comparing each with all earlier ones would take
    /// minutes.
    @Test func manyParameterSetsTakeLittleTime() throws {
        try Files.withTemporaryFolder { folder in
            var bytes: [UInt8] = []
            for height in 1...300 {
                for width in 1...200 {
                    var bits = HeaderBits()
                    bits.put(66 << 16 | 51, 24)
                    // seq_parameter_set_id, log2_max_frame_num, pic_order_cnt_type 2, max_num_ref_frames, no gaps
                    for value in [0, 0, 2, 1] { bits.ue(value) }
                    bits.flag(false)
                    bits.ue(width)
                    bits.ue(height)
                    // frame_mbs_only_flag, direct_8x8_inference_flag, no cropping, no VUI
                    bits.put(0b1100, 4)
                    bits.trailing()
                    bytes += [0, 0, 0, 1, 0x67] + HeaderBits.escaped(bits.bytes)
                }
            }
            try Files.write(bytes, to: folder + "/sets.h264")
            let run = try ToolRun(["inspect", folder + "/sets.h264"])
            #expect(run.status == 65 && run.errorLines.count == 1, "\(run.errorLines)")
            #expect(run.errorLines.first?.contains("no picture") == true, "\(run.errorLines)")
        }
    }

    /// The stream has NAL units of a few bytes, of every kind with its own cost. The memory is a few tens of times the
    /// size of the stream, not hundreds.
    @Test(arguments: [
        ("delimiters", "09f0"), ("broken", "ff"), ("messages", "06050080"), ("cut slices", "6588"),
        ("fillers", "0cff80"),
        ("HEVC messages", "4e01050080"),
    ])
    func tinyUnitsTakeBoundedMemory(_ name: String, _ unit: String) throws {
        let digits = Array(unit)
        let payload = stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(digits[$0..<$0 + 2]), radix: 16) ?? 0
        }
        var bytes: [UInt8] = []
        while bytes.count < 4_000_000 { bytes += [0, 0, 1] + payload }
        // JSON has one line for each NAL unit with a valid header.
        try inspect(bytes, isHEVC: name.hasPrefix("HEVC"), maxKB: 150_000) { isJSON, lines in
            if isJSON { #expect((lines > 500_000) == (name != "broken"), "\(lines)") }
        }
    }

    /// The pictures have ten bytes: only the slice headers of a picture are read.
    @Test(arguments: [false, true]) func tinyPicturesTakeBoundedMemory(isHEVC: Bool) throws {
        try Files.withTemporaryFolder { folder in
            let file = folder + (isHEVC ? "/a.h265" : "/a.h264")
            let options =
                isHEVC ? ["libx265", "-x265-params", "log-level=none"] : ["libx264", "-profile:v", "baseline"]
            let setup = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-nostdin", "-i", Fixture.carphone.path(), "-frames:v", "1", "-c:v"] + options + [file])
            try #require(setup.status == 0, "\(setup.errors)")
            let stream = try Files.read(file)
            let starts = (3..<stream.count).filter { stream[$0 - 3..<$0] == [0, 0, 1] }
            let units = zip(starts, starts.dropFirst() + [stream.count + 3]).map { stream[$0..<$1 - 3] }
            func type(_ unit: ArraySlice<UInt8>) -> UInt8 {
                isHEVC ? (unit.first ?? 0) >> 1 & 63 : (unit.first ?? 0) & 31
            }
            let sets = units.filter { (isHEVC ? 32...34 : 7...8).contains(type($0)) }
            let slice = try #require(units.first { isHEVC ? type($0) < 32 : type($0) == 5 })
            var bytes = sets.flatMap { [0, 0, 1] + $0 }
            while bytes.count < 4_000_000 {
                bytes += [0, 0, 1] + slice.prefix(9) + (isHEVC ? [] : [0, 0, 1, 9, 0xF0])
            }
            // The table has one line for each picture.
            try inspect(bytes, isHEVC: isHEVC, maxKB: 500_000) { isJSON, lines in
                if !isJSON { #expect(lines > 100_000, "\(lines)") }
            }
        }
    }

    private func inspect(_ bytes: [UInt8], isHEVC: Bool, maxKB: Int, _ check: (_ isJSON: Bool, _ lines: Int) -> Void)
        throws
    {
        try Files.withTemporaryFolder { folder in
            let file = folder + (isHEVC ? "/tiny.h265" : "/tiny.h264")
            try Files.write(bytes, to: file)
            for isJSON in [false, true] {
                let run = try ProcessRunner.runMeasuringMemory(
                    Checkout.vaenc, ["inspect", file] + (isJSON ? ["--json"] : []))
                #expect(run.status == 65 || run.status == 0, "\(run.errors)")
                #expect(run.errorLines.count <= 1)
                #expect(run.peakKB < maxKB, "JSON \(isJSON): \(run.peakKB) KB")
                check(isJSON, run.stdout.count { $0 == UInt8(ascii: "\n") })
            }
        }
    }

    /// An input of 47 bytes claims pictures of 12.9 GB; others claim sizes within the limits. All are refused before
    /// memory is allocated.
    @Test(arguments: [nil, "16000x16000", "16384x100"]) func promisedSizesTakeNoMemory(_ size: String?) throws {
        try Files.withTemporaryFolder { folder in
            var bytes = try Files.read(Checkout.root + "/Tests/Fixtures/y4m-65536.y4m")
            if let size {
                let sides = size.split(separator: "x")
                bytes = Array("YUV4MPEG2 W\(sides[0]) H\(sides[1]) F25:1 Ip C444\nFRAME\nabc".utf8)
            }
            try Files.write(bytes, to: folder + "/a.y4m")
            for input in ["\(folder)/a.y4m", "-"] {
                for command in [
                    ["encode", input, "--size", "64x64", "-o", folder + "/o.h264"],
                    ["decode", input, "-o", folder + "/o.y4m"],
                ] {
                    let isLarge = size == "16000x16000" && command[0] == "decode" && input == "-"
                    // A pipe's pictures are allocated with the declared size.
                    if isLarge { continue }
                    let run = try ToolRun(command + ["--device", "software"], input: input == "-" ? bytes : [], measuresMemory: true)
                    run.expectRefusal(
                        65, size == nil ? "65536×65536" : "ends inside picture 0",
                        without: [folder + "/o.h264", folder + "/o.y4m"])
                    #expect(run.peakKB < 250_000, "\(command): \(run.peakKB) KB")
                }
            }
        }
    }

    /// The requested sizes exceed the limits that the help names.
    @Test(arguments: [
        ["decode", "CLIP", "-o", "o.nv12", "--size", "24000x24000"],
        ["compare", "CLIP", "CLIP", "--size", "24000x24000", "--frames", "1"],
        ["encode", "CLIP", "-o", "o.mp4", "--size", "16384x16384"],
        ["encode", "CLIP", "-o", "o.mp4", "--input-size", "70000x2"],
        ["encode", "testsrc:20000x16@25:2", "-o", "o.mp4"],
    ])
    func requestedSizesOverTheLimitAreRefused(_ arguments: [String]) throws {
        try Files.withTemporaryFolder { folder in
            let clip = try Fixture.carphone.path()
            let run = try ToolRun(arguments.map { $0 == "CLIP" ? clip : $0.hasPrefix("o.") ? "\(folder)/\($0)" : $0 }, measuresMemory: true)
            run.expectRefusal(64, "at most 16384 a side, and at most 256 million pixels")
            #expect(Files.list(folder).isEmpty)
            #expect(run.peakKB < 250_000)
        }
        let help = try ToolRun([arguments[0], "--help"])
        #expect(
            String(decoding: help.output, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ")
                .contains("at most 16384 a side"))
    }

    /// The options have the largest or smallest values.
    @Test(arguments: [
        ["--fps", "30000000000/1000000001"], ["--start", "999999999", "--fps", "1000"], ["--duration", "999999999"],
        ["--frames", "9223372036854775807"],
    ])
    func extremeOptionValuesAreHandled(_ options: [String]) throws {
        try Files.withTemporaryFolder { folder in
            let raw = folder + "/a.yuv"
            try Files.write([UInt8](repeating: 90, count: 64 * 48 * 3 / 2 * 2), to: raw)
            for input in [[raw, "--input-size", "64x48"], ["testsrc:64x48@25:2"]] {
                let run = try ToolRun(
                    ["encode"] + input + ["-o", folder + "/o.h264", "--device", "software", "--overwrite"] + options)
                #expect([0, 64, 65].contains(run.status), "\(input) \(options): \(run.status) \(run.errorLines)")
                #expect(run.status == 0 || run.errorLines.count == 1, "\(run.errorLines)")
            }
        }
    }
}
