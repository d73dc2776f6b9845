public import VideoBase

/// How MP4 and MOV hold HEVC: the name of the sample entry, ISO/IEC 14496-15 8.4.1.
public enum HEVCSampleEntry: String, Sendable, Hashable, CaseIterable {
    /// Parameter sets are in the sample entry alone, as Apple's players want it.
    case hvc1
    /// Parameter sets are in the samples of key frames too, so that what is cut out of the file still has them.
    case hev1

    /// libavformat's codec_tag: the first character is in the low byte.
    var tag: UInt32 { rawValue.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
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
    /// The time of pictures and other tracks that becomes zero; nil: the first of what comes before the first picture, or
    /// that picture's. What lies before it is cut off by an edit list where the container has such, else all is moved.
    public var timeOrigin: MediaTime?

    /// The pictures are to be turned or mirrored when they are shown, as MP4 and MOV say it: nine numbers, by rows, of 16.16
    /// fixed point (the third column 2.30), ISO/IEC 14496-12 8.3.2; empty for upright ones.
    public var displayMatrix: [Int32] = []
    /// The file's tags and chapters, whose times are those of the packets. What the container has no place for is left out:
    /// `SourceInfo.missing` says what that is.
    public var metadata = MediaMetadata()
    /// For recordings, which may be killed: the unfinished file, `NAME.part`, then plays up to the last second or so, and a
    /// later run puts it aside as `NAME.part.1`, `.2`, … rather than write over it. MP4 and MOV are written in fragments and,
    /// at the end, once more as ordinary files.
    public var survivesKill = false

    public init() {}
}

/// Where packets go, in decoding order.
///
/// One thread at a time uses it (any thread). Files are written as `NAME.part` and renamed by `finish`.
/// After an error the sink is of no more use: call `abandon` or `cancel`.
public protocol PacketSink: AnyObject, Sendable {
    /// Adds a track beside the encoder's pictures: sound, or one that is copied. Before the first packet.
    /// - Returns: its number, for `write(_:track:)`.
    /// - Throws: `usage` where the format does not hold it.
    func add(_ track: MediaTrack) throws -> Int
    /// Writes what comes before the first packet. Call once, when the encoder is prepared.
    func start(_ description: EncoderDescription) throws
    func write(_ packet: EncodedPacket) throws
    /// The next packet of a track, in its decoding order. Tracks may run ahead of each other: they are put in the order of
    /// their times, and wait for each other for up to ten seconds of these.
    func write(_ packet: TrackPacket, track: Int) throws
    /// Tracks that will not be in the output, by their numbers, and why: MP4 and MOV hold none without a packet, and fragmented MP4 and HLS
    /// describe some by their first packet, which may come too late. Call it when all packets are written, before `finish`.
    var leftOut: [Int: String] { get }
    /// Completes the file and gives it its final name. What was written so far is then playable.
    func finish() throws
    /// What blocks on a network, now or later, gives up within two seconds. From any thread, at any time.
    func abortBlockingIO()
    /// Removes what was written, unless `finish` has succeeded. Idempotent.
    func cancel()
    /// The same after an error, except that what plays of a recording (`SinkOptions.survivesKill`) stays, unfinished.
    /// - Returns: the path of what stays: `NAME.part`; nil where nothing does.
    func abandon() -> String?
    /// The path that an older unfinished recording of the same name was given, so as not to be written over; nil where there
    /// was none.
    var keptPart: String? { get }
    /// Bytes written so far, container included.
    var bytesWritten: Int { get }
    /// The final path, `-` for standard output.
    var path: String { get }
}

extension PacketSink {
    public func abortBlockingIO() {}
    public var leftOut: [Int: String] { [:] }

    public func abandon() -> String? {
        cancel()
        return nil
    }

    public var keptPart: String? { nil }
}
