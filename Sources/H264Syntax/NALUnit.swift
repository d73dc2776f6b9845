import NALUnits

/// The values of nal_unit_type (H.264 Table 7-1) that an encoder of frames writes.
package enum NALUnitType: UInt8, Sendable {
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

    /// Returns the type of a NAL unit (header byte first), or nil for an empty unit or a type that is not listed here.
    package init?(of unit: some Collection<UInt8>) {
        guard let header = unit.first else { return nil }
        self.init(rawValue: header & 0x1F)
    }
}

/// The NAL unit, nal_unit(), H.264 7.3.1.
package enum NALUnit {
    /// Returns the header byte with nal_ref_idc (0…3) and the type.
    package static func header(_ type: NALUnitType, nal_ref_idc: UInt8) -> UInt8 {
        (nal_ref_idc & 3) << 5 | type.rawValue
    }

    /// Returns the escaped bytes of a NAL unit with this RBSP, without a start code.
    package static func bytes(_ type: NALUnitType, nal_ref_idc: UInt8, rbsp: [UInt8]) -> [UInt8] {
        var unit = [header(type, nal_ref_idc: nal_ref_idc)]
        EmulationPrevention.append(rbsp.span, to: &unit)
        return unit
    }
}

extension BitWriter {
    /// Returns the RBSP with its trailing bits as a NAL unit.
    consuming func unit(_ type: NALUnitType, nal_ref_idc: UInt8) -> [UInt8] {
        trailingBits()
        return NALUnit.bytes(type, nal_ref_idc: nal_ref_idc, rbsp: bytes)
    }
}
