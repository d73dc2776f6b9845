extension H264SliceHeader {
    /// Returns how this header, which the client packed, contradicts the header that the client's parameter buffers
    /// describe. Only differences that make the slice data undecodable, or that lead to other pictures, are reported.
    /// Each has one line. The list is empty if the headers agree.
    package func contradictions(
        with expected: H264SliceHeader, picture: H264PictureParameterSet, comparesQP: Bool = true
    ) -> [String] {
        var found: [String] = []
        func compare(_ name: String, _ packed: Int, _ requested: Int) {
            guard packed != requested else { return }
            found.append("\(name) is \(packed) in the packed slice header, \(requested) in the buffers")
        }
        compare("first_mb_in_slice", first_mb_in_slice, expected.first_mb_in_slice)
        compare("slice_type", slice_type % 5, expected.slice_type % 5)
        if slice_type % 5 == expected.slice_type % 5 {
            for list in 0..<listCount {
                compare("num_ref_idx_l\(list)_active", num_ref_idx_active[list], expected.num_ref_idx_active[list])
            }
            if picture.entropy_coding_mode_flag && type != .i { compare("cabac_init_idc", cabac_init_idc, expected.cabac_init_idc) }
        }
        if comparesQP { compare("slice_qp_delta", slice_qp_delta, expected.slice_qp_delta) }
        // If the syntax does not contain these fields, the filter is on with offsets 0, whatever the buffer contains.
        if picture.deblocking_filter_control_present_flag {
            compare("disable_deblocking_filter_idc", disable_deblocking_filter_idc, expected.disable_deblocking_filter_idc)
            if disable_deblocking_filter_idc != 1 && expected.disable_deblocking_filter_idc != 1 {
                compare("slice_alpha_c0_offset_div2", slice_alpha_c0_offset_div2, expected.slice_alpha_c0_offset_div2)
                compare("slice_beta_offset_div2", slice_beta_offset_div2, expected.slice_beta_offset_div2)
            }
        }
        return found
    }
}
