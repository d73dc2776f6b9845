import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Converts the packets of an H.264 or HEVC track with length-prefixed NAL units to pieces of a byte stream. Decoding
/// can begin at each key packet, because the parameter sets of the container's record are inserted there. libavformat
/// would insert those of H.264 before IDR pictures only, and those of HEVC after other sets of the packet.
@safe struct ByteStreamPackets {
    /// A parameter set, or an SEI message of the record.
    private struct Unit {
        var kind: NALUnitKind
        /// The identifier among sets of the same kind; nil for SEI messages.
        var id: Int?
        var bytes: [UInt8]

        /// The order in the stream. A picture parameter set refers to a sequence parameter set, which refers to a video
        /// parameter set.
        var order: Int {
            switch kind {
            case .videoParameterSet: 0
            case .sequenceParameterSet: 1
            case .pictureParameterSet: 2
            default: 3
            }
        }
    }

    // SAFETY: the table of functions is never freed.
    private let av: UnsafePointer<VaencLibAV>
    private let codec: VideoCodec
    private let lengthSize: LengthSize
    /// The active sets, sorted by type: those of the record, or newer ones of the packets.
    private var sets: [Unit] = []
    private var hasBegun = false
    /// Whether HEVC is written to MPEG-TS.
    private let isDelimited: Bool

    /// Creates the conversion of a track. Returns nil for tracks that do not have length-prefixed H.264 or HEVC.
    ///
    /// - Parameter isDelimited: Whether HEVC pictures get access unit delimiters. libavformat's MPEG-TS muxer would
    ///   write these with another TemporalId.
    init?(_ track: MediaTrack, isDelimited: Bool) {
        let parameters = unsafe track.stream.pointee.codecpar!
        guard let codec = unsafe VideoCodec(libavcodecID: parameters.pointee.codec_id) else { return nil }
        self.codec = codec
        let record = track.extradata
        guard record.first == 1, let configuration = try? DecoderConfiguration(record: record, codec: codec) else { return nil }
        unsafe av = track.av
        self.isDelimited = codec.needsTransportDelimiters && isDelimited
        lengthSize = configuration.lengthSize
        take(configuration)
    }

    /// Converts a packet to a piece of the stream.
    /// - Throws: If the packet's lengths are invalid, or if there is no memory.
    mutating func piece(_ packet: TrackPacket) throws -> TrackPacket {
        takeRecord(of: packet)
        let sample = packet.bytes
        let units = try LengthPrefixed.units(in: sample.span, lengthSize: lengthSize)
        if units.isEmpty { return packet }
        let firstSlice = units.firstIndex { NALUnitKind(of: sample[$0], codec) == .slice } ?? units.count
        for unit in units[..<firstSlice] { take(sample[unit]) }
        let begins = firstSlice < units.count && (packet.isKey || !hasBegun)
        if begins { hasBegun = true }
        var stream: [UInt8] = []
        stream.reserveCapacity(sample.count + 4 * units.count)
        if isDelimited, firstSlice < units.count, units[firstSlice].count > 1,
            !units[..<firstSlice].contains(where: { NALUnitKind(of: sample[$0], codec) == .accessUnitDelimiter }),
            let delimiter = TransportDelimiter.unit(secondByte: sample[units[firstSlice].lowerBound + 1])
        {
            AnnexB.append(delimiter, to: &stream)
        }
        var rest = units[...]
        if begins {
            // A delimiter comes first: H.264 7.4.1.2.3, H.265 7.4.2.4.4.
            if let first = units.first, NALUnitKind(of: sample[first], codec) == .accessUnitDelimiter {
                AnnexB.append(sample[first], to: &stream)
                rest = units.dropFirst()
            }
            for set in sets { AnnexB.append(set.bytes, to: &stream) }
        }
        for unit in rest where !begins || !isInForce(sample[unit]) { AnnexB.append(sample[unit], to: &stream) }
        for unit in units[firstSlice...] { take(sample[unit]) }
        return try packet.replaced(by: stream)
    }

    private func isInForce(_ unit: ArraySlice<UInt8>) -> Bool { sets.contains { $0.bytes.elementsEqual(unit) } }

    private mutating func take(_ configuration: DecoderConfiguration) {
        sets = []
        for unit in configuration.units {
            take(unit[...])
            // hvcC contains SEI messages that apply to the whole stream.
            if NALUnitKind(of: unit, codec) == .prefixSEI { sets.append(Unit(kind: .prefixSEI, id: nil, bytes: unit)) }
        }
    }

    /// Uses a new record from a packet. A file may have several records; the first packet of each, except the first,
    /// carries it.
    private mutating func takeRecord(of packet: TrackPacket) {
        var size = 0
        guard let bytes = unsafe av.pointee.av_packet_get_side_data!(packet.packet, AV_PKT_DATA_NEW_EXTRADATA, &size) else { return }
        // SAFETY: the packet's side data have `size` bytes, and are copied.
        let record: [UInt8] = unsafe Array(UnsafeBufferPointer(start: bytes, count: size))
        guard record.first == 1, let configuration = try? DecoderConfiguration(record: record, codec: codec),
            configuration.lengthSize == lengthSize
        else { return }
        take(configuration)
    }

    /// Stores a parameter set. Ignores other NAL units.
    private mutating func take(_ unit: ArraySlice<UInt8>) {
        let kind = NALUnitKind(of: unit, codec)
        guard kind.isParameterSet, let id = identifier(of: unit, kind) else { return }
        let set = Unit(kind: kind, id: id, bytes: Array(unit))
        if let index = sets.firstIndex(where: { $0.kind == kind && $0.id == id }) {
            sets[index] = set
        } else {
            sets.insert(set, at: sets.firstIndex { $0.order > set.order } ?? sets.count)
        }
    }

    /// Returns the identifier among parameter sets of the same type (H.264 7.3.2, H.265 7.3.2); nil if the set is
    /// invalid.
    private func identifier(of unit: ArraySlice<UInt8>, _ kind: NALUnitKind) -> Int? {
        var bits: UnescapedBits
        let found: Int
        var layer = 0
        switch codec {
        case .h264:
            // In an SPS, profile_idc, the constraint flags and level_idc precede the identifier.
            bits = UnescapedBits(unit.dropFirst(kind == .sequenceParameterSet ? 4 : 1))
            found = bits.ue()
        case .hevc:
            guard unit.count > 2 else { return nil }
            // nuh_layer_id.
            layer = Int(unit[unit.startIndex] & 1) << 5 | Int(unit[unit.startIndex + 1] >> 3)
            bits = UnescapedBits(unit.dropFirst(2))
            found =
                switch kind {
                case .videoParameterSet: bits.u(4)
                case .sequenceParameterSet: bits.sequenceParameterSetID()
                default: bits.ue()
                }
        }
        // pic_parameter_set_id has the largest range.
        guard !bits.isExhausted, found < 256 else { return nil }
        return layer << 8 | found
    }
}
