extension HEVCSliceSegmentHeader {
    /// Compares this header, which a client packed, with the header for the client's parameter buffers. Returns one
    /// line for each difference that would make the slice data undecodable or change the decoded pictures; empty if
    /// there is none.
    package func contradictions(with expected: HEVCSliceSegmentHeader, comparesQP: Bool = true) -> [String] {
        var found: [String] = []
        func compare<Value: Equatable>(_ name: String, _ packed: Value, _ inBuffers: Value) {
            guard packed != inBuffers else { return }
            found.append("\(name) is \(packed) in the packed slice header, \(inBuffers) in the buffers")
        }
        compare("nal_unit_type", nal_unit_type, expected.nal_unit_type)
        compare("slice_pic_parameter_set_id", slice_pic_parameter_set_id, expected.slice_pic_parameter_set_id)
        compare("slice_segment_address", slice_segment_address, expected.slice_segment_address)
        compare("slice_type", slice_type, expected.slice_type)
        if !isIDR { compare("slice_pic_order_cnt_lsb", slice_pic_order_cnt_lsb, expected.slice_pic_order_cnt_lsb) }
        compare("slice_sao_luma_flag", slice_sao_luma_flag, expected.slice_sao_luma_flag)
        compare("slice_sao_chroma_flag", slice_sao_chroma_flag, expected.slice_sao_chroma_flag)
        if slice_type == expected.slice_type && slice_type != .i {
            for list in 0..<listCount {
                compare("num_ref_idx_l\(list)_active", num_ref_idx_active[list], expected.num_ref_idx_active[list])
            }
            compare("slice_temporal_mvp_enabled_flag", slice_temporal_mvp_enabled_flag, expected.slice_temporal_mvp_enabled_flag)
            compare("mvd_l1_zero_flag", mvd_l1_zero_flag, expected.mvd_l1_zero_flag)
            compare("cabac_init_flag", cabac_init_flag, expected.cabac_init_flag)
            compare("MaxNumMergeCand", maxNumMergeCand, expected.maxNumMergeCand)
        }
        if comparesQP { compare("slice_qp_delta", slice_qp_delta, expected.slice_qp_delta) }
        compare("slice_cb_qp_offset", slice_cb_qp_offset, expected.slice_cb_qp_offset)
        compare("slice_cr_qp_offset", slice_cr_qp_offset, expected.slice_cr_qp_offset)
        compare("slice_deblocking_filter_disabled_flag", slice_deblocking_filter_disabled_flag, expected.slice_deblocking_filter_disabled_flag)
        if !slice_deblocking_filter_disabled_flag && !expected.slice_deblocking_filter_disabled_flag {
            compare("slice_beta_offset_div2", slice_beta_offset_div2, expected.slice_beta_offset_div2)
            compare("slice_tc_offset_div2", slice_tc_offset_div2, expected.slice_tc_offset_div2)
        }
        return found
    }
}
