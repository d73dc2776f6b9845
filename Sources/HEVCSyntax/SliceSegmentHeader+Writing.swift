package import NALUnits
import VideoBase

extension SliceSegmentHeader {
    /// Writes the bits of the header, including byte_alignment(). Slice data must follow.
    ///
    /// The writer must be byte-aligned. The header of the NAL unit is not written.
    package func write(to w: inout BitWriter, sps: SequenceParameterSet, pps: PictureParameterSet) {
        let first_slice_segment_in_pic_flag = slice_segment_address == 0
        let isDependent =
            !first_slice_segment_in_pic_flag && pps.dependent_slice_segments_enabled_flag
            && dependent_slice_segment_flag
        w.flag(first_slice_segment_in_pic_flag)
        if nal_unit_type.isIRAP { w.flag(no_output_of_prior_pics_flag) }
        w.ue(pps.pps_pic_parameter_set_id)
        if !first_slice_segment_in_pic_flag {
            if pps.dependent_slice_segments_enabled_flag { w.flag(isDependent) }
            let blocks = sps.sizeInCtbs
            w.u(bitsToNumber(blocks.width * blocks.height), slice_segment_address)
        }
        if !isDependent {
            w.ue(slice_type.rawValue)
            if pps.output_flag_present_flag { w.flag(pic_output_flag) }
            if !nal_unit_type.isIDR { writeReferencePictures(to: &w, sps: sps) }
            if sps.sample_adaptive_offset_enabled_flag {
                w.flag(slice_sao_luma_flag)
                w.flag(slice_sao_chroma_flag)
            }
            if slice_type != .i { writePrediction(to: &w, sps: sps, pps: pps) }
            writeQuantizationAndFilters(to: &w, sps: sps, pps: pps)
        }
        if pps.tiles != nil || pps.entropy_coding_sync_enabled_flag { writeEntryPoints(to: &w) }
        w.trailingBits()  // byte_alignment(), H.265 7.3.2.12, has the same bits
    }

    /// Writes the fields from slice_pic_order_cnt_lsb to slice_temporal_mvp_enabled_flag.
    private func writeReferencePictures(to w: inout BitWriter, sps: SequenceParameterSet) {
        w.u(sps.log2_max_pic_order_cnt_lsb, slice_pic_order_cnt_lsb)
        let count = sps.short_term_ref_pic_sets.count
        switch shortTermReferences {
        case .explicit(let set):
            w.flag(false)  // short_term_ref_pic_set_sps_flag
            set.write(to: &w, index: count)
        case .index(let index):
            w.flag(true)  // short_term_ref_pic_set_sps_flag
            w.u(bitsToNumber(count), index)
        }
        if sps.long_term_ref_pics_present_flag {
            w.ue(longTermReferences.count)  // num_long_term_pics
            var previousCycle = 0
            for picture in longTermReferences {
                w.u(sps.log2_max_pic_order_cnt_lsb, picture.poc_lsb_lt)
                w.flag(picture.used_by_curr_pic_lt_flag)
                w.flag(picture.deltaPOCMsbCycle != nil)
                if let cycle = picture.deltaPOCMsbCycle { w.ue(cycle - previousCycle) }
                // (7-52): in an entry without the field, delta_poc_msb_cycle_lt is 0, so the sum is unchanged.
                previousCycle = picture.deltaPOCMsbCycle ?? previousCycle
            }
        }
        if sps.sps_temporal_mvp_enabled_flag { w.flag(slice_temporal_mvp_enabled_flag) }
    }

    /// Writes the fields of P and B slices from num_ref_idx_active_override_flag to five_minus_max_num_merge_cand.
    private func writePrediction(to w: inout BitWriter, sps: SequenceParameterSet, pps: PictureParameterSet) {
        let num_ref_idx_active_override_flag = overridesReferenceCount(pps)
        w.flag(num_ref_idx_active_override_flag)
        if num_ref_idx_active_override_flag {
            w.ue(num_ref_idx_active[0] - 1)
            if slice_type == .b { w.ue(num_ref_idx_active[1] - 1) }
        }
        let total = numPicTotalCurr(sps)
        if pps.lists_modification_present_flag, total > 1 {
            for list in 0..<(slice_type == .b ? 2 : 1) {
                w.flag(!list_entry[list].isEmpty)  // ref_pic_list_modification_flag_l0 or _l1
                for entry in list_entry[list] { w.u(bitsToNumber(total), entry) }
            }
        }
        if slice_type == .b { w.flag(mvd_l1_zero_flag) }
        if pps.cabac_init_present_flag { w.flag(cabac_init_flag) }
        if sps.sps_temporal_mvp_enabled_flag, slice_temporal_mvp_enabled_flag {
            if slice_type == .b { w.flag(collocated_from_l0_flag) }
            let fromL0 = slice_type == .p || collocated_from_l0_flag
            if num_ref_idx_active[fromL0 ? 0 : 1] > 1 { w.ue(collocated_ref_idx) }
        }
        w.ue(5 - maxNumMergeCand)
    }

    /// Writes the fields from slice_qp_delta to slice_loop_filter_across_slices_enabled_flag.
    private func writeQuantizationAndFilters(
        to w: inout BitWriter, sps: SequenceParameterSet, pps: PictureParameterSet
    ) {
        w.se(qp - pps.init_qp)
        if pps.pps_slice_chroma_qp_offsets_present_flag {
            w.se(slice_cb_qp_offset)
            w.se(slice_cr_qp_offset)
        }
        if pps.deblocking_filter_override_enabled_flag {
            w.flag(deblocking != nil)  // deblocking_filter_override_flag
            if let deblocking {
                w.flag(deblocking.slice_deblocking_filter_disabled_flag)
                if !deblocking.slice_deblocking_filter_disabled_flag {
                    w.se(deblocking.slice_beta_offset_div2)
                    w.se(deblocking.slice_tc_offset_div2)
                }
            }
        }
        let hasSAO = sps.sample_adaptive_offset_enabled_flag && (slice_sao_luma_flag || slice_sao_chroma_flag)
        if pps.pps_loop_filter_across_slices_enabled_flag, hasSAO || !isDeblockingDisabled(pps) {
            w.flag(slice_loop_filter_across_slices_enabled_flag)
        }
    }

    /// Writes the fields from num_entry_point_offsets to the last entry_point_offset_minus1.
    private func writeEntryPoints(to w: inout BitWriter) {
        w.ue(entry_point_offset.count)  // num_entry_point_offsets
        guard let longest = entry_point_offset.max() else { return }
        let bits = max(bitsToNumber(longest), 1)
        w.ue(bits - 1)  // offset_len_minus1
        for size in entry_point_offset { w.u(bits, size - 1) }
    }
}
