package import CVA

// SAFETY: the bit-field unions of VA-API's buffers consist of plain integers, and each has only one set of fields.

extension HEVCSliceSegmentHeader {
    /// Creates the header for a client that does not pack one, from its buffers. `sequence` and `picture` are
    /// the parameter sets of the stream.
    package init(
        _ slice: VAEncSliceParameterBufferHEVC, picture buffer: VAEncPictureParameterBufferHEVC,
        sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet
    ) {
        let fields = unsafe slice.slice_fields.bits
        nal_unit_type = Int(buffer.nal_unit_type)
        no_output_of_prior_pics_flag = unsafe buffer.pic_fields.bits.no_output_of_prior_pics_flag != 0
        slice_pic_parameter_set_id = Int(slice.slice_pic_parameter_set_id)
        slice_segment_address = Int(slice.slice_segment_address)
        slice_type = slice.slice_type == 0 ? .b : slice.slice_type == 1 ? .p : .i
        let count = Int(buffer.decoded_curr_pic.pic_order_cnt)
        slice_pic_order_cnt_lsb = count & (1 << sequence.log2_max_pic_order_cnt_lsb - 1)
        if !isIDR { setReferences(buffer, count, sequence) }
        slice_temporal_mvp_enabled_flag = !isIDR && sequence.sps_temporal_mvp_enabled_flag && fields.slice_temporal_mvp_enabled_flag != 0
        slice_sao_luma_flag = sequence.sample_adaptive_offset_enabled_flag && fields.slice_sao_luma_flag != 0
        slice_sao_chroma_flag = sequence.sample_adaptive_offset_enabled_flag && fields.slice_sao_chroma_flag != 0
        let given = [Int(slice.num_ref_idx_l0_active_minus1) + 1, Int(slice.num_ref_idx_l1_active_minus1) + 1]
        for list in 0..<listCount { num_ref_idx_active[list] = min(given[list], 15) }
        num_ref_idx_active_override_flag =
            listCount > 0
            && num_ref_idx_active.prefix(listCount) != picture.num_ref_idx_default_active.prefix(listCount)
        if listCount > 0 { setLists(slice, count, sequence, picture) }
        mvd_l1_zero_flag = slice_type == .b && fields.mvd_l1_zero_flag != 0
        cabac_init_flag = slice_type != .i && picture.cabac_init_present_flag && fields.cabac_init_flag != 0
        if slice_temporal_mvp_enabled_flag && slice_type != .i { setCollocated(slice, buffer) }
        maxNumMergeCand = slice_type == .i ? 5 : min(max(Int(slice.max_num_merge_cand), 1), 5)
        slice_qp_delta = Int(slice.slice_qp_delta)
        if picture.pps_slice_chroma_qp_offsets_present_flag {
            slice_cb_qp_offset = Int(slice.slice_cb_qp_offset)
            slice_cr_qp_offset = Int(slice.slice_cr_qp_offset)
        }
        setDeblocking(slice, picture)
        slice_loop_filter_across_slices_enabled_flag =
            picture.pps_loop_filter_across_slices_enabled_flag && fields.slice_loop_filter_across_slices_enabled_flag != 0
    }

    private mutating func setDeblocking(_ slice: VAEncSliceParameterBufferHEVC, _ picture: HEVCPictureParameterSet) {
        slice_deblocking_filter_disabled_flag = unsafe slice.slice_fields.bits.slice_deblocking_filter_disabled_flag != 0
        slice_beta_offset_div2 = Int(slice.slice_beta_offset_div2)
        slice_tc_offset_div2 = Int(slice.slice_tc_offset_div2)
        deblocking_filter_override_flag =
            picture.deblocking_filter_override_enabled_flag
            && (slice_deblocking_filter_disabled_flag != picture.pps_deblocking_filter_disabled_flag
                || !slice_deblocking_filter_disabled_flag
                    && (slice_beta_offset_div2 != picture.pps_beta_offset_div2
                        || slice_tc_offset_div2 != picture.pps_tc_offset_div2))
    }

