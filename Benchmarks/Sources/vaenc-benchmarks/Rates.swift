import BitstreamInspection
import TestOracles

/// Measures rate control on a minute of real video, with the driver's controller and with vaenc's, in CBR and VBR.
enum Rates {
    static let clips: [(fixture: Fixture, rate: String)] = [
        (.bigBuckBunny, "25"), (.bikes, "25"), (.carphone, "30000/1001"),
    ]
    private static let kilobits = [500, 1000, 2000]
    /// Settings with which vaenc adds bytes to the stream that the driver's rate controller does not see.
    private static let added = [
        (name: "headers after the encode", options: "", personality: "radeonsi-navi21"),
        (name: "slices of 400 bytes", options: "--max-slice-bytes 400", personality: "iHD-9A49"),
        (name: "two temporal layers", options: "--temporal-layers 2", personality: ""),
    ]
    static let width = 640
    static let height = 360

    /// The codec and the bit depth of a stream.
    struct Coding {
        var codec = StreamCodec.h264
        var bitDepth = 8

        /// FFmpeg's name of the pixel format.
        var pixels: String { bitDepth > 8 ? "yuv420p10le" : "yuv420p" }
    }

    struct Run {
        var bitsPerSecond: Double
        /// The number of bits of the largest second, divided by the allowed maximum.
        var fullestSecond: Double
        var violations: [String]
        var psnr: Double
    }

    static func run() throws -> [Figure] {
        var figures: [Figure] = []
        for clip in clips {
            try Files.withTemporaryFolder { folder in
                let raw = try minute(clip.fixture, clip.rate, folder)
                for kilobits in kilobits {
                    for mode in ["cbr", "vbr"] {
                        let name = "\(clip.fixture) \(kilobits) kbit/s \(mode.uppercased())"
                        var quality: [Double] = []
                        for controller in ["driver", "vaenc"] {
                            let run = try encode(raw, clip.rate, mode, kilobits, controller, folder)
                            quality.append(run.psnr)
                            let error = abs(run.bitsPerSecond / Double(kilobits * 1000) - 1) * 100
                            figures += [
                                Figure("\(name), \(controller): rate error", error, "%", atMost: mode == "cbr" ? 2 : 5),
                                Figure("\(name), \(controller): PSNR", run.psnr, "dB"),
                                Figure(
                                    "\(name), \(controller): HRD violations", Double(run.violations.count), "",
                                    atMost: 0),
                            ]
                            if mode == "vbr" { figures.append(fullest("\(name), \(controller)", run)) }
                            if let first = run.violations.first { print("  \(name), \(controller): \(first)") }
                        }
                        figures.append(
                            Figure("\(name): driver's PSNR minus vaenc's", quality[0] - quality[1], "dB", atMost: 0.5))
                    }
                }
                guard clip.fixture == .bigBuckBunny else { return }
                for more in added {
                    let name = "\(clip.fixture) 500 kbit/s VBR, driver, \(more.name)"
                    let run = try encode(
                        raw, clip.rate, "vbr", 500, "driver", folder, options: more.options,
                        personality: more.personality)
                    figures += [
                        Figure("\(name): rate error", abs(run.bitsPerSecond / 500_000 - 1) * 100, "%", atMost: 5),
                        Figure("\(name): PSNR", run.psnr, "dB"),
                        Figure("\(name): HRD violations", Double(run.violations.count), "", atMost: 0),
                        fullest(name, run),
                    ]
                    if let first = run.violations.first { print("  \(name): \(first)") }
                }
            }
        }
        return figures
    }

    static func fullest(_ name: String, _ run: Run) -> Figure {
        Figure("\(name): fullest second relative to the maximum", run.fullestSecond, "", atMost: 1)
    }

