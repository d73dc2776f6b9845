import Vaenc
import VideoBase

/// Translates property names of the library, in backticks, into the command line options that set them.
enum OptionNames {
    private static let options: [String: String] = [
        "accessUnitDelimiters": "--aud", "AudioMode.aac": "--audio aac", "Transcoder.Output.audio": "--audio",
        "Transcoder.Options.rateChanges": "--change-bitrate", "AudioMode.none": "--audio none", "CaptureDevices.all()": "vaenc probe --capture",
        "CaptureRequest.input": "--capture-input",
        "CaptureRequest.layout": "--input-format", "CaptureRequest.size": "--capture-size",
        "Devices.reports": "`vaenc probe`", "Transcoder": "vaenc encode",
        "StreamConversion": "vaenc convert --record", "StreamConversion.Options.input": "--input-format",
        "Remuxer.run": "vaenc remux --output NAME.h264", "lengthSize": "--length-size", "lowPower": "--low-power", "asyncDepth": "--async-depth",
        "bFrames": "--bframes", "bPyramid": "--b-pyramid", "bitDepth": "--bit-depth",
        "bitrate": "--bitrate", "codec": "--codec", "color.matrix": "--color-matrix",
        "color.primaries": "--color-primaries", "color.transfer": "--color-transfer", "contentLight": "--content-light",
        "dataRateLimits": "--data-rate-limit",
        "deblocking": "--deblock", "deblocking.alphaOffset": "--deblock", "deblocking.betaOffset": "--deblock", "device": "--device",
        "device: .software": "--device software",
        "duration": "--duration", "entropy": "--entropy", "format": "--format", "frameLimit": "--frames", "frameRate": "--fps",
        "forcedKeyFrames": "--force-key", "gopFrames": "--gop", "gopDuration": "--gop-seconds", "hrdParameters": "--hrd",
        "identifier": "--identifier",
        "idrInterval": "--idr-interval", "intraRefresh": "--intra-refresh", "lowLatency": "--low-latency",
        "macroblockRateControl": "--macroblock-rate-control", "masteringDisplay": "--mastering-display", "openGOP": "--open-gop",
        "regionsOfInterest": "--roi", "transform8x8": "--transform-8x8",
        "inputFormat": "--input-format", "inputSize": "--input-size", "level": "--level", "longTermReferences": "--ltr",
        "maxBitrate": "--max-bitrate", "maxFrameBytes": "--max-frame-bytes", "maxFrameDelay": "--max-frame-delay", "maxQP": "--max-qp",
        "maxSliceBytes": "--max-slice-bytes", "minQP": "--min-qp", "outputSize": "--size", "overwrite": "--overwrite",
        "SourceOptions.outputSize": "--size", "SourceOptions.readsSound": "--audio", "SourceOptions.frameRate": "--fps",
        "preset": "--preset", "preview": "--preview", "profile": "--profile", "qp": "--qp", "qpB": "--qp-b", "qpI": "--qp-i",
        "quality": "--quality", "rateControl": "--rate-control", "rateController": "--rate-controller", "references": "--refs",
        "requireHardware": "--require-hardware", "slices": "--slices", "start": "--start", "strict": "--strict",
        "temporalLayers": "--temporal-layers", "tier": "--tier", "trellis": "--trellis", "vbvInitialPercent": "--vbv-initial",
        "vbvSize": "--vbv-size",
    ]

    /// Names in reports of the effective configuration that differ from the property names.
    private static let ofReports = Dictionary(uniqueKeysWithValues: [
        ("captureRate", "--fps"), ("captureSize", "--capture-size"), ("sampleEntry", "--sample-entry"),
    ])

    /// Returns the name of an entry of the effective configuration for a printed line: the option that requests it, if
    /// one exists.
    ///
    /// - Parameter hasSize: Whether `--size` was given. Otherwise the size is the input's.
    static func name(of entry: EffectiveEntry, hasSize: Bool = false) -> String {
        switch entry.option {
        case "size" where hasSize: "--size"
        case "audio" where !entry.isCopyByDefault: "--audio"
        default: translate(entry.quotedOption)
        }
    }

    /// Replaces properties in a message by their options. Other words in backticks are kept.
    static func translate(_ text: String) -> String {
        guard text.contains("`") else { return text }
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "`") {
            result += rest[..<open]
            let inner = rest[rest.index(after: open)...]
            guard let close = inner.firstIndex(of: "`") else {
                rest = rest[open...]
                break
            }
            let name = String(inner[..<close])
            result += options[name] ?? ofReports[name] ?? "`\(name)`"
            rest = inner[inner.index(after: close)...]
        }
        return result + rest
    }
}

extension EffectiveEntry {
    /// The entry with options in place of the properties.
    var translated: EffectiveEntry {
        var entry = self
        entry.used = OptionNames.translate(used)
        if case .explained(let words) = why { entry.why = .explained(OptionNames.translate(words)) }
        return entry
    }
}

extension [EffectiveEntry] {
    /// The entries with options in place of the properties.
    var translated: [EffectiveEntry] { map(\.translated) }
}
