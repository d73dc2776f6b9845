extension HEVCSliceSegmentHeader {
    /// Reads a slice segment header with its parameter sets. Returns nil if it is truncated, a value is out of range,
    /// the segment is dependent or weighted prediction is used. `end` receives the number of bits before the entry
    /// points.
    package init?(
        _ header: SliceHeaderBits, sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet, end: inout Int
    ) {
        guard header.prefix.count >= 2, !(picture.weighted_pred_flag || picture.weighted_bipred_flag) else { return nil }
        nal_unit_type = Int(header.prefix[header.prefix.count - 2] >> 1 & 63)
        var bits = HeaderBitReader(header.payload, bitCount: header.bitCount)
        let isFirst = bits.flag()
        if isIRAP { no_output_of_prior_pics_flag = bits.flag() }
        slice_pic_parameter_set_id = bits.unsigned()
        if !isFirst {
            if picture.dependent_slice_segments_enabled_flag && bits.flag() { return nil }
            slice_segment_address = Int(bits.get(Self.addressBits(sequence)))
            guard slice_segment_address > 0, slice_segment_address < sequence.grid.codingTrees else { return nil }
        }
        slice_reserved_flags = bits.get(picture.num_extra_slice_header_bits)
        switch bits.unsigned() {
        case 0: slice_type = .b
        case 1: slice_type = .p
        case 2: slice_type = .i
        default: return nil
        }
        guard !bits.failed else { return nil }
        if picture.output_flag_present_flag { pic_output_flag = bits.flag() }
        if !isIDR {
            guard readReferences(&bits, sequence) else { return nil }
        }
        if sequence.sample_adaptive_offset_enabled_flag {
            slice_sao_luma_flag = bits.flag()
            slice_sao_chroma_flag = bits.flag()
        }
        if slice_type != .i {
            guard readInter(&bits, picture) else { return nil }
        }
        slice_qp_delta = bits.signed()
        if picture.pps_slice_chroma_qp_offsets_present_flag {
            slice_cb_qp_offset = bits.signed()
            slice_cr_qp_offset = bits.signed()
        }
        readDeblocking(&bits, picture)
        slice_loop_filter_across_slices_enabled_flag = picture.pps_loop_filter_across_slices_enabled_flag
        if slice_loop_filter_across_slices_enabled_flag && (slice_sao_luma_flag || slice_sao_chroma_flag || !slice_deblocking_filter_disabled_flag) {
            slice_loop_filter_across_slices_enabled_flag = bits.flag()
        }
        end = bits.position
        if bits.failed { return nil }
    }

    private mutating func readDeblocking(_ bits: inout HeaderBitReader, _ picture: HEVCPictureParameterSet) {
        if picture.deblocking_filter_override_enabled_flag { deblocking_filter_override_flag = bits.flag() }
        slice_deblocking_filter_disabled_flag = picture.pps_deblocking_filter_disabled_flag
        slice_beta_offset_div2 = picture.pps_beta_offset_div2
        slice_tc_offset_div2 = picture.pps_tc_offset_div2
        guard deblocking_filter_override_flag else { return }
        slice_deblocking_filter_disabled_flag = bits.flag()
        if !slice_deblocking_filter_disabled_flag {
            slice_beta_offset_div2 = bits.signed()
            slice_tc_offset_div2 = bits.signed()
        }
    }

    private mutating func readReferences(_ bits: inout HeaderBitReader, _ sequence: HEVCSequenceParameterSet) -> Bool {
        slice_pic_order_cnt_lsb = Int(bits.get(sequence.log2_max_pic_order_cnt_lsb))
        let sets = sequence.short_term_ref_pic_sets
        if bits.flag() {
            let index = Int(bits.get(Self.bits(for: sets.count)))
            guard index < sets.count else { return false }
            short_term_ref_pic_set_idx = index
            shortTermSet = sets[index]
        } else {
            guard let set = HEVCShortTermReferencePictureSet(&bits, after: sets, inSliceHeader: true) else {
                return false
            }
            shortTermSet = set
        }
        if sequence.long_term_ref_pics_present_flag {
            let known = sequence.long_term_ref_pics_sps
            let spsCount = known.isEmpty ? 0 : bits.unsigned()
            let headerCount = bits.unsigned()
            guard !bits.failed, spsCount + headerCount <= 16 else { return false }
            var cycle = 0
            for number in 0..<spsCount + headerCount {
                var entry = LongTermReference()
                if number < spsCount {
                    let index = Int(bits.get(Self.bits(for: known.count)))
                    guard index < known.count else { return false }
                    entry.lt_idx_sps = index
                    entry.poc_lsb_lt = known[index].lt_ref_pic_poc_lsb_sps
                    entry.used_by_curr_pic_lt_flag = known[index].used_by_curr_pic_lt_sps_flag
                } else {
                    entry.poc_lsb_lt = Int(bits.get(sequence.log2_max_pic_order_cnt_lsb))
                    entry.used_by_curr_pic_lt_flag = bits.flag()
                }
                // (7-52): DeltaPocMsbCycleLt accumulates separately for the entries of the sequence parameter set and
                // for the header's own entries.
                if number == 0 || number == spsCount { cycle = 0 }
                if bits.flag() {
                    cycle += bits.unsigned()
                    entry.deltaPOCMsbCycle = cycle
                }
                longTermReferences.append(entry)
            }
        }
        if sequence.sps_temporal_mvp_enabled_flag { slice_temporal_mvp_enabled_flag = bits.flag() }
        return !bits.failed
    }

    private mutating func readInter(_ bits: inout HeaderBitReader, _ picture: HEVCPictureParameterSet) -> Bool {
        num_ref_idx_active_override_flag = bits.flag()
        for list in 0..<listCount {
            num_ref_idx_active[list] =
                num_ref_idx_active_override_flag ? bits.unsigned() + 1 : picture.num_ref_idx_default_active[list]
        }
        let count = numPicTotalCurr
        guard !bits.failed, num_ref_idx_active.allSatisfy({ $0 <= 15 }), count > 0 else { return false }
        if picture.lists_modification_present_flag && count > 1 {
            for list in 0..<listCount where bits.flag() {
                list_entry[list] = (0..<num_ref_idx_active[list]).map { _ in Int(bits.get(Self.bits(for: count))) }
            }
        }
        if slice_type == .b { mvd_l1_zero_flag = bits.flag() }
        if picture.cabac_init_present_flag { cabac_init_flag = bits.flag() }
        if slice_temporal_mvp_enabled_flag {
            if slice_type == .b { collocated_from_l0_flag = bits.flag() }
            if num_ref_idx_active[collocated_from_l0_flag ? 0 : 1] > 1 { collocated_ref_idx = bits.unsigned() }
            guard collocated_ref_idx < num_ref_idx_active[collocated_from_l0_flag ? 0 : 1] else { return false }
        }
        maxNumMergeCand = 5 - bits.unsigned()
        return !bits.failed && (1...5).contains(maxNumMergeCand)
    }
}
