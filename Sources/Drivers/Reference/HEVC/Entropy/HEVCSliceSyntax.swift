/// The values of the slice, the picture and the parameter sets that are needed to write coding tree units.
struct HEVCSliceSyntax {
    var width = 0
    var height = 0
    var log2CodingTreeBlock = 6
    var log2MinCodingBlock = 3
    var log2MinTransformBlock = 2
    var log2MaxTransformBlock = 5
    /// The number of smallest coding blocks in a row, PicWidthInMinCbsY.
    var minimumColumns = 0
    var type = SliceType.i
    /// SliceQpY.
    var qp = 26
    var cabac_init_flag = false
    /// The number of references in each list: num_ref_idx_l0_active_minus1 + 1 and num_ref_idx_l1_active_minus1 + 1.
    var referenceCount0 = 0
    var referenceCount1 = 0
    var mergeCandidates = 5
    var mvd_l1_zero_flag = false
    var max_transform_hierarchy_depth_inter = 0
    var max_transform_hierarchy_depth_intra = 0
    var amp_enabled_flag = false
    var hasTransformSkip = false
    var sign_data_hiding_enabled_flag = false
    /// cu_qp_delta_enabled_flag and Log2MinCuQpDeltaSize.
    var hasQPDelta = false
    var log2QuantizationGroup = 6
    var slice_sao_luma_flag = false
    var slice_sao_chroma_flag = false
    var bitDepth = 8

    init() {}

    init(_ slice: HEVCSliceJob, _ job: HEVCPictureJob) {
        width = job.grid.width
        height = job.grid.height
        log2CodingTreeBlock = job.grid.log2CodingTreeBlock
        log2MinCodingBlock = job.grid.log2MinCodingBlock
        log2MinTransformBlock = job.grid.log2MinTransformBlock
        log2MaxTransformBlock = job.grid.log2MaxTransformBlock
        minimumColumns = job.grid.minimumColumns
        type = slice.type
        qp = slice.qp
        cabac_init_flag = slice.cabac_init_flag
        referenceCount0 = slice.list0.count
        referenceCount1 = slice.list1.count
        mergeCandidates = slice.mergeCandidates
        mvd_l1_zero_flag = slice.mvd_l1_zero_flag
        max_transform_hierarchy_depth_inter = job.max_transform_hierarchy_depth_inter
        max_transform_hierarchy_depth_intra = job.max_transform_hierarchy_depth_intra
        amp_enabled_flag = job.amp_enabled_flag
        hasTransformSkip = job.hasTransformSkip
        sign_data_hiding_enabled_flag = job.sign_data_hiding_enabled_flag
        hasQPDelta = job.qpDeltaDepth != nil
        log2QuantizationGroup = log2CodingTreeBlock - (job.qpDeltaDepth ?? 0)
        slice_sao_luma_flag = slice.slice_sao_luma_flag
        slice_sao_chroma_flag = slice.slice_sao_chroma_flag
        bitDepth = job.bitDepth
    }
}

/// The availability of a coding tree unit's neighbors.
struct HEVCTreeNeighbors: BitwiseCopyable {
    /// Whether the unit to the left, and the one above, are in the same slice and tile. If so, their syntax selects
    /// contexts, and their SAO parameters may be merged.
    var hasLeft = false
    var hasTop = false
}

/// The properties of a coding unit that the syntax of later units depends on, stored by smallest coding block: log2 of
/// the size, plus 128 if the unit is skipped.
typealias HEVCUnitRecord = UInt8

extension HEVCCodingUnit {
    var record: HEVCUnitRecord { log2Size | (mode == .skip ? 128 : 0) }
}
