public import VideoBase

/// The name of the sample entry of HEVC in MP4 and MOV (ISO/IEC 14496-15 8.4.1).
public enum HEVCSampleEntry: String, Sendable, Hashable, CaseIterable {
    /// Parameter sets are only in the sample entry, as Apple's players require.
    case hvc1
    /// Parameter sets are in the samples of key frames too, so that parts cut out of the file contain them.
    case hev1

    /// libavformat's codec_tag, with the first character in the low byte.
    var tag: UInt32 { rawValue.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
}

/// The settings of an output.
public struct SinkOptions: Sendable, Hashable {
    /// The output's format; nil: determined by the output's extension. Standard output and devices without an extension
    /// get Annex B.
    public var format: OutputFormat?
    /// Whether to replace an existing file. Otherwise an existing file is an error.
    public var overwrite = false
    /// The color description, written as the container's color tags.
    public var color = ColorDescription.unspecified
    /// The sample aspect ratio, written to the container; nil writes none.
    public var sampleAspectRatio: Rational?
    /// The mastering display metadata, written in containers that can store it; nil writes none.
    public var masteringDisplay: MasteringDisplay?
    /// The content light level, written in containers that can store it; nil writes none.
    public var contentLight: ContentLight?
    /// The sample entry of HEVC in MP4 and MOV.
    public var hevcSampleEntry = HEVCSampleEntry.hvc1
    /// The time of pictures and other tracks that becomes zero; nil: the earliest presentation time of the first
    /// picture and the packets that were written before it, without the priming of sound. If the container has edit
    /// lists, one cuts off the part before this time. Otherwise all times are shifted.
    public var timeOrigin: MediaTime?

    /// The matrix by which players rotate or mirror the pictures, for MP4 and MOV: nine numbers in rows, in 16.16 fixed
    /// point (the third column in 2.30), ISO/IEC 14496-12 8.3.2. Empty for upright pictures.
    public var displayMatrix: [Int32] = []
    /// The file's tags and chapters. The times of chapters are on the packets' timeline. Metadata that the container
    /// cannot store is left out; `SourceInfo.missing` lists it.
    public var metadata = MediaMetadata()
    /// Whether the output must survive a kill of the process, as for recordings. The unfinished file, `NAME.part`, is
    /// then playable up to the last second or so, and a later run renames it to `NAME.part.1`, `.2`, … and does not
    /// overwrite it. MP4 and MOV are written in fragments and, at the end, rewritten as ordinary files.
    public var survivesKill = false

    /// Creates the default settings.
    public init() {}
}

/// An output that receives packets in decoding order.
///
/// Any thread may use it, but only one at a time. Files are written as `NAME.part`, and `finish` renames them. After an
/// error the sink cannot be used further: call `abandon` or `cancel`.
public protocol PacketSink: AnyObject, Sendable {
    /// Adds a track in addition to the encoder's pictures: sound, or a copied track. Call it before the first packet.
    /// - Returns: The track's number, for `write(_:track:)`.
    /// - Throws: `usage` if the format does not hold the track.
    func add(_ track: MediaTrack) throws -> Int
    /// Sets the description of the encoder's stream. Call it once, when the encoder is prepared, before the first
    /// packet.
    func start(_ description: EncoderDescription) throws
    /// Writes the next packet of the encoder, in decoding order.
    /// - Throws: `usage` for a packet that is out of order or that the output cannot hold, and if decoding cannot begin
    ///   at the first packet.
    func write(_ packet: EncodedPacket) throws
    /// Writes the next packet of a track, in the track's decoding order. Tracks may run ahead of each other: they are
    /// interleaved by their times, and wait for each other for up to ten seconds of media time.
    func write(_ packet: TrackPacket, track: Int) throws
    /// The tracks that will not be in the output, by their numbers, and the reasons. MP4 and MOV hold no track without
    /// a packet. Fragmented MP4 and HLS describe some tracks by their first packet, which may come too late. Read it
    /// after all packets are written, before `finish`.
    var leftOut: [Int: String] { get }
    /// Completes the file and renames it to its final name.
    func finish() throws
    /// Makes running and later calls that block on a network fail within two seconds. Any thread may call this at
    /// any time.
    func abortBlockingIO()
    /// Removes the unfinished output, unless `finish` succeeded. Idempotent.
    func cancel()
    /// Ends writing after an error. Unlike `cancel` it keeps the playable part of a recording
    /// (`SinkOptions.survivesKill`), unfinished.
    /// - Returns: The path of the kept file, `NAME.part`; nil if no file is kept.
    func abandon() -> String?
    /// The new path of an older unfinished recording with the same name, which is not overwritten; nil if there was
    /// none.
    var keptPart: String? { get }
    /// The number of bytes written so far, including the container.
    var bytesWritten: Int { get }
    /// The final path, `-` for standard output.
    var path: String { get }
}

extension PacketSink {
    /// The default: does nothing.
    public func abortBlockingIO() {}
    /// The default: no tracks.
    public var leftOut: [Int: String] { [:] }

    /// The default: calls `cancel`, and returns nil.
    public func abandon() -> String? {
        cancel()
        return nil
    }

    /// The default: no older recording.
    public var keptPart: String? { nil }
}