    /// Sets the reference picture set to the buffer's reference frames. Frames without RPS flags are kept for later
    /// pictures only.
    private mutating func setReferences(
        _ buffer: VAEncPictureParameterBufferHEVC, _ count: Int, _ sequence: HEVCSequenceParameterSet
    ) {
        let frames = FixedArray.values(buffer.reference_frames, as: VAPictureHEVC.self, count: 15).filter(\.isValid)
        shortTermSet = HEVCShortTermReferencePictureSet(
            frames.filter { !$0.isLongTerm }.map {
                HEVCShortTermReferencePictureSet.Entry(deltaPOC: Int($0.pic_order_cnt) - count, isUsed: $0.isUsed)
            })
        short_term_ref_pic_set_idx = sequence.short_term_ref_pic_sets.firstIndex(of: shortTermSet)
        guard sequence.long_term_ref_pics_present_flag else { return }
        let size = 1 << sequence.log2_max_pic_order_cnt_lsb
        longTermReferences = frames.filter(\.isLongTerm).sorted { $0.pic_order_cnt > $1.pic_order_cnt }.map {
            let lsb = Int($0.pic_order_cnt) & (size - 1)
            let cycle = ((count & ~(size - 1)) - (Int($0.pic_order_cnt) - lsb)) / size
            return LongTermReference(poc_lsb_lt: lsb, used_by_curr_pic_lt_flag: $0.isUsed, deltaPOCMsbCycle: cycle)
        }
    }

    /// Sets the list entries that reorder the reference lists as in the buffer, if the initial order differs.
    private mutating func setLists(
        _ slice: VAEncSliceParameterBufferHEVC, _ count: Int, _ sequence: HEVCSequenceParameterSet,
        _ picture: HEVCPictureParameterSet
    ) {
        // A copy of the header whose lists contain each picture once, in the initial order.
        var plain = self
        let pictures = numPicTotalCurr
        guard pictures > 1, picture.lists_modification_present_flag else { return }
        plain.num_ref_idx_active = [pictures, pictures]
        plain.slice_type = .b
        guard let initial = plain.lists(pictureOrderCount: count, sequence: sequence) else { return }
        for list in 0..<listCount {
            let requested = (list == 0 ? slice.list0 : slice.list1).prefix(num_ref_idx_active[list]).map {
                Int($0.pic_order_cnt)
            }
            let order = initial[list].map(\.pictureOrderCount)
            let indices = requested.compactMap { order.firstIndex(of: $0) }
            let isUsual = indices == (0..<requested.count).map { $0 % pictures }
            if indices.count == num_ref_idx_active[list] && !isUsual { list_entry[list] = indices }
        }
    }

    private mutating func setCollocated(
        _ slice: VAEncSliceParameterBufferHEVC, _ buffer: VAEncPictureParameterBufferHEVC
    ) {
        let index = Int(buffer.collocated_ref_pic_index)
        let frames = FixedArray.values(buffer.reference_frames, as: VAPictureHEVC.self, count: 15)
        let isFromList0 = unsafe slice.slice_fields.bits.collocated_from_l0_flag != 0
        collocated_from_l0_flag = slice_type == .p || isFromList0
        let list = collocated_from_l0_flag ? slice.list0 : slice.list1
        let found = list.prefix(num_ref_idx_active[collocated_from_l0_flag ? 0 : 1]).firstIndex {
            frames.indices.contains(index) && $0.picture_id == frames[index].picture_id
        }
        guard let found else {
            slice_temporal_mvp_enabled_flag = false
            return
        }
        collocated_ref_idx = found
    }
}

extension VAEncSliceParameterBufferHEVC {
    var list0: [VAPictureHEVC] { FixedArray.values(ref_pic_list0, as: VAPictureHEVC.self, count: 15) }
    var list1: [VAPictureHEVC] { FixedArray.values(ref_pic_list1, as: VAPictureHEVC.self, count: 15) }
}

extension VAPictureHEVC {
    /// Whether the entry refers to a picture.
    var isValid: Bool { picture_id != VA_INVALID_ID && flags & UInt32(VA_PICTURE_HEVC_INVALID) == 0 }
    var isLongTerm: Bool {
        flags & UInt32(VA_PICTURE_HEVC_LONG_TERM_REFERENCE | VA_PICTURE_HEVC_RPS_LT_CURR) != 0
    }
    /// Whether the current picture may predict from it.
    var isUsed: Bool {
        flags
            & UInt32(
                VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE | VA_PICTURE_HEVC_RPS_ST_CURR_AFTER | VA_PICTURE_HEVC_RPS_LT_CURR)
            != 0
    }
}
