import MediaFiles
import VAAPI
import Vaenc
import VideoBase

/// The outputs that `-o` names, and the codec that each must have.
struct OutputNames {
    struct Named {
        /// The options of this output.
        var options = SinkOptions()
        /// The name; nil for `test.h264` or `test.h265`, depending on the codec.
        var name: String?
        var format = OutputFormat.annexb
        /// The codec; nil if the session chooses.
        var codec: VideoCodec?
        var why: CodecReason?
    }

    let all: [Named]

    /// Parses the names.
    ///
    /// - Throws: `usage` if a name contradicts `codec`, does not determine a format, or means the same file as another.
    init(
        _ outputs: [String], input: String?, codec: CodecOptions, options: SinkOptions
    ) throws {
        if outputs.isEmpty {
            if let input, !input.hasPrefix("testsrc:") {
                throw VaencError.usage("no output for \(input)", remedy: "name one with -o FILE")
            }
            let asked = codec.codec.codec
            all = [Named(options: options, codec: asked, why: asked == nil ? nil : .requested)]
            return
        }
        for (index, name) in outputs.enumerated() {
            guard let other = outputs[..<index].first(where: { MediaOutput.refersToSameFile($0, name, options: options) }) else {
                continue
            }
            let playlist = [other, name].first { (try? MediaOutput.format(of: $0, options: options).format) == .hls }
            throw VaencError.usage(
                other == name
                    ? "the output \(name) is named twice" : "the outputs \(other) and \(name) would write the same file",
                remedy: "use a different name for each"
                    + (playlist.map { "; the files of \($0) are \(MediaOutput.segmentWords(of: $0))" } ?? ""))
        }
        let each = outputs.map { Self.options($0, of: outputs, options) }
        all = try zip(outputs, each).map { name, options in
            let bound = try MediaOutput.format(of: name, options: options)
            if let asked = codec.codec.codec {
                if let extensionCodec = bound.codec, extensionCodec != asked {
                    throw VaencError.usage(
                        "--codec \(asked.rawValue) contradicts the output \(name)",
                        remedy: "name it .\(Self.ending(asked, bound.format))")
                }
                try MediaOutput.check(name, holds: asked, options: options)
                return Named(options: options, name: name, format: bound.format, codec: asked, why: .requested)
            }
            let (codec, why) = try Transcoder.Output.codec(of: name, options)
            return Named(options: options, name: name, format: bound.format, codec: codec, why: why)
        }
    }

    /// Returns the options of one output. If an output's name determines another format than `--format`, its own format
    /// applies, as long as `--format` applies to another output.
    private static func options(_ name: String, of outputs: [String], _ options: SinkOptions) -> SinkOptions {
        func hasOwn(_ name: String) -> Bool { name.contains("://") || (try? MediaOutput.format(of: name, options: options)) == nil }
        guard options.format != nil, hasOwn(name), !outputs.allSatisfy(hasOwn) else { return options }
        var own = options
        own.format = nil
        return own
    }

    private static func ending(_ codec: VideoCodec, _ format: OutputFormat) -> String {
        format == .avcc ? codec.recordName.lowercased() : codec.fileExtension
    }

    /// Returns the codecs that other outputs have or may get, without this output's own.
    func others(of index: Int) -> Set<VideoCodec> {
        var result: Set<VideoCodec> = []
        for (position, one) in all.enumerated() where position != index {
            result.formUnion(one.codec.map { [$0] } ?? VideoCodec.allCases)
        }
        if let own = all[index].codec { result.remove(own) }
        return result
    }
}
