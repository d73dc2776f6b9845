import HEVCSyntax
import NALUnits
import VideoBase

/// What the parameter sets of an encoder's stream say.
struct StreamHeaders: Sendable {
    /// Without start codes: VPS, SPS and PPS as the codec has them.
    private(set) var parameterSets: [[UInt8]]
    /// The same in Annex B form.
    private(set) var bytes: [UInt8]
    /// HRD parameters of the stream, once `adoptHRD` was called; nil if there are none.
    private(set) var hrd: StreamHRD?
    /// The rate that the library counts with in place of theirs, in bits per second.
    private(set) var libraryRate = 0
    let profile: CodecProfile
    /// As printed: `4.1`.
    let level: String
    /// Of HEVC.
    let tier: Tier?
    /// The library's name and version: `libx264 164`.
    let library: String

    /// From an encoder's headers in Annex B form; nil where there is no SPS that can be read.
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
            level = isLevel1b ? "1b" : "\(plain[3] / 10).\(plain[3] % 10)"
        case .hevc:
            guard plain.count >= 15 else { return nil }
            // profile_tier_level after two bytes of header and one of identifiers: HEVC 7.3.3.
            tier = plain[3] & 0x20 != 0 ? .high : .main
            profile = plain[3] & 31 == 2 ? .hevcMain10 : .hevcMain
            level = "\(plain[14] / 30).\(plain[14] % 30 / 3)"
        }
        library = [encoderName, LoadedLibrary.version(of: encoderName)].compactMap(\.self).joined(separator: " ")
    }

    private static func joined(_ units: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for unit in units { AnnexB.append(unit, to: &bytes) }
        return bytes
    }

    /// Takes over the HRD parameters of the SPS. Those of HEVC are rewritten with the rate that was asked for in place
    /// of the one that libx265 was given, and with cbr_flag only where the rate is constant: libx265 sets it wherever the
    /// highest rate is the average, and fills nothing up.
    mutating func adoptHRD(_ settings: EncoderSettings) {
        let codec = settings.codec
        guard settings.writesHRD,
            let place = parameterSets.firstIndex(where: { NALUnitKind(of: $0, codec) == .sequenceParameterSet }),
            let own = StreamHRD(sps: parameterSets[place], codec: codec)
        else { return }
        (hrd, libraryRate) = (own, own.bitrate)
        switch settings.library {
        case .x264: break
        case .x265: rewriteHRD(settings, own, at: place)
        }
    }

    /// libx265's HRD parameters, with the rate that was asked for.
    private mutating func rewriteHRD(_ settings: EncoderSettings, _ own: StreamHRD, at place: Int) {
        let codec = settings.codec
        func schedule(_ kilobits: Int) -> DeliverySchedule {
            DeliverySchedule(
                bitrate: BitsPerSecond(kilobits * 1000), cpbSize: own.cpbSize, isConstant: settings.mode == .cbr)
        }
        var wanted = schedule(settings.limits.maxRate)
        // A rate that the library lowered to the level's stays.
        if own.bitrate != schedule(settings.given(settings.limits).maxRate).bitrate.value {
            wanted = DeliverySchedule(
                bitrate: BitsPerSecond(own.bitrate), cpbSize: own.cpbSize, isConstant: settings.mode == .cbr)
        }
        let sps = own.rewritten(parameterSets[place], wanted)
        guard let written = StreamHRD(sps: sps, codec: codec) else { return }
        hrd = written
        parameterSets[place] = sps
        bytes = Self.joined(parameterSets)
    }

    /// A library's headers in Annex B form. libx264's are NAL units behind lengths of four bytes, or, from FFmpeg 6 on, an
    /// AVCDecoderConfigurationRecord (ISO/IEC 14496-15) with one SPS and one PPS.
    static func annexB(headers: [UInt8], _ codec: VideoCodec) -> [UInt8] {
        switch codec {
        case .h264: break
        case .hevc: return annexB(packet: headers, codec)
        }
        guard headers.first == 1 else { return annexB(packet: headers, codec) }
        var result: [UInt8] = []
        var rest = headers.dropFirst(5)
        // How many follow, one each; then a length of two bytes. Behind both, what High has besides.
        for _ in 0..<2 where rest.count > 3 {
            let length = Int(rest[rest.startIndex + 1]) << 8 | Int(rest[rest.startIndex + 2])
            AnnexB.append(rest.dropFirst(3).prefix(length), to: &result)
            rest = rest.dropFirst(3 + length)
        }
        return result
    }

    /// A library's packet in Annex B form: libx264's are NAL units behind lengths of four bytes.
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

    /// A packet in the order that H.264 7.4.1.2.3 and HEVC 7.4.2.4.4 ask for: the access unit delimiter, where there is
    /// one, the parameter sets where it is a key frame, and the rest, each behind a start code of four bytes. (libavcodec puts its
    /// greeting before all, and libx264 once more behind them.) Parameter sets of the library's own are left out.
    ///
    /// - Parameter delimits: each is to have a delimiter. libx265 writes none for the first picture that it is given.
    func arranged(_ packet: [UInt8], isKey: Bool, codec: VideoCodec, delimits: Bool) -> [UInt8] {
        let units = AnnexB.units(in: packet.span)
        let delimiter = units.first { NALUnitKind(header: packet[$0.lowerBound], codec) == .accessUnitDelimiter }
        var result: [UInt8] = []
        result.reserveCapacity(packet.count + bytes.count + units.count)
        if let delimiter {
            AnnexB.append(packet[delimiter], to: &result)
        } else if delimits, isKey {
            switch codec {
            case .h264: break
            case .hevc: AnnexB.append(AccessUnitDelimiter.unit(for: .i), to: &result)
            }
        }
        if isKey { result += bytes }
        for (index, unit) in units.enumerated()
        where unit != delimiter && !NALUnitKind(header: packet[unit.lowerBound], codec).isParameterSet {
            // A greeting.
            if index == 0, units.dropFirst().contains(where: { packet[$0].elementsEqual(packet[unit]) }) { continue }
            AnnexB.append(packet[unit], to: &result)
        }
        return result
    }
}
