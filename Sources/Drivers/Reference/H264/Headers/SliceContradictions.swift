extension SliceHeader {
    /// Returns how this header, which the client packed, contradicts the header that the client's parameter buffers
    /// describe. Only differences that make the slice data undecodable, or that lead to other pictures, are reported.
    /// Each has one line. The list is empty if the headers agree.
    package func contradictions(
        with expected: SliceHeader, picture: PictureParameterSet, comparesQP: Bool = true
    ) -> [String] {
        var found: [String] = []
        func compare(_ name: String, _ packed: Int, _ requested: Int) {
            guard packed != requested else { return }
            found.append("\(name) is \(packed) in the packed slice header, \(requested) in the buffers")
        }
        compare("first_mb_in_slice", firstMacroblock, expected.firstMacroblock)
        compare("slice_type", rawType % 5, expected.rawType % 5)
        if rawType % 5 == expected.rawType % 5 {
            for list in 0..<listCount {
                compare("num_ref_idx_l\(list)_active", referenceCounts[list], expected.referenceCounts[list])
            }
            if picture.cabac && type != .i { compare("cabac_init_idc", cabacInitIdc, expected.cabacInitIdc) }
        }
        if comparesQP { compare("slice_qp_delta", qpDelta, expected.qpDelta) }
        // If the syntax does not contain these fields, the filter is on with offsets 0, whatever the buffer contains.
        if picture.deblockingControlPresent {
            compare("disable_deblocking_filter_idc", disableDeblockingFilterIdc, expected.disableDeblockingFilterIdc)
            if disableDeblockingFilterIdc != 1 && expected.disableDeblockingFilterIdc != 1 {
                compare("slice_alpha_c0_offset_div2", alphaC0OffsetDiv2, expected.alphaC0OffsetDiv2)
                compare("slice_beta_offset_div2", betaOffsetDiv2, expected.betaOffsetDiv2)
            }
        }
        return found
    }
}
