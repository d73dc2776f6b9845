import CLibAV
import NALUnits
import VideoBase

/// Inserts the parameter sets of H.264 and HEVC before the pictures at which decoding can begin. AVI and ASF may store
/// them before all packets only, but bare streams and MPEG-TS can store them only in the stream. The packets and the
/// header have start codes.
struct RepeatedParameterSets {
    private let codec: VideoCodec
    private let sets: [[UInt8]]
    private var hasBegun = false

    /// Creates the repetition for a track. Returns nil for tracks of other codecs, and if the header has no sequence
    /// parameter set with a start code.
    init?(_ track: MediaTrack) {
        guard let codec = track.codec else { return nil }
        self.codec = codec
        sets = Self.sets(of: track.extradata, codec)
        if sets.isEmpty { return nil }
    }

    /// Whether streams of a container repeat their parameter sets or begin with them. libavformat takes the header from
    /// there.
    static func areRepeated(in container: String) -> Bool { ["mpegts", "mpeg", "h264", "hevc"].contains(container) }

    /// Whether a track's pictures are not described: neither its header nor its first packet has a sequence parameter
    /// set.
    static func areMissing(_ track: MediaTrack, first packet: TrackPacket) -> Bool {
        guard let codec = track.codec, !track.isAttachedPicture else { return false }
        let header = track.extradata
        // A decoder configuration record begins with 1. The packets then have length prefixes.
        return header.first != 1 && sets(of: header, codec).isEmpty && !hasSequence(packet.bytes, codec)
    }

    /// Returns the parameter sets of a header with start codes; empty if it has no sequence parameter set.
    static func sets(of header: [UInt8], _ codec: VideoCodec) -> [[UInt8]] {
        guard header.starts(with: [0, 0, 1]) || header.starts(with: [0, 0, 0, 1]) else { return [] }
        let sets = AnnexB.split(header).filter { NALUnitKind(of: $0, codec).isParameterSet }
        return sets.contains { isSequence($0, codec) } ? sets : []
    }

    /// Whether a packet with start codes contains a sequence parameter set.
    static func hasSequence(_ packet: [UInt8], _ codec: VideoCodec) -> Bool {
        AnnexB.units(in: packet.span).contains { isSequence(packet[$0], codec) }
    }

    /// Returns the packet, with the parameter sets inserted if decoding can begin there and it has none.
    /// - Throws: If there is no memory.
    mutating func piece(_ packet: TrackPacket) throws -> TrackPacket {
        guard packet.isKey || !hasBegun else { return packet }
        let bytes = packet.bytes
        let units = AnnexB.units(in: bytes.span)
        guard let firstSlice = units.firstIndex(where: { NALUnitKind(of: bytes[$0], codec) == .slice }) else { return packet }
        hasBegun = true
        if units[..<firstSlice].contains(where: { Self.isSequence(bytes[$0], codec) }) { return packet }
        var stream: [UInt8] = []
        var rest = units[...]
        // A delimiter comes first: H.264 7.4.1.2.3, H.265 7.4.2.4.4.
        if let first = units.first, NALUnitKind(of: bytes[first], codec) == .accessUnitDelimiter {
            AnnexB.append(bytes[first], to: &stream)
            rest = units.dropFirst()
        }
        for set in sets { AnnexB.append(set, to: &stream) }
        for unit in rest { AnnexB.append(bytes[unit], to: &stream) }
        return try packet.replaced(by: stream)
    }

    private static func isSequence(_ unit: some Collection<UInt8>, _ codec: VideoCodec) -> Bool {
        NALUnitKind(of: unit, codec) == .sequenceParameterSet
    }
}
