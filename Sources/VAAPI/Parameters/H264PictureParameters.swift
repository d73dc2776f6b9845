internal import CVA

/// A reference to a picture in parameter buffers: VAPictureH264.
package struct H264Picture: Sendable, Hashable {
    package enum Reference: Sendable, Hashable {
        case none, shortTerm, longTerm
    }

    package var surface: UInt32
    /// The frame_num of a short-term reference, or the LongTermFrameIdx of a long-term reference.
    package var frameIndex: UInt32
    package var reference: Reference
    package var topFieldOrderCount: Int32
    package var bottomFieldOrderCount: Int32

    package init(
        _ surface: Surface, frameIndex: UInt32, reference: Reference, topFieldOrderCount: Int32,
        bottomFieldOrderCount: Int32
    ) {
        self.surface = surface.identifier
        self.frameIndex = frameIndex
        self.reference = reference
        self.topFieldOrderCount = topFieldOrderCount
        self.bottomFieldOrderCount = bottomFieldOrderCount
    }

    var lowered: VAPictureH264 {
        var c = VAPictureH264()
        c.picture_id = surface
        c.frame_idx = frameIndex
        c.flags =
            switch reference {
            case .none: 0
            case .shortTerm: UInt32(VA_PICTURE_H264_SHORT_TERM_REFERENCE)
            case .longTerm: UInt32(VA_PICTURE_H264_LONG_TERM_REFERENCE)
            }
        c.TopFieldOrderCnt = topFieldOrderCount
        c.BottomFieldOrderCnt = bottomFieldOrderCount
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
            for index in entries.indices {
                unsafe entries[index] = index < pictures.count ? pictures[index].lowered : invalid
            }
        }
    }
}

/// The picture parameters of H.264: VAEncPictureParameterBufferH264.
package struct H264PictureParameters: ParameterBuffer, Sendable, Hashable {
    /// The reconstructed picture.
    package var current: H264Picture
    /// The pictures in the decoded picture buffer, at most 16.
    package var references: [H264Picture]
    package var codedBuffer: UInt32
    package var picParameterSetID: UInt8 = 0
    package var seqParameterSetID: UInt8 = 0
    /// Flags that make the driver end the sequence or the stream after this picture: H264_LAST_PICTURE_EOSEQ and
    /// H264_LAST_PICTURE_EOSTREAM.
    package var lastPicture: UInt8 = 0
    package var frameNum: UInt16
    package var picInitQP: UInt8 = 26
    package var numRefIdxL0ActiveMinus1: UInt8 = 0
    package var numRefIdxL1ActiveMinus1: UInt8 = 0
    package var chromaQPIndexOffset: Int8 = 0
    package var secondChromaQPIndexOffset: Int8 = 0
    package var isIDR: Bool
    /// nal_ref_idc, 0…3.
    package var referencePicFlag: UInt32
    package var entropyCodingMode: Bool
    package var weightedPred = false
    package var weightedBipredIDC: UInt32 = 0
    package var constrainedIntraPred = false
    package var transform8x8Mode = false
    package var deblockingFilterControlPresent = true
    package var redundantPicCntPresent = false
    package var picOrderPresent = false
    package var picScalingMatrixPresent = false

    package init(
        current: H264Picture, references: [H264Picture], codedBuffer: CodedBuffer, frameNum: UInt16, isIDR: Bool,
        referencePicFlag: UInt32, entropyCodingMode: Bool
    ) {
        self.current = current
        self.references = references
        self.codedBuffer = codedBuffer.identifier
        self.frameNum = frameNum
        self.isIDR = isIDR
        self.referencePicFlag = referencePicFlag
        self.entropyCodingMode = entropyCodingMode
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe lend(lowered, as: .picture, to: body)
    }

    var lowered: VAEncPictureParameterBufferH264 {
        var c = VAEncPictureParameterBufferH264()
        c.CurrPic = current.lowered
        H264Picture.fill(&c.ReferenceFrames, with: references)
        c.coded_buf = codedBuffer
        c.pic_parameter_set_id = picParameterSetID
        c.seq_parameter_set_id = seqParameterSetID
        c.last_picture = lastPicture
        c.frame_num = frameNum
        c.pic_init_qp = picInitQP
        c.num_ref_idx_l0_active_minus1 = numRefIdxL0ActiveMinus1
        c.num_ref_idx_l1_active_minus1 = numRefIdxL1ActiveMinus1
        c.chroma_qp_index_offset = chromaQPIndexOffset
        c.second_chroma_qp_index_offset = secondChromaQPIndexOffset
        unsafe c.pic_fields.bits.idr_pic_flag = isIDR ? 1 : 0
        unsafe c.pic_fields.bits.reference_pic_flag = referencePicFlag
        unsafe c.pic_fields.bits.entropy_coding_mode_flag = entropyCodingMode ? 1 : 0
        unsafe c.pic_fields.bits.weighted_pred_flag = weightedPred ? 1 : 0
        unsafe c.pic_fields.bits.weighted_bipred_idc = weightedBipredIDC
        unsafe c.pic_fields.bits.constrained_intra_pred_flag = constrainedIntraPred ? 1 : 0
        unsafe c.pic_fields.bits.transform_8x8_mode_flag = transform8x8Mode ? 1 : 0
        unsafe c.pic_fields.bits.deblocking_filter_control_present_flag = deblockingFilterControlPresent ? 1 : 0
        unsafe c.pic_fields.bits.redundant_pic_cnt_present_flag = redundantPicCntPresent ? 1 : 0
        unsafe c.pic_fields.bits.pic_order_present_flag = picOrderPresent ? 1 : 0
        unsafe c.pic_fields.bits.pic_scaling_matrix_present_flag = picScalingMatrixPresent ? 1 : 0
        return c
    }
}
