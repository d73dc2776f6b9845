import ArgumentParser
import VideoBase

struct StructureOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Key frame interval (length of the GOP) in frames, \(SettingRange.gopFrames.words) (default: 5 seconds).", valueName: "FRAMES"))
    var gop: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Key frame interval (length of the GOP) in seconds, more than 0 and at most 86400 (default 5).", valueName: "S"))
    var gopSeconds: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Make every Nth intra picture an IDR picture and the others I pictures with a recovery point, \(SettingRange.idrInterval.words) (default 1).",
            valueName: "N"))
    var idrInterval: Int?

    @Flag(help: "Use open GOPs: B frames before a key frame may reference frames of the previous GOP.")
    var openGop = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Number of B frames between P frames, \(SettingRange.bFrames.words) "
                + "(default 2 if the device supports them).",
            valueName: "N"))
    var bframes: Int?

    @Flag(
        inversion: .prefixedNo, exclusivity: .exclusive,
        help: "Whether B frames may reference other B frames (default: yes from three B frames on; in software: yes).")
    var bPyramid: Bool?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Number of reference pictures, \(SettingRange.references.words) (default: 1, or the value of --ltr; in "
                + "software: the library's default).",
            valueName: "N"))
    var refs: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Slices per picture, \(SettingRange.slices.words) (default 1).", valueName: "N"))
    var slices: Int?

    @Option(
        help: ArgumentHelp(
            "Force key frames at these frame indices or times (seconds with the suffix s, or HH:MM:SS.mmm).",
            valueName: "0,50,12.5s"))
    var forceKey: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Number of temporal layers, \(SettingRange.temporalLayers.words) (default 1). "
                + "The upper layers can be dropped.",
            valueName: "N"))
    var temporalLayers: Int?

    @Flag(help: "Move intra-coded columns or rows through the picture instead of encoding key frames.")
    var intraRefresh = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Number of long-term references, \(SettingRange.longTermReferences.words) (default 0).", valueName: "N"))
    var ltr: Int?

    @Flag(help: "Output each packet before the next frame is accepted.")
    var lowLatency = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Maximum number of frames in flight, \(SettingRange.asyncDepth.words) (default 2; in software 4; 1 with "
                + "--low-latency).",
            valueName: "N"))
    var asyncDepth: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Maximum number of frames that the encoder holds before it outputs the first packet, "
                + "\(SettingRange.maxFrameDelay.words) (default: no limit; 0 with --low-latency).", valueName: "N"))
    var maxFrameDelay: Int?

    @Option(
        name: .customLong("transform-8x8"), help: ArgumentHelp("Whether to use the 8×8 transform of H.264 High.", valueName: "auto|on|off"))
    var transform8x8: Automatic = .auto

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Deblocking filter: on, off, or offsets from \(SettingRange.deblockingOffset.words) (default on).", valueName: "on|off|ALPHA:BETA"))
    var deblock: String?

    @Option(
        help: ArgumentHelp(
            "Whether to write HRD parameters, and buffering period and picture timing SEI messages. auto: if the rate "
                + "control maintains a buffer (libx264: only with cbr; libx265: off).",
            valueName: "auto|on|off"))
    var hrd: Automatic = .auto

    @Option(help: ArgumentHelp("Whether to write the encoder's name and version into the stream. auto: yes.", valueName: "auto|on|off"))
    var identifier: Automatic = .auto

    func apply(to configuration: inout EncoderConfiguration) throws {
        for (name, value, range) in [
            ("--gop", gop, SettingRange.gopFrames), ("--bframes", bframes, SettingRange.bFrames), ("--refs", refs, SettingRange.references),
            ("--slices", slices, SettingRange.slices), ("--async-depth", asyncDepth, SettingRange.asyncDepth),
            ("--idr-interval", idrInterval, SettingRange.idrInterval), ("--temporal-layers", temporalLayers, SettingRange.temporalLayers),
            ("--ltr", ltr, SettingRange.longTermReferences), ("--max-frame-delay", maxFrameDelay, SettingRange.maxFrameDelay),
        ] {
            try OptionValue.check(name, value: value, in: range)
        }
        if let gopSeconds, !(gopSeconds > 0 && gopSeconds <= 86400) {
            throw VaencError.usage("--gop-seconds \(gopSeconds) is out of range", remedy: "use more than 0, at most 86400")
        }
        try validateCombination()
        configuration.structure.gopFrames = gop
        configuration.structure.gopDuration = gopSeconds.flatMap(Duration.init(checkedSeconds:))
        configuration.structure.idrInterval = idrInterval
        configuration.structure.openGOP = openGop
        configuration.structure.bFrames = bframes
        configuration.structure.bPyramid = bPyramid
        configuration.structure.references = refs
        configuration.coding.slices = slices
        configuration.structure.temporalLayers = temporalLayers
        configuration.structure.intraRefresh = intraRefresh
        configuration.structure.longTermReferences = ltr
        configuration.pipeline.asyncDepth = asyncDepth
        configuration.pipeline.maxFrameDelay = maxFrameDelay
        configuration.pipeline.lowLatency = lowLatency
        configuration.coding.transform8x8 = transform8x8.value
        configuration.coding.deblocking = try deblock.map(OptionValue.deblocking)
        configuration.headers.hrdParameters = hrd.value
        configuration.headers.identifier = identifier.value
        if let forceKey {
            let list = try OptionValue.keyFrames(forceKey)
            configuration.structure.forcedKeyFrames = list.frames
            configuration.structure.forcedKeyTimes = list.times
        }
    }

    private func validateCombination() throws {
        if lowLatency, let bframes, bframes > 0 {
            throw VaencError.usage(
                "--low-latency contradicts --bframes \(bframes)",
                remedy: "leave one out, because B frames need reordering")
        }
        if lowLatency, let asyncDepth, asyncDepth > 1 {
            throw VaencError.usage("--low-latency contradicts --async-depth \(asyncDepth)", remedy: "leave one out")
        }
        if bPyramid == true, let bframes, bframes < 2 {
            throw VaencError.usage(
                "--b-pyramid contradicts --bframes \(bframes)",
                remedy: "use --bframes 2 or more, or leave out --b-pyramid")
        }
        if intraRefresh, let bframes, bframes > 0 {
            throw VaencError.usage(
                "--intra-refresh contradicts --bframes \(bframes)",
                remedy: "use --bframes 0, because intra refresh excludes B frames")
        }
        if openGop, intraRefresh {
            throw VaencError.usage("--open-gop contradicts --intra-refresh", remedy: "leave one out")
        }
    }
}

extension StructureOptions: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        gop = line.value("--gop")
        gopSeconds = line.value("--gop-seconds")
        idrInterval = line.value("--idr-interval")
        openGop = line.flag("--open-gop")
        bframes = line.value("--bframes")
        bPyramid = line.flag("--b-pyramid", inverse: "--no-b-pyramid")
        refs = line.value("--refs")
        slices = line.value("--slices")
        forceKey = line.value("--force-key")
        temporalLayers = line.value("--temporal-layers")
        intraRefresh = line.flag("--intra-refresh")
        ltr = line.value("--ltr")
        lowLatency = line.flag("--low-latency")
        asyncDepth = line.value("--async-depth")
        maxFrameDelay = line.value("--max-frame-delay")
        transform8x8 = line.value("--transform-8x8") ?? .auto
        deblock = line.value("--deblock")
        hrd = line.value("--hrd") ?? .auto
        identifier = line.value("--identifier") ?? .auto
    }
}
