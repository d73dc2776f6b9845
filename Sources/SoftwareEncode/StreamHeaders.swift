import HEVCSyntax
import NALUnits
import VideoBase

/// The contents of the parameter sets of an encoder's stream.
struct StreamHeaders: Sendable {
    /// The parameter sets (VPS, SPS and PPS, depending on the codec), without start codes.
    private(set) var parameterSets: [[UInt8]]
    /// The parameter sets in Annex B form.
    private(set) var bytes: [UInt8]
    /// The HRD parameters of the stream; nil if there are none, or before `adoptHRD` is called.
    private(set) var hrd: StreamHRD?
    /// The rate that the library uses instead of the stream's HRD rate, in bits per second.
    private(set) var libraryRate = 0
    let profile: CodecProfile
    let level: CodecLevel
    /// The HEVC tier; nil for H.264.
    let tier: Tier?
    /// The library's name and version, for example `libx264 164`.
    let library: String

    /// Reads an encoder's headers in Annex B form. Returns nil if there is no readable SPS.
    init?(_ headers: [UInt8], codec: VideoCodec, encoderName: String) {
        let units = AnnexB.split(headers)
        parameterSets = units.filter { NALUnitKind(of: $0, codec).isParameterSet }
        bytes = Self.joined(parameterSets)
        guard let sps = parameterSets.first(where: { NALUnitKind(of: $0, codec) == .sequenceParameterSet }) else { return nil }
        let plain = EmulationPrevention.unescaped(sps[...])
        switch codec {
        case .h264:
            guard plain.count >= 4 else { return nil }
            // profile_idc, constraint_set flags, level_idc: H.264 7.3.2.1.1.
            profile = plain[1] == 66 ? .h264ConstrainedBaseline : plain[1] == 77 ? .h264Main : .h264High
            let isLevel1b = plain[3] == 9 || (plain[3] == 11 && plain[1] != 100 && plain[2] & 0x10 != 0)
            tier = nil
            level = CodecLevel(tenths: isLevel1b ? 9 : Int(plain[3]))
        case .hevc:
            guard plain.count >= 15 else { return nil }
            // profile_tier_level() follows two bytes of NAL unit header and one of identifiers: H.265 7.3.3.
            tier = plain[3] & 0x20 != 0 ? .high : .main
            profile = plain[3] & 31 == 2 ? .hevcMain10 : .hevcMain
            level = CodecLevel(tenths: Int(plain[14]) / 3)
        }
        library = [encoderName, LoadedLibrary.version(of: encoderName)].compactMap(\.self).joined(separator: " ")
    }

    private static func joined(_ units: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for unit in units { AnnexB.append(unit, to: &bytes) }
        return bytes
    }

    /// Takes the HRD parameters from the SPS. HEVC's parameters are rewritten: they get the requested rate instead of
    /// the reduced rate that was passed to libx265, and cbr_flag is set only if the rate is constant. libx265 sets
    /// cbr_flag whenever the maximum rate equals the average, even if it writes no filler data.
    mutating func adoptHRD(_ settings: EncoderSettings) {
        let codec = settings.codec
        guard settings.writesHRD,
            let index = parameterSets.firstIndex(where: { NALUnitKind(of: $0, codec) == .sequenceParameterSet }),
            let own = StreamHRD(sps: parameterSets[index], codec: codec)
        else { return }
        (hrd, libraryRate) = (own, own.bitrate)
        switch settings.library {
        case .x264: break
        case .x265: rewriteHRD(settings, own, at: index)
        }
    }

    /// libx265's HRD parameters, with the rate that was asked for.
    private mutating func rewriteHRD(_ settings: EncoderSettings, _ own: StreamHRD, at index: Int) {
        let codec = settings.codec
        func schedule(_ kilobits: Int) -> DeliverySchedule {
            DeliverySchedule(
                bitrate: BitsPerSecond(kilobits * 1000), cpbSize: own.cpbSize, isConstant: settings.mode == .cbr)
        }
        var wanted = schedule(settings.limits.maxRate)
        // If the library reduced the rate to that of the level, the reduced rate is kept.
        if own.bitrate != schedule(settings.libraryLimits(settings.limits).maxRate).bitrate.value {
            wanted = DeliverySchedule(
                bitrate: BitsPerSecond(own.bitrate), cpbSize: own.cpbSize, isConstant: settings.mode == .cbr)
        }
        let sps = own.rewritten(parameterSets[index], wanted)
        guard let written = StreamHRD(sps: sps, codec: codec) else { return }
        hrd = written
        parameterSets[index] = sps
        bytes = Self.joined(parameterSets)
    }

