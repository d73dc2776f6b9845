extension H264SliceHeader {
    /// Reads a slice header with the parameter sets that it refers to. Returns nil if the data ends too early, if a
    /// value is out of range, or if it is the header of a field or of an SP or SI slice. The bits after the deblocking
    /// fields are not read.
    package init?(_ header: SliceHeaderBits, sequence: H264SequenceParameterSet, picture: H264PictureParameterSet) {
        var fields = SliceFields(firstMacroblock: 0..<0, qpDelta: 0..<0)
        self.init(header, sequence: sequence, picture: picture, fields: &fields)
    }

    /// Reads a slice header as above, and stores the positions of some fields in `fields`.
    init?(
        _ header: SliceHeaderBits, sequence: H264SequenceParameterSet, picture: H264PictureParameterSet,
        fields: inout SliceFields
    ) {
        guard let nalHeader = header.prefix.last else { return nil }
        nal_ref_idc = Int(nalHeader >> 5 & 3)
        isIDR = nalHeader & 31 == 5
        var bits = HeaderBitReader(header.payload, bitCount: header.bitCount)
        first_mb_in_slice = bits.unsigned()
        fields.firstMacroblock = 0..<bits.position
        slice_type = bits.unsigned()
        guard slice_type <= 9, type != nil else { return nil }
        pic_parameter_set_id = bits.unsigned()
        frame_num = Int(bits.get(sequence.log2_max_frame_num))
        if !sequence.frame_mbs_only_flag && bits.flag() { return nil }
        if isIDR { idr_pic_id = bits.unsigned() }
        if sequence.pic_order_cnt_type == 0 {
            pic_order_cnt_lsb = Int(bits.get(sequence.log2_max_pic_order_cnt_lsb))
            if picture.bottom_field_pic_order_in_frame_present_flag { delta_pic_order_cnt_bottom = bits.signed() }
        } else if sequence.pic_order_cnt_type == 1 && !sequence.delta_pic_order_always_zero_flag {
            delta_pic_order_cnt[0] = bits.signed()
            if picture.bottom_field_pic_order_in_frame_present_flag { delta_pic_order_cnt[1] = bits.signed() }
        }
        if picture.redundant_pic_cnt_present_flag { _ = bits.unsigned() }
        if type == .b { direct_spatial_mv_pred_flag = bits.flag() }
        if listCount > 0 { num_ref_idx_active_override_flag = bits.flag() }
        for list in 0..<listCount {
            num_ref_idx_active[list] =
                num_ref_idx_active_override_flag ? bits.unsigned() + 1 : picture.num_ref_idx_default_active[list]
        }
        guard num_ref_idx_active.allSatisfy({ $0 <= 32 }) else { return nil }
        for list in 0..<listCount where bits.flag() {
            while true {
                let idc = bits.unsigned()
                if idc == 3 { break }
                guard idc < 3, !bits.failed, modifications[list].count <= 32 else { return nil }
                modifications[list].append(ReferenceListModification(idc: idc, value: bits.unsigned()))
            }
        }
        if hasWeights(picture) { readWeights(&bits) }
        if nal_ref_idc != 0 {
            guard readMarking(&bits) else { return nil }
        }
        if picture.entropy_coding_mode_flag && type != .i { cabac_init_idc = bits.unsigned() }
        let start = bits.position
        slice_qp_delta = bits.signed()
        fields.qpDelta = start..<bits.position
        if picture.deblocking_filter_control_present_flag {
            disable_deblocking_filter_idc = bits.unsigned()
            if disable_deblocking_filter_idc != 1 {
                slice_alpha_c0_offset_div2 = bits.signed()
                slice_beta_offset_div2 = bits.signed()
            }
        }
        fields.end = bits.position
        if bits.failed { return nil }
    }

    private mutating func readWeights(_ bits: inout HeaderBitReader) {
        var table = Weights()
        table.luma_log2_weight_denom = bits.unsigned()
        table.chroma_log2_weight_denom = bits.unsigned()
        for list in 0..<listCount {
            for _ in 0..<num_ref_idx_active[list] {
                var entry = Weights.Entry()
                if bits.flag() { entry.luma = [bits.signed(), bits.signed()] }
                if bits.flag() { entry.chroma = [bits.signed(), bits.signed(), bits.signed(), bits.signed()] }
                table.lists[list].append(entry)
            }
        }
        weights = table
    }

    private mutating func readMarking(_ bits: inout HeaderBitReader) -> Bool {
        if isIDR {
            no_output_of_prior_pics_flag = bits.flag()
            long_term_reference_flag = bits.flag()
            return true
        }
        guard bits.flag() else { return true }
        var commands: [MemoryManagementOperation] = []
        while true {
            let operation = bits.unsigned()
            if operation == 0 { break }
            guard operation <= 6, !bits.failed, commands.count < 64 else { return false }
            let operandCount = operation == 3 ? 2 : operation == 5 ? 0 : 1
            commands.append(
                MemoryManagementOperation(
                    operation: operation, operands: (0..<operandCount).map { _ in bits.unsigned() }))
        }
        marking = commands
        return true
    }
}
