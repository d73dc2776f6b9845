/// pic_parameter_set_rbsp, H.265 7.3.2.3, without scaling lists.
package struct HEVCPictureParameterSet: Equatable, Sendable {
    package var pps_pic_parameter_set_id = 0
    package var pps_seq_parameter_set_id = 0
    package var dependent_slice_segments_enabled_flag = false
    package var output_flag_present_flag = false
    package var num_extra_slice_header_bits = 0
    package var sign_data_hiding_enabled_flag = false
    package var cabac_init_present_flag = false
    /// num_ref_idx_l0_default_active_minus1 + 1, and the same for list 1.
    package var num_ref_idx_default_active = [1, 1]
    /// 26 + init_qp_minus26.
    package var init_qp = 26
    package var constrained_intra_pred_flag = false
    package var transform_skip_enabled_flag = false
    /// The syntax element diff_cu_qp_delta_depth; nil if cu_qp_delta_enabled_flag is 0.
    package var diff_cu_qp_delta_depth: Int?
    package var pps_cb_qp_offset = 0
    package var pps_cr_qp_offset = 0
    package var pps_slice_chroma_qp_offsets_present_flag = false
    package var weighted_pred_flag = false
    package var weighted_bipred_flag = false
    package var transquant_bypass_enabled_flag = false
    /// The tiles; nil if tiles_enabled_flag is 0.
    package var tiles: Tiles?
    package var entropy_coding_sync_enabled_flag = false
    package var pps_loop_filter_across_slices_enabled_flag = false
    package var deblocking_filter_control_present_flag = false
    package var deblocking_filter_override_enabled_flag = false
    package var pps_deblocking_filter_disabled_flag = false
    package var pps_beta_offset_div2 = 0
    package var pps_tc_offset_div2 = 0
    package var pps_scaling_list_data_present_flag = false
    package var lists_modification_present_flag = false
    package var log2_parallel_merge_level = 2
    package var slice_segment_header_extension_present_flag = false
    /// The bits from pps_extension_present_flag on, as in the stream.
    var extensionBits = HeaderBits()

    package struct Tiles: Equatable, Sendable {
        package var num_tile_columns = 1
        package var num_tile_rows = 1
        /// column_width_minus1[] + 1 of all columns but the last; nil with uniform_spacing_flag.
        package var column_width: [Int]?
        /// row_height_minus1[] + 1 of all rows but the last; nil with uniform_spacing_flag.
        package var row_height: [Int]?
        package var loop_filter_across_tiles_enabled_flag = true

        package init(num_tile_columns: Int = 1, num_tile_rows: Int = 1) {
            self.num_tile_columns = num_tile_columns
            self.num_tile_rows = num_tile_rows
        }

        /// Returns the tiles with colBd and rowBd, (6-3) and (6-4); nil if the tiles do not fit the picture.
        package func bounds(_ grid: HEVCGrid) -> HEVCTiles? {
            func bounds(_ count: Int, _ given: [Int]?, of size: Int) -> [Int]? {
                guard count <= size else { return nil }
                guard let given else { return (0...count).map { $0 * size / count } }
                let sums = given.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1) }
                return sums.last ?? 0 < size ? sums + [size] : nil
            }
            guard let across = bounds(num_tile_columns, column_width, of: grid.columns),
                let down = bounds(num_tile_rows, row_height, of: grid.rows)
            else { return nil }
            return HEVCTiles(columnBounds: across, rowBounds: down)
        }
    }

    package init() {}

    /// Returns the NAL unit with a four-byte start code.
    package func nalUnit() -> [UInt8] {
        var bits = HeaderBitWriter()
        bits.putUnsigned(pps_pic_parameter_set_id)
        bits.putUnsigned(pps_seq_parameter_set_id)
        bits.put(dependent_slice_segments_enabled_flag)
        bits.put(output_flag_present_flag)
        bits.put(UInt32(num_extra_slice_header_bits), 3)
        bits.put(sign_data_hiding_enabled_flag)
        bits.put(cabac_init_present_flag)
        for count in num_ref_idx_default_active { bits.putUnsigned(count - 1) }
        bits.putSigned(init_qp - 26)
        bits.put(constrained_intra_pred_flag)
        bits.put(transform_skip_enabled_flag)
        bits.put(diff_cu_qp_delta_depth != nil)
        if let diff_cu_qp_delta_depth { bits.putUnsigned(diff_cu_qp_delta_depth) }
        bits.putSigned(pps_cb_qp_offset)
        bits.putSigned(pps_cr_qp_offset)
        bits.put(pps_slice_chroma_qp_offsets_present_flag)
        bits.put(weighted_pred_flag)
        bits.put(weighted_bipred_flag)
        bits.put(transquant_bypass_enabled_flag)
        bits.put(tiles != nil)
        bits.put(entropy_coding_sync_enabled_flag)
        if let tiles {
            bits.putUnsigned(tiles.num_tile_columns - 1)
            bits.putUnsigned(tiles.num_tile_rows - 1)
            bits.put(tiles.column_width == nil)  // uniform_spacing_flag
            if let column_width = tiles.column_width {
                for size in column_width + (tiles.row_height ?? []) { bits.putUnsigned(size - 1) }
            }
            bits.put(tiles.loop_filter_across_tiles_enabled_flag)
        }
        bits.put(pps_loop_filter_across_slices_enabled_flag)
        bits.put(deblocking_filter_control_present_flag)
        if deblocking_filter_control_present_flag {
            bits.put(deblocking_filter_override_enabled_flag)
            bits.put(pps_deblocking_filter_disabled_flag)
            if !pps_deblocking_filter_disabled_flag {
                bits.putSigned(pps_beta_offset_div2)
                bits.putSigned(pps_tc_offset_div2)
            }
        }
        bits.put(false)  // pps_scaling_list_data_present_flag
        bits.put(lists_modification_present_flag)
        bits.putUnsigned(log2_parallel_merge_level - 2)
        bits.put(slice_segment_header_extension_present_flag)
        if extensionBits == HeaderBits() {
            bits.put(false)  // pps_extension_present_flag
        } else {
            bits.put(extensionBits)
        }
        bits.putTrailingBits()
        return EmulationPrevention.escape(bits.bytes, after: [0, 0, 0, 1, 34 << 1, 1])
    }

    /// Reads an RBSP, which excludes the NAL unit header. Returns nil if it is truncated or a value is out of range. If
    /// there are scaling lists, the syntax after them is not read.
    package init?(rbsp: [UInt8]) {
        guard let end = HeaderBitReader.end(of: rbsp) else { return nil }
        var bits = HeaderBitReader(rbsp, bitCount: end)
        pps_pic_parameter_set_id = bits.unsigned()
        pps_seq_parameter_set_id = bits.unsigned()
        dependent_slice_segments_enabled_flag = bits.flag()
        output_flag_present_flag = bits.flag()
        num_extra_slice_header_bits = Int(bits.get(3))
        sign_data_hiding_enabled_flag = bits.flag()
        cabac_init_present_flag = bits.flag()
        num_ref_idx_default_active = [bits.unsigned() + 1, bits.unsigned() + 1]
        init_qp = 26 + bits.signed()
        constrained_intra_pred_flag = bits.flag()
        transform_skip_enabled_flag = bits.flag()
        if bits.flag() { diff_cu_qp_delta_depth = bits.unsigned() }
        pps_cb_qp_offset = bits.signed()
        pps_cr_qp_offset = bits.signed()
        pps_slice_chroma_qp_offsets_present_flag = bits.flag()
        weighted_pred_flag = bits.flag()
        weighted_bipred_flag = bits.flag()
        transquant_bypass_enabled_flag = bits.flag()
        let hasTiles = bits.flag()
        entropy_coding_sync_enabled_flag = bits.flag()
        if hasTiles {
            guard let tiles = Tiles(&bits) else { return nil }
            self.tiles = tiles
        }
        pps_loop_filter_across_slices_enabled_flag = bits.flag()
        deblocking_filter_control_present_flag = bits.flag()
        if deblocking_filter_control_present_flag {
            deblocking_filter_override_enabled_flag = bits.flag()
            pps_deblocking_filter_disabled_flag = bits.flag()
            if !pps_deblocking_filter_disabled_flag {
                pps_beta_offset_div2 = bits.signed()
                pps_tc_offset_div2 = bits.signed()
            }
        }
        guard !bits.failed, pps_pic_parameter_set_id <= 63, pps_seq_parameter_set_id <= 15,
            num_ref_idx_default_active.allSatisfy({ $0 <= 15 }),
            [pps_cb_qp_offset, pps_cr_qp_offset].allSatisfy({ (-12...12).contains($0) })
        else { return nil }
        pps_scaling_list_data_present_flag = bits.flag()
        if pps_scaling_list_data_present_flag { return }
        lists_modification_present_flag = bits.flag()
        log2_parallel_merge_level = 2 + bits.unsigned()
        slice_segment_header_extension_present_flag = bits.flag()
        extensionBits = bits.rest(endingAt: end)
        guard !bits.failed, extensionBits.count >= 1 else { return nil }
    }
}

extension HEVCPictureParameterSet.Tiles {
    fileprivate init?(_ bits: inout HeaderBitReader) {
        num_tile_columns = bits.unsigned() + 1
        num_tile_rows = bits.unsigned() + 1
        // No level of H.265 A.4.1 allows more.
        guard !bits.failed, num_tile_columns <= 20, num_tile_rows <= 22 else { return nil }
        if !bits.flag() {
            column_width = (1..<num_tile_columns).map { _ in bits.unsigned() + 1 }
            row_height = (1..<num_tile_rows).map { _ in bits.unsigned() + 1 }
        }
        loop_filter_across_tiles_enabled_flag = bits.flag()
    }
}
