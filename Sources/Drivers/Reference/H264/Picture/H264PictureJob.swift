/// One slice of a picture to encode.
package struct H264SliceJob: Sendable {
    /// The raster address of the first macroblock.
    package var firstMacroblock: Int
    package var macroblockCount: Int
    package var type: SliceType
    /// SliceQP_Y, H.264 (7-30).
    package var qp: Int
    /// The reference pictures in the order of `ref_idx`, as in the client's lists. The number of entries is
    /// num_ref_idx_active.
    package var list0: [H264ReconstructedPicture]
    package var list1: [H264ReconstructedPicture]
    package var cabac: Bool
    package var cabac_init_idc: Int
    package var disable_deblocking_filter_idc: Int
    /// FilterOffsetA and FilterOffsetB, −12…12. They are twice the syntax elements.
    package var filterOffsetA: Int
    package var filterOffsetB: Int
    package var header: SliceHeaderBits
    /// `direct_8x8_inference_flag` of the sequence. B slices always use spatial direct prediction.
    package var direct_8x8_inference_flag = true
    /// Whether the first picture of list 1 is a long-term reference. If so, colZeroFlag is 0.
    package var isFirstOfList1LongTerm = false

    package init(
        firstMacroblock: Int, macroblockCount: Int, type: SliceType, qp: Int, list0: [H264ReconstructedPicture],
        list1: [H264ReconstructedPicture], cabac: Bool, cabac_init_idc: Int, disable_deblocking_filter_idc: Int,
        filterOffsetA: Int, filterOffsetB: Int, header: SliceHeaderBits
    ) {
        self.firstMacroblock = firstMacroblock
        self.macroblockCount = macroblockCount
        self.type = type
        self.qp = qp
        self.list0 = list0
        self.list1 = list1
        self.cabac = cabac
        self.cabac_init_idc = cabac_init_idc
        self.disable_deblocking_filter_idc = disable_deblocking_filter_idc
        self.filterOffsetA = filterOffsetA
        self.filterOffsetB = filterOffsetB
        self.header = header
    }
}

/// One picture to encode, made from the client's buffers after they were checked.
package struct H264PictureJob: Sendable {
    package var widthInMacroblocks: Int
    package var heightInMacroblocks: Int
    package var source: SourcePicture
    /// The picture that receives the reconstruction. It must not be in any list.
    package var reconstruction: H264ReconstructedPicture
    /// `transform_8x8_mode_flag`.
    package var transform8x8: Bool
    package var constrained_intra_pred_flag: Bool
    package var chroma_qp_index_offset: Int
    package var second_chroma_qp_index_offset: Int
    /// The speed: 1 (best quality) to 7 (fastest).
    package var quality: Int
    /// The slices in order. Together they cover every macroblock once.
    package var slices: [H264SliceJob]
    /// Whether later pictures may predict from this one (`reference_pic_flag`).
    package var isReference = true
    /// QP_Y of each macroblock in raster order, 0…51, which overrides the slice's QP. It has an entry for every
    /// macroblock.
    package var macroblockQPs: [UInt8]?
    /// The macroblock columns or rows that rolling intra refresh codes as intra in this picture.
    ///
    /// A range that starts at 0 begins a pass. Refreshed blocks are then predicted only from blocks that the same pass
    /// refreshed in earlier pictures. A decoder that starts with the pass therefore has correct pictures at its end.
    package var intraRefresh: IntraRefresh?
    /// Whether levels are chosen by their rate-distortion cost (trellis). If nil, `quality` decides.
    package var choosesLevels: Bool?
    /// Whether the result contains `lumaSquaredError`.
    package var measuresError = false
    /// The maximum size in bytes of each slice's NAL unit. A slice with a single macroblock may be larger.
    package var sliceByteLimit: SliceByteLimit?

    package init(
        widthInMacroblocks: Int, heightInMacroblocks: Int, source: SourcePicture,
        reconstruction: H264ReconstructedPicture, transform8x8: Bool, constrained_intra_pred_flag: Bool,
        chroma_qp_index_offset: Int,
        second_chroma_qp_index_offset: Int, quality: Int, slices: [H264SliceJob]
    ) {
        self.widthInMacroblocks = widthInMacroblocks
        self.heightInMacroblocks = heightInMacroblocks
        self.source = source
        self.reconstruction = reconstruction
        self.transform8x8 = transform8x8
        self.constrained_intra_pred_flag = constrained_intra_pred_flag
        self.chroma_qp_index_offset = chroma_qp_index_offset
        self.second_chroma_qp_index_offset = second_chroma_qp_index_offset
        self.quality = quality
        self.slices = slices
    }
}

/// The client's NV12 surface. Outside `width`×`height`, macroblocks repeat the last column and row.
///
/// SAFETY: the back end keeps the surface's memory mapped and prevents writes to it while the job runs.
@safe package struct SourcePicture: @unchecked Sendable {
    package var luma: ElementPointer<UInt8>
    package var chroma: ElementPointer<UInt8>
    package var lumaPitch: Int
    package var chromaPitch: Int
    package var width: Int
    package var height: Int

    package init(
        luma: ElementPointer<UInt8>, chroma: ElementPointer<UInt8>, lumaPitch: Int, chromaPitch: Int, width: Int, height: Int
    ) {
        self.luma = luma
        self.chroma = chroma
        self.lumaPitch = lumaPitch
        self.chromaPitch = chromaPitch
        self.width = width
        self.height = height
    }
}
