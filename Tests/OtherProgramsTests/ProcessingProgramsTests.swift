import TestOracles
import Testing

/// Other programs' video processing on the reference driver, compared with FFmpeg's own scaler.
@Suite struct ProcessingProgramsTests {
    private static let exact = "bicubic+accurate_rnd+full_chroma_int+full_chroma_inp+bitexact"

    /// Returns the file of FFmpeg's test pattern, and the frames that its scaler makes of it.
    private static func pattern(
        _ folder: String, _ width: Int, _ height: Int, filter: String
    ) throws -> (path: String, scaled: [UInt8]) {
        let result = try ProcessRunner.run(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=\(width)x\(height):r=25:d=0.2",
                "-vf", "format=nv12", "-f", "rawvideo", folder + "/in", "-vf", "format=nv12,\(filter),format=nv12",
                "-f", "rawvideo", folder + "/wanted",
            ])
        #expect(result.status == 0, "\(result.errors)")
        return (folder + "/in", try Files.read(folder + "/wanted"))
    }

    @Test(arguments: [(320, 180), (160, 120), (100, 50)])
    func ffmpegScalesLikeItsOwnScaler(width: Int, height: Int) throws {
        try Files.withTemporaryFolder { folder in
            let (path, expected) = try Self.pattern(
                folder, 160, 120, filter: "scale=\(width):\(height):flags=\(Self.exact)")
            let result = try VirtualScreen.runOnDriver(
                "ffmpeg",
                [
                    "-nostdin", "-v", "error", "-init_hw_device", "vaapi=va:,connection_type=x11", "-f", "rawvideo",
                    "-pix_fmt", "nv12", "-s", "160x120", "-r", "25", "-i", path, "-vf",
                    "hwupload,scale_vaapi=\(width):\(height),hwdownload,format=nv12", "-f", "rawvideo", folder + "/out",
                ])
            #expect(result.status == 0, "\(result.errors)")
            let actual = try Files.read(folder + "/out")
            try #require(actual.count == expected.count && actual.count == 5 * width * height * 3 / 2)
            // The chroma siting differs.
            #expect(PSNR.of(actual[...], expected[...]) > 42)
        }
    }

    @Test func ffmpegConvertsDeinterlacesAndEncodes() throws {
        try Files.withTemporaryFolder { folder in
            let (path, _) = try Self.pattern(folder, 160, 120, filter: "null")
            let result = try VirtualScreen.runOnDriver(
                "ffmpeg",
                [
                    "-nostdin", "-v", "error", "-init_hw_device", "vaapi=va:,connection_type=x11", "-f", "rawvideo",
                    "-pix_fmt", "nv12", "-s", "160x120", "-r", "25", "-i", path, "-vf",
                    "format=nv12,hwupload,deinterlace_vaapi=mode=bob,scale_vaapi=w=320:h=240:format=p010",
                    "-c:v", "hevc_vaapi", "-bf", "0", "-qp", "20", folder + "/out.h265",
                ])
            #expect(result.status == 0, "\(result.errors)")
            let video = ForeignDecoder.libavcodec.decode(try Files.read(folder + "/out.h265"), codec: .hevc)
            #expect(video.messages.isEmpty && video.frames.count == 5)
            #expect(video.frames.allSatisfy { $0.width == 320 && $0.height == 240 && $0.bitDepth == 10 })
        }
    }

    @Test func gstreamerScalesLikeFFmpeg() throws {
        try Files.withTemporaryFolder { folder in
            let (path, expected) = try Self.pattern(folder, 160, 120, filter: "scale=320:240:flags=\(Self.exact)")
            let result = try VirtualScreen.runOnDriver(
                "gst-launch-1.0",
                [
                    "-q", "filesrc", "location=\(path)", "!", "rawvideoparse", "format=nv12", "width=160", "height=120",
                    "framerate=25/1", "!", "vaapipostproc", "scale-method=default", "!",
                    "video/x-raw,format=NV12,width=320,height=240", "!", "filesink", "location=\(folder)/out",
                ],
                environment: GStreamer.environment(in: folder))
            #expect(result.status == 0, "\(result.errors)")
            let actual = try Files.read(folder + "/out")
            try #require(actual.count == expected.count)
            #expect(PSNR.of(actual[...], expected[...]) > 40)
        }
    }
}
