import VideoBase

/// Converts the packets of one track from the form of the input to that of the output: start codes or lengths, and where
/// parameter sets are.
struct PacketForm {
    /// Inserts parameter sets into H.264 and HEVC with start codes, for bare streams and MPEG-TS.
    private var repeatedSets: RepeatedParameterSets?
    /// Removes parameter sets from HEVC, for MP4 and MOV.
    private var sampleSets: SampleParameterSets?
    /// Converts length-prefixed NAL units to start codes.
    private var byteStream: ByteStreamPackets?
    /// Inserts the headers of MPEG-4 Visual, for MPEG-TS.
    private let headers: RepeatedMPEG4Headers?
    /// Whether the output describes sound once, at its beginning.
    private let describesOnce: Bool
    /// Whether a packet of sound has another sampling rate or other channels than the output's description.
    private(set) var hasChangedSound = false
    private let source: MediaTrack
    /// Whether HEVC with start codes gets access unit delimiters, for MPEG-TS.
    private let isDelimited: Bool

    /// - Parameters:
    ///   - container: libavformat's name of the input's format.
    ///   - codec: The codec that determines the form of HLS segments.
    /// - Throws: If there is no memory.
    init(_ track: MediaTrack, from container: String, to format: OutputFormat, codec: VideoCodec) throws {
        source = track
        describesOnce = format.ofFile(codec) != .ts
        let needsDelimiters = format == .ts && track.codec?.needsTransportDelimiters == true
        // The lengths of `avcc` are computed from start codes.
        let hasStartCodes = format == .avcc || !format.isLengthPrefixed(codec)
        byteStream = hasStartCodes ? ByteStreamPackets(track, isDelimited: needsDelimiters) : nil
        isDelimited = needsDelimiters && byteStream == nil
        repeatedSets = hasStartCodes && !RepeatedParameterSets.areRepeated(in: container) ? RepeatedParameterSets(track) : nil
        sampleSets = format.hasSampleEntries || format == .hls ? try SampleParameterSets(track) : nil
        headers = format == .ts || format == .hls ? RepeatedMPEG4Headers(track) : nil
    }

    /// The track as the output describes it; nil if that is the input's description.
    var track: MediaTrack? { sampleSets?.track }
    /// Whether samples have parameter sets that differ from those of the header.
    var hasChangedSets: Bool { sampleSets?.haveChanged ?? false }

    /// Returns the packet in the form of the output.
    /// - Throws: If the packet's lengths are invalid, or if there is no memory.
    mutating func piece(_ packet: TrackPacket) throws -> TrackPacket {
        if describesOnce, !hasChangedSound, !source.describes(packet) { hasChangedSound = true }
        let packet = try repeatedSets?.piece(packet) ?? sampleSets?.piece(packet) ?? packet
        return try byteStream?.piece(packet) ?? headers?.piece(packet) ?? (isDelimited ? packet.delimited() : packet)
    }
}
