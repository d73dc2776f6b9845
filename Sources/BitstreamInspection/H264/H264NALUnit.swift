/// A NAL unit of H.264 and its position in the stream.
package struct H264NALUnit: Sendable, Hashable {
    /// nal_unit_header_svc_extension() of a prefix NAL unit (H.264 7.3.1, annex G; annex F in newer
    /// editions).
    package struct ScalableHeader: Sendable, Hashable {
        package var idr_flag: Bool
        package var priority_id: Int
        package var no_inter_layer_pred_flag: Bool
        package var dependency_id: Int
        package var quality_id: Int
        package var temporal_id: Int
        package var use_ref_base_pic_flag: Bool
        package var discardable_flag: Bool
        package var output_flag: Bool
    }

    /// The first byte of the NAL unit.
    private let header: UInt8
    private let location: UnitLocation
    /// svc_extension_flag and nal_unit_header_svc_extension(), 24 bits; 0 if absent.
    private let scalableBits: UInt32

    /// nal_unit_type.
    package var type: Int { Int(header & 31) }
    /// nal_ref_idc.
    package var nal_ref_idc: Int { Int(header >> 5 & 3) }
    /// The offset of the start code in the byte stream.
    package var offset: Int { location.offset }
    /// The size with start code and trailing zeros.
    package var byteCount: Int { location.byteCount }
    /// The range of the NAL unit, without start code and trailing zeros.
    package var payload: Range<Int> { location.payload }
    /// The scalable header of a prefix NAL unit (type 14) or coded slice extension (type 20) with svc_extension_flag;
    /// nil for other units.
    package var scalable: ScalableHeader? {
        if scalableBits == 0 { return nil }
        func bits(_ lowest: Int, _ count: Int) -> Int { Int(scalableBits >> lowest) & (1 << count - 1) }
        return ScalableHeader(
            idr_flag: bits(22, 1) == 1, priority_id: bits(16, 6), no_inter_layer_pred_flag: bits(15, 1) == 1,
            dependency_id: bits(12, 3), quality_id: bits(8, 4), temporal_id: bits(5, 3),
            use_ref_base_pic_flag: bits(4, 1) == 1, discardable_flag: bits(3, 1) == 1, output_flag: bits(2, 1) == 1)
    }

    /// Whether the unit is a VCL NAL unit of a primary coded picture: a slice or a data partition (H.264 table 7-1).
    package var isSlice: Bool { (1...5).contains(type) }

    /// The name of the type (H.264 table 7-1).
    package var name: String {
        switch type {
        case 1: "slice"
        case 2...4: "data partition"
        case 5: "IDR slice"
        case 6: "SEI"
        case 7: "SPS"
        case 8: "PPS"
        case 9: "access unit delimiter"
        case 10: "end of sequence"
        case 11: "end of stream"
        case 12: "filler"
        case 13: "SPS extension"
        case 14: "prefix"
        case 15: "subset SPS"
        case 19: "auxiliary slice"
        case 20: "slice extension"
        default: "type \(type)"
        }
    }
}

extension H264NALUnit {
    /// Reads the header. Returns nil if the header is missing or forbidden_zero_bit is set.
    init?(_ unit: AnnexB.Unit, in bytes: [UInt8]) {
        guard let first = bytes[unit.payload].first, first & 0x80 == 0 else { return nil }
        header = first
        location = UnitLocation(unit)
        var extensionBits: UInt32 = 0
        // svc_extension_flag is the highest bit of the three bytes.
        if first & 31 == 14 || first & 31 == 20, unit.payload.count >= 4 {
            for byte in bytes[unit.payload].dropFirst().prefix(3) { extensionBits = extensionBits << 8 | UInt32(byte) }
        }
        scalableBits = extensionBits & 0x80_0000 == 0 ? 0 : extensionBits
    }
}
