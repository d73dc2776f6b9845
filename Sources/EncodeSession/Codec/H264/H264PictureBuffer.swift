import EncodePlanning
import H264Syntax
import VAAPI
import VideoBase

extension H264PictureParameters {
    /// Creates VAEncPictureParameterBufferH264 from the picture's numbers, the stored references, the picture parameter
    /// set and the output buffer.
    init(
        _ plan: FramePlan, _ numbers: H264PictureNumbers, pps: PictureParameterSet, reconstructions: [Surface],
        output: CodedBuffer
    ) {
        self.init(
            current: H264Picture(
                reconstructions[plan.slot], frameIndex: UInt32(numbers.frame_num),
                reference: numbers.nal_ref_idc == 0 ? .none : .shortTerm,
                topFieldOrderCount: Int32(truncatingIfNeeded: numbers.picOrderCount),
                bottomFieldOrderCount: Int32(truncatingIfNeeded: numbers.picOrderCount)),
            references: numbers.stored.map { H264Picture($0, reconstructions) }, codedBuffer: output,
            frameNum: UInt16(numbers.frame_num), isIDR: plan.type == .idr,
            referencePicFlag: numbers.nal_ref_idc == 0 ? 0 : 1,
            entropyCodingMode: pps.entropy_coding_mode_flag)
        picParameterSetID = UInt8(pps.pic_parameter_set_id)
        seqParameterSetID = UInt8(pps.seq_parameter_set_id)
        picInitQP = UInt8(pps.pic_init_qp)
        numRefIdxL0ActiveMinus1 = UInt8(pps.num_ref_idx_default_active[0] - 1)
        numRefIdxL1ActiveMinus1 = UInt8(pps.num_ref_idx_default_active[1] - 1)
        chromaQPIndexOffset = Int8(pps.chroma_qp_index_offset)
        secondChromaQPIndexOffset = Int8(pps.second_chroma_qp_index_offset)
        weightedPred = pps.weighted_pred_flag
        weightedBipredIDC = UInt32(pps.weighted_bipred_idc)
        constrainedIntraPred = pps.constrained_intra_pred_flag
        transform8x8Mode = pps.transform_8x8_mode_flag
        deblockingFilterControlPresent = pps.deblocking_filter_control_present_flag
    }
}

extension H264Picture {
    /// Creates the entry of a stored reference.
    init(_ stored: H264StoredPicture, _ reconstructions: [Surface]) {
        self.init(
            reconstructions[stored.picture.slot], frameIndex: UInt32(stored.longTermIndex ?? stored.frame_num),
            reference: stored.longTermIndex == nil ? .shortTerm : .longTerm,
            topFieldOrderCount: Int32(truncatingIfNeeded: stored.picOrderCount),
            bottomFieldOrderCount: Int32(truncatingIfNeeded: stored.picOrderCount))
    }
}
