/// An entry of a slice's reference picture list.
package struct HEVCReference: Sendable {
    package var picture: HEVCReconstructedPicture
    /// PicOrderCntVal.
    package var poc: Int
    /// Whether the picture is marked as "used for long-term reference" while the current picture is decoded.
    package var isLongTerm: Bool

    package init(picture: HEVCReconstructedPicture, poc: Int, isLongTerm: Bool = false) {
        self.picture = picture
        self.poc = poc
        self.isLongTerm = isLongTerm
    }
}

/// One slice of a picture to encode, which is one independent slice segment.
package struct HEVCSliceJob: Sendable {
    /// slice_segment_address, in raster order.
    package var firstCodingTree: Int
    /// The number of coding tree units, consecutive in tile scan.
    package var codingTreeCount: Int
    package var type: SliceType
    /// SliceQpY, H.265 (7-54).
    package var qp: Int
    /// pps_cb_qp_offset + slice_cb_qp_offset, and the same sum for Cr: −12…12.
    package var cbQPOffset = 0
    package var crQPOffset = 0
    /// The references in `ref_idx` order; the counts are num_ref_idx_l0_active_minus1 + 1 and
    /// num_ref_idx_l1_active_minus1 + 1. List 1 is empty except in B slices.
    package var list0: [HEVCReference]
    package var list1: [HEVCReference]
    /// The collocated picture, which is in one of the lists, and collocated_from_l0_flag. Nil if
    /// slice_temporal_mvp_enabled_flag is 0.
    package var collocated: HEVCReconstructedPicture?
    package var collocated_from_l0_flag = true
    /// MaxNumMergeCand, 1…5.
    package var mergeCandidates = 5
    package var mvd_l1_zero_flag = false
    package var cabac_init_flag = false
    /// slice_deblocking_filter_disabled_flag.
    package var slice_deblocking_filter_disabled_flag = false
    /// slice_beta_offset_div2 · 2 and slice_tc_offset_div2 · 2: −12…12.
    package var betaOffset = 0
    package var tcOffset = 0
    /// slice_loop_filter_across_slices_enabled_flag.
    package var slice_loop_filter_across_slices_enabled_flag = true
    /// slice_sao_luma_flag and slice_sao_chroma_flag.
    package var slice_sao_luma_flag = false
    package var slice_sao_chroma_flag = false
    /// The header's bits up to the entry points. The encoder appends num_entry_point_offsets and the offsets if the
    /// picture has tiles, slice_segment_header_extension_length (0) if `hasHeaderExtension` is true, and
    /// byte_alignment().
    package var header: SliceHeaderBits
    package var hasHeaderExtension = false

    package init(
        firstCodingTree: Int, codingTreeCount: Int, type: SliceType, qp: Int, list0: [HEVCReference] = [],
        list1: [HEVCReference] = [], header: SliceHeaderBits
    ) {
        self.firstCodingTree = firstCodingTree
        self.codingTreeCount = codingTreeCount
        self.type = type
        self.qp = qp
        self.list0 = list0
        self.list1 = list1
        self.header = header
    }
}

/// One HEVC picture to encode, from the values of the client's buffers after their check.
package struct HEVCPictureJob: Sendable {
    package var grid: HEVCGrid
    package var tiles: HEVCTiles
    /// The bit depth of source and reconstruction: 8 or 10.
    package var bitDepth = 8
    package var source: HEVCSource
    /// The picture that receives the reconstruction; it must not be in any list.
    package var reconstruction: HEVCReconstructedPicture
    /// PicOrderCntVal.
    package var poc: Int
    /// The slices in order. Together they cover every coding tree unit once, in tile scan.
    package var slices: [HEVCSliceJob]
    /// max_transform_hierarchy_depth_inter and _intra.
    package var max_transform_hierarchy_depth_inter = 0
    package var max_transform_hierarchy_depth_intra = 0
    /// amp_enabled_flag.
    package var amp_enabled_flag = false
    /// strong_intra_smoothing_enabled_flag.
    package var strong_intra_smoothing_enabled_flag = false
    /// constrained_intra_pred_flag.
    package var constrained_intra_pred_flag = false
    /// transform_skip_enabled_flag: the syntax contains transform_skip_flag. The encoder may always write 0.
    package var hasTransformSkip = false
    /// sign_data_hiding_enabled_flag.
    package var sign_data_hiding_enabled_flag = false
    /// diff_cu_qp_delta_depth; nil if cu_qp_delta_enabled_flag is 0, and then every QP is the slice's.
    package var qpDeltaDepth: Int?
    /// pps_cb_qp_offset and pps_cr_qp_offset without the slice's offsets: cQpPicOffset of deblocking.
    package var cbQPOffset = 0
    package var crQPOffset = 0
    /// Log2ParMrgLevel.
    package var log2_parallel_merge_level = 2
    /// loop_filter_across_tiles_enabled_flag.
    package var loop_filter_across_tiles_enabled_flag = true
    /// Whether later pictures may predict from this one.
    package var isReference = true
    /// The quality level from 1 (best) to 7 (fastest).
    package var quality = 4
    /// The requested QP_Y of each 16×16 area in raster order, −QpBdOffset…51, instead of the slice's QP. Areas of one
    /// quantization group share their mean. The values are used only if `qpDeltaDepth` is not nil.
    package var areaQPs: [Int8]?
    /// The columns or rows of coding tree units that rolling intra refresh codes as intra in this picture. The same as
    /// in `H264PictureJob`.
    package var intraRefresh: IntraRefresh?
    /// Whether levels are chosen by error and bits; nil leaves the decision to `quality`.
    package var choosesLevels: Bool?
    /// The maximum size of a slice's NAL unit in bytes; a single coding tree unit may exceed it. Its `header` function
    /// receives the raster address of a new slice's first coding tree unit. Not allowed with tiles; SAO is not used.
    package var sliceByteLimit: SliceByteLimit?

    package init(
        grid: HEVCGrid, source: HEVCSource, reconstruction: HEVCReconstructedPicture, poc: Int, slices: [HEVCSliceJob]
    ) {
        self.grid = grid
        tiles = HEVCTiles(grid)
        self.source = source
        self.reconstruction = reconstruction
        self.poc = poc
        self.slices = slices
    }
}

/// The client's surface: NV12 or, with 10 bits, P010. Samples outside of `width`×`height` repeat the last column and
/// row.
///
/// SAFETY: the back end keeps the surface's memory alive, and no one writes to it, while the job runs.
@safe package struct HEVCSource: @unchecked Sendable {
    package var luma: ElementPointer<UInt8>
    /// Cb and Cr interleaved.
    package var chroma: ElementPointer<UInt8>
    /// The distance between rows in bytes.
    package var lumaPitch: Int
    package var chromaPitch: Int
    package var width: Int
    package var height: Int
    /// Whether samples are little-endian 16-bit words with the value in the high ten bits.
    package var isP010: Bool

    package init(
        luma: ElementPointer<UInt8>, chroma: ElementPointer<UInt8>, lumaPitch: Int, chromaPitch: Int, width: Int, height: Int,
        isP010: Bool = false
    ) {
        self.luma = luma
        self.chroma = chroma
        self.lumaPitch = lumaPitch
        self.chromaPitch = chromaPitch
        self.width = width
        self.height = height
        self.isP010 = isP010
    }
}
