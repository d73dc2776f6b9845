import Testing
import TestOracles
import VideoBase

@testable import MediaFiles

@Suite struct Y4MTests {
    @Test func everyHeaderParameterIsRead() throws {
        let header = try Y4MHeader(
            line: "YUV4MPEG2 W352 H288 F30000:1001 Ip A128:117 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=FULL", name: "x")
        #expect(header.size == VideoSize(width: 352, height: 288))
        #expect(header.rate == Rational(30000, 1001))
        #expect(header.aspect == Rational(128, 117))
        #expect(header.format == .i420)
        #expect(header.color.fullRange == true)
        let formats: [(String, PixelFormat)] = [
            ("420", .i420), ("420jpeg", .i420), ("420paldv", .i420), ("422", .i422), ("444", .i444), ("mono", .gray),
            ("420p10", .i420p10),
        ]
        for (name, format) in formats {
            #expect(try Y4MHeader(line: "YUV4MPEG2 W2 H2 F25:1 C\(name)", name: "x").format == format)
        }
        #expect(try Y4MHeader(line: "YUV4MPEG2 W2 H2 F25:1 A0:0", name: "x").aspect == nil)
    }

    @Test(arguments: [
        "YUV4MPEG3 W2 H2 F25:1", "YUV4MPEG2 H2 F25:1", "YUV4MPEG2 W2 F25:1", "YUV4MPEG2 Wx H2", "YUV4MPEG2 W-2 H2",
        "YUV4MPEG2 W0 H2", "YUV4MPEG2 W2 H99999999999999999999", "YUV4MPEG2 W2 H2 F25", "YUV4MPEG2 W2 H2 F0:1",
        "YUV4MPEG2 W2 H2 F25:0", "YUV4MPEG2 W2 H2 F25:1 Im", "YUV4MPEG2 W2 H2 C444alpha", "YUV4MPEG2 W2 H2 A1",
        "YUV4MPEG2 W2 H2 Q",
        "YUV4MPEG2 W2 H2 I", "",
    ])
    func brokenHeadersAreRefused(_ line: String) {
        let error = failure { try Y4MHeader(line: line, name: "clip.y4m") }
        #expect(error?.category == .badInput)
        #expect(error?.message.contains("clip.y4m") == true)
    }

    /// Streams store 16 bits for each number: the expected nearest ratios were found by trying all denominators.
    @Test func largeAspectRatiosAreApproximated() throws {
        let ratios: [(Rational, Rational)] = [
            (Rational(116_864, 102_141), Rational(38997, 34084)), (Rational(100_003, 99_991), Rational(58335, 58328)),
            (Rational(2_147_483_647, 300_000_007), Rational(9814, 1371)), (Rational(1_000_000_000, 1), Rational(65535, 1)),
            (Rational(1, 1_000_000_000), Rational(1, 65535)), (Rational(131_070, 65_535), Rational(2, 1)), (Rational(16, 11), Rational(16, 11)),
        ]
        for (ratio, nearest) in ratios { #expect(ratio.asSampleAspect == nearest, "\(ratio)") }
        #expect(try Y4MHeader(line: "YUV4MPEG2 W2 H2 F25:1 A116864:102141", name: "x").aspect == Rational(38997, 34084))
    }

    private func write(_ parts: [[UInt8]], _ folder: String) throws -> String {
        try Files.write(parts.flatMap(\.self), to: "\(folder)/in.y4m")
        return "\(folder)/in.y4m"
    }

    @Test func picturesAndFrameParametersAreRead() throws {
        try Files.withTemporaryFolder { folder in
            let first = noise(6, seed: 1), second = noise(6, seed: 2)
            let path = try write(
                [
                    Array("YUV4MPEG2 W2 H2 F25:1\n".utf8), Array("FRAME\n".utf8), first, Array("FRAME Ip XY\n".utf8),
                    second,
                ],
                folder)
            let frames = try MediaInput.open(path).all()
            #expect(frames.map(\.bytes) == [first, second])
            #expect(frames.map(\.timing.presentation) == [.zero, MediaTime(value: 1, timescale: 25)])
        }
    }

    /// For every cut, the complete pictures are returned, then an error (or the end, between pictures).
    @Test func truncatedFileReturnsItsCompletePictures() throws {
        try Files.withTemporaryFolder { folder in
            let header = Array("YUV4MPEG2 W2 H2 F25:1\n".utf8), line = Array("FRAME\n".utf8)
            let whole = header + line + noise(6) + line + noise(6)
            for count in header.count...whole.count {
                let path = try write([Array(whole[..<count])], folder)
                var given = 0
                // A file that ends inside its first picture is refused when it is opened.
                let error = failure {
                    let source = try MediaInput.open(path)
                    while try source.next() != nil { given += 1 }
                }
                #expect(given == (count - header.count) / 12)
                #expect((error == nil) == ((count - header.count) % 12 == 0), "\(count)")
                #expect(error == nil || error?.category == .badInput)
            }
            for count in 1..<header.count {
                let path = try write([Array(whole[..<count])], folder)
                #expect(failure { try MediaInput.open(path) }?.category == .badInput, "\(count)")
            }
        }
    }

    @Test func brokenFrameLinesAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            for line in ["FRAMES\n", "frame\n", "FRAME", String(repeating: "x", count: 30)] {
                let path = try write([Array("YUV4MPEG2 W2 H2 F25:1\n".utf8), Array(line.utf8), noise(6)], folder)
                #expect(failure { try MediaInput.open(path).next() }?.category == .badInput, "\(line)")
            }
        }
    }

    /// Pictures of ffmpeg's Y4M of a real clip equal ffmpeg's raw pictures, in several formats.
    @Test(arguments: ["yuv420p", "yuv422p", "yuv444p", "gray", "yuv420p10le"])
    func picturesMatchFFmpeg(_ format: String) throws {
        try Files.withTemporaryFolder { folder in
            let clip = try Fixture.carphone.path()
            for (name, options) in [("a.y4m", ["-strict", "-1"]), ("a.raw", ["-f", "rawvideo"])] {
                let result = try ProcessRunner.run(
                    "ffmpeg",
                    ["-v", "error", "-nostdin", "-i", clip, "-frames:v", "4", "-pix_fmt", format] + options + [
                        "\(folder)/\(name)"
                    ])
                #expect(result.status == 0)
            }
            let source = try MediaInput.open("\(folder)/a.y4m")
            let native = try #require(source.info.nativeFormat)
            #expect(source.info.size == VideoSize(width: 176, height: 144))
            #expect(source.info.frameRate == Rational(30000, 1001))
            #expect(source.info.frameCount == 4)
            let isSame = try source.all(native).flatMap(\.bytes) == Files.read("\(folder)/a.raw")
            #expect(isSame)
        }
    }
}
