internal import CVA

/// The slice header fields that VA-API's decode buffers do not have. They are read from the slice data (H.264 7.3.3).
struct H264DecodeSliceHeader {
    /// pic_parameter_set_id.
    let pictureSet: Int
    /// Whether nal_unit_type is 5.
    let isIDR: Bool
    /// Whether nal_ref_idc is not 0.
    let isReference: Bool
    /// num_ref_idx_active_override_flag.
    let overridesCounts: Bool
    /// Whether the slice has memory_management_control_operation 5. The picture counts as an IDR picture after it is
    /// decoded.
    let resetsOrder: Bool
    /// slice_type modulo 5.
    private let type: Int

    var isP: Bool { type == 0 || type == 3 }
    var isB: Bool { type == 1 }

    /// The number of bytes at the start of a NAL unit that are parsed. Every slice header ends within them.
    private static let maximumByteCount = 2048

    /// Parses the slice header of a NAL unit. Returns nil if the unit is not a slice, or if it ends in its header.
    init?(_ unit: [UInt8], _ slice: VASliceParameterBufferH264, _ picture: VAPictureParameterBufferH264) {
        guard let header = unit.first, header & 0x80 == 0, [1, 5].contains(header & 31) else { return nil }
        isIDR = header & 31 == 5
        isReference = header >> 5 != 0
        let rbsp = EmulationPrevention.unescape(unit.dropFirst().prefix(Self.maximumByteCount))
        var bits = HeaderBitReader(rbsp, bitCount: 8 * rbsp.count)
        let sequence = unsafe picture.seq_fields.bits
        let fields = unsafe picture.pic_fields.bits
        _ = bits.unsigned()
        type = bits.unsigned() % 5
        pictureSet = bits.unsigned()
        _ = bits.get(Int(sequence.log2_max_frame_num_minus4) + 4)
        var isField = false
        if sequence.frame_mbs_only_flag == 0 {
            isField = bits.flag()
            if isField { _ = bits.flag() }
        }
        if isIDR { _ = bits.unsigned() }
        let hasBottom = fields.pic_order_present_flag != 0 && !isField
        if sequence.pic_order_cnt_type == 0 {
            _ = bits.get(Int(sequence.log2_max_pic_order_cnt_lsb_minus4) + 4)
            if hasBottom { _ = bits.signed() }
        } else if sequence.pic_order_cnt_type == 1, sequence.delta_pic_order_always_zero_flag == 0 {
            _ = bits.signed()
            if hasBottom { _ = bits.signed() }
        }
        if fields.redundant_pic_cnt_present_flag != 0 { _ = bits.unsigned() }
        let (isP, isB) = (type == 0 || type == 3, type == 1)
        if isB { _ = bits.flag() }
        var overrides = false
        if isP || isB {
            overrides = bits.flag()
            if overrides {
                _ = bits.unsigned()
                if isB { _ = bits.unsigned() }
            }
            for _ in 0..<(isB ? 2 : 1) where bits.flag() {
                // ref_pic_list_modification (H.264 7.3.3.1).
                while !bits.failed, bits.unsigned() != 3 { _ = bits.unsigned() }
            }
            if isP && fields.weighted_pred_flag != 0 || isB && fields.weighted_bipred_idc == 1 {
                Self.skipWeights(&bits, slice, lists: isB ? 2 : 1, hasChroma: sequence.chroma_format_idc != 0)
            }
        }
        overridesCounts = overrides
        resetsOrder = isReference && Self.containsReset(&bits, isIDR: isIDR)
        guard !bits.failed, pictureSet < 256 else { return nil }
    }

    /// Skips pred_weight_table (H.264 7.3.3.2).
    private static func skipWeights(
        _ bits: inout HeaderBitReader, _ slice: VASliceParameterBufferH264, lists: Int, hasChroma: Bool
    ) {
        _ = bits.unsigned()
        if hasChroma { _ = bits.unsigned() }
        for list in 0..<lists {
            let last = min(list == 0 ? slice.num_ref_idx_l0_active_minus1 : slice.num_ref_idx_l1_active_minus1, 31)
            for _ in 0...last {
                if bits.flag() { for _ in 0..<2 { _ = bits.signed() } }
                if hasChroma, bits.flag() { for _ in 0..<4 { _ = bits.signed() } }
            }
        }
    }

    /// Reads dec_ref_pic_marking (H.264 7.3.3.3). Returns whether it has memory_management_control_operation 5.
    private static func containsReset(_ bits: inout HeaderBitReader, isIDR: Bool) -> Bool {
        guard !isIDR, bits.flag() else { return false }
        var found = false
        while !bits.failed {
            switch bits.unsigned() {
            case 0: return found
            case 5: found = true
            case 3:
                _ = bits.unsigned()
                _ = bits.unsigned()
            default: _ = bits.unsigned()
            }
        }
        return found
    }
}
