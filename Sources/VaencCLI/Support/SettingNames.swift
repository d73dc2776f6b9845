/// The library's texts name its settings, in backticks: `maxQP`. The command line names the options that set them: --max-qp.
enum SettingNames {
    private static let options = [
        "CaptureRequest.input": "--capture-input", "CaptureRequest.layout": "--input-format",
        "CaptureRequest.size": "--capture-size", "asyncDepth": "--async-depth", "bFrames": "--bframes", "bitrate": "--bitrate",
        "dataRateLimits": "--data-rate-limit", "device: .reference": "--device reference",
        "device: .software": "--device software", "frameRate": "--fps", "gopFrames": "--gop", "gopSeconds": "--gop-seconds",
        "hrdParameters": "--hrd", "idrInterval": "--idr-interval", "level": "--level", "longTermReferences": "--ltr",
        "maxBitrate": "--max-bitrate", "maxFrameBytes": "--max-frame-bytes", "maxFrameDelay": "--max-frame-delay", "maxQP": "--max-qp",
        "maxSliceBytes": "--max-slice-bytes", "minQP": "--min-qp", "preset": "--preset", "profile": "--profile", "qp": "--qp",
        "qpB": "--qp-b", "qpI": "--qp-i", "quality": "--quality", "rateControl": "--rate-control",
        "rateController": "--rate-controller", "references": "--refs", "requireHardware": "--require-hardware",
        "size": "--size", "slices": "--slices", "strict": "--strict", "temporalLayers": "--temporal-layers",
        "trellis": "--trellis", "vbvInitialPercent": "--vbv-initial", "vbvSize": "--vbv-size",
    ]

    /// Replaces each setting in backticks by its option. Other words in backticks, such as commands, stay as they are.
    static func asOptions(_ text: String) -> String {
        var rest = text[...], result = ""
        while let open = rest.firstIndex(of: "`"), let close = rest[rest.index(after: open)...].firstIndex(of: "`") {
            let name = String(rest[rest.index(after: open)..<close])
            result += rest[..<open] + (options[name] ?? "`\(name)`")
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }
}
