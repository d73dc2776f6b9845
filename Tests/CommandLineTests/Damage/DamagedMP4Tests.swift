import TestOracles
import Testing

/// MP4 files with damaged headers are bad input (65) for each command, reported in one line.
@Suite struct DamagedMP4Tests {
    private static func makeClip(in folder: String) throws -> [UInt8] {
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.12", "-f", "lavfi", "-i", "sine=d=0.12", "-c:v", "libx264",
            "-preset",
            "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", folder + "/clip.mp4")
        return try Files.read(folder + "/clip.mp4")
    }

    private static func offset(of name: String, in bytes: [UInt8]) throws -> Int {
        let expected = Array(name.utf8)
        return try #require((0..<bytes.count - 4).last { Array(bytes[$0..<$0 + 4]) == expected }, "\(name)")
    }

    private func expectRefusals(_ bytes: [UInt8], _ commands: [[String]], in folder: String) throws {
        try Files.write(bytes, to: folder + "/damaged.mp4")
        for command in commands {
            let run = try ProcessRunner.run(Checkout.vaenc, command, directory: folder)
            #expect(run.status == 65 && run.errorLines.count == 1, "\(command): \(run.status) \(run.errors)")
            #expect(Set(Files.list(folder)) == ["clip.mp4", "damaged.mp4"], "\(command)")
        }
    }

    /// A table that declares more entries than it has room for is damage, not a lack of memory. FFmpeg 7 reads no more
    /// entries of stco than there are; then no picture is missing.
    @Test(arguments: ["stts", "ctts", "stco", "stsz", "trun"]) func oversizedTablesAreReportedAsDamage(_ table: String) throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/in.mp4"
            let flags = table == "trun" ? ["-movflags", "frag_keyframe+empty_moov"] : []
            let setup = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-c:v", "libx264", "-bf", "2"] + flags + [
                    path
                ])
            try #require(setup.status == 0, "\(setup.errors)")
            var bytes = try Files.read(path)
            let offset = try #require(bytes.firstRange(of: Array(table.utf8))).lowerBound + (table == "stsz" ? 12 : 8)
            bytes.replaceSubrange(offset..<offset + 4, with: [0x10, 0, 0, 0])
            try Files.write(bytes, to: path)
            for arguments in [["inspect", path], ["remux", path, "-o", "\(folder)/a.mkv"], ["decode", path, "-o", "\(folder)/a.y4m"]] {
                let run = try ToolRun(arguments)
                if table == "stco", run.status == 0 {
                    switch arguments[0] {
                    case "inspect": #expect(String(decoding: run.output, as: UTF8.self).contains("\n25 pictures, "))
                    case "decode": #expect(run.errorLines.first?.contains(": 25 pictures, ") == true, "\(run.errorLines)")
                    default: #expect(try RemuxTests.probe("a.mkv", "packet=pts_time", in: folder).split(separator: "\n").count == 25)
                    }
                    continue
                }
                #expect(run.status == 65 && run.errorLines.count == 1, "\(run.errorLines)")
                #expect(run.errorLines.first?.contains("memory") == false, "\(run.errorLines)")
                if arguments[0] != "decode" { #expect(run.errorLines.first?.contains("--input-size") == false, "\(run.errorLines)") }
            }
        }
    }

    /// An MP4 whose index is at the end cannot be read from a pipe. The error says so, and names only options of the
    /// command.
    @Test(arguments: ["inspect -", "remux - -o /dev/null --format mkv"]) func pipedIndexAtTheEndIsRefused(_ command: String) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=4", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "20",
                "\(folder)/in.mp4")
            let words = command.split(separator: " ").map { "'\($0)'" }.joined(separator: " ")
            let script = "cat in.mp4 | \"$0\" \(words)"
            let result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            #expect(result.status == 65 && result.output.isEmpty, "\(result.output)")
            #expect(result.errors.contains("use its name instead of a pipe") && result.errorLines.count == 1, "\(result.errors)")
        }
    }

    @Test func unknownCodecIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            var bytes = try Self.makeClip(in: folder)
            let offset = try Self.offset(of: "avc1", in: bytes)
            bytes.replaceSubrange(offset..<offset + 4, with: "zzzz".utf8)
            try expectRefusals(
                bytes,
                [
                    ["encode", "damaged.mp4", "--device", "software", "-o", "o.mp4"],
                    ["decode", "damaged.mp4", "-o", "o.y4m"],
                ]
                    + ["mkv", "ts", "mp4", "mov"].map { ["remux", "damaged.mp4", "-o", "o.\($0)"] }, in: folder)
        }
    }

    /// The configuration of the sound is missing, which Matroska requires for copied sound.
    @Test func soundWithoutConfigurationIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            var bytes = try Self.makeClip(in: folder)
            // The tag of DecoderConfigDescriptor, ISO/IEC 14496-1 7.2.6.6.
            let offset = try Self.offset(of: "esds", in: bytes) + 16
            #expect(bytes[offset] == 4)
            bytes[offset] = 0xFE
            try expectRefusals(
                bytes,
                [
                    ["encode", "damaged.mp4", "--device", "software", "--audio", "copy", "-o", "o.mkv"],
                    ["remux", "damaged.mp4", "-o", "o.mkv"],
                ], in: folder)
        }
    }

    /// If the command fails, notices about the start of the clip are not printed before the error.
    @Test func failureOmitsEarlierNotices() throws {
        try Files.withTemporaryFolder { folder in
            _ = try Self.makeClip(in: folder)
            for command in [
                ["encode", "clip.mp4", "-o", "o.mp4", "--start", "100"],
                ["encode", "clip.mp4", "-o", "o.ts", "--start", "100"],
            ] {
                let run = try ProcessRunner.run(Checkout.vaenc, command, directory: folder)
                #expect(run.status == 65 && run.errorLines.count == 1, "\(run.errors)")
            }
            // Without an error, the notices are printed.
            let run = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "clip.mp4", "-o", "o.mp4"], directory: folder)
            #expect(run.status == 0 && !run.errorLines.isEmpty, "\(run.errors)")
        }
    }
}
