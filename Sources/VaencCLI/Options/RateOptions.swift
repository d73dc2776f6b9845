public import ArgumentParser
public import VideoBase

struct RateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Rate control mode (default: vbr with --bitrate, cqp with --qp, otherwise constant quality).",
            valueName: "cqp|cbr|vbr|icq|qvbr|avbr"))
    var rateControl: RateControlMode?

    @Option(help: ArgumentHelp("Average bit rate, 1k to 4G bits per second, for example 6M or 800k.", valueName: "RATE"))
    var bitrate: String?

    @Option(
        help: ArgumentHelp(
            "Maximum bit rate in bits per second (default: --bitrate with cbr, otherwise 1.5 times --bitrate).",
            valueName: "RATE"))
    var maxBitrate: String?

    @Option(
        help: ArgumentHelp(
            "Size of the decoder's buffer, 1k to 4G bits (default: one second at the maximum bit rate).",
            valueName: "BITS"))
    var vbvSize: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Initial fullness of the decoder's buffer, \(SettingRange.percent.words) percent (default 75; in software 90).",
            valueName: "PERCENT"))
    var vbvInitial: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Constant QP of P pictures, \(SettingRange.qp.words) (default 24 with --rate-control cqp).", valueName: "N"))
    var qp: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Constant QP of I pictures, \(SettingRange.qp.words) (default: derived from --qp).", valueName: "N"))
    var qpI: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Constant QP of B pictures, \(SettingRange.qp.words) (default: derived from --qp).", valueName: "N"))
    var qpB: Int?

    @Option(
        name: [.long, .customLong("crf")], parsing: .unconditional,
        help: ArgumentHelp("Constant quality, 1 (best) to 51 (default 24), on the codec's QP scale.", valueName: "N"))
    var quality: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Lowest QP that the rate control uses, \(SettingRange.qp.words) (default: no limit by vaenc).", valueName: "N"))
    var minQp: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Highest QP that the rate control uses, \(SettingRange.qp.words) (default: no limit by vaenc).", valueName: "N"))
    var maxQp: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum coded picture size in bytes, \(SettingRange.frameBytes.words) (default: no limit).", valueName: "BYTES"))
    var maxFrameBytes: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum slice size in bytes, \(SettingRange.sliceBytes.words) (default: no limit).", valueName: "BYTES"))
    var maxSliceBytes: Int?

    @Option(
        help: ArgumentHelp("Maximum number of bytes in any period of this many seconds (may be repeated).", valueName: "BYTES/SECONDS"))
    var dataRateLimit: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Region of interest: a rectangle in pixels and its QP change, DELTA from -51 (best) to 51 "
                + "(may be repeated).",
            valueName: "X,Y,WxH:DELTA"))
    var roi: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Speed: 1 (best quality) to 7 (fastest), or slow (2), medium (4), fast (6) "
                + "(default: the device's default).",
            valueName: "1…7|slow|medium|fast"))
    var preset: String?

    @Option(
        help: ArgumentHelp("Rate controller (default: the driver if it has rate control).", valueName: "driver|vaenc"))
    var rateController: RateControlOwner?

    @Option(help: ArgumentHelp("Rate control within pictures, if the driver supports it.", valueName: "auto|on|off"))
    var macroblockRateControl: Automatic = .auto

    @Option(
        help: ArgumentHelp(
            "Rate–distortion optimized quantization, if the driver supports it.", valueName: "auto|on|off"))
    var trellis: Automatic = .auto

    @Option(
        help: ArgumentHelp(
            "Change the bit rate at this frame index, for example 250=4M (may be repeated).", valueName: "FRAME=RATE"))
    var changeBitrate: [String] = []

    @Option(help: .hidden) var lookahead: String?
    @Flag(help: .hidden) var twoPass = false
    @Option(help: .hidden) var targetSsim: String?

    @Flag(help: "Fail instead of changing or leaving out anything that is requested.")
    var strict = false

    func apply(to configuration: inout EncoderConfiguration) throws {
        try checkRanges()
        let rate = try bitrate.map { try OptionValue.rate("--bitrate", $0) }
        let limit = try maxBitrate.map { try OptionValue.rate("--max-bitrate", $0) }
        if let rate, let limit, limit < rate {
            throw VaencError.usage(
                "--max-bitrate \(maxBitrate ?? "") is below --bitrate \(bitrate ?? "")",
                remedy: "raise --max-bitrate or lower --bitrate")
        }
        try validateCombination(rate: rate, limit: limit)
        configuration.rate.rateControl = rateControl
        configuration.rate.bitrate = rate
        configuration.rate.maxBitrate = limit
        configuration.rate.vbvSize = try vbvSize.map {
            guard let bits = BitsPerSecond($0) else {
                throw VaencError.usage("--vbv-size \($0) is not a number of bits", remedy: "write 6M, 800k or 1500000, from 1k to 4G")
            }
            guard bits.value >= 1000 else { throw VaencError.usage("--vbv-size \($0) is out of range", remedy: "use 1k to 4G bits") }
            return bits.value
        }
        configuration.rate.vbvInitialPercent = vbvInitial
        configuration.rate.qp = qp
        configuration.rate.qpI = qpI
        configuration.rate.qpB = qpB
        configuration.rate.quality = quality
        configuration.rate.minQP = minQp
        configuration.rate.maxQP = maxQp
        configuration.rate.maxFrameBytes = maxFrameBytes
        configuration.rate.maxSliceBytes = maxSliceBytes
        configuration.rate.dataRateLimits = try dataRateLimit.map(OptionValue.dataRateLimit)
        configuration.coding.regionsOfInterest = try roi.map(OptionValue.region)
        configuration.rate.rateController = rateController
        configuration.rate.macroblockRateControl = macroblockRateControl.value
        configuration.coding.trellis = trellis.value
        configuration.coding.preset = try preset.map(OptionValue.preset)
        configuration.strict = strict
    }

    /// Rejects options that are planned but not implemented.
    ///
    /// - Throws: `unavailable`.
    func rejectUnimplemented() throws {
        let asked = [(lookahead != nil, "--lookahead"), (twoPass, "--two-pass"), (targetSsim != nil, "--target-ssim")]
        if let feature = asked.first(where: \.0)?.1 { throw VaencError.notImplemented(feature) }
    }

    /// Returns the changes of the rate, by the index of the frame before which they apply.
    func changes() throws -> [Int: RunningChange] {
        var changes: [Int: RunningChange] = [:]
        for text in changeBitrate {
            let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let frame = Int(parts[0]), frame >= 0 else {
                throw VaencError.usage(
                    "--change-bitrate \(text) is not valid", remedy: "write FRAME=RATE, such as 250=4M")
            }
            guard changes[frame] == nil else {
                throw VaencError.usage("--change-bitrate names frame \(frame) twice", remedy: "use one rate for each frame")
            }
            changes[frame, default: RunningChange()].bitrate = try OptionValue.rate("--change-bitrate", parts[1])
        }
        return changes
    }

    /// One line for each rate that has no unit and is lower than anyone is likely to want.
    var hints: [String] {
        let changes = changeBitrate.map { ("--change-bitrate", $0.split(separator: "=").last.map(String.init)) }
        let rates = [("--bitrate", bitrate), ("--max-bitrate", maxBitrate)] + changes
        return rates.compactMap { option, text in
            guard let text, let number = Int(text), number < 100_000 else { return nil }
            return "\(option) \(text) is \(text) bits per second: write \(text)k if you mean kilobits per second"
        }
    }

    private func checkRanges() throws {
        for (name, value, range) in [
            ("--qp", qp, SettingRange.qp), ("--qp-i", qpI, SettingRange.qp), ("--qp-b", qpB, SettingRange.qp),
            ("--min-qp", minQp, SettingRange.qp), ("--max-qp", maxQp, SettingRange.qp), ("--quality", quality, SettingRange.quality),
            ("--vbv-initial", vbvInitial, SettingRange.percent), ("--max-frame-bytes", maxFrameBytes, SettingRange.frameBytes),
            ("--max-slice-bytes", maxSliceBytes, SettingRange.sliceBytes),
        ] {
            try OptionValue.check(name, value: value, in: range)
        }
        if let minQp, let maxQp, minQp > maxQp {
            throw VaencError.usage("--min-qp \(minQp) is above --max-qp \(maxQp)", remedy: "swap the two values")
        }
    }

    private func validateCombination(rate: BitsPerSecond?, limit: BitsPerSecond?) throws {
        let one = "use only one of them"
        let anyQP = qp != nil ? "--qp" : qpI != nil ? "--qp-i" : qpB != nil ? "--qp-b" : nil
        if rate != nil, let anyQP { throw VaencError.usage("\(anyQP) contradicts --bitrate", remedy: one) }
        if quality != nil, let anyQP { throw VaencError.usage("\(anyQP) contradicts --quality", remedy: one) }
        if rate != nil, quality != nil, rateControl != .qvbr {
            throw VaencError.usage(
                "--quality contradicts --bitrate", remedy: "use only one of them, or --rate-control qvbr")
        }
        if !changeBitrate.isEmpty, rate == nil, limit == nil {
            throw VaencError.usage(
                "--change-bitrate needs a bit rate to change", remedy: "add --bitrate, such as --bitrate 4M")
        }
        let name = rateControl?.rawValue ?? ""
        switch rateControl {
        case .cqp where rate != nil || quality != nil:
            throw VaencError.usage(
                "--rate-control cqp contradicts --\(rate != nil ? "bitrate" : "quality")", remedy: "use --qp instead")
        case .cbr where rate == nil, .vbr where rate == nil, .avbr where rate == nil:
            throw VaencError.usage(
                "--rate-control \(name) needs a bit rate", remedy: "add --bitrate, such as --bitrate 6M")
        case .qvbr where rate == nil && limit == nil:
            throw VaencError.usage(
                "--rate-control qvbr needs a bit rate",
                remedy: "add --max-bitrate or --bitrate, such as --max-bitrate 6M")
        case .cbr where anyQP != nil, .vbr where anyQP != nil, .avbr where anyQP != nil, .icq where anyQP != nil,
            .qvbr where anyQP != nil:
            throw VaencError.usage("\(anyQP ?? "--qp") contradicts --rate-control \(name)", remedy: one)
        case .icq where rate != nil:
            throw VaencError.usage(
                "--bitrate contradicts --rate-control icq", remedy: "use --quality instead, or --rate-control qvbr")
        case .cbr where limit != nil && limit != rate:
            throw VaencError.usage(
                "--max-bitrate contradicts --rate-control cbr", remedy: "leave it out, or use --rate-control vbr")
        case nil where limit != nil && rate == nil:
            throw VaencError.usage(
                "--max-bitrate needs an average bit rate",
                remedy: anyQP.map { "use --bitrate instead of \($0)" }
                    ?? (quality == nil
                        ? "add --bitrate with a lower rate, or --rate-control qvbr for constant quality"
                        : "add --rate-control qvbr for constant quality below this rate"))
        default: break
        }
    }
}

extension RateControlOwner: ExpressibleByArgument {}

extension RateOptions: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        rateControl = line.value("--rate-control")
        bitrate = line.value("--bitrate")
        maxBitrate = line.value("--max-bitrate")
        vbvSize = line.value("--vbv-size")
        vbvInitial = line.value("--vbv-initial")
        qp = line.value("--qp")
        qpI = line.value("--qp-i")
        qpB = line.value("--qp-b")
        quality = line.value("--quality", "--crf")
        minQp = line.value("--min-qp")
        maxQp = line.value("--max-qp")
        maxFrameBytes = line.value("--max-frame-bytes")
        maxSliceBytes = line.value("--max-slice-bytes")
        dataRateLimit = line.values("--data-rate-limit")
        roi = line.values("--roi")
        preset = line.value("--preset")
        rateController = line.value("--rate-controller")
        macroblockRateControl = line.value("--macroblock-rate-control") ?? .auto
        trellis = line.value("--trellis") ?? .auto
        changeBitrate = line.values("--change-bitrate")
        lookahead = line.value("--lookahead")
        twoPass = line.flag("--two-pass")
        targetSsim = line.value("--target-ssim")
        strict = line.flag("--strict")
    }
}
