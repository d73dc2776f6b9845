/// A NAL unit of HEVC and its position in the stream.
package struct HEVCNALUnit: Sendable, Hashable {
    /// The two bytes of nal_unit_header().
    private let header: UInt16
    private let location: UnitLocation

    /// nal_unit_type (H.265 table 7-1).
    package var type: Int { Int(header >> 9) }
    /// nuh_layer_id.
    package var nuh_layer_id: Int { Int(header >> 3 & 63) }
    /// TemporalId: nuh_temporal_id_plus1 − 1.
    package var temporalID: Int { Int(header & 7) - 1 }
    /// The offset of the start code in the byte stream.
    package var offset: Int { location.offset }
    /// The size with start code and trailing zeros.
    package var byteCount: Int { location.byteCount }
    /// The range of the NAL unit, without start code and trailing zeros.
    package var payload: Range<Int> { location.payload }

    /// Whether the unit is a VCL NAL unit: a slice segment.
    package var isSlice: Bool { type < 32 }
    package var isIDR: Bool { type == 19 || type == 20 }
    package var isBLA: Bool { (16...18).contains(type) }
    package var isCRA: Bool { type == 21 }
    /// Whether the unit belongs to an intra random access point, including reserved types.
    package var isIRAP: Bool { (16...23).contains(type) }
    package var isRADL: Bool { type == 6 || type == 7 }
    package var isRASL: Bool { type == 8 || type == 9 }
    package var isLeading: Bool { isRADL || isRASL }
    package var isTSA: Bool { type == 2 || type == 3 }
    package var isSTSA: Bool { type == 4 || type == 5 }
    /// Whether the unit belongs to a sub-layer non-reference picture: no picture of the same sub-layer refers to it.
    package var isSubLayerNonReference: Bool { type < 16 && type % 2 == 0 }

    /// The name of the type (H.265 table 7-1).
    package var name: String { Self.name(of: type) }

    /// Returns the name of a NAL unit type (H.265 table 7-1).
    package static func name(of type: Int) -> String {
        switch type {
        case 0: "TRAIL_N"
        case 1: "TRAIL_R"
        case 2: "TSA_N"
        case 3: "TSA_R"
        case 4: "STSA_N"
        case 5: "STSA_R"
        case 6: "RADL_N"
        case 7: "RADL_R"
        case 8: "RASL_N"
        case 9: "RASL_R"
        case 16: "BLA_W_LP"
        case 17: "BLA_W_RADL"
        case 18: "BLA_N_LP"
        case 19: "IDR_W_RADL"
        case 20: "IDR_N_LP"
        case 21: "CRA"
        case 32: "VPS"
        case 33: "SPS"
        case 34: "PPS"
        case 35: "access unit delimiter"
        case 36: "end of sequence"
        case 37: "end of stream"
        case 38: "filler"
        case 39: "prefix SEI"
        case 40: "suffix SEI"
        default: "type \(type)"
        }
    }

    /// Reads the header. Returns nil if the header is missing, forbidden_zero_bit is set or nuh_temporal_id_plus1 is 0.
    init?(_ unit: AnnexB.Unit, in bytes: [UInt8]) {
        let header = bytes[unit.payload].prefix(2)
        guard header.count == 2, let first = header.first, let second = header.last, first & 0x80 == 0,
            second & 7 != 0
        else { return nil }
        self.header = UInt16(first) << 8 | UInt16(second)
        location = UnitLocation(unit)
    }
}
