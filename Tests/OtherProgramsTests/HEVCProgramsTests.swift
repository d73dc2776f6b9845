import TestOracles
import Testing

/// Programs that do not know vaenc use the HEVC of the reference driver.
@Suite(.serialized) struct HEVCProgramsTests {
    /// Judges a stream of FFmpeg, which lets no filter cross the borders of requested slices and tiles.
    private func judge(_ stream: ForeignStream, frames: Int = 7, _ options: [String]) throws {
        try stream.judge(frames: frames, hasClosedSlices: options.contains("-slices") || options.contains("-tiles"))
        #expect(stream.reconstruction.pictures.first?.type == "IDR")
    }

    /// Sizes need not be multiples of the smallest coding block: the padding is cropped. A tile has at least 256×64
    /// samples. Seven pictures are two whole groups with two B pictures.
    @Test(
        arguments: [
            (176, 144, 8, []), (176, 144, 10, ["-g", "5", "-aud", "1"]),
            (168, 272, 8, ["-slices", "3"]), (168, 272, 10, ["-slices", "4", "-bf", "2"]),
            (1366, 768, 8, ["-bf", "1", "-compression_level", "7"]), (106, 60, 8, ["-compression_level", "1"]),
            (106, 60, 10, ["-bf", "2", "-compression_level", "7"]), (130, 98, 8, ["-g", "1"]), (34, 50, 10, ["-g", "1"]),
            (528, 146, 8, ["-tiles", "2x2"]), (776, 184, 10, ["-tiles", "3x2", "-bf", "2"]), (35, 51, 8, []),
            (321, 183, 10, ["-bf", "2"]),
        ] as [(Int, Int, Int, [String])])
    func ffmpegEncodes(width: Int, height: Int, bitDepth: Int, options: [String]) throws {
        let frames = width > 1000 ? 3 : 7
        let stream = try ForeignStream.ffmpeg(
            width, height, codec: .hevc, bitDepth: bitDepth, frames: frames, options: options)
        try judge(stream, frames: frames, options)
        let types = Set(stream.reconstruction.pictures.map(\.type))
        #expect(types.contains("B") == options.contains("-bf"))
        #expect((types == ["IDR"]) == (options == ["-g", "1"]))
    }

    /// The streams have pyramids of B pictures, and open GOPs, whose leading pictures refer to pictures before the CRA
    /// picture.
    @Test(arguments: [
        (8, ["-bf", "3", "-b_depth", "3"]), (10, ["-bf", "7", "-b_depth", "4"]),
        (8, ["-bf", "2", "-g", "4", "-idr_interval", "2"]), (10, ["-bf", "2", "-g", "4", "-idr_interval", "2"]),
    ])
    func ffmpegReordersPictures(bitDepth: Int, options: [String]) throws {
        let stream = try ForeignStream.ffmpeg(
            96, 80, codec: .hevc, bitDepth: bitDepth, frames: 20, options: options)
        try judge(stream, frames: 20, options)
        let types = stream.reconstruction.pictures.map(\.type)
        #expect(types.contains("B"))
        #expect(types.contains("I") == options.contains("-idr_interval"))
        #expect(stream.reconstruction.pictures.map(\.poc) != stream.reconstruction.pictures.map(\.poc).sorted())
    }

    @Test(arguments: [
        ("CBR", 8, 0), ("CBR", 10, 2), ("VBR", 8, 2), ("VBR", 10, 0), ("ICQ", 10, 2), ("QVBR", 8, 2), ("AVBR", 8, 0),
    ])
    func ffmpegsRateModesAreKept(mode: String, bitDepth: Int, bFrames: Int) throws {
        // In a longer clip, the excess that one second of buffer allows counts for less. A constant quality has no
        // buffer.
        let frames = mode == "VBR" || mode == "QVBR" ? 240 : mode == "ICQ" ? 21 : 80
        let stream = try ForeignStream.ffmpeg(
            176, 144, codec: .hevc, bitDepth: bitDepth, frames: frames,
            options: [
                "-rc_mode", mode, "-b:v", "250k", "-global_quality", "26", "-g", "20", "-bf", "\(bFrames)",
                "-compression_level", "7",
            ])
        try judge(stream, frames: frames, [])
        let qps = Set(stream.reconstruction.pictures.map(\.qp))
        let rate = Double(stream.bytes.count * 8) * 30 / Double(frames)
        switch mode {
        case "ICQ": #expect(qps == (bFrames > 0 ? [23, 26, 28] : [23, 26]))
        case "QVBR": #expect(qps.allSatisfy { $0 >= 23 } && rate < 262_500, "\(rate)")
        case "VBR": #expect(qps.count > 2 && abs(rate / 250_000 - 1) < 0.05, "\(rate)")
        default: #expect(qps.count > 2 && abs(rate / 250_000 - 1) < 0.15, "\(rate)")
        }
    }

