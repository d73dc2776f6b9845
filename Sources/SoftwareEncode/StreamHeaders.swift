import NALWriting
import VideoBase

/// What the parameter sets of an encoder's stream say.
struct StreamHeaders: Sendable {
    /// Without start codes: VPS, SPS and PPS as the codec has them.
    let parameterSets: [[UInt8]]
    /// The same in Annex B form.
    let bytes: [UInt8]
    let profile: CodecProfile
    /// As printed: `4.1`.
    let level: String
    /// The library's name and version: `libx264 164`.
    let library: String

    /// From an encoder's headers in Annex B form; nil where there is no SPS that can be read.
    init?(_ headers: [UInt8], codec: VideoCodec, encoderName: String) {
        let units = AnnexB.split(headers)
        func type(_ unit: [UInt8]) -> UInt8 { codec == .h264 ? unit[0] & 31 : unit[0] >> 1 & 63 }
        let wanted: ClosedRange<UInt8> = codec == .h264 ? 7...8 : 32...34
        let spsType: UInt8 = codec == .h264 ? 7 : 33
        parameterSets = units.filter { wanted.contains(type($0)) }
        guard let sps = parameterSets.first(where: { type($0) == spsType }) else { return nil }
        var bytes: [UInt8] = []
        for unit in parameterSets { AnnexB.append(unit, to: &bytes) }
        self.bytes = bytes
        let plain = Self.unescaped(sps)
        switch codec {
        case .h264:
            guard plain.count >= 4 else { return nil }
            // profile_idc, constraint_set flags, level_idc: H.264 7.3.2.1.1.
            profile = plain[1] == 66 ? .h264ConstrainedBaseline : plain[1] == 77 ? .h264Main : .h264High
            let isLevel1b = plain[3] == 9 || (plain[3] == 11 && plain[1] != 100 && plain[2] & 0x10 != 0)
            level = isLevel1b ? "1b" : "\(plain[3] / 10).\(plain[3] % 10)"
        case .hevc:
            guard plain.count >= 15 else { return nil }
            // profile_tier_level after two bytes of header and one of identifiers: HEVC 7.3.3.
            profile = plain[3] & 31 == 2 ? .hevcMain10 : .hevcMain
            level = "\(plain[14] / 30).\(plain[14] % 30 / 3)"
        }
        library = [encoderName, Self.version(units)].compactMap(\.self).joined(separator: " ")
    }

    /// Without emulation prevention bytes.
    private static func unescaped(_ unit: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var zeros = 0
        for byte in unit {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }

    /// The number behind `core ` or `(build ` in the libraries' greetings.
    private static func version(_ units: [[UInt8]]) -> String? {
        for unit in units {
            for mark in ["x264 - core ", "x265 (build "] {
                let mark = Array(mark.utf8)
                guard unit.count > mark.count else { continue }
                for start in 0..<(unit.count - mark.count) where unit[start..<start + mark.count].elementsEqual(mark) {
                    let digits = unit[(start + mark.count)...].prefix { (48...57).contains($0) }
                    if !digits.isEmpty { return String(decoding: digits, as: UTF8.self) }
                }
            }
        }
        return nil
    }

    /// Puts the parameter sets before the slices of a key frame: first, or after the access unit delimiter.
    func prepend(to packet: [UInt8], codec: VideoCodec) -> [UInt8] {
        let units = AnnexB.units(in: packet.span)
        guard let first = units.first else { return packet }
        let header = packet[first.lowerBound]
        let isDelimiter = codec == .h264 ? header & 31 == 9 : header >> 1 & 63 == 35
        guard isDelimiter else { return bytes + packet }
        return AnnexB.startCode + packet[first] + bytes + packet[first.upperBound...]
    }
}
