public import VideoBase

/// A form in which a stream is stored.
public enum OutputFormat: String, Sendable, Hashable, CaseIterable {
    /// NAL units behind start codes.
    case annexb
    /// NAL units behind 4-byte lengths.
    case avcc
    case mp4
    case mov
    case mkv
    case ts
    /// Named in the contract, not built yet: opening them throws `unavailable`.
    case fmp4, flv, hls

    /// Whether a stream of the codec can be stored so. FLV's HEVC is an extension that FFmpeg before 6.1 and most
    /// receivers do not know.
    public func holds(_ codec: VideoCodec) -> Bool { self != .flv || codec == .h264 }

    /// The members of MP4's family: what holds a stream there has a name, as `avc1` or `hvc1`.
    public var hasSampleEntries: Bool { [.mp4, .fmp4, .mov].contains(self) }

    /// Whether access unit delimiters are written; containers that mark each picture themselves leave them out.
    public var holdsDelimiters: Bool { [.annexb, .avcc, .ts, .hls].contains(self) }
}

/// How MP4 and MOV hold HEVC: the name of the sample entry, ISO/IEC 14496-15 8.4.1.
public enum HEVCSampleEntry: String, Sendable, Hashable, CaseIterable {
    /// Parameter sets are in the sample entry alone, as Apple's players want it.
    case hvc1
    /// Parameter sets are in the samples of key frames too, so that what is cut out of the file still has them.
    case hev1
}

/// How an output is to be written.
public struct SinkOptions: Sendable, Hashable {
    /// nil: by the output's extension; for standard output and unknown extensions Annex B.
    public var format: OutputFormat?
    /// Replaces an existing file instead of refusing.
    public var overwrite = false
    /// Written as the container's colour tags.
    public var color = ColorDescription.unspecified
    public var sampleAspectRatio: Rational?
    /// Written beside the colour tags, in containers that have a place for them.
    public var masteringDisplay: MasteringDisplay?
    public var contentLight: ContentLight?
    public var hevcSampleEntry = HEVCSampleEntry.hvc1

    public init() {}
}

/// Where packets go, in decoding order.
///
/// One thread at a time uses it (any thread). Files are written as `NAME.part` and renamed by `finish`.
/// After an error the sink is of no more use: call `cancel`.
public protocol PacketSink: AnyObject, Sendable {
    /// Writes what comes before the first packet. Call once, when the encoder is prepared.
    func start(_ description: EncoderDescription) throws
    func write(_ packet: EncodedPacket) throws
    /// Completes the file and gives it its final name. What was written so far is then playable.
    func finish() throws
    /// Removes what was written, unless `finish` has succeeded. Idempotent.
    func cancel()
    /// Bytes written so far, container included.
    var bytesWritten: Int { get }
    /// The final path, `-` for standard output.
    var path: String { get }
}
