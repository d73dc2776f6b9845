import TestOracles
import Testing

/// GStreamer's plugin va, which does not know vaenc, runs on the reference driver in its tolerant default mode.
@Suite struct GStreamerVATests {
    @Test(
        arguments: [
            (176, 144, []), (328, 242, ["num-slices=3", "ref-frames=2"]), (176, 144, ["b-frames=2"]),
            (176, 144, ["b-frames=3", "b-pyramid=true"]), (176, 144, ["rate-control=cbr", "bitrate=900"]),
            (176, 144, ["rate-control=vbr", "bitrate=900", "b-frames=1"]),
        ] as [(Int, Int, [String])])
    func pluginEncodesH264(width: Int, height: Int, options: [String]) throws {
        let stream = try ForeignStream.gstreamerVA(width, height, options: options)
        try stream.judge(saysOrder: false)
        #expect(
            stream.reconstruction.pictures.contains { $0.type == "B" }
                == options.contains { $0.hasPrefix("b-frames=") })
    }

    @Test(
        arguments: [
            (176, 144, 8, []), (176, 144, 10, []), (328, 240, 8, ["b-frames=2"]), (176, 144, 10, ["b-frames=1"]),
            (168, 272, 10, ["num-slices=2"]), (176, 144, 8, ["rate-control=cbr", "bitrate=300"]),
            (176, 144, 10, ["rate-control=vbr", "bitrate=300"]),
        ] as [(Int, Int, Int, [String])])
    func pluginEncodesHEVC(width: Int, height: Int, bitDepth: Int, options: [String]) throws {
        let stream = try ForeignStream.gstreamerVA(
            width, height, codec: .hevc, bitDepth: bitDepth, frames: 7, options: options)
        try stream.judge(frames: 7)
    }

    /// The plugin fills images of vaCreateImage with the offsets of vaDeriveImage: with 1080 rows, chroma is at another
    /// offset unless both have the same layout.
    @Test(arguments: [(StreamCodec.h264, 8), (.hevc, 8), (.hevc, 10)])
    func chromaOffsetIsRightFor1080Rows(codec: StreamCodec, bitDepth: Int) throws {
        let stream = try ForeignStream.gstreamerVA(
            320, 1080, codec: codec, bitDepth: bitDepth, frames: 2, options: ["target-usage=7"])
        try stream.judge(frames: 2, saysOrder: false)
        #expect(stream.worstChromaPSNR > 30, "\(stream.worstChromaPSNR) dB")
    }

    private func decoded(_ clip: String, _ codec: StreamCodec, by element: String) throws -> (actual: [UInt8], expected: [UInt8]) {
        try Files.withTemporaryFolder { folder in
            let software = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=0.4", "-c:v",
                    codec == .h264 ? "libx264" : "libx265", "-preset", "veryfast", "-bf", "2", "-pix_fmt", clip, "-f", codec.format, folder + "/in",
                ])
            #expect(software.status == 0, "\(software.errors)")
            let expected = try ProcessRunner.run(
                "ffmpeg",
                ["-nostdin", "-v", "error", "-i", folder + "/in", "-fps_mode", "passthrough", "-f", "rawvideo", folder + "/wanted"])
            #expect(expected.status == 0, "\(expected.errors)")
            let format = clip == "yuv420p" ? "I420" : "I420_10LE"
            let result = try RenderNode.runOnDriver(
                "gst-launch-1.0",
                [
                    "-q", "filesrc", "location=\(folder)/in", "!", codec == .h264 ? "h264parse" : "h265parse", "!", element,
                    "!", "videoconvert", "dither=none", "!", "video/x-raw,format=\(format)", "!", "filesink",
                    "location=\(folder)/out",
                ], environment: GStreamer.environment(in: folder))
            #expect(result.status == 0, "\(result.errors)")
            return (try Files.read(folder + "/out"), try Files.read(folder + "/wanted"))
        }
    }

    @Test(arguments: [
        ("yuv420p", StreamCodec.h264, "vah264dec"), ("yuv420p", .hevc, "vah265dec"), ("yuv420p10le", .hevc, "vah265dec"),
    ])
    func pluginDecodesToFFmpegsPictures(format: String, codec: StreamCodec, element: String) throws {
        let (actual, expected) = try decoded(format, codec, by: element)
        #expect(actual == expected && actual.count == 10 * 320 * 180 * 3 / 2 * (format == "yuv420p" ? 1 : 2))
    }

    @Test func pluginScalesLikeFFmpeg() throws {
        try Files.withTemporaryFolder { folder in
            let source = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=0.2", "-vf", "format=nv12", "-f",
                    "rawvideo", folder + "/in", "-vf", "format=nv12,scale=320:240:flags=bicubic+accurate_rnd,format=nv12", "-f",
                    "rawvideo", folder + "/wanted",
                ])
            #expect(source.status == 0, "\(source.errors)")
            let result = try RenderNode.runOnDriver(
                "gst-launch-1.0",
                [
                    "-q", "filesrc", "location=\(folder)/in", "!", "rawvideoparse", "format=nv12", "width=160", "height=120",
                    "framerate=25/1", "!", "vapostproc", "!", "video/x-raw,format=NV12,width=320,height=240", "!", "filesink",
                    "location=\(folder)/out",
                ], environment: GStreamer.environment(in: folder))
            #expect(result.status == 0, "\(result.errors)")
            let (actual, expected) = (try Files.read(folder + "/out"), try Files.read(folder + "/wanted"))
            try #require(actual.count == expected.count)
            #expect(PSNR.of(actual[...], expected[...]) > 40)
        }
    }
}
