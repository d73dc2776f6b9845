import CLibAV
import NALUnits
import VideoBase

/// Puts the parameter sets of H.264 and HEVC, which AVI and ASF may have in front of all packets alone, before the pictures that decoding can
/// begin at: bare streams and MPEG-TS have no other place for them. Packets stand behind start codes, in the header too.
struct LeadingParameterSets {
    private let codec: VideoCodec
    private let sets: [[UInt8]]
    private var hasBegun = false

    /// nil for tracks of other codecs, and where the header has no sequence parameter set behind a start code.
    init?(_ track: MediaTrack) {
        guard let codec = VideoCodec(rawValue: track.codecName) else { return nil }
        self.codec = codec
        sets = Self.sets(of: Self.header(of: track), codec)
        if sets.isEmpty { return nil }
    }

    /// Whether streams of a container repeat their parameter sets, or begin with them: a header's are taken from there.
    static func areRepeated(in container: String) -> Bool { ["mpegts", "mpeg", "h264", "hevc"].contains(container) }

    /// Whether nothing says what a track's pictures are: neither its header nor the packet, which is its first, has a sequence parameter set.
    static func areMissing(_ track: MediaTrack, first packet: TrackPacket) -> Bool {
        guard let codec = VideoCodec(rawValue: track.codecName), !track.isAttachedPicture else { return false }
        let header = Self.header(of: track)
        // A decoder configuration record begins with 1: packets have lengths then.
        return header.first != 1 && sets(of: header, codec).isEmpty && !hasSequence(packet.bytes, codec)
    }

    private static func header(of track: MediaTrack) -> [UInt8] {
        guard let parameters = unsafe track.stream.pointee.codecpar else { return [] }
        // SAFETY: extradata_size bytes, which the parameters own, and which are copied.
        return unsafe Array(
            UnsafeBufferPointer(start: parameters.pointee.extradata, count: Int(max(0, parameters.pointee.extradata_size))))
    }

    /// The parameter sets behind start codes in a header; empty where it has no sequence parameter set.
    static func sets(of header: [UInt8], _ codec: VideoCodec) -> [[UInt8]] {
        guard header.starts(with: [0, 0, 1]) || header.starts(with: [0, 0, 0, 1]) else { return [] }
        let sets = AnnexB.split(header).filter { NALUnitKind(of: $0, codec).isParameterSet }
        return sets.contains { isSequence($0, codec) } ? sets : []
    }

    /// Whether a packet of NAL units behind start codes has a sequence parameter set.
    static func hasSequence(_ packet: [UInt8], _ codec: VideoCodec) -> Bool {
        AnnexB.units(in: packet.span).contains { isSequence(packet[$0], codec) }
    }

    /// - Throws: where there is no memory.
    mutating func piece(_ packet: TrackPacket) throws -> TrackPacket {
        guard packet.isKey || !hasBegun else { return packet }
        let bytes = packet.bytes
        let units = AnnexB.units(in: bytes.span)
        guard let firstSlice = units.firstIndex(where: { NALUnitKind(of: bytes[$0], codec) == .slice }) else { return packet }
        hasBegun = true
        if units[..<firstSlice].contains(where: { Self.isSequence(bytes[$0], codec) }) { return packet }
        var stream: [UInt8] = []
        var rest = units[...]
        // A delimiter stands first: H.264 7.4.1.2.3, H.265 7.4.2.4.4.
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