    /// On drivers that need both lists, FFmpeg turns P pictures into B slices with equal lists. Block sizes, features
    /// and packed headers are those of each personality, or FFmpeg's guesses if the personality does not report them.
    @Test(arguments: [
        ("iHD-9A49", 8, ["-low_power", "1"], "B"), ("iHD-9A49", 10, ["-low_power", "1", "-bf", "2"], "B"),
        ("iHD-56A0", 10, ["-low_power", "1", "-slices", "2", "-rc_mode", "CBR", "-b:v", "900k"], "B"),
        ("iHDnonfree-8A52", 8, ["-low_power", "1", "-rc_mode", "VBR", "-b:v", "900k"], "B"),
        ("iHDnonfree-8A52", 10, ["-bf", "2"], "PB"), ("iHDnonfree-9A49", 8, ["-slices", "2"], "B"),
        ("iHDnonfree-5916", 10, ["-bf", "2"], "PB"), ("iHD25nonfree-7D55", 8, ["-bf", "2"], "B"),
    ])
    func ffmpegEncodesOnIntel(name: String, bitDepth: Int, options: [String], types: String) throws {
        let stream = try ForeignStream.ffmpeg(
            322, 180, codec: .hevc, bitDepth: bitDepth, frames: 7, options: options,
            environment: ["VAENC_REFERENCE_PERSONALITY": name])
        try judge(stream, options)
        #expect(Set(stream.reconstruction.pictures.dropFirst().map(\.type)) == Set(types.map(String.init)))
    }

    /// AMD codes sizes in steps of 64×16 and leaves the conformance window to the client. FFmpeg 5 and 7 crop as for
    /// steps of 8, so the samples between are shown.
    @Test(
        arguments: [
            ("radeonsi-raven", 8, 1366, 768, []), ("radeonsi-navi21", 10, 320, 180, ["-slices", "2"]),
            ("radeonsi-navi21", 8, 320, 180, ["-rc_mode", "CBR", "-b:v", "900k"]),
            ("radeonsi25-raven", 8, 320, 180, []), ("radeonsi25-navi31", 10, 1366, 768, []),
            ("radeonsi25-navi31", 8, 192, 272, ["-slices", "2", "-rc_mode", "VBR", "-b:v", "900k"]),
        ] as [(String, Int, Int, Int, [String])])
    func ffmpegEncodesOnAMD(name: String, bitDepth: Int, width: Int, height: Int, options: [String]) throws {
        func aligned(_ side: Int, _ step: Int) -> Int { (side + step - 1) / step * step }
        let frames = width > 1000 ? 2 : 7
        let stream = try ForeignStream.ffmpeg(
            width, height, codec: .hevc, bitDepth: bitDepth, frames: frames, options: options,
            environment: ["VAENC_REFERENCE_PERSONALITY": name],
            shown: (
                width + aligned(width, 64) - aligned(width, 8), height + aligned(height, 16) - aligned(height, 8)
            ))
        try judge(stream, frames: frames, options)
        #expect(Set(stream.reconstruction.pictures.dropFirst().map(\.type)) == ["P"])
    }

    /// libavcodec checks the driver's MD5 hashes, which follow pictures with FFmpeg's headers.
    @Test func hashesFollowFFmpegsPictures() throws {
        let options = ["-bf", "2", "-aud", "1"]
        let plain = try ForeignStream.ffmpeg(176, 144, codec: .hevc, bitDepth: 10, frames: 7, options: options)
        let hashed = try ForeignStream.ffmpeg(
            176, 144, codec: .hevc, bitDepth: 10, frames: 7, options: options,
            environment: ["VAENC_REFERENCE_HASH": "md5"])
        try judge(hashed, options)
        #expect(hashed.reconstruction.frames == plain.reconstruction.frames)
        // The start code, the header, type and size, the method, three digests, the end, and the emulation prevention
        // bytes.
        let added = hashed.bytes.count - plain.bytes.count - 7 * (3 + 2 + 2 + 1 + 3 * 16 + 1)
        #expect((0..<21).contains(added), "\(added)")
    }

