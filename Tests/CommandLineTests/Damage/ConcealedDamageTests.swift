import TestOracles
import Testing

/// Damage that libavformat and libavcodec conceal, or report only as a warning.
@Suite struct ConcealedDamageTests {
    /// Overwrites bytes of a file by zeros.
    private func zero(_ path: String, _ range: Range<Int>) throws {
        var bytes = try Files.read(path)
        bytes.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
        try Files.write(bytes, to: path)
    }

    /// The second half of the media data is zero, as in an unfinished download. `decode` and `encode` report it.
    @Test(arguments: ["libaom-av1 -usage realtime -cpu-used 8", "mpeg4 -q:v 4", "mjpeg -q:v 4", "libx264 -preset ultrafast"])
    func zeroedMediaIsDamage(_ encoder: String) throws {
        try Files.withTemporaryFolder { folder in
            let (whole, cut) = (folder + "/whole.mp4", folder + "/cut.mp4")
            let options = encoder.split(separator: " ").map(String.init)
            let run = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=128x96:r=25:d=1", "-c:v"] + options
                    + ["-g", "5", "-pix_fmt", "yuv420p", "-strict", "-1", "-movflags", "+faststart", whole])
            try #require(run.status == 0, "\(run.errors)")
            let bytes = try Files.read(whole)
            let media = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("mdat".utf8)) }) + 4
            try Files.write(bytes, to: cut)
            try zero(cut, media + (bytes.count - media) / 2..<bytes.count)
            for path in [whole, cut] {
                for command in [
                    ["decode", path, "-o", path + ".y4m"],
                    ["encode", path, "-o", path + ".mkv", "--device", "software", "--codec", "h264", "--preset", "7"],
                ] {
                    let result = try ProcessRunner.run(Checkout.vaenc, command)
                    #expect(result.status == (path == whole ? 0 : 65), "\(command): \(result.errors)")
                }
            }
        }
    }

    /// The second half of the file is zero. libavformat finds no packet there and reports an ordinary end.
    @Test(arguments: ["ts", "flv", "h264", "avi"]) func fileThatEndsInZerosIsCutShort(_ ending: String) throws {
        try Files.withTemporaryFolder { folder in
            let (whole, cut) = (folder + "/whole." + ending, folder + "/cut." + ending)
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=160x128:r=25:d=2,noise=alls=30", "-pix_fmt", "yuv420p", "-c:v",
                ending == "avi" ? "mpeg4" : "libx264",
                "-preset", "ultrafast", "-g", "10", "-bf", "0", "-b:v", "1M", whole)
            let bytes = try Files.read(whole)
            try Files.write(bytes, to: cut)
            try zero(cut, bytes.count / 2..<bytes.count)
            for path in [whole, cut] {
                for command in [
                    ["decode", path, "-o", path + ".y4m"],
                    ["encode", path, "-o", path + ".mkv", "--device", "software", "--codec", "h264", "--preset", "7"],
                ] {
                    let result = try ProcessRunner.run(Checkout.vaenc, command)
                    #expect(result.status == (path == whole ? 0 : 65), "\(command): \(result.errors)")
                }
            }
        }
    }

    /// A JPEG file that is cut short is damage.
    @Test func cutJPEGIsDamage() throws {
        try Files.withTemporaryFolder { folder in
            let (whole, cut) = (folder + "/whole.jpg", folder + "/cut.jpg")
            try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=320x240:d=1", "-frames:v", "1", "-q:v", "2", whole)
            let bytes = try Files.read(whole)
            try Files.write(Array(bytes.prefix(bytes.count / 2)), to: cut)
            #expect(try ToolRun(["decode", whole, "-o", folder + "/whole.y4m"]).status == 0)
            #expect(try ToolRun(["decode", cut, "-o", folder + "/cut.y4m"]).status == 65)
        }
    }

    /// libavformat's parsers mark the packet before a corrupt one, so the first packet is never marked. Its picture and
    /// those that refer to it are left out, and a copy is refused.
    @Test(arguments: ["libx265 -x265-params log-level=none:keyint=10:bframes=0", "libx264 -g 10 -bf 0"])
    func firstPacketOfTransportStreamWithALossIsDamage(_ encoder: String) throws {
        try Files.withTemporaryFolder { folder in
            let (whole, lost) = (folder + "/whole.ts", folder + "/lost.ts")
            let options = encoder.split(separator: " ").map(String.init)
            let run = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=1,noise=alls=20", "-c:v"] + options
                    + ["-pix_fmt", "yuv420p", whole])
            try #require(run.status == 0, "\(run.errors)")
            let packets = stride(from: 0, to: try Files.read(whole).count, by: 188).map { $0 }
            var bytes = try Files.read(whole)
            func isVideo(_ offset: Int) -> Bool { Int(bytes[offset + 1] & 31) << 8 | Int(bytes[offset + 2]) == 0x100 }
            let fifth = try #require(packets.filter(isVideo).dropFirst(5).first)
            #expect(bytes[fifth + 1] & 0x40 == 0, "the packet continues the first access unit")
            bytes.removeSubrange(fifth..<fifth + 188)
            try Files.write(bytes, to: lost)
            let decode = try ProcessRunner.run(Checkout.vaenc, ["decode", lost, "-o", folder + "/o.y4m"])
            #expect(decode.status == 65 || decode.errors.contains("LEFT OUT"), "\(decode.status): \(decode.errors)")
            #expect(try ToolRun(["remux", lost, "-o", folder + "/o.mp4"]).status == 65)
            #expect(try ToolRun(["remux", whole, "-o", folder + "/whole.mp4"]).status == 0)
        }
    }

    /// MPEG-TS that begins inside a packet is read as MPEG-TS from its next packet on.
    @Test func transportStreamMayBeginInsideAPacket() throws {
        try Files.withTemporaryFolder { folder in
            let (whole, late) = (folder + "/whole.ts", folder + "/late.ts")
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=128x96:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2", "-c:v", "libx264", "-g", "10", "-c:a", "aac",
                whole)
            try Files.write(Array(try Files.read(whole).dropFirst(1000)), to: late)
            let run = try ToolRun(["remux", late, "-o", folder + "/o.mkv", "--json"])
            #expect(run.status == 0 && run.report?["streams"]?.array.count == 2, "\(run.errorLines)")
        }
    }
}
