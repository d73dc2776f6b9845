import TestOracles

/// Measures rate control of HEVC at 8 and 10 bits, on the unrestricted driver and on the personalities of two vendors.
/// The streams last 20 seconds. The content of the buffer is a larger share of them than of a minute, so the limits are
/// those of the tests' short streams.
extension Rates {
    private static let devices = [
        (name: "", personality: "", options: ""),
        (name: ", AMD", personality: "radeonsi-navi21", options: ""),
        (name: ", Intel's low power", personality: "iHD-9A49", options: "--low-power on"),
    ]

    static func hevc() throws -> [Figure] {
        var figures: [Figure] = []
        for clip in clips where clip.fixture != .bikes {
            for bitDepth in [8, 10] {
                let coding = Coding(codec: .hevc, bitDepth: bitDepth)
                try Files.withTemporaryFolder { folder in
                    let raw = try minute(clip.fixture, clip.rate, folder, seconds: 20, coding)
                    for device in clip.fixture == .bigBuckBunny ? devices : Array(devices.prefix(1)) {
                        for mode in ["cbr", "vbr"] {
                            for controller in ["driver", "vaenc"] {
                                let kind = "\(clip.fixture) \(mode.uppercased()) \(bitDepth) bits"
                                let name = "\(kind), \(controller)\(device.name)"
                                let run = try encode(
                                    raw, clip.rate, mode, 500, controller, folder, options: device.options,
                                    personality: device.personality, coding)
                                figures += [
                                    Figure(
                                        "\(name): rate error", abs(run.bitsPerSecond / 500_000 - 1) * 100, "%",
                                        atMost: mode == "cbr" ? 3 : 6),
                                    Figure("\(name): PSNR", run.psnr, "dB"),
                                    Figure(
                                        "\(name): HRD violations", Double(run.violations.count), "", atMost: 0),
                                ]
                                if mode == "vbr" { figures.append(fullest(name, run)) }
                                if let first = run.violations.first { print("  \(name): \(first)") }
                            }
                        }
                    }
                }
            }
        }
        return figures
    }
}
