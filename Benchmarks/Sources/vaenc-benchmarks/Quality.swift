import TestOracles

/// Measures the compression of the reference driver compared with x264's, and its speed.
enum Quality {
    struct Clip {
        var fixture: Fixture
        var width: Int
        var height: Int
    }

    static let clips = [
        Clip(fixture: .bigBuckBunny, width: 640, height: 360), Clip(fixture: .bikes, width: 320, height: 136),
        Clip(fixture: .carphone, width: 176, height: 144),
    ]
    static let quantisers = [22, 26, 30, 34, 38]

    static func run() throws -> [Figure] {
        var figures: [Figure] = []
        for clip in clips {
            let raw = try clip.fixture.rawPath(width: clip.width, height: clip.height)
            let source = try clip.fixture.frames(width: clip.width, height: clip.height)
            let anchor = try quantisers.map { qp in
                let stream = try x264(
                    raw, clip.width, clip.height,
                    [
                        "-preset", "veryfast", "-tune", "psnr", "-bf", "0", "-g", "1000", "-sc_threshold", "0", "-qp",
                        "\(qp)",
                        "-x264-params", "weightp=0:mbtree=0",
                    ])
                return try point(stream, source)
            }
            for (preset, limit) in [(1, 30.0), (4, 60), (7, 150)] {
                let curve = try quantisers.map { qp in
                    let encoded = try EncodedStream(
                        raw: raw, width: clip.width, height: clip.height,
                        options: [
                            "--codec", "h264", "--qp", "\(qp)", "--preset", "\(preset)", "--gop", "1000", "--bframes",
                            "0",
                        ])
                    return try point(encoded.stream, source)
                }
                let name =
                    "\(clip.fixture) \(clip.width)×\(clip.height) preset \(preset): BD-rate against x264 veryfast"
                guard let percent = BDRate.percent(of: curve, against: anchor) else {
                    throw Unmeasurable(description: "\(name): the curves cannot be compared")
                }
                figures.append(Figure(name, percent, "%", atMost: limit))
            }
        }
        return figures
    }

    /// Returns the BD-rate of B pictures in a pyramid compared with no B pictures, on the reference driver.
    static func pyramids() throws -> [Figure] {
        try clips.prefix(2).map { clip in
            let raw = try clip.fixture.rawPath(width: clip.width, height: clip.height)
            let source = try clip.fixture.frames(width: clip.width, height: clip.height)
            func curve(_ structure: [String]) throws -> [BDRate.Point] {
                try quantisers.map { qp in
                    let encoded = try EncodedStream(
                        raw: raw, width: clip.width, height: clip.height,
                        options: ["--codec", "h264", "--qp", "\(qp)", "--preset", "4", "--gop", "1000"] + structure)
                    return try point(encoded.stream, source)
                }
            }
            let name = "\(clip.fixture) \(clip.width)×\(clip.height): BD-rate of a B pyramid against I and P pictures"
            guard
                let percent = BDRate.percent(
                    of: try curve(["--bframes", "3", "--b-pyramid"]), against: try curve(["--bframes", "0"]))
            else { throw Unmeasurable(description: "\(name): the curves cannot be compared") }
            return Figure(name, percent, "%", atMost: -8)
        }
    }

    /// Measures preset 7 at 1280×720 on one core.
    static func speed() throws -> [Figure] {
        let raw = try Fixture.bigBuckBunny.rawPath()
        let frames = Double(Fixture.bigBuckBunny.frameCount)
        return try Files.withTemporaryFolder { folder in
            let onOneCore = ["-c", "0"]
            let costs = try Cost.measure(
                [
                    Contender(
                        name: "vaenc", program: "taskset",
                        arguments: onOneCore + [
                            Checkout.vaenc, "encode", raw, "--input-size", "1280x720", "--input-format", "i420",
                            "--device",
                            "reference", "--codec", "h264", "--qp", "28", "--preset", "7", "--gop", "250",
                            "--overwrite",
                            "-o", folder + "/a.h264",
                        ]),
                    Contender(
                        name: "x264", program: "taskset",
                        arguments: onOneCore + [
                            "ffmpeg", "-v", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s",
                            "1280x720",
                            "-r", "25", "-i", raw, "-c:v", "libx264", "-preset", "ultrafast", "-threads", "1", "-qp",
                            "28",
                            "-f", "h264", "-y", folder + "/b.h264",
                        ]),
                ], rounds: 5)
            let (ours, theirs) = (frames / median(costs[0].wall), frames / median(costs[1].wall))
            return [
                Figure("720p on one core: reference driver, preset 7", ours, "fps"),
                Figure("720p on one core: x264 ultrafast, one thread", theirs, "fps"),
                Figure("720p on one core: speed relative to x264", ours / theirs, "", atLeast: 0.15),
            ]
        }
    }

    private static func x264(_ raw: String, _ width: Int, _ height: Int, _ options: [String]) throws -> [UInt8] {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "\(width)x\(height)",
                    "-i", raw,
                    "-c:v", "libx264",
                ] + options + ["-f", "h264", "-y", folder + "/x.h264"])
            guard result.status == 0 else { throw Unmeasurable(description: "x264: \(result.errors)") }
            return try Files.read(folder + "/x.h264")
        }
    }

    /// Returns the number of bytes, and the mean luma PSNR of the decoded pictures in dB.
    static func point(
        _ stream: [UInt8], _ source: [PlanarFrame], codec: StreamCodec = .h264
    ) throws -> BDRate.Point {
        let decoded = ForeignDecoder.libavcodec.decode(stream, codec: codec)
        guard decoded.messages.isEmpty, decoded.frames.count == source.count else {
            throw Unmeasurable(
                description: "\(decoded.frames.count) of \(source.count) frames: \(decoded.messages.first ?? "")")
        }
        let sum = zip(decoded.frames, source).reduce(0) { $0 + min(PSNR.luma($1.0, $1.1), 100) }
        return BDRate.Point(rate: Double(stream.count), psnr: sum / Double(source.count))
    }
}
