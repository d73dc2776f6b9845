import TestOracles
import Testing

/// Outputs that may end at any time: connections, full disks and killed recordings.
@Suite struct LiveOutputTests {
    private func bash(_ script: String, in folder: String, _ arguments: [String] = []) throws -> ProcessRunner.Result {
        try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc] + arguments, directory: folder, timeout: 300)
    }

    /// Sets `port` to a port of this machine that nothing uses. `listening` waits until a program listens there: the
    /// state is 0A for TCP and 07 for UDP (proc(5), /proc/net/tcp).
    private static let port = """
        port=$((20000 + $$ % 12000))
        taken() { grep -q ":$(printf %04X $port) $1" /proc/net/tcp /proc/net/udp; }
        while taken; do port=$((port + 1)); done
        listening() { for i in $(seq 3000); do taken "00000000:0000 0[7A]" && return; sleep 0.02; done; }

        """

    @Test(arguments: [
        ("rtmp://127.0.0.1:$port/live/a", "-listen 1", "flv"), ("srt://127.0.0.1:$port", "", "mpegts"),
    ])
    func listenerReceivesTheWholeStream(_ url: String, _ listen: String, _ format: String) throws {
        try Files.withTemporaryFolder { folder in
            let from = url.hasPrefix("srt") ? "\(url)?mode=listener" : url
            let script =
                Self.port + """
                    ffmpeg -v error -nostdin \(listen) -f \(format) -i "\(from)" -c copy -y got.mkv 2>listener.log & l=$!
                    listening
                    "$0" encode "$1" --device software --codec h264 --frames 50 --size 160x96 --preset 7 -o "\(url)"; s=$?
                    for i in $(seq 600); do kill -0 $l 2>/dev/null || break; sleep 0.1; done
                    kill $l 2>/dev/null; wait $l; exit $s
                    """
            let result = try bash(script, in: folder, [try Fixture.bigBuckBunny.path()])
            #expect(result.status == 0, "\(result.errors)")
            let spans = try SoundTests.spans("got.mkv", in: folder)
            // A listener may miss the first packets.
            #expect((spans["video"]?.count ?? 0) >= 48 && spans["audio"] != nil, "\(spans) \(result.errors)")
        }
    }

    /// An RTMP server acknowledges bytes. If the connection is closed before it has read all of them, it is reset and
    /// loses the end. The listener reads the stream at four times its speed.
    @Test func slowListenerReceivesTheEnd() throws {
        try Files.withTemporaryFolder { folder in
            let script =
                Self.port + """
                    ffmpeg -v error -nostdin -f lavfi -i "color=gray:size=128x72:rate=25:duration=16,noise=alls=100:allf=t" \
                    -pix_fmt yuv420p -c:v libx264 -preset ultrafast -b:v 2M -g 25 in.mp4
                    ffmpeg -v error -nostdin -readrate 4 -listen 1 -f flv -i rtmp://127.0.0.1:$port/live/a -c copy got.mkv 2>listener.log & l=$!
                    listening
                    "$0" remux in.mp4 -o rtmp://127.0.0.1:$port/live/a; s=$?
                    wait $l; exit $s
                    """
            let result = try bash(script, in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let spans = try SoundTests.spans("got.mkv", in: folder)
            #expect(spans["video"]?.count == 400, "\(spans) \(result.errors)")
        }
    }

    /// Apple's players accept HEVC in HLS only as `hvc1`. The report counts each file once, also the playlist, which is
    /// written often.
    @Test(arguments: ["h264", "hevc"]) func playlistOfSeveralSegmentsIsCountedOnce(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            let run = try EncodeRun(
                ["testsrc:96x64@5:120", "--codec", codec, "--device", "software", "--preset", "7", "--gop", "25", "-o", "a.m3u8", "--json"],
                in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let names = Files.list(folder)
            #expect(names.count > 4)
            let bytes = try names.reduce(0) { try $0 + Files.read("\(folder)/\($1)").count }
            #expect(run.report?["bytes"]?.int == bytes)
            let probe = try ProcessRunner.run(
                "ffprobe", ["-v", "error", "-show_entries", "stream=codec_tag_string", "-of", "csv=p=0", "a.m3u8"], directory: folder)
            if codec == "hevc" { #expect(probe.output.contains("hvc1"), "\(probe.output)") }
        }
    }

    /// If the listener disconnects, the run ends with one line.
    @Test func lostConnectionEndsTheRun() throws {
        try Files.withTemporaryFolder { folder in
            let script =
                Self.port + """
                    ffmpeg -v error -nostdin -listen 1 -f flv -i rtmp://127.0.0.1:$port/live/a -c copy got.flv 2>/dev/null & l=$!
                    listening
                    (until [ -s got.flv ]; do sleep 0.05; done; kill -KILL $l) &
                    "$0" encode testsrc:320x192@30:100000 --device software --codec h264 --preset 7 -o rtmp://127.0.0.1:$port/live/a
                    """
            let result = try bash(script, in: folder)
            #expect(result.status == 74, "\(result.errors)")
            #expect(result.errorLines.count == 1 && result.errors.contains("was lost"), "\(result.errors)")
        }
    }

    /// A limit on file sizes simulates a full disk. HLS is written under its final names. A playlist and the
    /// complete segments that it names are left, or nothing. KillTests covers files.
    @Test(arguments: ["libx264", "libx265"]) func fullDiskLeavesAPlayablePlaylist(_ encoder: String) throws {
        try Files.withTemporaryFolder { folder in
            // The first segment is small, the second large.
            let script = """
                set -e
                ffmpeg -v error -nostdin -filter_complex "color=gray:size=160x96:rate=25:duration=5[a];nullsrc=size=160x96:rate=25:duration=2,\
                geq=lum='random(1)*255':cb=128:cr=128[b];[a][b]concat" -c:v \(encoder) -preset ultrafast -g 25 \
                $(test \(encoder) = libx264 || echo -x265-params log-level=none) -bf 0 in.mp4
                ffmpeg -v error -nostdin -ss 5 -i in.mp4 -c copy late.mp4
                """
            let setup = try bash(script, in: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            let segments = encoder == "libx264" ? ["a00000.ts"] : ["a-init.mp4", "a00000.m4s"]
            for (input, left) in [("late.mp4", []), ("in.mp4", segments.prefix(1) + ["a.m3u8"] + segments.dropFirst())] {
                let result = try bash("trap '' XFSZ; ulimit -f 100; \"$0\" remux \(input) -o a.m3u8", in: folder)
                #expect(result.status == 74, "\(result.errors)")
                #expect(result.errorLines.count == 1, "\(result.errors)")
                let found = Files.list(folder).filter { $0.hasPrefix("a") }
                #expect(Set(found) == Set(left), "\(input): \(found)")
            }
            let playlist = String(decoding: try Files.read("\(folder)/a.m3u8"), as: UTF8.self)
            #expect(!playlist.contains("ENDLIST") && !playlist.contains("a00001"), "\(playlist)")
            // Without an end mark ffmpeg would wait for more segments.
            try Files.write(Array((playlist + "#EXT-X-ENDLIST\n").utf8), to: "\(folder)/b.m3u8")
            #expect(try SoundTests.hashes("b.m3u8", in: folder).count >= 100)
        }
    }

    /// A killed recording leaves a part that plays. An interrupted one leaves an ordinary file with all frames.
    @Test(arguments: ["mp4", "mov", "mkv", "ts", "h264"]) func killedRecordingLeavesAPlayablePart(_ ending: String) throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                rm -f a.*
                (while head -c 6912 /dev/urandom 2>/dev/null; do sleep 0.002; done) | "$0" encode - --input-size 96x48 --fps 25 --device software \
                --codec h264 --preset 7 --gop 10 --low-latency -o a.\(ending) & p=$!
                until [ "$(stat -c %s a.\(ending).part 2>/dev/null || echo 0)" -gt $2 ]; do sleep 0.05; done
                kill -$1 $p; wait $p
                """
            for size in [20_000, 60_000, 150_000] {
                _ = try bash(script, in: folder, ["KILL", "\(size)"])
                #expect(!Files.exists("\(folder)/a.\(ending)"))
                let probe = try ProcessRunner.run(
                    "ffmpeg", ["-v", "fatal", "-nostdin", "-i", "a.\(ending).part", "-f", "framemd5", "-"], directory: folder)
                let frames = probe.output.split(separator: "\n").count { !$0.hasPrefix("#") }
                #expect(probe.status == 0 && frames * 3500 > size / 2, "\(size): \(frames) frames, \(probe.errors)")
            }
            let ended = try bash(script, in: folder, ["INT", "100000"])
            #expect(ended.status == 130, "\(ended.errors)")
            #expect(Files.list(folder) == ["a.\(ending)"])
            #expect(try SoundTests.hashes("a.\(ending)", in: folder).count > 10)
            if ending == "mp4" {
                let bytes = try Files.read("\(folder)/a.mp4")
                #expect(!String(decoding: bytes, as: UTF8.self).contains("moof"))
            }
        }
    }
}
