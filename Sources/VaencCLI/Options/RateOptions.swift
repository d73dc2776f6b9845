import ArgumentParser
import VideoBase

struct RateOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Rate control.", valueName: "cqp|cbr|vbr|icq|qvbr|avbr"))
    var rateControl: RateControlMode?

    @Option(help: ArgumentHelp("Average bit rate, for example 6M or 800k.", valueName: "RATE"))
    var bitrate: String?

    @Option(help: ArgumentHelp("Highest bit rate.", valueName: "RATE"))
    var maxBitrate: String?

    @Option(help: ArgumentHelp("Constant QP of P pictures, 0 to 51.", valueName: "N"))
    var qp: Int?

    @Option(help: ArgumentHelp("Constant QP of I pictures.", valueName: "N"))
    var qpI: Int?

    @Option(help: ArgumentHelp("Constant QP of B pictures.", valueName: "N"))
    var qpB: Int?

    @Option(help: ArgumentHelp("Quality to aim at, 1 (best) to 51; 24 unless told.", valueName: "N"))
    var quality: Int?

    @Option(help: ArgumentHelp("Lowest QP.", valueName: "N"))
    var minQp: Int?

    @Option(help: ArgumentHelp("Highest QP.", valueName: "N"))
    var maxQp: Int?

    @Option(help: ArgumentHelp("1 best … 7 fastest.", valueName: "N"))
    var preset: Int?

    @Option(help: .hidden) var vbvSize: String?
    @Option(help: .hidden) var vbvInitial: String?
    @Option(help: .hidden) var lookahead: String?
    @Flag(help: .hidden) var twoPass = false
    @Option(help: .hidden) var targetSsim: String?
    @Option(help: .hidden) var maxFrameBytes: String?
    @Option(help: .hidden) var maxSliceBytes: String?
    @Option(help: .hidden) var roi: [String] = []

    @Flag(help: "Any difference between what was asked and what the device does is an error.")
    var strict = false

    func apply(to configuration: inout EncoderConfiguration) throws {
        try refuseWhatIsNotBuilt()
        for (name, value, range) in [
            ("--qp", qp, 0...51), ("--qp-i", qpI, 0...51), ("--qp-b", qpB, 0...51), ("--min-qp", minQp, 0...51),
            ("--max-qp", maxQp, 0...51), ("--quality", quality, 1...51), ("--preset", preset, 1...7),
        ] {
            if let value, !range.contains(value) {
                throw VaencError.usage("\(name) \(value) is out of range", remedy: "use \(range.lowerBound) to \(range.upperBound)")
            }
        }
        if let minQp, let maxQp, minQp > maxQp {
            throw VaencError.usage("--min-qp \(minQp) is above --max-qp \(maxQp)")
        }
        let rate = try bitrate.map { try Self.rate("--bitrate", $0) }
        let limit = try maxBitrate.map { try Self.rate("--max-bitrate", $0) }
        if let rate, let limit, limit < rate {
            throw VaencError.usage("--max-bitrate \(maxBitrate ?? "") is below --bitrate \(bitrate ?? "")")
        }
        try refuseContradictions(rate: rate)
        configuration.rateControl = rateControl ?? (rate != nil ? .vbr : qp != nil || qpI != nil ? .cqp : nil)
        configuration.bitrate = rate
        configuration.maxBitrate = limit
        configuration.qp = qp
        configuration.qpI = qpI
        configuration.qpB = qpB
        configuration.quality = quality
        configuration.minQP = minQp
        configuration.maxQP = maxQp
        configuration.preset = preset
        configuration.strict = strict
    }

    private func refuseContradictions(rate: BitsPerSecond?) throws {
        let anyQP = qp ?? qpI ?? qpB
        if rate != nil, anyQP != nil {
            throw VaencError.usage("--qp contradicts --bitrate", remedy: "give one of them")
        }
        if quality != nil, anyQP != nil {
            throw VaencError.usage("--qp contradicts --quality", remedy: "give one of them")
        }
        switch rateControl {
        case .cqp where rate != nil || quality != nil:
            throw VaencError.usage("--rate-control cqp contradicts --\(rate != nil ? "bitrate" : "quality")", remedy: "give --qp")
        case .cbr where rate == nil, .vbr where rate == nil, .avbr where rate == nil, .qvbr where rate == nil:
            throw VaencError.usage("--rate-control \(rateControl?.rawValue ?? "") needs --bitrate")
        case .cbr where anyQP != nil, .vbr where anyQP != nil, .avbr where anyQP != nil, .icq where anyQP != nil:
            throw VaencError.usage("--qp contradicts --rate-control \(rateControl?.rawValue ?? "")")
        case .icq where rate != nil:
            throw VaencError.usage("--bitrate contradicts --rate-control icq", remedy: "give --quality, or use qvbr")
        default: break
        }
    }

    private func refuseWhatIsNotBuilt() throws {
        for (asked, feature) in [
            (vbvSize != nil, "--vbv-size"), (vbvInitial != nil, "--vbv-initial"), (lookahead != nil, "--lookahead"),
            (twoPass, "--two-pass"), (targetSsim != nil, "--target-ssim"), (maxFrameBytes != nil, "--max-frame-bytes"),
            (maxSliceBytes != nil, "--max-slice-bytes"), (!roi.isEmpty, "--roi"),
        ] where asked {
            throw VaencError.notBuilt(feature)
        }
    }

    private static func rate(_ option: String, _ text: String) throws -> BitsPerSecond {
        guard let rate = BitsPerSecond(text) else {
            throw VaencError.usage("\(option) \(text) is not a bit rate", remedy: "write 6M, 800k or 1500000")
        }
        return rate
    }
}
