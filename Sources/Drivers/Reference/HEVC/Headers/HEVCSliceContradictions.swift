extension HEVCSliceHeader {
    /// Compares this header, which a client packed, with the header for the client's parameter buffers. Returns one
    /// line for each difference that would make the slice data undecodable or change the decoded pictures; empty if
    /// there is none.
    package func contradictions(with expected: HEVCSliceHeader, comparesQP: Bool = true) -> [String] {
        var found: [String] = []
        func compare<Value: Equatable>(_ name: String, _ packed: Value, _ inBuffers: Value) {
            guard packed != inBuffers else { return }
            found.append("\(name) is \(packed) in the packed slice header, \(inBuffers) in the buffers")
        }
        compare("nal_unit_type", unitType, expected.unitType)
        compare("slice_pic_parameter_set_id", pictureID, expected.pictureID)
        compare("slice_segment_address", address, expected.address)
        compare("slice_type", type, expected.type)
        if !isIDR { compare("slice_pic_order_cnt_lsb", pictureOrderCountLsb, expected.pictureOrderCountLsb) }
        compare("slice_sao_luma_flag", offsetsLuma, expected.offsetsLuma)
        compare("slice_sao_chroma_flag", offsetsChroma, expected.offsetsChroma)
        if type == expected.type && type != .i {
            for list in 0..<listCount {
                compare("num_ref_idx_l\(list)_active", referenceCounts[list], expected.referenceCounts[list])
            }
            compare("slice_temporal_mvp_enabled_flag", hasTemporalVectors, expected.hasTemporalVectors)
            compare("mvd_l1_zero_flag", mvdL1Zero, expected.mvdL1Zero)
            compare("cabac_init_flag", cabacInit, expected.cabacInit)
            compare("MaxNumMergeCand", mergeCandidates, expected.mergeCandidates)
        }
        if comparesQP { compare("slice_qp_delta", qpDelta, expected.qpDelta) }
        compare("slice_cb_qp_offset", cbQPOffset, expected.cbQPOffset)
        compare("slice_cr_qp_offset", crQPOffset, expected.crQPOffset)
        compare("slice_deblocking_filter_disabled_flag", disablesDeblocking, expected.disablesDeblocking)
        if !disablesDeblocking && !expected.disablesDeblocking {
            compare("slice_beta_offset_div2", betaOffsetDiv2, expected.betaOffsetDiv2)
            compare("slice_tc_offset_div2", tcOffsetDiv2, expected.tcOffsetDiv2)
        }
        return found
    }
}
