import MediaFiles
import VAAPI
import Vaenc

/// One output of a run: where it goes, and what is asked of its encoder.
struct EncodeOutput {
    let name: String
    var configuration: EncoderConfiguration
    var sinkOptions: SinkOptions
    /// Why it has the codec that it has, where the command line decides; nil: the session chooses.
    let codecWhy: String?
}

/// The outputs that `-o` names, and the codec that each is bound to.
struct OutputNames {
    struct Named {
        var name: String
        /// nil: the session chooses.
        var codec: VideoCodec?
        var why: String?
    }

    let all: [Named]

    /// - Throws: `usage` for names that contradict `codec`, that say no format, or that are there twice.
    init(
        _ given: [String], input: String?, codec: CodecOptions, options: SinkOptions, device: DeviceSelector
    ) throws {
        if given.isEmpty {
            all = [try Self.unnamed(input, codec, device)]
            return
        }
        guard Set(given).count == given.count else {
            throw VaencError.usage("an output is named twice", remedy: "give each a name of its own")
        }
        all = try given.map { name in
            let bound = try MediaOutput.format(of: name, options: options)
            if let asked = codec.codec.codec {
                if let extensionCodec = bound.codec, extensionCodec != asked {
                    throw VaencError.usage(
                        "--codec \(asked.rawValue) contradicts the output \(name)",
                        remedy: "name it .\(asked == .hevc ? "h265" : "h264")")
                }
                try MediaOutput.check(name, holds: asked, options: options)
                return Named(name: name, codec: asked, why: CodecChoice.asked)
            }
            if let codec = bound.codec { return Named(name: name, codec: codec, why: "the output's extension") }
            if !bound.format.holds(.hevc) {
                return Named(name: name, codec: .h264, why: "\(bound.format.rawValue) holds no HEVC")
            }
            return Named(name: name)
        }
    }

    /// `test.h264` or `test.h265`, as the device's default has it.
    private static func unnamed(_ input: String?, _ codec: CodecOptions, _ device: DeviceSelector) throws -> Named {
        if let input, !input.hasPrefix("testsrc:") {
            throw VaencError.usage("no output for \(input)", remedy: "name one with -o FILE")
        }
        var draft = EncoderConfiguration(size: VideoSize(width: 16, height: 16))
        draft.wantedCodec = codec.codec.codec
        try codec.apply(to: &draft)
        var chosen: (codec: VideoCodec, why: String) = (draft.codec, codec.codec == .auto ? "the options" : CodecChoice.asked)
        if draft.wantedCodec == nil {
            let choice = CodecChoice.choose(
                depth: draft.bitDepth ?? 8, isDepthAsked: draft.bitDepth != nil, amongDevicesOf: device)
            chosen = choice
        }
        return Named(name: chosen.codec == .hevc ? "test.h265" : "test.h264", codec: chosen.codec, why: chosen.why)
    }
}
