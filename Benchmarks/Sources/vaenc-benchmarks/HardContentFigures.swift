import TestOracles

/// Measures every controller on fades, flashes, cuts and black, and compares the worst picture with x264's.
enum HardContentFigures {
    private static let names = ["trailer", "fades", "flashes", "cuts", "black", "sudden"]
    private static let kilobits = [200, 400]

    static func run() throws -> [Figure] {
        var figures: [Figure] = []
        for clip in try HardContent.clips(names, size: "320x180") {
            for kilobits in kilobits {
                for mode in HardContent.Mode.allCases {
                    let baseline = try clip.x264(mode, kilobits: kilobits)
                    for codec in [StreamCodec.h264, .hevc] {
                        for controller in mode == .avbr ? ["driver"] : ["driver", "vaenc"] {
                            let result = try clip.vaenc(mode, kilobits: kilobits, controller: controller, codec: codec)
                            let name = "\(clip.name) \(kilobits) \(mode.rawValue.uppercased()) \(codec.rawValue), \(controller)"
                            figures += [
                                Figure("\(name): PSNR of the worst picture", result.worst, "dB", atLeast: baseline.worst - 3),
                                Figure("\(name): mean PSNR", result.mean, "dB"),
                                Figure("\(name): bit rate", result.bitsPerSecond / 1000, "kbit/s"),
                            ]
                        }
                    }
                }
            }
        }
        return figures
    }
}
