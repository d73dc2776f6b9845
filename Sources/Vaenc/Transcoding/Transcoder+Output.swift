public import MediaFiles
public import VideoBase

extension Transcoder {
    /// One file or stream that a transcoder writes, and the settings of its encoder.
    public struct Output: Sendable {
        /// The path, or a URL that begins with `rtmp://` or `srt://`; `-` for standard output; nil for `test.h264` or
        /// `test.h265`, by the codec.
        public var name: String?
        /// The configuration of the encoder.
        public var configuration: EncoderConfiguration
        /// The options of the container. The colors, the aspect ratio and the HDR metadata are taken from the
        /// configuration, the rotation and the tags from the source.
        public var options: SinkOptions
        /// The treatment of sound; nil copies it if the container can hold it, and otherwise encodes AAC.
        public var audio: AudioMode?
        /// Whether the input's tags and chapters are written.
        public var keepsMetadata = true
        /// The kinds of streams that are left out on purpose. Others that the output does not have are reported.
        public var unreportedStreams: Set<MediaTrack.Kind> = []
        /// The sample entry of HEVC that was requested; nil for none.
        package var requestedSampleEntry: HEVCSampleEntry?
        /// The reason for the codec if the caller chose it; nil if the session chooses.
        package var codecReason: CodecReason?

        /// Creates an output.
        ///
        /// - Parameters:
        ///   - name: The path or URL.
        ///   - configuration: The configuration of the encoder, for pictures of the source's size:
        ///     `EncoderConfiguration(encoding: source.info)`.
        ///   - options: The options of the container. By default, the extension determines the format.
        public init(_ name: String?, _ configuration: EncoderConfiguration, options: SinkOptions = SinkOptions()) {
            (self.name, self.configuration, self.options) = (name, configuration, options)
        }

        /// Sets the codec that the name or the container requires, if the configuration requests none.
        ///
        /// - Throws: `usage` if the container does not hold the requested codec.
        mutating func chooseCodec() throws {
            guard let name else { return }
            if let requested = configuration.codec {
                codecReason = .requested
                if let required = try MediaOutput.format(of: name, options: options).codec, required != requested {
                    throw VaencError(
                        .usage,
                        "the output \(name) means \(required.standardName), but `codec` is \(requested.rawValue)",
                        remedy: "use another name, such as one that ends in .\(requested.fileExtension)")
                }
                return try MediaOutput.check(name, holds: requested, options: options)
            }
            (configuration.codec, codecReason) = try Self.codec(of: name, options)
        }

        /// Returns the codec that a name or its container requires, and the reason; nil if the session may choose.
        package static func codec(of name: String, _ options: SinkOptions) throws -> (VideoCodec?, CodecReason?) {
            let bound = try MediaOutput.format(of: name, options: options)
            if let codec = bound.codec ?? MediaOutput.usualCodec(of: name) { return (codec, .outputExtension) }
            if !bound.format.holds(.hevc) { return (.h264, .decided("\(bound.format.rawValue) holds no HEVC")) }
            return (nil, nil)
        }

        func format() throws -> OutputFormat {
            try name.map { try MediaOutput.format(of: $0, options: options).format } ?? .annexb
        }

        func name(_ codec: VideoCodec) -> String { name ?? "test.\(codec.fileExtension)" }
    }
}
