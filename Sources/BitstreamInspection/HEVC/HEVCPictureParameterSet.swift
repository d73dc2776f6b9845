/// pic_parameter_set_rbsp() (H.265 7.3.2.3) of layer 0, without its extensions.
package struct HEVCPictureParameterSet: Sendable, Hashable {
    /// The tile layout; present with tiles_enabled_flag.
    package struct Tiles: Sendable, Hashable {
        package var num_tile_columns: Int
        package var num_tile_rows: Int
        /// column_width_minus1[] + 1: the width of each column except the last in coding tree blocks; nil with
        /// uniform_spacing_flag.
        package var column_width: [Int]?
        /// row_height_minus1[] + 1: the height of each row except the last in coding tree blocks; nil with
        /// uniform_spacing_flag.
        package var row_height: [Int]?
        package var loop_filter_across_tiles_enabled_flag: Bool
    }

    package var pps_pic_parameter_set_id: Int
    package var pps_seq_parameter_set_id: Int
    package var dependent_slice_segments_enabled_flag: Bool
    package var output_flag_present_flag: Bool
    package var num_extra_slice_header_bits: Int
    package var sign_data_hiding_enabled_flag: Bool
    package var cabac_init_present_flag: Bool
    /// num_ref_idx_l0_default_active_minus1 + 1 and num_ref_idx_l1_default_active_minus1 + 1.
    package var num_ref_idx_default_active: [Int]
    /// 26 + init_qp_minus26.
    package var init_qp: Int
    package var constrained_intra_pred_flag: Bool
    package var transform_skip_enabled_flag: Bool
    package var cu_qp_delta_enabled_flag: Bool
    package var diff_cu_qp_delta_depth = 0
    package var pps_cb_qp_offset: Int
    package var pps_cr_qp_offset: Int
    package var pps_slice_chroma_qp_offsets_present_flag: Bool
    package var weighted_pred_flag: Bool
    package var weighted_bipred_flag: Bool
    package var transquant_bypass_enabled_flag: Bool
    package var entropy_coding_sync_enabled_flag: Bool
    /// The tile layout; nil without tiles_enabled_flag.
    package var tiles: Tiles?
    package var pps_loop_filter_across_slices_enabled_flag: Bool
    package var deblocking_filter_control_present_flag: Bool
    package var deblocking_filter_override_enabled_flag = false
    package var pps_deblocking_filter_disabled_flag = false
    package var pps_beta_offset_div2 = 0
    package var pps_tc_offset_div2 = 0
    package var pps_scaling_list_data_present_flag: Bool
    package var lists_modification_present_flag: Bool
    package var log2_parallel_merge_level: Int
    package var slice_segment_header_extension_present_flag: Bool
    package var pps_extension_present_flag: Bool

    /// Parses a picture parameter set.
    ///
    /// - Parameter sequenceSet: Returns an SPS by its id, or nil if none has arrived. Some bounds depend on the SPS.
    /// - Throws: `Malformed` if the set cannot be read.
    init(rbsp: [UInt8], sequenceSet: (Int) -> HEVCSequenceParameterSet?) throws(Malformed) {
        var reader = BitReader(rbsp)
        pps_pic_parameter_set_id = try reader.unsigned("pps_pic_parameter_set_id", in: 0...63)
        pps_seq_parameter_set_id = try reader.unsigned("pps_seq_parameter_set_id", in: 0...15)
        let sps = sequenceSet(pps_seq_parameter_set_id)
        dependent_slice_segments_enabled_flag = reader.flag()
        output_flag_present_flag = reader.flag()
        num_extra_slice_header_bits = reader.bits(3)
        sign_data_hiding_enabled_flag = reader.flag()
        cabac_init_present_flag = reader.flag()
        num_ref_idx_default_active = [
            try reader.unsigned("num_ref_idx_l0_default_active_minus1", in: 0...14) + 1,
            try reader.unsigned("num_ref_idx_l1_default_active_minus1", in: 0...14) + 1,
        ]
        let deepest = sps.map { 6 * ($0.bit_depth_luma - 8) } ?? 48
        init_qp = try reader.signed("init_qp_minus26", in: -(26 + deepest)...25) + 26
        constrained_intra_pred_flag = reader.flag()
        transform_skip_enabled_flag = reader.flag()
        cu_qp_delta_enabled_flag = reader.flag()
        if cu_qp_delta_enabled_flag {
            let most = sps.map { $0.log2_diff_max_min_luma_coding_block_size } ?? 3
            diff_cu_qp_delta_depth = try reader.unsigned("diff_cu_qp_delta_depth", in: 0...most)
        }
        pps_cb_qp_offset = try reader.signed("pps_cb_qp_offset", in: -12...12)
        pps_cr_qp_offset = try reader.signed("pps_cr_qp_offset", in: -12...12)
        pps_slice_chroma_qp_offsets_present_flag = reader.flag()
        weighted_pred_flag = reader.flag()
        weighted_bipred_flag = reader.flag()
        transquant_bypass_enabled_flag = reader.flag()
        let tiles_enabled_flag = reader.flag()
        entropy_coding_sync_enabled_flag = reader.flag()
        if tiles_enabled_flag { tiles = try Self.readTiles(&reader, sps) }
        pps_loop_filter_across_slices_enabled_flag = reader.flag()
        deblocking_filter_control_present_flag = reader.flag()
        if deblocking_filter_control_present_flag {
            deblocking_filter_override_enabled_flag = reader.flag()
            pps_deblocking_filter_disabled_flag = reader.flag()
            if !pps_deblocking_filter_disabled_flag {
                pps_beta_offset_div2 = try reader.signed("pps_beta_offset_div2", in: -6...6)
                pps_tc_offset_div2 = try reader.signed("pps_tc_offset_div2", in: -6...6)
            }
        }
        pps_scaling_list_data_present_flag = reader.flag()
        if pps_scaling_list_data_present_flag { try HEVCScalingLists.skip(&reader) }
        lists_modification_present_flag = reader.flag()
        log2_parallel_merge_level =
            try reader.unsigned("log2_parallel_merge_level_minus2", in: 0...((sps?.ctbLog2Size ?? 6) - 2)) + 2
        slice_segment_header_extension_present_flag = reader.flag()
        pps_extension_present_flag = reader.flag()
        try reader.checkEnd("the PPS")
        if !pps_extension_present_flag { try reader.checkTrailing("the PPS") }
    }

    private static func readTiles(
        _ reader: inout BitReader, _ sps: HEVCSequenceParameterSet?
    ) throws(Malformed) -> Tiles {
        let (width, height) = (sps?.widthInCtbs ?? 1056, sps?.heightInCtbs ?? 1056)
        let columns = try reader.unsigned("num_tile_columns_minus1", in: 0...(width - 1)) + 1
        let rows = try reader.unsigned("num_tile_rows_minus1", in: 0...(height - 1)) + 1
        if columns == 1, rows == 1 { throw Malformed("tiles_enabled_flag is 1, but there is only one tile") }
        var tiles = Tiles(num_tile_columns: columns, num_tile_rows: rows, loop_filter_across_tiles_enabled_flag: true)
        if !reader.flag() {
            func sizes(_ name: String, count: Int, whole: Int) throws(Malformed) -> [Int] {
                var sizes: [Int] = []
                for _ in 1..<max(count, 1) {
                    sizes.append(try reader.unsigned(name, in: 0...(whole - 1)) + 1)
                }
                guard sizes.reduce(0, +) < whole else { throw Malformed("\(name): nothing is left for the last tile") }
                return sizes
            }
            tiles.column_width = try sizes("column_width_minus1", count: columns, whole: width)
            tiles.row_height = try sizes("row_height_minus1", count: rows, whole: height)
        }
        tiles.loop_filter_across_tiles_enabled_flag = reader.flag()
        return tiles
    }

    /// Returns the start of each tile column in coding tree blocks, and the end of the last one (colBd, 6-3).
    package func columnBoundaries(_ sps: HEVCSequenceParameterSet) -> [Int] {
        Self.boundaries(tiles?.num_tile_columns ?? 1, sizes: tiles?.column_width, whole: sps.widthInCtbs)
    }

    /// Returns the start of each tile row in coding tree blocks, and the end of the last one (rowBd, 6-4).
    package func rowBoundaries(_ sps: HEVCSequenceParameterSet) -> [Int] {
        Self.boundaries(tiles?.num_tile_rows ?? 1, sizes: tiles?.row_height, whole: sps.heightInCtbs)
    }

    /// Returns whether the tiles fit a picture of an SPS. They may not: a PPS may precede the SPS that its slices use,
    /// and another SPS with the same id may follow the PPS.
    func tilesFit(_ sps: HEVCSequenceParameterSet) -> Bool {
        guard let tiles else { return true }
        return tiles.num_tile_columns <= sps.widthInCtbs && tiles.num_tile_rows <= sps.heightInCtbs
            && (tiles.column_width?.reduce(0, +) ?? 0) < sps.widthInCtbs
            && (tiles.row_height?.reduce(0, +) ?? 0) < sps.heightInCtbs
    }

    private static func boundaries(_ count: Int, sizes: [Int]?, whole: Int) -> [Int] {
        guard let sizes else { return (0...count).map { $0 * whole / count } }
        return sizes.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) } + [whole]
    }
}
