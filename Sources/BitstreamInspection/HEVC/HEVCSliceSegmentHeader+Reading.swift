extension HEVCSliceSegmentHeader {
    /// Reads a slice segment header.
    ///
    /// - Parameters:
    ///   - previous: The previous slice segment of the picture, which a dependent segment continues.
    ///   - pictureSet: Returns a PPS by its id.
    ///   - sequenceSet: Returns an SPS by its id.
    /// - Throws: `Malformed` if the header cannot be read or refers to a missing parameter set.
    init(
        _ reader: inout BitReader, unit: HEVCNALUnit, previous: HEVCSliceSegmentHeader?,
        pictureSet: (Int) -> HEVCPictureParameterSet?, sequenceSet: (Int) -> HEVCSequenceParameterSet?
    ) throws(Malformed) {
        let first_slice_segment_in_pic_flag = reader.flag()
        let no_output_of_prior_pics_flag = unit.isIRAP && reader.flag()
        let id = try reader.unsigned("slice_pic_parameter_set_id", in: 0...63)
        guard let pps = pictureSet(id), let sps = sequenceSet(pps.pps_seq_parameter_set_id) else {
            throw Malformed("a slice refers to PPS \(id), which does not exist or has no SPS")
        }
        guard pps.tilesFit(sps) else {
            throw Malformed(
                "the tiles of PPS \(id) exceed \(sps.widthInCtbs)×\(sps.heightInCtbs) coding tree blocks")
        }
        var dependent_slice_segment_flag = false
        var slice_segment_address = 0
        if !first_slice_segment_in_pic_flag {
            if pps.dependent_slice_segments_enabled_flag { dependent_slice_segment_flag = reader.flag() }
            slice_segment_address = reader.bits(Self.bits(sps.sizeInCtbs))
            guard slice_segment_address > 0, slice_segment_address < sps.sizeInCtbs else {
                throw Malformed("slice_segment_address is \(slice_segment_address) of \(sps.sizeInCtbs)")
            }
        }
        if dependent_slice_segment_flag {
            guard let previous else { throw Malformed("a dependent slice segment has no slice before it") }
            self = previous
            entry_point_offset = []
        } else {
            self.init(
                nal_unit_type: unit.type, temporalID: unit.temporalID,
                first_slice_segment_in_pic_flag: first_slice_segment_in_pic_flag, slice_pic_parameter_set_id: id)
        }
        self.first_slice_segment_in_pic_flag = first_slice_segment_in_pic_flag
        self.no_output_of_prior_pics_flag = no_output_of_prior_pics_flag
        slice_pic_parameter_set_id = id
        self.dependent_slice_segment_flag = dependent_slice_segment_flag
        self.slice_segment_address = slice_segment_address
        if !dependent_slice_segment_flag { try readSlice(&reader, sps: sps, pps: pps) }
        if pps.tiles != nil || pps.entropy_coding_sync_enabled_flag { try readEntryPoints(&reader, sps: sps, pps: pps) }
        slice_segment_header_extension_length = nil
        if pps.slice_segment_header_extension_present_flag {
            let length = try reader.unsigned("slice_segment_header_extension_length", in: 0...256)
            for _ in 0..<length { _ = reader.bits(8) }
            slice_segment_header_extension_length = length
        }
        guard reader.flag() else { throw Malformed("a slice header has no alignment_bit_equal_to_one") }
        while !reader.isByteAligned {
            if reader.flag() { throw Malformed("a slice header's alignment is not zero") }
        }
        try reader.checkEnd("a slice header")
        byteCount = reader.position / 8
    }

    private init(
        nal_unit_type: Int, temporalID: Int, first_slice_segment_in_pic_flag: Bool, slice_pic_parameter_set_id: Int
    ) {
        self.nal_unit_type = nal_unit_type
        self.temporalID = temporalID
        self.first_slice_segment_in_pic_flag = first_slice_segment_in_pic_flag
        self.slice_pic_parameter_set_id = slice_pic_parameter_set_id
    }

    /// Returns Ceil(Log2(count)).
    private static func bits(_ count: Int) -> Int {
        count <= 1 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount
    }

    private mutating func readSlice(
        _ reader: inout BitReader, sps: HEVCSequenceParameterSet, pps: HEVCPictureParameterSet
    ) throws(Malformed) {
        _ = reader.bits(pps.num_extra_slice_header_bits)
        let type = try reader.unsigned("slice_type", in: 0...2)
        slice_type = SliceType(rawValue: type) ?? .i
        if pps.output_flag_present_flag { pic_output_flag = reader.flag() }
        if sps.separate_colour_plane_flag { _ = reader.bits(2) }
        if !isIDR { try readReferenceSet(&reader, sps) }
        if sps.sample_adaptive_offset_enabled_flag {
            slice_sao_luma_flag = reader.flag()
            if sps.chromaArrayType != 0 { slice_sao_chroma_flag = reader.flag() }
        }
        if slice_type != .i { try readPrediction(&reader, sps: sps, pps: pps) }
        slice_qp_delta = try reader.signed("slice_qp_delta", in: -128...128)
        qp = pps.init_qp + slice_qp_delta
        let lowest = -6 * (sps.bit_depth_luma - 8)
        guard (lowest...51).contains(qp) else { throw Malformed("SliceQpY is \(qp), not in \(lowest)...51") }
        if pps.pps_slice_chroma_qp_offsets_present_flag {
            slice_cb_qp_offset = try reader.signed("slice_cb_qp_offset", in: -12...12)
            slice_cr_qp_offset = try reader.signed("slice_cr_qp_offset", in: -12...12)
            for (sum, name) in [
                (pps.pps_cb_qp_offset + slice_cb_qp_offset, "Cb"), (pps.pps_cr_qp_offset + slice_cr_qp_offset, "Cr"),
            ] where !(-12...12).contains(sum) {
                throw Malformed("the sum of the picture's and the slice's \(name) offsets is \(sum)")
            }
        }
        slice_deblocking_filter_disabled_flag = pps.pps_deblocking_filter_disabled_flag
        slice_beta_offset_div2 = pps.pps_beta_offset_div2
        slice_tc_offset_div2 = pps.pps_tc_offset_div2
        if pps.deblocking_filter_override_enabled_flag { deblocking_filter_override_flag = reader.flag() }
        if deblocking_filter_override_flag {
            slice_deblocking_filter_disabled_flag = reader.flag()
            if !slice_deblocking_filter_disabled_flag {
                slice_beta_offset_div2 = try reader.signed("slice_beta_offset_div2", in: -6...6)
                slice_tc_offset_div2 = try reader.signed("slice_tc_offset_div2", in: -6...6)
            }
        }
        slice_loop_filter_across_slices_enabled_flag = pps.pps_loop_filter_across_slices_enabled_flag
        if pps.pps_loop_filter_across_slices_enabled_flag,
            slice_sao_luma_flag || slice_sao_chroma_flag || !slice_deblocking_filter_disabled_flag
        {
            slice_loop_filter_across_slices_enabled_flag = reader.flag()
        }
    }

    private mutating func readReferenceSet(
        _ reader: inout BitReader, _ sps: HEVCSequenceParameterSet
    ) throws(Malformed) {
        slice_pic_order_cnt_lsb = reader.bits(sps.log2_max_pic_order_cnt_lsb)
        short_term_ref_pic_set_sps_flag = reader.flag()
        let sets = sps.short_term_ref_pic_sets
        if short_term_ref_pic_set_sps_flag {
            if sets.count > 1 { short_term_ref_pic_set_idx = reader.bits(Self.bits(sets.count)) }
            guard short_term_ref_pic_set_idx < sets.count else {
                throw Malformed("short_term_ref_pic_set_idx is \(short_term_ref_pic_set_idx) of \(sets.count)")
            }
            shortTermSet = sets[short_term_ref_pic_set_idx]
        } else {
            shortTermSet = try HEVCShortTermReferencePictureSet(
                &reader, index: sets.count, isInSlice: true, sets: sets,
                limit: sps.highest.max_dec_pic_buffering - 1)
        }
        if sps.long_term_ref_pics_present_flag { try readLongTerm(&reader, sps) }
        if sps.sps_temporal_mvp_enabled_flag { slice_temporal_mvp_enabled_flag = reader.flag() }
    }

    private mutating func readLongTerm(_ reader: inout BitReader, _ sps: HEVCSequenceParameterSet) throws(Malformed) {
        let known = sps.long_term_ref_pics_sps
        let most = max(sps.highest.max_dec_pic_buffering - 1 - shortTermSet.count, 0)
        var num_long_term_sps = 0
        if !known.isEmpty {
            num_long_term_sps = try reader.unsigned("num_long_term_sps", in: 0...min(most, known.count))
        }
        let num_long_term_pics = try reader.unsigned("num_long_term_pics", in: 0...(most - num_long_term_sps))
        // The deltas accumulate within each of the two parts. An absent delta is 0 (7-52).
        var cycle = 0
        for position in 0..<(num_long_term_sps + num_long_term_pics) {
            if position == num_long_term_sps { cycle = 0 }
            var picture: LongTermReference
            if position < num_long_term_sps {
                let index = known.count > 1 ? reader.bits(Self.bits(known.count)) : 0
                guard index < known.count else { throw Malformed("lt_idx_sps is \(index) of \(known.count)") }
                picture = LongTermReference(
                    lt_idx_sps: index, poc_lsb_lt: known[index].lt_ref_pic_poc_lsb_sps,
                    used_by_curr_pic_lt_flag: known[index].used_by_curr_pic_lt_sps_flag)
            } else {
                picture = LongTermReference(
                    poc_lsb_lt: reader.bits(sps.log2_max_pic_order_cnt_lsb), used_by_curr_pic_lt_flag: reader.flag())
            }
            if reader.flag() {
                cycle += try reader.unsigned("delta_poc_msb_cycle_lt", in: 0...(1 << 28))
                picture.deltaPOCMsbCycle = cycle
            }
            longTermReferences.append(picture)
        }
        try reader.checkEnd("a slice header's long-term pictures")
    }

    private mutating func readPrediction(
        _ reader: inout BitReader, sps: HEVCSequenceParameterSet, pps: HEVCPictureParameterSet
    ) throws(Malformed) {
        num_ref_idx_active = [
            pps.num_ref_idx_default_active[0], slice_type == .b ? pps.num_ref_idx_default_active[1] : 0,
        ]
        num_ref_idx_active_override_flag = reader.flag()
        if num_ref_idx_active_override_flag {
            num_ref_idx_active[0] = try reader.unsigned("num_ref_idx_l0_active_minus1", in: 0...14) + 1
            if slice_type == .b {
                num_ref_idx_active[1] = try reader.unsigned("num_ref_idx_l1_active_minus1", in: 0...14) + 1
            }
        }
        let total = numPicTotalCurr
        guard total > 0 else {
            throw Malformed("a \(slice_type) slice has no reference pictures (NumPicTotalCurr is 0)")
        }
        if pps.lists_modification_present_flag, total > 1 {
            for list in 0...(slice_type == .b ? 1 : 0) where reader.flag() {
                var entries: [Int] = []
                for _ in 0..<num_ref_idx_active[list] {
                    let entry = reader.bits(Self.bits(total))
                    guard entry < total else { throw Malformed("list_entry_l\(list) is \(entry) of \(total)") }
                    entries.append(entry)
                }
                list_entry[list] = entries
            }
        }
        if slice_type == .b { mvd_l1_zero_flag = reader.flag() }
        if pps.cabac_init_present_flag { cabac_init_flag = reader.flag() }
        if slice_temporal_mvp_enabled_flag {
            if slice_type == .b { collocated_from_l0_flag = reader.flag() }
            let active = num_ref_idx_active[collocated_from_l0_flag ? 0 : 1]
            if active > 1 { collocated_ref_idx = try reader.unsigned("collocated_ref_idx", in: 0...(active - 1)) }
        }
        if pps.weighted_pred_flag && slice_type == .p || pps.weighted_bipred_flag && slice_type == .b {
            weights = try readWeights(&reader, hasChroma: sps.chromaArrayType != 0)
        }
        maxNumMergeCand = 5 - (try reader.unsigned("five_minus_max_num_merge_cand", in: 0...4))
    }

    /// Reads pred_weight_table() (7.3.6.3).
    private func readWeights(_ reader: inout BitReader, hasChroma: Bool) throws(Malformed) -> Weights {
        let denominator = try reader.unsigned("luma_log2_weight_denom", in: 0...7)
        var weights = Weights(luma_log2_weight_denom: denominator, luma: [], chroma: [])
        if hasChroma {
            weights.delta_chroma_log2_weight_denom = try reader.signed(
                "delta_chroma_log2_weight_denom", in: -denominator...(7 - denominator))
        }
        for list in 0...(slice_type == .b ? 1 : 0) {
            let count = num_ref_idx_active[list]
            let luma = (0..<count).map { _ in reader.flag() }
            let chroma = (0..<count).map { _ in hasChroma && reader.flag() }
            for index in 0..<count {
                if luma[index] {
                    _ = try reader.signed("delta_luma_weight", in: -128...127)
                    _ = try reader.signed("luma_offset", in: -128...127)
                }
                for _ in 0..<(chroma[index] ? 2 : 0) {
                    _ = try reader.signed("delta_chroma_weight", in: -128...127)
                    _ = try reader.signed("delta_chroma_offset", in: -512...511)
                }
            }
            weights.luma.append(luma)
            weights.chroma.append(chroma)
        }
        return weights
    }

    private mutating func readEntryPoints(
        _ reader: inout BitReader, sps: HEVCSequenceParameterSet, pps: HEVCPictureParameterSet
    ) throws(Malformed) {
        let rows = pps.entropy_coding_sync_enabled_flag ? sps.heightInCtbs : pps.tiles?.num_tile_rows ?? 1
        let most = (pps.tiles?.num_tile_columns ?? 1) * rows - 1
        let count = try reader.unsigned("num_entry_point_offsets", in: 0...max(most, 0))
        offset_len = 0
        guard count > 0 else { return }
        offset_len = try reader.unsigned("offset_len_minus1", in: 0...31) + 1
        for _ in 0..<count {
            entry_point_offset.append(reader.bits(offset_len) + 1)
            if reader.isExhausted { break }
        }
        try reader.checkEnd("a slice header's entry points")
    }
}
