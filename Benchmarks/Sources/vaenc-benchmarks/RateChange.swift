import BitstreamInspection
import TestOracles

/// Measures changes of the bit rate from 1 to 4 Mbit/s and back while the encoder runs.
enum RateChange {
    private static let low = 1_000_000.0
    private static let high = 4_000_000.0
    /// The times of the changes in seconds.
    private static let times = (up: 10, down: 20)

    static func run() throws -> [Figure] {
        var figures: [Figure] = []
        for clip in Rates.clips {
            try Files.withTemporaryFolder { folder in
                let raw = try Rates.minute(clip.fixture, clip.rate, folder)
                for mode in ["cbr", "vbr"] {
                    for controller in ["driver", "vaenc"] {
                        let name = "\(clip.fixture) \(mode.uppercased()), \(controller)"
                        figures += try measure(name, raw, clip.rate, mode, controller, folder)
                    }
                }
            }
        }
        return figures
    }

    private static func measure(
        _ name: String, _ raw: String, _ rate: String, _ mode: String, _ controller: String, _ folder: String
    ) throws -> [Figure] {
        let output = folder + "/out.h264"
        guard let fps = Rates.framesPerSecond(rate) else { throw Unmeasurable(description: rate) }
        let up = Int((Double(times.up) * fps).rounded())
        let down = Int((Double(times.down) * fps).rounded())
        let result = try ProcessRunner.run(
            Checkout.vaenc,
            [
                "encode", raw, "--input-size", "\(Rates.width)x\(Rates.height)", "--input-format", "i420", "--fps", rate,
                "--device", "reference", "--codec", "h264", "--preset", "7", "--rate-control", mode, "--bitrate", "1M",
                "--change-bitrate", "\(up)=4M", "--change-bitrate", "\(down)=1M", "--rate-controller", controller,
                "--gop", "10000", "--duration", "30", "--hrd", "off", "--overwrite", "-o", output,
            ], timeout: 600)
        guard result.status == 0 else { throw Unmeasurable(description: result.errors) }
        let frames = Streams.inspect(try Files.read(output)).frames
        /// Returns the bit rate in bits/s between two times in seconds.
        func measured(_ from: Double, _ to: Double) -> Double {
            let range = Int((from * fps).rounded())..<min(Int((to * fps).rounded()), frames.count)
            return Double(frames[range].reduce(0) { $0 + $1.byteCount }) * 8 * fps / Double(range.count)
        }
        let halves = stride(from: 8.0, to: 24, by: 0.5).map { number(measured($0, $0 + 0.5) / 1e6) }
        print("  \(name), Mbit/s in half seconds from 8 s on: \(halves.joined(separator: " "))")
        return [
            Figure("\(name): IDR pictures", Double(frames.count(where: \.isIDR)), "", atMost: 1),
            Figure("\(name): rate in the second after 1 → 4 Mbit/s, relative to 4", measured(10, 11) / high, "", atLeast: 0.75),
            Figure("\(name): error over the next ten seconds", abs(measured(10, 20) / high - 1) * 100, "%", atMost: 5),
            Figure("\(name): rate in the second after 4 → 1 Mbit/s, relative to 1", measured(20, 21) / low, "", atMost: 1.5),
            Figure("\(name): rate in the second after 4 → 1 Mbit/s, relative to 1", measured(20, 21) / low, "", atLeast: 0.6),
            Figure("\(name): error over the next ten seconds", abs(measured(20, 30) / low - 1) * 100, "%", atMost: 10),
        ]
    }
}
