/// A NAL unit and where it stands.
package struct InspectedNALUnit: Sendable, Hashable {
    /// nal_unit_header_svc_extension() of a prefix NAL unit (H.264 7.3.1, annex G/F).
    package struct ScalableHeader: Sendable, Hashable {
        package var idrFlag: Bool
        package var priorityID: Int
        package var noInterLayerPredFlag: Bool
        package var dependencyID: Int
        package var qualityID: Int
        package var temporalID: Int
        package var useRefBasePicFlag: Bool
        package var discardableFlag: Bool
        package var outputFlag: Bool
    }

    /// nal_unit_type.
    package var type: Int
    /// nal_ref_idc.
    package var refIDC: Int
    /// Of its start code in the byte stream.
    package var offset: Int
    /// With start code and trailing zeros.
    package var byteCount: Int
    /// Of the NAL unit alone: without start code and trailing zeros.
    package var payload: Range<Int>
    /// Of a prefix NAL unit (type 14) or a coded slice extension (type 20) with svc_extension_flag.
    package var scalable: ScalableHeader?

    /// VCL of a primary coded picture: slices and data partitions (H.264 table 7-1).
    package var isSlice: Bool { (1...5).contains(type) }

    /// H.264 table 7-1.
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

extension InspectedNALUnit {
    /// Nil where there is no header or forbidden_zero_bit is set.
    init?(_ unit: AnnexB.Unit, in bytes: [UInt8]) {
        guard let first = bytes[unit.payload].first, first & 0x80 == 0 else { return nil }
        type = Int(first & 31)
        refIDC = Int(first >> 5 & 3)
        offset = unit.whole.lowerBound
        byteCount = unit.whole.count
        payload = unit.payload
        if type == 14 || type == 20, unit.payload.count >= 4 {
            var reader = BitReader(Array(bytes[unit.payload].dropFirst().prefix(3)))
            guard reader.flag() else { return }
            scalable = ScalableHeader(
                idrFlag: reader.flag(), priorityID: reader.bits(6), noInterLayerPredFlag: reader.flag(),
                dependencyID: reader.bits(3), qualityID: reader.bits(4), temporalID: reader.bits(3),
                useRefBasePicFlag: reader.flag(), discardableFlag: reader.flag(), outputFlag: reader.flag())
        }
    }
}
