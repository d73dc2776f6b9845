import TestOracles
import Testing

/// Sound without packets, or whose packets start late: it ends before the copied part, or begins later.
@Suite struct SoundWithoutPacketsTests {
    private func vaenc(_ arguments: [String], in folder: String) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, arguments, directory: folder)
    }

    /// Makes a clip with four seconds of pictures, and with sound for the first one and a half.
    private func makeClip(_ sound: String, _ name: String, in folder: String) throws {
        try RemuxTests.make(
            "ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=128x96:rate=25:duration=4 -f lavfi -i sine=duration=1.5:r=48000 "
                + "-pix_fmt yuv420p -c:v libx264 -preset ultrafast -g 25 -ac 2 -strict -2 -c:a \(sound) \(name)", in: folder)
    }

    /// Returns the kind and the number of packets of each stream. The file must be read without errors.
    private func streams(_ path: String, in folder: String) throws -> [String] {
        let run = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-count_packets", "-show_entries", "stream=codec_type,nb_read_packets", "-of", "csv=p=0", path],
            directory: folder)
        #expect(run.status == 0 && run.errors.isEmpty, "\(path): \(run.errors)")
        return run.output.split(separator: "\n").map { $0.split(separator: ",").joined(separator: " ") }
    }

    /// In fragmented MP4, packets of a codec without a parser have no duration. The last one must not be lost in MP4.
    @Test(arguments: ["flac", "libvorbis", "alac", "libopus"]) func lastPacketOfFragmentsIsKept(_ sound: String) throws {
        try Files.withTemporaryFolder { folder in
            try makeClip(sound, "in.mp4", in: folder)
            let whole = try streams("in.mp4", in: folder).last
            var before = "in.mp4"
            for (name, format) in [("1.mp4", "fmp4"), ("2.mp4", "mp4"), ("3.mp4", "fmp4"), ("4.mp4", "mp4"), ("5.mkv", "mkv")] {
                let run = try vaenc(["remux", before, "-o", name, "--format", format], in: folder)
                #expect(run.status == 0, "\(name): \(run.errors)")
                #expect(try streams(name, in: folder).last == whole, "\(name)")
                before = name
            }
            let run = try vaenc(
                ["encode", "1.mp4", "--device", "software", "--codec", "h264", "--preset", "7", "--audio", "copy", "-o", "e.mp4"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try streams("e.mp4", in: folder).last == whole)
        }
    }

    /// Fragmented MP4, and HLS with it, describe Dolby's codecs by their first packets: a track without packets could
    /// not be read. MP4 and MOV do not support a track without packets.
    @Test(arguments: ["ac3", "eac3", "truehd", "aac"], ["h264", "hevc"]) func soundWithoutPacketsIsLeftOut(_ sound: String, _ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            try makeClip(sound, "in.mkv", in: folder)
            var outputs = [("a.mp4", "mp4"), ("f.mp4", "fmp4"), ("a.mkv", "mkv")]
            if sound != "truehd" { outputs += [("a.mov", "mov"), ("a.m3u8", "hls")] }
            for (output, format) in outputs {
                let isLeftOut = format == "mp4" || format == "mov" || (format == "fmp4" || format == "hls" && codec == "hevc") && sound != "aac"
                let arguments = ["in.mkv", "--device", "reference", "--codec", codec, "--start", "2.5", "--audio", "copy", "--format", format, "-o"]
                let run = try EncodeRun(arguments + [output, "--json"], in: folder)
                let what = "\(sound) in \(format) of \(codec)"
                #expect(run.status == 0, "\(what): \(run.errors)")
                let entry = run.effective("audio")
                #expect(entry?["used"]?.string == (isLeftOut ? "left out" : "copy"), "\(what)")
                if format != "hls" {
                    let found = try streams(output, in: folder)
                    #expect(found.count == (isLeftOut ? 1 : 2) && found[0].hasPrefix("video 3"), "\(what): \(found)")
                } else {
                    #expect(try SoundTests.hashes(output, in: folder).count > 30, "\(what)")
                }
                // A playlist has further files, the segments.
                if format == "hls" { continue }
                let strict = try EncodeRun(arguments + ["s-" + output, "--strict"], in: folder)
                #expect(strict.status == (isLeftOut ? 69 : 0), "\(what): \(strict.errors)")
                #expect(Files.exists("\(folder)/s-\(output)") == !isLeftOut && !Files.exists("\(folder)/s-\(output).part"), "\(what)")
            }
        }
    }

    @Test(arguments: ["ac3", "eac3"]) func copiedSoundWithoutPacketsIsReported(_ sound: String) throws {
        try Files.withTemporaryFolder { folder in
            try makeClip(sound, "whole.mkv", in: folder)
            #expect(try vaenc(["remux", "whole.mkv", "--start", "2.3", "-o", "in.mkv"], in: folder).status == 0)
            for (output, format) in [("a.mp4", "mp4"), ("a.mov", "mov"), ("f.mp4", "fmp4"), ("a.mkv", "mkv")] {
                let arguments = ["remux", "in.mkv", "--format", format, "-o"]
                let run = try vaenc(arguments + [output, "--json"], in: folder)
                #expect(run.status == 0, "\(format): \(run.errors)")
                let stream = JSONValue(run.output)?["streams"]?.array.last
                #expect((stream?["leftOut"]?.string != nil) == (format != "mkv") && stream?["packets"]?.int == 0, "\(format): \(run.output)")
                #expect(try streams(output, in: folder).count == (format == "mkv" ? 2 : 1), "\(format)")
                let strict = try vaenc(arguments + ["s-" + output, "--strict"], in: folder)
                #expect(strict.status == (format == "mkv" ? 0 : 69), "\(format): \(strict.errors)")
            }
        }
    }

    /// The header of a fragmented file waits as long as possible for the sound, which begins seconds later.
    @Test(arguments: ["ac3", "eac3"]) func lateSoundIsKeptInFragments(_ sound: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=128x96:rate=25:duration=9 -itsoffset 6 -f lavfi -i sine=duration=2:r=48000 "
                    + "-pix_fmt yuv420p -c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=25 -c:a \(sound) in.mkv", in: folder)
            let run = try vaenc(["remux", "in.mkv", "-o", "f.mp4", "--strict", "--format", "fmp4"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let spans = try SoundTests.spans("f.mp4", in: folder)
            let video = try #require(spans["video"]), heard = try #require(spans["audio"])
            #expect(video.count == 225 && abs(heard.start - video.start - 6) < 0.02, "\(spans)")
            // HLS describes its tracks at the end of the first segment, after four seconds here.
            for (cut, isThere) in [([], false), (["--start", "2"], false), (["--start", "3"], true)] {
                let name = "a\(cut.last ?? "").m3u8"
                let run = try vaenc(["remux", "in.mkv", "-o", name] + cut, in: folder)
                #expect(run.status == 0 && run.errors.contains("too late for the description") == !isThere, "\(name): \(run.errors)")
                let spans = try SoundTests.spans(name, in: folder)
                #expect(spans["video"]?.count == 225 - 25 * (cut.last.flatMap { Int($0) } ?? 0), "\(name): \(spans)")
                #expect((spans["audio"] != nil) == isThere, "\(name): \(spans)")
                let strict = try vaenc(["remux", "in.mkv", "-o", "s-" + name, "--strict"] + cut, in: folder)
                #expect((strict.status == 69) == !isThere, "\(name): \(strict.errors)")
            }
        }
    }
}
