import TestOracles
import Testing

/// MP4 files whose sample entries are damaged: the input's fault (65) whatever is done with them, in one line.
@Suite struct DamagedEntryTests {
    private static func makeClip(in folder: String) throws -> [UInt8] {
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.12", "-f", "lavfi", "-i", "sine=d=0.12", "-c:v", "libx264",
            "-preset",
            "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", folder + "/clip.mp4")
        return try Files.read(folder + "/clip.mp4")
    }

    private static func place(of name: String, in bytes: [UInt8]) throws -> Int {
        let wanted = Array(name.utf8)
        return try #require((0..<bytes.count - 4).last { Array(bytes[$0..<$0 + 4]) == wanted }, "\(name)")
    }

    private func expectRefusals(_ bytes: [UInt8], _ commands: [[String]], in folder: String) throws {
        try Files.write(bytes, to: folder + "/damaged.mp4")
        for command in commands {
            let run = try ProcessRunner.run(Checkout.vaenc, command, directory: folder, timeout: 60)
            #expect(run.status == 65 && run.errorLines.count == 1, "\(command): \(run.status) \(run.errors)")
            #expect(Set(Files.list(folder)) == ["clip.mp4", "damaged.mp4"], "\(command)")
        }
    }

    @Test func unknownCodec() throws {
        try Files.withTemporaryFolder { folder in
            var bytes = try Self.makeClip(in: folder)
            let place = try Self.place(of: "avc1", in: bytes)
            bytes.replaceSubrange(place..<place + 4, with: "zzzz".utf8)
            try expectRefusals(
                bytes,
                [
                    ["encode", "damaged.mp4", "--device", "software", "-o", "o.mp4"],
                    ["decode", "damaged.mp4", "-o", "o.y4m"],
                ]
                    + ["mkv", "ts", "mp4", "mov"].map { ["remux", "damaged.mp4", "-o", "o.\($0)"] }, in: folder)
        }
    }

    /// The sound has lost its configuration: Matroska wants it of sound that is copied.
    @Test func soundWithoutConfiguration() throws {
        try Files.withTemporaryFolder { folder in
            var bytes = try Self.makeClip(in: folder)
            // The tag of DecoderConfigDescriptor, ISO/IEC 14496-1 7.2.6.6.
            let place = try Self.place(of: "esds", in: bytes) + 16
            #expect(bytes[place] == 4)
            bytes[place] = 0xFE
            try expectRefusals(
                bytes,
                [
                    ["encode", "damaged.mp4", "--device", "software", "--audio", "copy", "-o", "o.mkv"],
                    ["remux", "damaged.mp4", "-o", "o.mkv"],
                ], in: folder)
        }
    }

    /// What is said of the beginning does not stand before the error.
    @Test func oneLineWithNotices() throws {
        try Files.withTemporaryFolder { folder in
            _ = try Self.makeClip(in: folder)
            for command in [
                ["encode", "clip.mp4", "-o", "o.mp4", "--start", "100"],
                ["encode", "clip.mp4", "-o", "o.ts", "--start", "100"],
            ] {
                let run = try ProcessRunner.run(Checkout.vaenc, command, directory: folder, timeout: 60)
                #expect(run.status == 65 && run.errorLines.count == 1, "\(run.errors)")
            }
            // Without an error it is said.
            let run = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "clip.mp4", "-o", "o.mp4"], directory: folder, timeout: 60)
            #expect(run.status == 0 && !run.errorLines.isEmpty, "\(run.errors)")
        }
    }
}
