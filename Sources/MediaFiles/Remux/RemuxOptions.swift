public import VideoBase

/// How a file is to be put into another container.
public struct RemuxOptions: Sendable, Hashable {
    /// nil: by the output's extension.
    public var format: OutputFormat?
    /// Replaces an existing file instead of refusing.
    public var overwrite = false
    /// Whatever the container cannot hold is an error, rather than left out and said.
    public var strict = false
    /// Seconds of the input to leave out, from where the first of its pictures and sound begins; the output begins with the key frame
    /// at or before.
    public var start: Double?
    /// Seconds to copy, from `start`.
    public var duration: Double?
    /// Of an input without times, as bare streams are; nil: what it says, or 25.
    public var frameRate: Rational?

    public init() {}
}

/// What came of it.
public struct RemuxReport: Sendable, Hashable {
    /// A stream of the input.
    public struct Stream: Sendable, Hashable, Encodable {
        public var index: Int
        /// `video`, `audio`, `subtitle`, `data`, `attachment`.
        public var kind: String
        public var codec: String
        public var packets = 0
        public var bytes = 0
        /// Why it is not in the output; nil where it is.
        public var leftOut: String?

        private enum CodingKeys: CodingKey { case index, kind, codec, packets, bytes, leftOut }

        /// `leftOut` is written as null where there is nothing to say.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(index, forKey: .index)
            try container.encode(kind, forKey: .kind)
            try container.encode(codec, forKey: .codec)
            try container.encode(packets, forKey: .packets)
            try container.encode(bytes, forKey: .bytes)
            try container.encode(leftOut, forKey: .leftOut)
        }
    }

    public var streams: [Stream]
    /// What was asked, or was so in the input, and is otherwise in the output.
    public var effective: [EffectiveEntry] = []
    /// Length of the copied media.
    public var seconds = 0.0
    /// Bytes of the output, container included.
    public var bytes = 0
    public var isInterrupted = false
    /// The name that an older recording was given which was not finished and lay in the way; nil where none did.
    public var keptPart: String?
}
