import NALUnits

/// nal_unit_type, H.264 Table 7-1: the types that an encoder of frames writes.
public enum NALUnitType: UInt8, Sendable {
    case slice = 1
    case idrSlice = 5
    case sei = 6
    case sequenceParameterSet = 7
    case pictureParameterSet = 8
    case accessUnitDelimiter = 9
    case endOfSequence = 10
    case endOfStream = 11
    case filler = 12
    case prefix = 14

    /// The type of a NAL unit (header byte first); nil for the types above's absentees and for an empty unit.
    public init?(of unit: some Collection<UInt8>) {
        guard let header = unit.first else { return nil }
        self.init(rawValue: header & 0x1F)
    }
}

/// nal_unit(), H.264 7.3.1.
public enum NALUnit {
    /// The header byte: nal_ref_idc (0…3) and the type.
    public static func header(_ type: NALUnitType, refIdc nal_ref_idc: UInt8) -> UInt8 {
        (nal_ref_idc & 3) << 5 | type.rawValue
    }

    /// The bytes of a whole unit around an RBSP, escaped, without a start code.
    public static func bytes(_ type: NALUnitType, refIdc nal_ref_idc: UInt8, rbsp: [UInt8]) -> [UInt8] {
        var unit = [header(type, refIdc: nal_ref_idc)]
        EmulationPrevention.append(rbsp.span, to: &unit)
        return unit
    }
}

extension BitWriter {
    /// The RBSP with its trailing bits, as a NAL unit.
    consuming func unit(_ type: NALUnitType, refIdc nal_ref_idc: UInt8) -> [UInt8] {
        trailingBits()
        return NALUnit.bytes(type, refIdc: nal_ref_idc, rbsp: bytes)
    }
}
