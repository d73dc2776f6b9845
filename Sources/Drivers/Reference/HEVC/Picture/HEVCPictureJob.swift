/// A picture of a slice's reference picture list.
package struct HEVCReference: Sendable {
    package var picture: HEVCReconstructedPicture
    /// PicOrderCntVal.
    package var poc: Int
    /// "Used for long-term reference" while the current picture is decoded.
    package var isLongTerm: Bool

    package init(picture: HEVCReconstructedPicture, poc: Int, isLongTerm: Bool = false) {
        self.picture = picture
        self.poc = poc
        self.isLongTerm = isLongTerm
    }
}

/// One slice, which is one independent slice segment, of a picture to encode.
package struct HEVCSliceJob: Sendable {
    /// slice_segment_address, in raster order.
    package var firstCodingTree: Int
    /// Coding tree units, which follow one another in tile scan.
    package var codingTreeCount: Int
    package var type: SliceType
    /// SliceQpY, H.265 (7-54).
    package var qp: Int
    /// pps_cb_qp_offset + slice_cb_qp_offset, and those of Cr: −12…12.
    package var cbQPOffset = 0
    package var crQPOffset = 0
    /// In `ref_idx` order; the counts are num_ref_idx_active. List 1 is empty but in B slices.
    package var list0: [HEVCReference]
    package var list1: [HEVCReference]
    /// The collocated picture where slice_temporal_mvp_enabled_flag is 1, which is one of the lists', and
    /// collocated_from_l0_flag.
    package var collocated: HEVCReconstructedPicture?
    package var isCollocatedFromList0 = true
    /// MaxNumMergeCand, 1…5.
    package var mergeCandidates = 5
    package var mvdL1Zero = false
    package var cabacInitFlag = false
    /// slice_deblocking_filter_disabled_flag.
    package var disablesDeblocking = false
    /// slice_beta_offset_div2 · 2 and slice_tc_offset_div2 · 2: −12…12.
    package var betaOffset = 0
    package var tcOffset = 0
    /// slice_loop_filter_across_slices_enabled_flag.
    package var filtersAcrossSlices = true
    /// slice_sao_luma_flag and slice_sao_chroma_flag.
    package var saoLuma = false
    package var saoChroma = false
    /// All up to the entry points. The encoder adds num_entry_point_offsets and what follows of them where the picture
    /// has tiles, slice_segment_header_extension_length (0) where `hasHeaderExtension` says so, and byte_alignment().
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

/// One HEVC picture to encode: everything the client's buffers said, checked.
package struct HEVCPictureJob: Sendable {
    package var grid: HEVCGrid
    package var tiles: HEVCTiles
    /// 8 or 10, of source and reconstruction.
    package var bitDepth = 8
    package var source: HEVCSource
    /// Where the reconstruction goes; not in any list.
    package var reconstruction: HEVCReconstructedPicture
    /// PicOrderCntVal.
    package var poc: Int
    /// In order; together they cover every coding tree unit once, in tile scan.
    package var slices: [HEVCSliceJob]
    /// max_transform_hierarchy_depth_inter and _intra.
    package var transformDepthInter = 0
    package var transformDepthIntra = 0
    /// amp_enabled_flag.
    package var amp_enabled_flag = false
    /// strong_intra_smoothing_enabled_flag.
    package var strongIntraSmoothing = false
    /// constrained_intra_pred_flag.
    package var constrainedIntraPrediction = false
    /// transform_skip_enabled_flag: the syntax has transform_skip_flag; the encoder may leave it 0.
    package var hasTransformSkip = false
    /// sign_data_hiding_enabled_flag.
    package var sign_data_hiding_enabled_flag = false
    /// diff_cu_qp_delta_depth; nil where cu_qp_delta_enabled_flag is 0, and every QP is its slice's.
    package var qpDeltaDepth: Int?
    /// pps_cb_qp_offset and pps_cr_qp_offset, without the slice's: cQpPicOffset of deblocking.
    package var cbQPOffset = 0
    package var crQPOffset = 0
    /// Log2ParMrgLevel.
    package var log2ParallelMergeLevel = 2
    /// loop_filter_across_tiles_enabled_flag.
    package var filtersAcrossTiles = true
    /// Pictures will predict from this one.
    package var isReference = true
    /// 1 best … 7 fastest.
    package var quality = 4
    /// Wanted QP_Y of each 16×16 area in raster order, −QpBdOffset…51, in place of the slice's; taken as far as
    /// quantization groups allow. Only with `qpDeltaDepth`.
    package var areaQPs: [Int8]?
    /// Columns, or rows, of coding tree units that are coded as intra: what rolling intra refresh renews in this picture.
    /// As in `PictureJob`.
    package var intraRefresh: IntraRefresh?
    /// Levels are chosen by what they cost, or not; nil leaves it to `quality`.
    package var choosesLevels: Bool?
    /// Bytes that no slice's NAL unit shall exceed, where one coding tree unit does not; the header is asked for the
    /// raster address of its first coding tree unit. Not with tiles; without SAO.
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

/// The client's surface: NV12 or, at 10 bit, P010. Samples outside `width`×`height` repeat the last column and row.
///
/// SAFETY: the back end keeps the surface's memory alive and unmapped for writing while the job runs.
@safe package struct HEVCSource: @unchecked Sendable {
    package var luma: ElementPointer<UInt8>
    /// Cb and Cr interleaved.
    package var chroma: ElementPointer<UInt8>
    /// Bytes.
    package var lumaPitch: Int
    package var chromaPitch: Int
    package var width: Int
    package var height: Int
    /// Samples are little-endian words with their value in the high ten bits.
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