    @Test func streamHasFFmpegsQP() throws {
        let coarse = try ForeignStream.ffmpeg(176, 144, codec: .hevc, frames: 4, options: ["-qp", "40"])
        let fine = try ForeignStream.ffmpeg(176, 144, codec: .hevc, frames: 4, options: ["-qp", "16"])
        #expect(coarse.bytes.count * 2 < fine.bytes.count)
        #expect(Set(fine.reconstruction.pictures.map(\.qp)).isSubset(of: Set(10...22)))
    }

    @Test func nullModeStreamIsTinyAndDecodes() throws {
        let stream = try ForeignStream.ffmpeg(
            168, 272, codec: .hevc, bitDepth: 10, frames: 30, options: [],
            environment: ["VAENC_REFERENCE_MODE": "null"])
        #expect(stream.bytes.count < 2000)
        for decoder in ForeignDecoder.all(for: .hevc) {
            let video = decoder.decode(stream.bytes, codec: .hevc)
            #expect(video.messages == [] && video.frames.count == 30, "\(decoder)")
        }
    }

    /// The frames are whole groups of B pictures. At the end of incomplete groups, GStreamer 1.22 sends the last
    /// pictures in an order that its own sps_max_num_reorder_pics forbids.
    @Test(
        arguments: [
            (176, 144, 8, []), (176, 144, 10, ["keyframe-period=5", "refs=3"]),
            (168, 272, 8, ["num-slices=3"]), (328, 242, 10, ["num-slices=2", "max-bframes=2"]),
            (528, 242, 8, ["num-tile-cols=2", "num-tile-rows=2"]), (176, 144, 10, ["max-bframes=3", "refs=2"]),
            (176, 144, 8, ["rate-control=cbr", "bitrate=300", "max-bframes=1"]),
            (176, 144, 10, ["rate-control=vbr", "bitrate=300", "max-bframes=3"]),
            (176, 144, 8, ["rate-control=icq", "quality-factor=24"]),
            (176, 144, 10, ["rate-control=qvbr", "bitrate=300", "quality-factor=24", "max-bframes=2"]),
        ] as [(Int, Int, Int, [String])])
    func gstreamerEncodes(width: Int, height: Int, bitDepth: Int, options: [String]) throws {
        let frames = options.contains("max-bframes=3") ? 9 : 7
        let stream = try ForeignStream.gstreamer(
            width, height, codec: .hevc, bitDepth: bitDepth, frames: frames, options: options)
        try stream.judge(frames: frames)
        #expect(
            stream.reconstruction.pictures.contains { $0.type == "B" }
                == options.contains { $0.hasPrefix("max-bframes=") })
    }

    /// GStreamer queries no attribute for features: strong intra smoothing, temporal motion vectors and transform skip
    /// are always on, and coding tree blocks are of 32 samples except on low-power encoders. Real drivers use or ignore
    /// these features; none refuses them. The sizes are multiples of AMD's steps of 64×16.
    @Test(arguments: [
        ("iHD-9A49", 8, ["refs=2"]), ("iHDnonfree-9A49", 10, []), ("iHDnonfree-8A52", 8, []),
        ("iHDnonfree-8A52", 10, ["max-bframes=2"]), ("radeonsi-navi21", 8, ["num-slices=2"]), ("radeonsi-raven", 8, []),
        ("radeonsi25-navi31", 10, ["num-slices=2"]), ("radeonsi25-raven", 8, []),
    ])
    func gstreamerEncodesOnRealDrivers(name: String, bitDepth: Int, options: [String]) throws {
        let stream = try ForeignStream.gstreamer(
            320, 176, codec: .hevc, bitDepth: bitDepth, frames: 7, options: options,
            environment: ["VAENC_REFERENCE_PERSONALITY": name])
        try stream.judge(frames: 7)
        let trace = try TraceHeaders(stream: stream.bytes, codec: "hevc")
        #expect(trace["strong_intra_smoothing_enabled_flag"] == [1])
        #expect(trace["sps_temporal_mvp_enabled_flag"] == [name.hasPrefix("iHD") ? 1 : 0])
    }
}
