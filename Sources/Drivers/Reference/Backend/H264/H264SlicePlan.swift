internal import CVA

/// Converts the H.264 slice buffers and packed slice headers of a picture to jobs.
struct H264SlicePlan {
    let parameters: VAEncPictureParameterBufferH264
    let sequence: H264SequenceParameterSet
    let picture: H264PictureParameterSet
    let config: Config.Choice
    let environment: Environment

    /// Throws unless the slices cover each of `count` macroblocks once, in order.
    func checkCoverage(_ slices: [VAEncSliceParameterBufferH264], macroblocks count: Int) throws {
        try require(!slices.isEmpty, "the picture has no slices")
        var next = 0
        for slice in slices {
            try require(
                Int(slice.macroblock_address) == next && slice.num_macroblocks > 0
                    && Int(slice.num_macroblocks) <= count - next,
                "a slice of \(slice.num_macroblocks) macroblocks from \(slice.macroblock_address) on, after \(next) of"
                    + " \(count)")
            next += Int(slice.num_macroblocks)
        }
        try require(next == count, "slices cover \(next) of \(count) macroblocks")
    }

    /// Throws unless VAConfigAttribEncSliceStructure allows the sizes of the slices.
    func checkStructure(_ slices: [VAEncSliceParameterBufferH264], widthInMacroblocks width: Int) throws {
        let offered = Int32(bitPattern: config.entry.value(VAConfigAttribEncSliceStructure) ?? 0)
        guard slices.count > 1, offered & VA_ENC_SLICE_STRUCTURE_ARBITRARY_MACROBLOCKS == 0 else { return }
        let counts = slices.map { Int($0.num_macroblocks) }
        try require(counts.allSatisfy { $0 % width == 0 }, "the slices are not complete rows")
        guard offered & VA_ENC_SLICE_STRUCTURE_ARBITRARY_ROWS == 0 else { return }
        try require(
            counts.dropLast().allSatisfy { $0 == counts[0] } && counts[counts.count - 1] <= counts[0],
            "the slices have different numbers of rows")
    }

    /// Returns the header of a slice: the client's packed header, which is checked against the buffers, or a header
    /// made from the buffers. If the driver controls the rate, it rewrites slice_qp_delta later.
    func header(_ slice: VAEncSliceParameterBufferH264, packed: SliceHeaderBits?) throws -> SliceHeaderBits {
        let expected = H264SliceHeader(slice, picture: parameters, sequence: sequence, picture: picture)
        guard let packed else {
            try checkNumbers(expected, slice)
            return expected.bits(sequence: sequence, picture: picture)
        }
        guard let found = H264SliceHeader(packed, sequence: sequence, picture: picture) else {
            throw Refusal.invalidParameter("the packed slice header cannot be read")
        }
        try require(
            found.pic_parameter_set_id == picture.pic_parameter_set_id,
            "pic_parameter_set_id is \(found.pic_parameter_set_id) in the packed slice header, \(picture.pic_parameter_set_id) in the buffers")
        // FFmpeg leaves reference_pic_flag 0 for B pictures whose headers have a nal_ref_idc other than 0.
        let mayDiffer = found.type == .b && found.nal_ref_idc != 0
        try require(
            found.isIDR == expected.isIDR && (found.nal_ref_idc != 0) == (expected.nal_ref_idc != 0) || mayDiffer,
            "the packed slice header's NAL unit type or nal_ref_idc does not match the picture buffer")
        let contradictions = found.contradictions(
            with: expected, picture: picture, comparesQP: config.rateMode == nil)
        try require(contradictions.isEmpty, contradictions.first ?? "")
        try checkNumbers(found, slice)
        return packed
    }

    /// Checks that frame_num, the picture order count and idr_pic_id are equal in the slice header and in the buffers.
    /// Drivers differ in which of the two they write.
    private func checkNumbers(_ header: H264SliceHeader, _ slice: VAEncSliceParameterBufferH264) throws {
        func check(_ name: String, _ found: Int, _ asked: Int, _ bits: Int = 16) throws {
            try environment.prefer(
                (found ^ asked) & (1 << bits - 1) == 0, .pictureNumbers,
                "\(name) is \(found) in the slice header, \(asked) in the picture and slice buffers")
        }
        try check("frame_num", header.frame_num, Int(parameters.frame_num), sequence.log2_max_frame_num)
        if sequence.pic_order_cnt_type == 0 {
            try check(
                "pic_order_cnt_lsb", header.pic_order_cnt_lsb, Int(parameters.CurrPic.TopFieldOrderCnt),
                sequence.log2_max_pic_order_cnt_lsb)
        }
        if header.isIDR { try check("idr_pic_id", header.idr_pic_id, Int(slice.idr_pic_id)) }
    }

    /// Returns the header for another picture parameter set, which differs only in pic_init_qp.
    func rewritten(_ header: SliceHeaderBits, for other: H264PictureParameterSet) throws -> SliceHeaderBits {
        guard var fields = H264SliceHeader(header, sequence: sequence, picture: picture) else {
            throw Refusal.invalidParameter("the slice header cannot be read")
        }
        fields.slice_qp_delta += picture.pic_init_qp - other.pic_init_qp
        var bits = fields.bits(sequence: sequence, picture: other)
        bits.prefix = header.prefix
        return bits
    }

    /// Returns the number of references that the slice uses in list 0 or 1: num_ref_idx_l0_active_minus1 + 1 or
    /// num_ref_idx_l1_active_minus1 + 1.
    func activeCount(_ slice: VAEncSliceParameterBufferH264, list: Int) throws -> Int {
        guard slice.slice_type % 5 == 1 || list == 0 && slice.slice_type % 5 == 0 else { return 0 }
        let isOverridden = slice.num_ref_idx_active_override_flag != 0
        let asked = list == 0 ? slice.num_ref_idx_l0_active_minus1 : slice.num_ref_idx_l1_active_minus1
        let count = isOverridden ? Int(asked) + 1 : picture.num_ref_idx_default_active[list]
        let limits = config.entry.maximumReferences
        let limit = list == 0 ? limits.list0 : limits.list1
        try require(count <= limit, "\(count) references in list \(list), more than \(limit)")
        return count
    }

    /// Returns the job for a slice.
    func job(
        _ slice: VAEncSliceParameterBufferH264, lists: [[H264ReconstructedPicture]], header: SliceHeaderBits
    ) -> H264SliceJob {
        // Without deblocking fields in the slice header, the filter is on and the offsets are 0.
        let isControlled = picture.deblocking_filter_control_present_flag
        var job = H264SliceJob(
            firstMacroblock: Int(slice.macroblock_address), macroblockCount: Int(slice.num_macroblocks),
            type: SliceType(rawValue: slice.slice_type % 5) ?? .i, qp: Int(parameters.pic_init_qp) + Int(slice.slice_qp_delta),
            list0: lists[0], list1: lists[1], cabac: picture.entropy_coding_mode_flag,
            cabac_init_idc: Int(slice.cabac_init_idc),
            disable_deblocking_filter_idc: isControlled ? Int(slice.disable_deblocking_filter_idc) : 0,
            filterOffsetA: isControlled ? 2 * Int(slice.slice_alpha_c0_offset_div2) : 0,
            filterOffsetB: isControlled ? 2 * Int(slice.slice_beta_offset_div2) : 0, header: header)
        job.direct_8x8_inference_flag = sequence.direct_8x8_inference_flag
        let first = slice.RefPicList1.0
        job.isFirstOfList1LongTerm = first.flags & UInt32(VA_PICTURE_H264_LONG_TERM_REFERENCE) != 0
        return job
    }
}