    /// Converts a library's headers to Annex B form. libx264's headers are NAL units with 4-byte lengths or, since
    /// FFmpeg 6, an AVCDecoderConfigurationRecord (ISO/IEC 14496-15) with one SPS and one PPS.
    static func annexB(headers: [UInt8], _ codec: VideoCodec) -> [UInt8] {
        switch codec {
        case .h264: break
        case .hevc: return annexB(packet: headers, codec)
        }
        guard headers.first == 1 else { return annexB(packet: headers, codec) }
        var result: [UInt8] = []
        var rest = headers.dropFirst(5)
        // Each part has a count of one, then a 2-byte length. Additional fields for High follow both parts.
        for _ in 0..<2 where rest.count > 3 {
            let length = Int(rest[rest.startIndex + 1]) << 8 | Int(rest[rest.startIndex + 2])
            AnnexB.append(rest.dropFirst(3).prefix(length), to: &result)
            rest = rest.dropFirst(3 + length)
        }
        return result
    }

    /// Converts a library's packet to Annex B form. libx264's packets are NAL units with 4-byte lengths.
    static func annexB(packet: [UInt8], _ codec: VideoCodec) -> [UInt8] {
        switch codec {
        case .h264: break
        case .hevc: return packet
        }
        // A start code is no length: no NAL unit has one byte.
        if packet.starts(with: AnnexB.startCode) { return packet }
        var stream = packet
        try? LengthPrefixed.convertToAnnexB(&stream)
        return stream
    }

    /// Whether the library has written parameter sets into a packet.
    func areRepeated(in packet: [UInt8], _ codec: VideoCodec) -> Bool {
        AnnexB.units(in: packet.span).contains { NALUnitKind(header: packet[$0.lowerBound], codec).isParameterSet }
    }

    /// Returns a packet in the order that H.264 7.4.1.2.3 and H.265 7.4.2.4.4 require, with 4-byte start codes: the
    /// access unit delimiter if there is one, the parameter sets if requested, and the other NAL units.
    /// The library's own parameter sets are dropped. libavcodec puts the identification message before all other NAL
    /// units, and libx264 repeats it after them.
    ///
    /// - Parameters:
    ///   - isKey: Whether the packet is a key frame.
    ///   - isRefresh: Whether a pass of an intra refresh begins at the packet, so that it needs the parameter sets too.
    ///     libx265 also repeats its identification there, which is dropped.
    ///   - delimits: Whether each packet must have a delimiter. libx265 writes none for its first picture.
    func arranged(_ packet: [UInt8], isKey: Bool, isRefresh: Bool, codec: VideoCodec, delimits: Bool) -> [UInt8] {
        let units = AnnexB.units(in: packet.span)
        let hasSets = isKey || isRefresh
        let delimiter = units.first { NALUnitKind(header: packet[$0.lowerBound], codec) == .accessUnitDelimiter }
        var result: [UInt8] = []
        result.reserveCapacity(packet.count + bytes.count + units.count)
        if let delimiter {
            AnnexB.append(packet[delimiter], to: &result)
        } else if delimits, hasSets {
            switch codec {
            case .h264: break
            case .hevc: AnnexB.append(AccessUnitDelimiter.unit(for: .i), to: &result)
            }
        }
        if hasSets { result += bytes }
        for (index, unit) in units.enumerated()
        where unit != delimiter && !NALUnitKind(header: packet[unit.lowerBound], codec).isParameterSet {
            // libx264 repeats the identification message.
            if index == 0, units.dropFirst().contains(where: { packet[$0].elementsEqual(packet[unit]) }) { continue }
            if isRefresh, Self.isUserData(packet[unit], codec) { continue }
            AnnexB.append(packet[unit], to: &result)
        }
        return result
    }

    /// Whether a NAL unit is an SEI message user_data_unregistered.
    private static func isUserData(_ unit: ArraySlice<UInt8>, _ codec: VideoCodec) -> Bool {
        NALUnitKind(of: unit, codec) == .prefixSEI && unit.dropFirst(codec.nalUnitHeaderSize).first == 5
    }
}
