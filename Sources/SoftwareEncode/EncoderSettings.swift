import VideoBase

/// An encoder configuration in the words of libx264 and libx265, and the report of what became of each wish.
struct EncoderSettings: Sendable {
    let codec: VideoCodec
    /// What is coded: the visible size, odd sides padded by one.
    let codedSize: VideoSize
    /// Layout of the buffers that the encoder reads without converting.
    let bufferFormat: PixelFormat
    /// Options of the libavcodec wrapper.
    private(set) var options: [(name: String, value: String)] = []
    /// Settings of the encoder library, joined with colons for `x264-params` or `x265-params`.
    private(set) var parameters: [(name: String, value: String)] = []
    private(set) var effective: [EffectiveEntry] = []
    /// Frames that wait for the encoder at most.
    let queueDepth: Int

    let configuration: EncoderConfiguration

    /// The library's name in libavcodec.
    var encoderName: String { codec == .h264 ? "libx264" : "libx265" }
    var joinedParameters: String { parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ":") }

    /// vaenc's presets 1…7 in the libraries' names.
    static let presetNames = ["veryslow", "slower", "slow", "medium", "fast", "veryfast", "ultrafast"]

    /// - Throws: `usage` for values out of range and wishes that contradict each other; `unavailable` where `strict`
    ///   refuses a difference.
    init(_ configuration: EncoderConfiguration) throws(VaencError) {
        try Self.validate(configuration)
        self.configuration = configuration
        codec = configuration.codec
        codedSize = configuration.size.aligned(to: 2)
        bufferFormat =
            configuration.profile == .hevcMain10 ? .i420p10 : configuration.codec == .h264 ? .nv12 : .i420
        queueDepth = configuration.lowLatency ? 1 : configuration.asyncDepth ?? 4

        if codedSize != configuration.size {
            report("size", "\(configuration.size)", "\(codedSize)", "4:2:0 has even sides: odd ones are padded by one")
        }
        mapStructure()
        mapRate()
        mapPicture()
        if configuration.strict, let entry = effective.first(where: \.differs) {
            throw VaencError(
                .unavailable,
                "the software encoder cannot do \(entry.option) \(entry.asked ?? ""): it would use \(entry.used) (\(entry.why))",
                remedy: "leave out --strict or change --\(entry.option)")
        }
    }

    mutating func report(_ option: String, _ asked: (some CustomStringConvertible)?, _ used: String, _ why: String) {
        effective.append(EffectiveEntry(option: option, asked: asked.map { "\($0)" }, used: used, why: why))
    }

    private mutating func set(_ name: String, _ value: some CustomStringConvertible) {
        parameters.append((name, "\(value)"))
    }

    private static func why(_ asked: Any?) -> String { asked == nil ? "default" : "asked" }

    private mutating func mapStructure() {
        let c = configuration
        let preset = c.preset ?? 4
        options.append(("preset", Self.presetNames[preset - 1]))
        report("preset", c.preset, "\(preset)", "\(encoderName) \(Self.presetNames[preset - 1])")
        options.append(("forced-idr", "1"))
        if c.lowLatency {
            options.append(("tune", "zerolatency"))
            report("low-latency", true, "true", "tune zerolatency: no reordering, no look-ahead")
        }
        let gop = c.gopFrames ?? max(1, Int(((c.gopSeconds ?? 5) * c.frameRate.value).rounded()))
        set("keyint", gop)
        set("min-keyint", 1)
        // Key frames stand where the GOP says, as in hardware.
        set("scenecut", 0)
        set("open-gop", 0)
        report(
            "gop", c.gopFrames, "\(gop)",
            c.gopFrames != nil ? "asked" : c.gopSeconds != nil ? "asked in seconds" : "default of 5 seconds")
        var bFrames = c.bFrames ?? 2
        var why = Self.why(c.bFrames)
        if bFrames > 0, c.lowLatency { (bFrames, why) = (0, "low latency does not reorder") }
        if bFrames > 0, c.profile == .h264ConstrainedBaseline { (bFrames, why) = (0, "the profile has no B frames") }
        if bFrames > 0, gop == 1 { (bFrames, why) = (0, "every picture is a key frame") }
        set("bframes", bFrames)
        report("bframes", c.bFrames, "\(bFrames)", why)
        if let references = c.references {
            set("ref", references)
            report("refs", references, "\(references)", "asked")
        }
        let rows = (codedSize.height + 15) / 16
        if let slices = c.slices {
            let used = min(slices, rows)
            set("slices", used)
            report("slices", slices, "\(used)", used == slices ? "asked" : "the picture has \(rows) macroblock rows")
        }
        if c.accessUnitDelimiters { set("aud", 1) }
        if let depth = c.asyncDepth {
            report("async-depth", depth, "\(queueDepth)", c.lowLatency ? "low latency waits for each frame" : "asked")
        }
        if c.lowPower == true { report("low-power", "on", "off", "software has one way of encoding") }
    }

    private mutating func mapPicture() {
        let c = configuration
        if codec == .h264 {
            let profile = c.profile ?? .h264High
            let name = profile == .h264ConstrainedBaseline ? "baseline" : profile == .h264Main ? "main" : "high"
            options.append(("profile", name))
            var entropy = c.entropy ?? .cabac
            var why = Self.why(c.entropy)
            if profile == .h264ConstrainedBaseline, entropy == .cabac {
                (entropy, why) = (.cavlc, "the profile has CAVLC only")
            }
            set("cabac", entropy == .cabac ? 1 : 0)
            report("entropy", c.entropy?.rawValue, entropy.rawValue, why)
            if let level = c.level { set("level", level == 9 ? "1b" : "\(level / 10).\(level % 10)") }
        } else {
            options.append(("profile", c.profile == .hevcMain10 ? "main10" : "main"))
            if let entropy = c.entropy { report("entropy", entropy.rawValue, "cabac", "HEVC has CABAC only") }
            if let level = c.level { set("level-idc", "\(level / 10).\(level % 10)") }
            // libx265 prints to stderr by itself.
            set("log-level", "none")
        }
    }

    private mutating func mapRate() {
        let c = configuration
        let mode = c.rateControl ?? (c.bitrate != nil ? .vbr : c.qp != nil ? .cqp : .icq)
        let bitrate = c.bitrate?.value ?? 0
        switch mode {
        case .cqp: mapConstantQP()
        case .icq, .qvbr:
            let quality = c.quality ?? 24
            set("crf", quality)
            report("quality", c.quality, "\(quality)", "\(Self.why(c.quality)), as the library's constant rate factor")
            if mode == .qvbr, let limit = c.maxBitrate ?? c.bitrate { mapLimit(limit) }
        case .vbr:
            set("bitrate", max(1, bitrate / 1000))
            let limit = c.maxBitrate ?? BitsPerSecond(bitrate + bitrate / 2)
            report("bitrate", c.bitrate, BitsPerSecond(bitrate).description, "asked")
            mapLimit(limit)
        case .avbr:
            set("bitrate", max(1, bitrate / 1000))
            report("bitrate", c.bitrate, BitsPerSecond(bitrate).description, "asked")
        case .cbr:
            set("bitrate", max(1, bitrate / 1000))
            report("bitrate", c.bitrate, BitsPerSecond(bitrate).description, "asked")
            mapLimit(BitsPerSecond(bitrate))
            if codec == .h264 { set("nal-hrd", "cbr") } else { set("strict-cbr", 1) }
        }
        let label =
            mode == .icq || mode == .qvbr ? "quality-targeted (\(encoderName) CRF)" : "\(encoderName) \(mode.rawValue)"
        report(
            "rate-control", c.rateControl?.rawValue, mode.rawValue,
            c.rateControl != nil
                ? label : "\(label): \(c.bitrate != nil ? "a bit rate" : c.qp != nil ? "a QP" : "nothing") was asked")
        if let low = c.minQP { set("qpmin", low); report("min-qp", low, "\(low)", "asked") }
        if let high = c.maxQP { set("qpmax", high); report("max-qp", high, "\(high)", "asked") }
    }

    /// Maximum rate over one second.
    private mutating func mapLimit(_ limit: BitsPerSecond) {
        set("vbv-maxrate", max(1, limit.value / 1000))
        set("vbv-bufsize", max(1, limit.value / 1000))
        report(
            "max-bitrate", configuration.maxBitrate, limit.description,
            configuration.maxBitrate == limit ? "asked, over one second" : "over one second")
    }

    /// The libraries derive the QP of I and B pictures from P's through ratios of quantizer steps.
    private mutating func mapConstantQP() {
        let c = configuration
        let asked = c.qp ?? 26
        // QP 0 of libx264 is lossless coding, which the High profile has not.
        let qp = codec == .h264 ? max(asked, 1) : asked
        set("qp", qp)
        report(
            "qp", c.qp, "\(qp)",
            qp != asked ? "QP 0 is lossless coding in libx264, a profile of its own" : Self.why(c.qp))
        func ratio(_ difference: Int) -> String { "\(Self.power(Double(difference) / 6))" }
        let qpI = c.qpI ?? qp, qpB = c.qpB ?? qp
        set("ipratio", ratio(qp - qpI))
        set("pbratio", ratio(qpB - qp))
        report("qp-i", c.qpI, "\(qpI)", c.qpI == nil ? "as of P pictures" : "asked")
        report("qp-b", c.qpB, "\(qpB)", c.qpB == nil ? "as of P pictures" : "asked")
    }

    /// 2 to the power of a sixth or more, to four places (no C library here).
    private static func power(_ exponent: Double) -> Double {
        var rest = exponent
        var result = 1.0
        while rest >= 1 { result *= 2; rest -= 1 }
        while rest < 0 { result /= 2; rest += 1 }
        // The series of e^(rest · ln 2), rest in 0..<1.
        var term = 1.0, sum = 1.0
        for n in 1...20 {
            term *= rest * 0.693147180559945 / Double(n)
            sum += term
        }
        return result * sum
    }
}
