import NALUnits

/// The values of nal_unit_type for the base layer, H.265 Table 7-1.
package enum NALUnitType: UInt8, Sendable, CaseIterable {
    case TRAIL_N = 0
    case TRAIL_R = 1
    case TSA_N = 2
    case TSA_R = 3
    case STSA_N = 4
    case STSA_R = 5
    case RADL_N = 6
    case RADL_R = 7
    case RASL_N = 8
    case RASL_R = 9
    case BLA_W_LP = 16
    case BLA_W_RADL = 17
    case BLA_N_LP = 18
    case IDR_W_RADL = 19
    case IDR_N_LP = 20
    case CRA_NUT = 21
    case videoParameterSet = 32
    case sequenceParameterSet = 33
    case pictureParameterSet = 34
    case accessUnitDelimiter = 35
    case endOfSequence = 36
    case endOfBitstream = 37
    case filler = 38
    case prefixSEI = 39
    case suffixSEI = 40

    /// Returns the type of a NAL unit (header first), or nil for an empty unit or a type that is not listed here.
    package init?(of unit: some Collection<UInt8>) {
        guard let header = unit.first else { return nil }
        self.init(rawValue: header >> 1 & 0x3F)
    }

    /// Whether the unit is a slice segment of a coded picture (VCL).
    package var isSlice: Bool { rawValue < 32 }
    /// Whether the unit belongs to an IDR picture.
    package var isIDR: Bool { self == .IDR_W_RADL || self == .IDR_N_LP }
    /// Whether the unit belongs to an intra random access point picture: nal_unit_type 16…23.
    package var isIRAP: Bool { (16...23).contains(rawValue) }
    /// Whether the unit belongs to a sub-layer non-reference picture, to which no picture of the same temporal
    /// sub-layer refers (7.4.2.2).
    package var isSubLayerNonReference: Bool { rawValue < 16 && rawValue % 2 == 0 }
}

/// The NAL unit, nal_unit(), H.265 7.3.1.1.
package enum NALUnit {
    /// Returns the two bytes of nal_unit_header(), 7.3.1.2: the type, nuh_layer_id 0 and nuh_temporal_id_plus1.
    package static func header(_ type: NALUnitType, temporalID: Int = 0) -> [UInt8] {
        [type.rawValue << 1, UInt8(temporalID & 7) + 1]
    }

    /// Returns the escaped bytes of a NAL unit with this RBSP, without a start code.
    ///
    /// - Parameter temporalID: TemporalId, 0…6; 0 for parameter sets of all sub-layers and for IRAP pictures.
    package static func bytes(_ type: NALUnitType, temporalID: Int = 0, rbsp: [UInt8]) -> [UInt8] {
        var unit = header(type, temporalID: temporalID)
        // The header does not end with a zero byte, because nuh_temporal_id_plus1 is at least 1.
        EmulationPrevention.append(rbsp.span, to: &unit)
        return unit
    }
}

extension BitWriter {
    /// Returns the RBSP with its trailing bits as a NAL unit.
    consuming func unit(_ type: NALUnitType, temporalID: Int = 0) -> [UInt8] {
        trailingBits()
        return NALUnit.bytes(type, temporalID: temporalID, rbsp: bytes)
    }
}

/// Returns Ceil(Log2(count)): the number of bits of an index into `count` elements, or 0 if `count` is 0 or 1.
func bitsToNumber(_ count: Int) -> Int { count <= 1 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount }
