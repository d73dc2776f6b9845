import TestOracles

/// Measures HEVC of the reference driver: its compression compared with x265's and with the driver's H.264, and its
/// speed.
extension Quality {
    static func hevc() throws -> [Figure] {
        var figures: [Figure] = []
        for clip in clips {
            let raw = try clip.fixture.rawPath(width: clip.width, height: clip.height)
            let source = try clip.fixture.frames(width: clip.width, height: clip.height)
            let name = "\(clip.fixture) \(clip.width)×\(clip.height)"
            let anchor = try quantisers.map { qp in
                try point(x265(raw, clip.width, clip.height, qp: qp), source, codec: .hevc)
            }
            for (preset, limit) in [(1, nil), (4, 40.0), (7, nil)] {
                let curve = try curve(raw, clip.width, clip.height, source, .hevc, ["--preset", "\(preset)"])
                figures.append(
                    try figure("\(name) preset \(preset): BD-rate against x265 ultrafast", curve, anchor, atMost: limit))
                guard preset == 4 else { continue }
                let own = try self.curve(raw, clip.width, clip.height, source, .h264, ["--preset", "4"])
                figures.append(
                    try figure(
                        "\(name) preset 4: BD-rate against the driver's H.264", curve, own,
                        atMost: clip.fixture == .bigBuckBunny ? -5 : nil))
            }
        }
        return figures + (try hevcSpeed())
    }

    private static func figure(
        _ name: String, _ curve: [BDRate.Point], _ anchor: [BDRate.Point], atMost: Double?
    ) throws -> Figure {
        guard let percent = BDRate.percent(of: curve, against: anchor) else {
            throw Unmeasurable(description: "\(name): the curves cannot be compared")
        }
        return Figure(name, percent, "%", atMost: atMost)
    }

    private static func curve(
        _ raw: String, _ width: Int, _ height: Int, _ source: [PlanarFrame], _ codec: StreamCodec, _ options: [String]
    ) throws -> [BDRate.Point] {
        try quantisers.map { qp in
            let encoded = try EncodedStream(
                raw: raw, width: width, height: height, codec: codec,
                options: ["--codec", codec == .hevc ? "hevc" : "h264", "--qp", "\(qp)", "--gop", "1000", "--bframes", "0"]
                    + options,
                hasHashes: false)
            return try point(encoded.stream, source, codec: codec)
        }
    }

    /// x265's parameters for the same structure as vaenc's: only I and P pictures, one reference, no wavefronts, and no
    /// SEI message that names the encoder.
    private static let x265Structure =
        "bframes=0:ref=1:keyint=1000:min-keyint=1000:scenecut=0:no-wpp=1:pools=none:frame-threads=1:info=0"
        + ":log-level=error"

    private static func x265(_ raw: String, _ width: Int, _ height: Int, qp: Int) throws -> [UInt8] {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "\(width)x\(height)", "-i",
                    raw, "-c:v", "libx265", "-preset", "ultrafast", "-tune", "psnr", "-x265-params",
                    "\(x265Structure):qp=\(qp)", "-f", "hevc", "-y", folder + "/x.h265",
                ])
            guard result.status == 0 else { throw Unmeasurable(description: "x265: \(result.errors)") }
            return try Files.read(folder + "/x.h265")
        }
    }

    /// Measures presets 4 and 7 at 640×360 on one core. CPU time depends less on other processes than wall time.
    private static func hevcSpeed() throws -> [Figure] {
        let (width, height) = (640, 360)
        let raw = try Fixture.bigBuckBunny.rawPath(width: width, height: height)
        let frames = Double(Fixture.bigBuckBunny.frameCount)
        return try Files.withTemporaryFolder { folder in
            let costs = try Cost.measure(
                [4, 7].map { (preset: Int) -> Contender in
                    Contender(
                        name: "vaenc", program: "taskset",
                        arguments: [
                            "-c", "0", Checkout.vaenc, "encode", raw, "--input-size", "\(width)x\(height)",
                            "--input-format", "i420", "--device", "reference", "--codec", "hevc", "--qp", "28",
                            "--preset", "\(preset)", "--gop", "1000", "--bframes", "0", "--overwrite", "-o",
                            folder + "/a.h265",
                        ])
                } + [
                    Contender(
                        name: "x265", program: "taskset",
                        arguments: [
                            "-c", "0", "ffmpeg", "-v", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", "yuv420p",
                            "-s", "\(width)x\(height)", "-i", raw, "-c:v", "libx265", "-preset", "ultrafast", "-tune",
                            "psnr", "-x265-params", "\(x265Structure):qp=28", "-f", "hevc",
                            "-y", folder + "/b.h265",
                        ])
                ], rounds: 5)
            let speeds = costs.map { frames / median($0.cpu) }
            return [
                Figure("640×360: frames per CPU second, x265 ultrafast, one thread", speeds[2], ""),
                Figure("640×360: frames per CPU second, preset 4", speeds[0], ""),
                Figure("640×360: speed of preset 4 relative to x265", speeds[0] / speeds[2], ""),
                Figure("640×360: frames per CPU second, preset 7", speeds[1], ""),
                Figure("640×360: speed of preset 7 relative to x265", speeds[1] / speeds[2], "", atLeast: 0.3),
            ]
        }
    }
}
