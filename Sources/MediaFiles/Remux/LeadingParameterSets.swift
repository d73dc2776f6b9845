import CLibAV
import NALWriting
import VideoBase

/// Puts the parameter sets of H.264 and HEVC, which AVI and ASF may have in front of all packets alone, before the pictures that decoding can
/// begin at: bare streams and MPEG-TS have no other place for them. Packets stand behind start codes, in the header too.
struct LeadingParameterSets {
    private let codec: VideoCodec
    private let sets: [[UInt8]]
    private var hasBegun = false

    /// nil for tracks of other codecs, and where the header has no sequence parameter set behind a start code.
    init?(_ track: MediaTrack) {
        guard let codec = VideoCodec(rawValue: track.codecName), let parameters = unsafe track.stream.pointee.codecpar else { return nil }
        // SAFETY: extradata_size bytes, which the parameters own, and which are copied.
        let header: [UInt8] = unsafe Array(
            UnsafeBufferPointer(start: parameters.pointee.extradata, count: Int(max(0, parameters.pointee.extradata_size))))
        guard header.starts(with: [0, 0, 1]) || header.starts(with: [0, 0, 0, 1]) else { return nil }
        self.codec = codec
        sets = AnnexB.split(header).filter { (codec == .hevc ? 32...34 : 7...8).contains(Self.unitType($0[...], codec)) }
        if !sets.contains(where: isSequence) { return nil }
    }

    /// - Throws: where there is no memory.
    mutating func piece(_ packet: TrackPacket) throws -> TrackPacket {
        guard packet.isKey || !hasBegun else { return packet }
        let bytes = packet.bytes
        let units = AnnexB.units(in: bytes.span)
        guard let firstSlice = units.firstIndex(where: { isSlice(bytes[$0]) }) else { return packet }
        hasBegun = true
        if units[..<firstSlice].contains(where: { isSequence(bytes[$0]) }) { return packet }
        var stream: [UInt8] = []
        var rest = units[...]
        // A delimiter stands first: H.264 7.4.1.2.3, H.265 7.4.2.4.4.
        if let first = units.first, Self.unitType(bytes[first], codec) == (codec == .hevc ? 35 : 9) {
            AnnexB.append(bytes[first], to: &stream)
            rest = units.dropFirst()
        }
        for set in sets { AnnexB.append(set, to: &stream) }
        for unit in rest { AnnexB.append(bytes[unit], to: &stream) }
        return try packet.replaced(by: stream)
    }

    private func isSequence(_ unit: some Collection<UInt8>) -> Bool { Self.unitType(unit, codec) == (codec == .hevc ? 33 : 7) }

    private func isSlice(_ unit: ArraySlice<UInt8>) -> Bool {
        let type = Self.unitType(unit, codec)
        return codec == .hevc ? type < 32 : (1...5).contains(type)
    }

    /// nal_unit_type.
    private static func unitType(_ unit: some Collection<UInt8>, _ codec: VideoCodec) -> UInt8 {
        let first = unit.first ?? 0
        return codec == .hevc ? first >> 1 & 63 : first & 31
    }
}
