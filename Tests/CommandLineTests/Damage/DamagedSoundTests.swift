import TestOracles
import Testing

/// Damaged packets of sound: if the sound is re-encoded, the lost packets are counted and reported. libavcodec gives
/// the expected number.
@Suite struct DamagedSoundTests {
    enum Codec: String, CaseIterable {
        case aac, alac, ac3, flac

        var file: String { self == .aac || self == .alac ? "in.mov" : "in.mkv" }
        /// If true, a checksum error is detected and the packet is still decoded. Otherwise a damaged packet is not
        /// decoded.
        var hasChecksum: Bool { self == .ac3 || self == .flac }

        func damage(_ packet: inout ArraySlice<UInt8>) {
            if hasChecksum {
                packet[packet.startIndex + packet.count / 2] ^= 0x55
            } else {
                for index in packet.indices { packet[index] = 0xFF }
            }
        }
    }

    /// Makes a clip of two seconds of pictures and noise.
    private static func make(_ codec: Codec, in folder: String) throws -> String {
        let path = "\(folder)/\(codec.file)"
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-f", "lavfi", "-i", "anoisesrc=d=2:r=48000:seed=1", "-c:v", "libx264", "-qp", "40",
            "-pix_fmt", "yuv420p", "-c:a", codec.rawValue, path)
        return path
    }

    /// Damages packets of the sound at the offsets that ffprobe reports. The container stays intact.
    private static func damage(_ path: String, _ codec: Codec, packets: Range<Int>) throws {
        let probe = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-select_streams", "a", "-show_entries", "packet=pos,size", "-of", "default=nk=0:nw=1", path])
        func values(_ name: String) -> [Int] {
            probe.output.split(separator: "\n").compactMap { $0.hasPrefix("\(name)=") ? Int($0.dropFirst(name.count + 1)) : nil }
        }
        let (offsets, sizes) = (values("pos"), values("size"))
        try #require(offsets.count == sizes.count && offsets.count > packets.upperBound, "\(probe.errors)")
        var bytes = try Files.read(path)
        for packet in packets { codec.damage(&bytes[offsets[packet]..<offsets[packet] + sizes[packet]]) }
        try Files.write(bytes, to: path)
    }

    /// Returns the number of audio frames that ffmpeg decodes, and of its checksum errors.
    private static func decoded(_ path: String) throws -> (frames: Int, complaints: Int) {
        let frames = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-count_frames", "-select_streams", "a", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", path])
        let run = try ProcessRunner.run(
            "ffmpeg", ["-v", "repeat+error", "-nostdin", "-err_detect", "crccheck", "-i", path, "-map", "0:a", "-f", "null", "-"])
        return (Int(frames.output.prefix { $0.isNumber }) ?? 0, run.errors.split(separator: "\n").count { $0.contains("CRC") })
    }

    @Test(arguments: Codec.allCases) func damagedSoundPacketsAreCounted(_ codec: Codec) throws {
        try Files.withTemporaryFolder { folder in
            let path = try Self.make(codec, in: folder)
            let whole = try Self.decoded(path)
            let command = [path, "--device", "software", "--codec", "h264", "--audio", "aac", "--json", "-o"]
            let before = try EncodeRun(command + ["whole.mkv", "--strict"], in: folder)
            #expect(before.status == 0 && before.report?["input"]?["damagedSoundPackets"]?.int == 0, "\(before.errors)")
            try Self.damage(path, codec, packets: 10..<13)
            let rest = try Self.decoded(path)
            let lost = codec.hasChecksum ? rest.complaints : whole.frames - rest.frames
            try #require(lost == 3, "\(whole) \(rest)")
            let words = "3 packets of sound (stream 1) are damaged"
            // Each output decodes the sound, but each damaged packet is counted once.
            let run = try EncodeRun(command + ["a.mkv", "-o", "a.mp4"], in: folder)
            #expect(run.status == 0 && run.report?["input"]?["damagedSoundPackets"]?.int == lost, "\(run.errors)")
            #expect(run.report?["notices"]?.array.contains { $0.string?.contains(words) == true } == true)
            #expect(run.errors.contains(words), "\(run.errors)")
            // The replacement for the lost sound has the same duration.
            for name in ["whole.mkv", "a.mkv"] {
                let sound = try #require(try SoundTests.spans(name, in: folder)["audio"])
                #expect(abs(sound.end - sound.start - 2) < 0.05, "\(name) \(sound)")
            }
            let strict = try EncodeRun(command + ["b.mkv", "--strict"], in: folder)
            #expect(strict.status == 65 && strict.errorLines.count == 1, "\(strict.errors)")
            #expect(strict.errors.contains("a packet of sound (stream 1) is damaged") && strict.errors.contains("--audio none"), "\(strict.errors)")
            #expect(!Files.list(folder).contains { $0.hasPrefix("b.mkv") })
        }
    }

    /// Damage outside the encoded range is no loss. Copied packets are not checked.
    @Test func damageInUnusedSoundIsNotCounted() throws {
        try Files.withTemporaryFolder { folder in
            let path = try Self.make(.aac, in: folder)
            try Self.damage(path, .aac, packets: 10..<13)
            for options in [["--audio", "aac", "--start", "1"], ["--audio", "copy"], ["--audio", "aac", "--duration", "0.12"]] {
                let run = try EncodeRun(
                    [path, "--device", "software", "--codec", "h264", "--strict", "--json", "-o", "a.mov", "--overwrite"] + options, in: folder)
                #expect(run.status == 0 && run.report?["input"]?["damagedSoundPackets"]?.int == 0, "\(options): \(run.errors)")
            }
        }
    }
}
