public import VideoBase

/// The settings for copying a file's streams to another container.
public struct RemuxOptions: Sendable, Hashable {
    /// The output's format; nil: determined by the output's extension.
    public var format: OutputFormat?
    /// Whether to replace an existing file. Otherwise an existing file is an error.
    public var overwrite = false
    /// Whether anything that the container cannot hold is an error. Otherwise, subtitles, data, attachments and metadata
    /// are left out and reported; pictures and sound that it cannot hold are always an error.
    public var strict = false
    /// The part of the input to skip, from the start of its first pictures or sound: 0 or more, and less than 1e9
    /// seconds. The output begins with the key frame at or before that time. nil copies from the beginning.
    public var start: Duration?
    /// The duration to copy from `start`: more than 0, and less than 1e9 seconds; nil copies to the end.
    public var duration: Duration?
    /// The frame rate of an input without times, such as a bare stream; nil uses the rate that the stream states, or
    /// 25.
    public var frameRate: Rational?

    /// Creates the default settings.
    public init() {}
}

/// The result of a copy.
public struct RemuxReport: Sendable, Hashable {
    /// A stream of the input and its result.
    public struct Stream: Sendable, Hashable, Encodable {
        /// The index of the stream in the input.
        public var index: Int
        /// The kind of the stream.
        public var kind: MediaTrack.Kind
        /// libavcodec's name of the codec.
        public var codec: String
        /// The number of packets that were copied.
        public var packets = 0
        /// The size of the packets that were copied, in bytes.
        public var bytes = 0
        /// The reason why the stream is not in the output; nil if it is.
        public var leftOut: String?

        private enum CodingKeys: CodingKey { case index, kind, codec, packets, bytes, leftOut }

        /// Encodes all properties. `leftOut` is encoded as null if it is nil.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(index, forKey: .index)
            try container.encode(kind.rawValue, forKey: .kind)
            try container.encode(codec, forKey: .codec)
            try container.encode(packets, forKey: .packets)
            try container.encode(bytes, forKey: .bytes)
            try container.encode(leftOut, forKey: .leftOut)
        }
    }

    /// The input's streams, in the file's order.
    public var streams: [Stream]
    /// The settings and the properties of the input that differ in the output.
    public var effective: [EffectiveEntry] = []
    /// Notices about streams that are copied as they are, such as pictures that players cannot decode.
    public var notices: [String] = []
    /// The duration of the copied media.
    public var duration = Duration.zero
    /// The size of the output in bytes, including the container.
    public var bytes = 0
    /// Whether `cancel` or an interrupted read ended the copy early. The output is complete up to there.
    public var isInterrupted = false
    /// The new name of an older unfinished recording that had the name of the unfinished file; nil if there was none.
    public var keptPart: String?
}
