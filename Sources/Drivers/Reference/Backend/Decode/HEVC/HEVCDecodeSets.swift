internal import CVA

/// Writes parameter sets with the values of a client's buffers (H.265 7.3.2). libavcodec's decoder accepts these values
/// only as part of a stream.
///
/// `HEVCDecodeSlice` writes new slice headers. The sequence parameter set has no reference picture sets, so each slice
/// header has a complete one.
struct HEVCDecodeSets {
    let picture: VAPictureParameterBufferHEVC
    /// The scaling lists. If it is nil and scaling lists are enabled, the default lists of the standard are used.
    let matrix: VAIQMatrixBufferHEVC?

    /// log2_max_pic_order_cnt_lsb. This is the maximum that the standard allows (H.265 7.4.3.2.1).
    static let orderBits = 16

    /// Returns slice_pic_order_cnt_lsb of a picture with the PicOrderCntVal `order`.
    static func lowBits(of order: Int) -> UInt32 { UInt32(truncatingIfNeeded: order) & (1 << UInt32(orderBits) - 1) }

    /// The video, sequence and picture parameter sets, with start codes.
    var bytes: [UInt8] {
        DecodePacket.unit([0x40, 1], video()) + DecodePacket.unit([0x42, 1], sequence())
            + DecodePacket.unit([0x44, 1], pictureSet())
    }

    private var bitDepth: Int { Int(picture.bit_depth_luma_minus8) + 8 }

    private func video() -> HeaderBitWriter {
        var bits = HeaderBitWriter()
        bits.put(0, 4)
        bits.put(3, 2)
        // One layer, one sub-layer, vps_temporal_id_nesting_flag.
        bits.put(0, 9)
        bits.put(1, 1)
        bits.put(0xffff, 16)
        putProfile(&bits)
        putBuffering(&bits)
        bits.put(0, 6)
        bits.putUnsigned(0)
        bits.put(0, 2)
        return bits
    }

    /// Writes profile_tier_level (H.265 7.3.3): Main or Main 10 at level 6.2.
    private func putProfile(_ bits: inout HeaderBitWriter) {
        let profile: UInt32 = bitDepth > 8 ? 2 : 1
        bits.put(profile, 8)
        bits.put(1 << (31 - profile), 32)
        bits.put(0, 32)
        bits.put(0, 16)
        bits.put(186, 8)
    }

    /// Writes the sizes of the decoded picture buffer: the maximum number of pictures, and no reordering. The decoder
    /// therefore outputs pictures without delay.
    private func putBuffering(_ bits: inout HeaderBitWriter) {
        bits.put(1, 1)
        for value in [15, 0, 0] { bits.putUnsigned(value) }
    }

    private func sequence() -> HeaderBitWriter {
        let fields = unsafe picture.pic_fields.bits
        let parsing = unsafe picture.slice_parsing_fields.bits
        var bits = HeaderBitWriter()
        bits.put(0, 7)
        bits.put(1, 1)
        putProfile(&bits)
        for value in [0, 1, Int(picture.pic_width_in_luma_samples), Int(picture.pic_height_in_luma_samples)] {
            bits.putUnsigned(value)
        }
        bits.put(0, 1)
        for value in [bitDepth - 8, Int(picture.bit_depth_chroma_minus8), Self.orderBits - 4] { bits.putUnsigned(value) }
        putBuffering(&bits)
        for value in [
            picture.log2_min_luma_coding_block_size_minus3, picture.log2_diff_max_min_luma_coding_block_size,
            picture.log2_min_transform_block_size_minus2, picture.log2_diff_max_min_transform_block_size,
            picture.max_transform_hierarchy_depth_inter, picture.max_transform_hierarchy_depth_intra,
        ] { bits.putUnsigned(Int(value)) }
        bits.put(fields.scaling_list_enabled_flag != 0)
        // sps_scaling_list_data_present_flag is 0, because the lists are in the picture parameter set.
        if fields.scaling_list_enabled_flag != 0 { bits.put(0, 1) }
        bits.put(fields.amp_enabled_flag != 0)
        bits.put(parsing.sample_adaptive_offset_enabled_flag != 0)
        bits.put(fields.pcm_enabled_flag != 0)
        if fields.pcm_enabled_flag != 0 {
            bits.put(UInt32(picture.pcm_sample_bit_depth_luma_minus1), 4)
            bits.put(UInt32(picture.pcm_sample_bit_depth_chroma_minus1), 4)
            bits.putUnsigned(Int(picture.log2_min_pcm_luma_coding_block_size_minus3))
            bits.putUnsigned(Int(picture.log2_diff_max_min_pcm_luma_coding_block_size))
            bits.put(fields.pcm_loop_filter_disabled_flag != 0)
        }
        bits.putUnsigned(0)
        // long_term_ref_pics_present_flag is 1. The slice headers list the pictures.
        bits.put(1, 1)
        bits.putUnsigned(0)
        bits.put(parsing.sps_temporal_mvp_enabled_flag != 0)
        bits.put(fields.strong_intra_smoothing_enabled_flag != 0)
        bits.put(0, 2)
        return bits
    }

