import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Removes the parameter sets from the samples of an HEVC track that its header also has. MP4 and QuickTime can then use
/// the sample entry `hvc1`, which Apple's players require and which allows no parameter sets in samples (ISO/IEC
/// 14496-15 8.4.1). MPEG-TS and many Matroska files repeat the sets in each key picture.
struct SampleParameterSets {
    /// The track with the sample entry `hvc1`.
    let track: MediaTrack
    private let sets: Set<[UInt8]>
    /// The size of the length fields in packets; nil for packets with start codes.
    private let lengthSize: LengthSize?
    /// Whether a packet has a parameter set that differs from the header's. That set and all later ones stay in the
    /// samples, because a later set may be equal to the header's and replace the different one.
    private(set) var haveChanged = false

    /// Creates the conversion of a track. Returns nil for tracks that keep their sample entry: other codecs, entries
    /// other than `hev1`, and tracks whose header has no parameter sets.
    /// - Throws: If there is no memory.
    init?(_ track: MediaTrack) throws {
        switch track.codec {
        case .hevc: break
        case .h264, nil: return nil
        }
        let parameters = unsafe track.stream.pointee.codecpar!
        guard track.kind == .video, !track.isAttachedPicture, !Self.keptTags.contains(unsafe parameters.pointee.codec_tag)
        else { return nil }
        var header = track.extradata
        if header.first == 1, let configuration = try? DecoderConfiguration(record: header, codec: .hevc) {
            lengthSize = configuration.lengthSize
            sets = Set(configuration.units.filter { NALUnitKind(of: $0, .hevc).isParameterSet })
            HEVCDecoderConfigurationRecord.setComplete(true, in: &header, 0..<header.count)
        } else {
            lengthSize = nil
            sets = Set(RepeatedParameterSets.sets(of: header, .hevc))
        }
        if sets.isEmpty { return nil }
        let av = unsafe track.av
        unsafe self.track = try MediaTrack(av) { stream in
            guard unsafe vaenc_copy_stream(av, stream, track.stream) else { return false }
            unsafe stream.pointee.codecpar.pointee.codec_tag = HEVCSampleEntry.hvc1.tag
            return unsafe MediaTrack.setExtradata(header, of: stream, av)
        }
    }

    /// The sample entries of MP4 that stay: `hvc1`, those of Dolby Vision, and encrypted pictures.
    private static let keptTags = Set(["hvc1", "dvh1", "dvhe", "encv"].map { $0.utf8.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } })

    /// Returns a packet without the header's parameter sets.
    /// - Throws: If the packet's lengths are invalid, or if there is no memory.
    mutating func piece(_ packet: TrackPacket) throws -> TrackPacket {
        if haveChanged { return packet }
        let bytes = packet.bytes
        let units = if let lengthSize { try LengthPrefixed.units(in: bytes.span, lengthSize: lengthSize) } else { AnnexB.units(in: bytes.span) }
        let inBand = units.filter { NALUnitKind(of: bytes[$0], .hevc).isParameterSet }
        if inBand.isEmpty { return packet }
        guard inBand.allSatisfy({ sets.contains(Array(bytes[$0])) }), inBand.count < units.count else {
            haveChanged = true
            return packet
        }
        var rest: [UInt8] = []
        rest.reserveCapacity(bytes.count)
        for unit in units where !NALUnitKind(of: bytes[unit], .hevc).isParameterSet {
            if let lengthSize {
                LengthPrefixed.appendLength(unit.count, lengthSize, to: &rest)
                rest += bytes[unit]
            } else {
                AnnexB.append(bytes[unit], to: &rest)
            }
        }
        return try packet.replaced(by: rest)
    }
}
