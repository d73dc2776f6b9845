import NALUnits

/// nal_unit_type, H.265 Table 7-1: the types of the base layer.
public enum NALUnitType: UInt8, Sendable, CaseIterable {
    case trailN = 0
    case trailR = 1
    case tsaN = 2
    case tsaR = 3
    case stsaN = 4
    case stsaR = 5
    case radlN = 6
    case radlR = 7
    case raslN = 8
    case raslR = 9
    case blaWithLeading = 16
    case blaWithRADL = 17
    case blaWithoutLeading = 18
    case idrWithRADL = 19
    case idrWithoutLeading = 20
    case cra = 21
    case videoParameterSet = 32
    case sequenceParameterSet = 33
    case pictureParameterSet = 34
    case accessUnitDelimiter = 35
    case endOfSequence = 36
    case endOfBitstream = 37
    case filler = 38
    case prefixSEI = 39
    case suffixSEI = 40

    /// The type of a NAL unit (header first); nil for the types above's absentees and for an empty unit.
    public init?(of unit: some Collection<UInt8>) {
        guard let header = unit.first else { return nil }
        self.init(rawValue: header >> 1 & 0x3F)
    }

    /// A slice segment of a coded picture (VCL).
    public var isSlice: Bool { rawValue < 32 }
    public var isIDR: Bool { self == .idrWithRADL || self == .idrWithoutLeading }
    /// An intra random access point picture: nal_unit_type 16…23.
    public var isIRAP: Bool { (16...23).contains(rawValue) }
    /// A sub-layer non-reference picture: no picture of the same temporal sub-layer refers to it (7.4.2.2).
    public var isSubLayerNonReference: Bool { rawValue < 16 && rawValue % 2 == 0 }
}

/// nal_unit(), H.265 7.3.1.1.
public enum NALUnit {
    /// The header's two bytes, nal_unit_header() of 7.3.1.2: the type, nuh_layer_id 0 and nuh_temporal_id_plus1.
    public static func header(_ type: NALUnitType, temporalID: Int = 0) -> [UInt8] {
        [type.rawValue << 1, UInt8(temporalID & 7) + 1]
    }

    /// The bytes of a whole unit around an RBSP, escaped, without a start code.
    ///
    /// - Parameter temporalID: TemporalId, 0…6; 0 for parameter sets of all sub-layers and for IRAP pictures.
    public static func bytes(_ type: NALUnitType, temporalID: Int = 0, rbsp: [UInt8]) -> [UInt8] {
        var unit = header(type, temporalID: temporalID)
        // A header never ends in a zero byte: nuh_temporal_id_plus1 is above 0.
        EmulationPrevention.append(rbsp.span, to: &unit)
        return unit
    }
}

extension BitWriter {
    /// The RBSP with its trailing bits, as a NAL unit.
    consuming func unit(_ type: NALUnitType, temporalID: Int = 0) -> [UInt8] {
        trailingBits()
        return NALUnit.bytes(type, temporalID: temporalID, rbsp: bytes)
    }
}

/// Ceil(Log2(count)): the bits that number `count` things, 0 for one or none.
func bitsToNumber(_ count: Int) -> Int { count <= 1 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount }
