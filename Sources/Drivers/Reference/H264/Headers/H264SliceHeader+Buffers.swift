package import CVA

extension H264SliceHeader {
    /// Makes the header that a client's buffers describe, for clients that send no packed header. `sequence` and
    /// `picture` are the parameter sets in the stream.
    ///
    /// long_term_reference_flag is set only for IDR pictures whose CurrPic is marked as a long-term reference. Other
    /// pictures use sliding window marking.
    package init(
        _ slice: VAEncSliceParameterBufferH264, picture buffer: VAEncPictureParameterBufferH264,
        sequence: H264SequenceParameterSet, picture: H264PictureParameterSet
    ) {
        let fields = unsafe buffer.pic_fields.bits
        isIDR = fields.idr_pic_flag != 0
        nal_ref_idc = max(Int(fields.reference_pic_flag), isIDR ? 1 : 0)
        first_mb_in_slice = Int(slice.macroblock_address)
        slice_type = Int(slice.slice_type)
        pic_parameter_set_id = Int(slice.pic_parameter_set_id)
        frame_num = Int(buffer.frame_num)
        idr_pic_id = Int(slice.idr_pic_id)
        pic_order_cnt_lsb = Int(slice.pic_order_cnt_lsb)
        delta_pic_order_cnt_bottom = Int(slice.delta_pic_order_cnt_bottom)
        delta_pic_order_cnt = [Int(slice.delta_pic_order_cnt.0), Int(slice.delta_pic_order_cnt.1)]
        direct_spatial_mv_pred_flag = slice.direct_spatial_mv_pred_flag != 0
        num_ref_idx_active_override_flag = listCount > 0 && slice.num_ref_idx_active_override_flag != 0
        let overrides = [slice.num_ref_idx_l0_active_minus1, slice.num_ref_idx_l1_active_minus1]
        for list in 0..<listCount {
            num_ref_idx_active[list] =
                num_ref_idx_active_override_flag
                ? min(Int(overrides[list]), 31) + 1 : picture.num_ref_idx_default_active[list]
        }
        setModifications(slice, buffer, sequence: sequence)
        if hasWeights(picture) { weights = Weights(slice, counts: num_ref_idx_active) }
        long_term_reference_flag = isIDR && buffer.CurrPic.flags & UInt32(VA_PICTURE_H264_LONG_TERM_REFERENCE) != 0
        cabac_init_idc = min(Int(slice.cabac_init_idc), 2)
        slice_qp_delta = Int(slice.slice_qp_delta)
        disable_deblocking_filter_idc = min(Int(slice.disable_deblocking_filter_idc), 2)
        slice_alpha_c0_offset_div2 = Int(slice.slice_alpha_c0_offset_div2)
        slice_beta_offset_div2 = Int(slice.slice_beta_offset_div2)
    }

    private mutating func setModifications(
        _ slice: VAEncSliceParameterBufferH264, _ buffer: VAEncPictureParameterBufferH264,
        sequence: H264SequenceParameterSet
    ) {
        guard let type, type != .i else { return }
        let maxFrameNum = 1 << sequence.log2_max_frame_num
        let order = ReferenceOrder(frame_num: frame_num & (maxFrameNum - 1), maxFrameNum: maxFrameNum)
        let frames = Self.frames(buffer.ReferenceFrames, count: 16, maxFrameNum: maxFrameNum)
        let current = min(Int(buffer.CurrPic.TopFieldOrderCnt), Int(buffer.CurrPic.BottomFieldOrderCnt))
        let initial =
            type == .p ? [order.initialP(frames)] : order.initialB(frames, pictureOrderCount: current)
        let target = [
            Self.frames(slice.RefPicList0, count: num_ref_idx_active[0], maxFrameNum: maxFrameNum),
            Self.frames(slice.RefPicList1, count: num_ref_idx_active[1], maxFrameNum: maxFrameNum),
        ]
        for list in 0..<listCount {
            modifications[list] = order.modifications(from: initial[list], to: target[list])
        }
    }

    /// Returns the valid entries among the first `count` of a C array of pictures. frame_num is wrapped, because
    /// clients may count frames without wrapping.
    private static func frames<Tuple>(_ tuple: Tuple, count: Int, maxFrameNum: Int) -> [ReferenceFrame] {
        let entries = FixedArray.values(tuple, as: VAPictureH264.self, count: count)
        return entries.filter {
            $0.picture_id != VAInvalid.surface && $0.flags & UInt32(VA_PICTURE_H264_INVALID) == 0
        }.map {
            let isLongTerm = $0.flags & UInt32(VA_PICTURE_H264_LONG_TERM_REFERENCE) != 0
            return ReferenceFrame(
                index: Int($0.frame_idx) & (maxFrameNum - 1), isLongTerm: isLongTerm,
                pictureOrderCount: min(Int($0.TopFieldOrderCnt), Int($0.BottomFieldOrderCnt)))
        }
    }
}

/// The macros of va.h that Swift does not import.
private enum VAInvalid {
    /// VA_INVALID_SURFACE.
    static let surface: UInt32 = 0xFFFF_FFFF
}

extension H264SliceHeader.Weights {
    /// The buffer has one flag for all entries of a list. If it is set, every entry is written.
    fileprivate init(_ slice: VAEncSliceParameterBufferH264, counts: [Int]) {
        luma_log2_weight_denom = min(Int(slice.luma_log2_weight_denom), 7)
        chroma_log2_weight_denom = min(Int(slice.chroma_log2_weight_denom), 7)
        lists = [
            Self.entries(
                count: counts[0],
                luma: slice.luma_weight_l0_flag != 0 ? (slice.luma_weight_l0, slice.luma_offset_l0) : nil,
                chroma: slice.chroma_weight_l0_flag != 0 ? (slice.chroma_weight_l0, slice.chroma_offset_l0) : nil),
            Self.entries(
                count: counts[1],
                luma: slice.luma_weight_l1_flag != 0 ? (slice.luma_weight_l1, slice.luma_offset_l1) : nil,
                chroma: slice.chroma_weight_l1_flag != 0 ? (slice.chroma_weight_l1, slice.chroma_offset_l1) : nil),
        ]
    }

    private static func entries<Luma, Chroma>(count: Int, luma: (Luma, Luma)?, chroma: (Chroma, Chroma)?) -> [Entry] {
        func numbers(_ tuple: some Any, _ index: Int) -> Int {
            Int(FixedArray.values(tuple, as: Int16.self, count: index + 1).last ?? 0)
        }
        return (0..<count).map { index in
            var entry = Entry()
            if let luma { entry.luma = [numbers(luma.0, index), numbers(luma.1, index)] }
            if let chroma {
                entry.chroma = (0..<2).flatMap { plane in
                    [numbers(chroma.0, 2 * index + plane), numbers(chroma.1, 2 * index + plane)]
                }
            }
            return entry
        }
    }
}
