import Vaenc

/// The library speaks of properties, in backticks; the command line of the options that set them.
enum OptionNames {
    private static let options: [String: String] = [
        "AudioMode.none": "--audio none", "CaptureDevices.all()": "vaenc probe --capture", "CaptureRequest.input": "--capture-input",
        "CaptureRequest.layout": "--input-format", "CaptureRequest.size": "--capture-size", "DeviceSelector.software": "--device software",
        "StreamConversion": "vaenc convert --record", "asyncDepth": "--async-depth", "bFrames": "--bframes", "bitDepth": "--bit-depth",
        "bitrate": "--bitrate", "codec": "--codec", "dataRateLimits": "--data-rate-limit", "device": "--device",
        "device: .reference": "--device reference", "device: .software": "--device software",
        "duration": "--duration", "entropy": "--entropy", "format": "--format", "frameLimit": "--frames", "frameRate": "--fps",
        "gopFrames": "--gop", "gopSeconds": "--gop-seconds", "hrdParameters": "--hrd", "idrInterval": "--idr-interval",
        "inputFormat": "--input-format", "inputSize": "--input-size", "level": "--level", "longTermReferences": "--ltr",
        "maxBitrate": "--max-bitrate", "maxFrameBytes": "--max-frame-bytes", "maxFrameDelay": "--max-frame-delay", "maxQP": "--max-qp",
        "maxSliceBytes": "--max-slice-bytes", "minQP": "--min-qp", "outputSize": "--size", "overwrite": "--overwrite", "SinkOptions.overwrite": "--overwrite", "SourceOptions.outputSize": "--size",
        "preset": "--preset", "preview": "--preview", "profile": "--profile", "qp": "--qp", "qpB": "--qp-b", "qpI": "--qp-i",
        "quality": "--quality", "rateControl": "--rate-control", "rateController": "--rate-controller", "references": "--refs",
        "requireHardware": "--require-hardware", "slices": "--slices", "start": "--start", "strict": "--strict",
        "temporalLayers": "--temporal-layers", "tier": "--tier", "trellis": "--trellis", "vbvInitialPercent": "--vbv-initial",
        "vbvSize": "--vbv-size",
    ]

    /// A message with the options in place of the properties; other words in backticks stay.
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
            result += options[name] ?? "`\(name)`"
            rest = inner[inner.index(after: close)...]
        }
        return result + rest
    }
}

extension [EffectiveEntry] {
    /// With the options in place of the properties.
    var translated: [EffectiveEntry] {
        map { entry in
            var entry = entry
            entry.used = OptionNames.translate(entry.used)
            entry.why = OptionNames.translate(entry.why)
            return entry
        }
    }
}