    private func pictureSet() -> HeaderBitWriter {
        let fields = unsafe picture.pic_fields.bits
        let parsing = unsafe picture.slice_parsing_fields.bits
        var bits = HeaderBitWriter()
        bits.putUnsigned(0)
        bits.putUnsigned(0)
        bits.put(parsing.dependent_slice_segments_enabled_flag != 0)
        // output_flag_present_flag, num_extra_slice_header_bits.
        bits.put(0, 4)
        bits.put(fields.sign_data_hiding_enabled_flag != 0)
        // cabac_init_present_flag. Each slice header has its own numbers of active references.
        bits.put(1, 1)
        bits.putUnsigned(0)
        bits.putUnsigned(0)
        bits.putSigned(Int(picture.init_qp_minus26))
        bits.put(fields.constrained_intra_pred_flag != 0)
        bits.put(fields.transform_skip_enabled_flag != 0)
        bits.put(fields.cu_qp_delta_enabled_flag != 0)
        if fields.cu_qp_delta_enabled_flag != 0 { bits.putUnsigned(Int(picture.diff_cu_qp_delta_depth)) }
        bits.putSigned(Int(picture.pps_cb_qp_offset))
        bits.putSigned(Int(picture.pps_cr_qp_offset))
        // pps_slice_chroma_qp_offsets_present_flag.
        bits.put(1, 1)
        bits.put(fields.weighted_pred_flag != 0)
        bits.put(fields.weighted_bipred_flag != 0)
        bits.put(fields.transquant_bypass_enabled_flag != 0)
        bits.put(fields.tiles_enabled_flag != 0)
        bits.put(fields.entropy_coding_sync_enabled_flag != 0)
        if fields.tiles_enabled_flag != 0 { putTiles(&bits) }
        bits.put(fields.pps_loop_filter_across_slices_enabled_flag != 0)
        // Deblocking control is present, override is enabled, deblocking is not disabled, and the offsets are 0. Each
        // slice header overrides these values.
        bits.put(0b110, 3)
        bits.putSigned(0)
        bits.putSigned(0)
        bits.put(matrix != nil && fields.scaling_list_enabled_flag != 0)
        if let matrix, fields.scaling_list_enabled_flag != 0 { putLists(matrix, &bits) }
        // lists_modification_present_flag.
        bits.put(1, 1)
        bits.putUnsigned(Int(picture.log2_parallel_merge_level_minus2))
        bits.put(0, 2)
        return bits
    }

    private func putTiles(_ bits: inout HeaderBitWriter) {
        let (columns, rows) = (Int(picture.num_tile_columns_minus1), Int(picture.num_tile_rows_minus1))
        bits.putUnsigned(columns)
        bits.putUnsigned(rows)
        bits.put(0, 1)
        for width in FixedArray.values(picture.column_width_minus1, as: UInt16.self, count: columns) {
            bits.putUnsigned(Int(width))
        }
        for height in FixedArray.values(picture.row_height_minus1, as: UInt16.self, count: rows) {
            bits.putUnsigned(Int(height))
        }
        bits.put(unsafe picture.pic_fields.bits.loop_filter_across_tiles_enabled_flag != 0)
    }

    /// Writes scaling_list_data (H.265 7.3.4). The lists in `matrix` are in raster order.
    private func putLists(_ matrix: VAIQMatrixBufferHEVC, _ bits: inout HeaderBitWriter) {
        func lists(_ values: [UInt8], side: Int, dc: [UInt8]) {
            let size = side * side
            for list in 0..<values.count / size {
                bits.put(1, 1)
                var last: UInt8 = 8
                if !dc.isEmpty {
                    bits.putSigned(Int(dc[list]) - 8)
                    last = dc[list]
                }
                for index in Self.diagonal(side) {
                    let value = values[size * list + index]
                    bits.putSigned(Int(Int8(bitPattern: value &- last)))
                    last = value
                }
            }
        }
        func values<Tuple>(_ tuple: Tuple) -> [UInt8] { FixedArray.values(tuple, as: UInt8.self, count: .max) }
        lists(values(matrix.ScalingList4x4), side: 4, dc: [])
        lists(values(matrix.ScalingList8x8), side: 8, dc: [])
        lists(values(matrix.ScalingList16x16), side: 8, dc: values(matrix.ScalingListDC16x16))
        lists(values(matrix.ScalingList32x32), side: 8, dc: values(matrix.ScalingListDC32x32))
    }

    /// Returns the raster indices of a block of `side`×`side` in the order of the up-right diagonal scan (H.265 6.5.3).
    static func diagonal(_ side: Int) -> [Int] {
        (0...2 * side - 2).flatMap { sum in
            (max(0, sum - side + 1)...min(sum, side - 1)).map { (sum - $0) * side + $0 }
        }
    }
}
