internal import CVA

/// A reference to a picture in parameter buffers: VAPictureH264.
package struct H264Picture: Sendable, Hashable {
    package enum Reference: Sendable, Hashable {
        case none, shortTerm, longTerm
    }

    package var picture_id: UInt32
    /// The frame_num of a short-term reference, or the LongTermFrameIdx of a long-term reference.
    package var frame_idx: UInt32
    package var reference: Reference
    package var TopFieldOrderCnt: Int32
    package var BottomFieldOrderCnt: Int32

    package init(
        _ surface: Surface, frame_idx: UInt32, reference: Reference, TopFieldOrderCnt: Int32,
        BottomFieldOrderCnt: Int32
    ) {
        self.picture_id = surface.identifier
        self.frame_idx = frame_idx
        self.reference = reference
        self.TopFieldOrderCnt = TopFieldOrderCnt
        self.BottomFieldOrderCnt = BottomFieldOrderCnt
    }

    var lowered: VAPictureH264 {
        var c = VAPictureH264()
        c.picture_id = picture_id
        c.frame_idx = frame_idx
        c.flags =
            switch reference {
            case .none: 0
            case .shortTerm: UInt32(VA_PICTURE_H264_SHORT_TERM_REFERENCE)
            case .longTerm: UInt32(VA_PICTURE_H264_LONG_TERM_REFERENCE)
            }
        c.TopFieldOrderCnt = TopFieldOrderCnt
        c.BottomFieldOrderCnt = BottomFieldOrderCnt
        return c
    }

    /// An entry that refers to no picture.
    static var invalid: VAPictureH264 {
        var c = VAPictureH264()
        c.picture_id = VA_INVALID_SURFACE
        c.flags = UInt32(VA_PICTURE_H264_INVALID)
        return c
    }

    /// Writes the pictures into a C array and marks the remaining elements as invalid. Pictures that do not fit are
    /// ignored.
    static func fill<Tuple: BitwiseCopyable>(_ tuple: inout Tuple, with pictures: [H264Picture]) {
        unsafe withUnsafeMutableBytes(of: &tuple) { bytes in
            // SAFETY: The tuple is a C array of VAPictureH264: all callers pass such a member.
            let entries = unsafe bytes.bindMemory(to: VAPictureH264.self)
            unsafe entries.update(repeating: invalid)
            for index in 0..<min(pictures.count, entries.count) { unsafe entries[index] = pictures[index].lowered }
        }
    }
}

/// The picture parameters of H.264: VAEncPictureParameterBufferH264.
package struct H264PictureParameters: ParameterBuffer, Sendable, Hashable {
    /// The reconstructed picture.
    package var CurrPic: H264Picture
    /// The pictures in the decoded picture buffer, at most 16.
    package var ReferenceFrames: [H264Picture]
    package var coded_buf: UInt32
    package var pic_parameter_set_id: UInt8 = 0
    package var seq_parameter_set_id: UInt8 = 0
    /// Flags that make the driver end the sequence or the stream after this picture: H264_LAST_PICTURE_EOSEQ and
    /// H264_LAST_PICTURE_EOSTREAM.
    package var last_picture: UInt8 = 0
    package var frame_num: UInt16
    package var pic_init_qp: UInt8 = 26
    package var num_ref_idx_l0_active_minus1: UInt8 = 0
    package var num_ref_idx_l1_active_minus1: UInt8 = 0
    package var chroma_qp_index_offset: Int8 = 0
    package var second_chroma_qp_index_offset: Int8 = 0
    package var idr_pic_flag: Bool
    /// nal_ref_idc, 0…3.
    package var reference_pic_flag: UInt32
    package var entropy_coding_mode_flag: Bool
    package var weighted_pred_flag = false
    package var weighted_bipred_idc: UInt32 = 0
    package var constrained_intra_pred_flag = false
    package var transform_8x8_mode_flag = false
    package var deblocking_filter_control_present_flag = true
    package var redundant_pic_cnt_present_flag = false
    package var pic_order_present_flag = false
    package var pic_scaling_matrix_present_flag = false

    package init(
        CurrPic: H264Picture, ReferenceFrames: [H264Picture], coded_buf: CodedBuffer, frame_num: UInt16,
        idr_pic_flag: Bool,
        reference_pic_flag: UInt32, entropy_coding_mode_flag: Bool
    ) {
        self.CurrPic = CurrPic
        self.ReferenceFrames = ReferenceFrames
        self.coded_buf = coded_buf.identifier
        self.frame_num = frame_num
        self.idr_pic_flag = idr_pic_flag
        self.reference_pic_flag = reference_pic_flag
        self.entropy_coding_mode_flag = entropy_coding_mode_flag
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe withBytes(lowered, as: .picture, to: body)
    }

    var lowered: VAEncPictureParameterBufferH264 {
        var c = VAEncPictureParameterBufferH264()
        c.CurrPic = CurrPic.lowered
        H264Picture.fill(&c.ReferenceFrames, with: ReferenceFrames)
        c.coded_buf = coded_buf
        c.pic_parameter_set_id = pic_parameter_set_id
        c.seq_parameter_set_id = seq_parameter_set_id
        c.last_picture = last_picture
        c.frame_num = frame_num
        c.pic_init_qp = pic_init_qp
        c.num_ref_idx_l0_active_minus1 = num_ref_idx_l0_active_minus1
        c.num_ref_idx_l1_active_minus1 = num_ref_idx_l1_active_minus1
        c.chroma_qp_index_offset = chroma_qp_index_offset
        c.second_chroma_qp_index_offset = second_chroma_qp_index_offset
        unsafe c.pic_fields.bits.idr_pic_flag = idr_pic_flag ? 1 : 0
        unsafe c.pic_fields.bits.reference_pic_flag = reference_pic_flag
        unsafe c.pic_fields.bits.entropy_coding_mode_flag = entropy_coding_mode_flag ? 1 : 0
        unsafe c.pic_fields.bits.weighted_pred_flag = weighted_pred_flag ? 1 : 0
        unsafe c.pic_fields.bits.weighted_bipred_idc = weighted_bipred_idc
        unsafe c.pic_fields.bits.constrained_intra_pred_flag = constrained_intra_pred_flag ? 1 : 0
        unsafe c.pic_fields.bits.transform_8x8_mode_flag = transform_8x8_mode_flag ? 1 : 0
        unsafe c.pic_fields.bits.deblocking_filter_control_present_flag = deblocking_filter_control_present_flag ? 1 : 0
        unsafe c.pic_fields.bits.redundant_pic_cnt_present_flag = redundant_pic_cnt_present_flag ? 1 : 0
        unsafe c.pic_fields.bits.pic_order_present_flag = pic_order_present_flag ? 1 : 0
        unsafe c.pic_fields.bits.pic_scaling_matrix_present_flag = pic_scaling_matrix_present_flag ? 1 : 0
        return c
    }
}