    /// Writes the clip as a raw planar file, repeated until it lasts `seconds`. Returns the path of the file.
    static func minute(
        _ fixture: Fixture, _ rate: String, _ folder: String, seconds: Int = 60, _ coding: Coding = Coding()
    ) throws -> String {
        let raw = folder + "/in.yuv"
        let result = try ProcessRunner.run(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-stream_loop", "-1", "-i", try fixture.path(), "-t", "\(seconds)", "-vf",
                "scale=\(width):\(height):flags=bicubic", "-r", rate, "-pix_fmt", coding.pixels, "-f", "rawvideo", "-y",
                raw,
            ], timeout: 600)
        guard result.status == 0 else { throw Unmeasurable(description: result.errors) }
        return raw
    }

    static func encode(
        _ raw: String, _ rate: String, _ mode: String, _ kilobits: Int, _ controller: String, _ folder: String,
        options: String = "", personality: String = "", _ coding: Coding = Coding()
    ) throws -> Run {
        let output = folder + "/out." + coding.codec.fileExtension
        let maximum = mode == "cbr" ? kilobits : kilobits * 3 / 2
        var arguments = [
            "encode", raw, "--input-size", "\(width)x\(height)", "--input-format",
            coding.bitDepth > 8 ? "i420p10" : "i420", "--fps", rate, "--device", "reference", "--codec",
            coding.codec.rawValue, "--preset", "7", "--rate-control", mode, "--bitrate", "\(kilobits)k",
            "--rate-controller", controller, "--vbv-size", "\(maximum)k", "--gop", "125", "--overwrite", "-o", output,
        ]
        if mode == "vbr" { arguments += ["--max-bitrate", "\(maximum)k"] }
        arguments += options.split(separator: " ").map(String.init)
        let result = try ProcessRunner.run(
            Checkout.vaenc, arguments,
            environment: personality.isEmpty ? [:] : ["VAENC_REFERENCE_PERSONALITY": personality], timeout: 900)
        guard result.status == 0 else { throw Unmeasurable(description: result.errors) }
        let stream = Streams.inspect(try Files.read(output), codec: coding.codec)
        guard let fps = framesPerSecond(rate), !stream.pictures.isEmpty else {
            throw Unmeasurable(description: "no frames")
        }
        var violations = stream.violations.map(\.description)
        if let report = stream.hrd() {
            violations += report.violations.map(\.description)
        } else {
            violations.append("no HRD parameters")
        }
        let sizes = stream.pictures.map { Double($0.byteCount * 8) }
        let second = Int(fps.rounded())
        var window = sizes.prefix(second).reduce(0, +)
        var fullest = window
        for index in sizes.indices.dropFirst(second) {
            window += sizes[index] - sizes[index - second]
            fullest = max(fullest, window)
        }
        return Run(
            bitsPerSecond: sizes.reduce(0, +) * fps / Double(sizes.count),
            fullestSecond: fullest / Double(maximum * 1000), violations: violations,
            psnr: try psnr(output, raw, rate, coding))
    }

    static func framesPerSecond(_ rate: String) -> Double? {
        let parts = rate.split(separator: "/").compactMap { Double($0) }
        return parts.isEmpty ? nil : parts[0] / (parts.count > 1 ? parts[1] : 1)
    }

    /// Returns the luma PSNR over all frames in dB, as ffmpeg computes it.
    private static func psnr(_ stream: String, _ raw: String, _ rate: String, _ coding: Coding) throws -> Double {
        let result = try ProcessRunner.run(
            "ffmpeg",
            [
                "-nostdin", "-hide_banner", "-r", rate, "-i", stream, "-f", "rawvideo", "-pix_fmt", coding.pixels,
                "-s", "\(width)x\(height)", "-r", rate, "-i", raw, "-lavfi", "psnr", "-f", "null", "-",
            ], timeout: 600)
        guard let line = result.errors.split(separator: "\n").last(where: { $0.contains("PSNR y:") }),
            let value = line.split(separator: "y:").dropFirst().first?.split(separator: " ").first,
            let psnr = Double(value)
        else { throw Unmeasurable(description: "ffmpeg printed no PSNR") }
        return psnr
    }
}
