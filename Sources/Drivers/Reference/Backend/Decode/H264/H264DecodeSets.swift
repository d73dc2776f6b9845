internal import CVA

/// Writes parameter sets with the values of a client's buffers (H.264 7.3.2.1, 7.3.2.2). libavcodec's decoder accepts
/// these values only as part of a stream.
struct H264DecodeSets {
    let picture: VAPictureParameterBufferH264
    /// The scaling lists, or nil for flat lists.
    let matrix: VAIQMatrixBufferH264?

    /// Returns the sequence parameter set, and a picture parameter set for each id in `ids`.
    ///
    /// - Parameter counts: The default number of active references in lists 0 and 1
    ///   (num_ref_idx_l0_default_active_minus1 + 1).
    func bytes(ids: [Int], counts: (list0: Int, list1: Int)) -> [UInt8] {
        ids.reduce(DecodePacket.unit([0x67], sequence())) {
            $0 + DecodePacket.unit([0x68], pictureSet(id: $1, counts: counts))
        }
    }

    private func sequence() -> HeaderBitWriter {
        let fields = unsafe picture.seq_fields.bits
        var bits = HeaderBitWriter()
        // High profile, level 6.2. High has all coding tools of the supported profiles.
        for byte in [100, 0, 62] as [UInt32] { bits.put(byte, 8) }
        bits.putUnsigned(0)
        bits.putUnsigned(Int(fields.chroma_format_idc))
        bits.putUnsigned(Int(picture.bit_depth_luma_minus8))
        bits.putUnsigned(Int(picture.bit_depth_chroma_minus8))
        // qpprime_y_zero_transform_bypass_flag, seq_scaling_matrix_present_flag.
        bits.put(0, 2)
        bits.putUnsigned(Int(fields.log2_max_frame_num_minus4))
        bits.putUnsigned(Int(fields.pic_order_cnt_type))
        if fields.pic_order_cnt_type == 0 { bits.putUnsigned(Int(fields.log2_max_pic_order_cnt_lsb_minus4)) }
        bits.putUnsigned(Int(picture.num_ref_frames))
        bits.put(fields.gaps_in_frame_num_value_allowed_flag != 0)
        bits.putUnsigned(Int(picture.picture_width_in_mbs_minus1))
        let rows = Int(picture.picture_height_in_mbs_minus1) + 1
        bits.putUnsigned((fields.frame_mbs_only_flag != 0 ? rows : rows / 2) - 1)
        bits.put(fields.frame_mbs_only_flag != 0)
        if fields.frame_mbs_only_flag == 0 { bits.put(fields.mb_adaptive_frame_field_flag != 0) }
        bits.put(fields.direct_8x8_inference_flag != 0)
        // No cropping. The VUI has only bitstream_restriction, with max_num_reorder_frames 0. The decoder therefore
        // outputs pictures without delay.
        bits.put(0, 1)
        bits.put(1, 1)
        bits.put(0, 8)
        bits.put(1, 1)
        bits.put(1, 1)
        for value in [0, 0, 16, 16, 0, max(Int(picture.num_ref_frames), 1)] { bits.putUnsigned(value) }
        return bits
    }

    private func pictureSet(id: Int, counts: (list0: Int, list1: Int)) -> HeaderBitWriter {
        let fields = unsafe picture.pic_fields.bits
        var bits = HeaderBitWriter()
        bits.putUnsigned(id)
        bits.putUnsigned(0)
        bits.put(fields.entropy_coding_mode_flag != 0)
        bits.put(fields.pic_order_present_flag != 0)
        // No slice groups.
        bits.putUnsigned(0)
        bits.putUnsigned(counts.list0 - 1)
        bits.putUnsigned(counts.list1 - 1)
        bits.put(fields.weighted_pred_flag != 0)
        bits.put(fields.weighted_bipred_idc, 2)
        bits.putSigned(Int(picture.pic_init_qp_minus26))
        bits.putSigned(Int(picture.pic_init_qs_minus26))
        bits.putSigned(Int(picture.chroma_qp_index_offset))
        bits.put(fields.deblocking_filter_control_present_flag != 0)
        bits.put(fields.constrained_intra_pred_flag != 0)
        bits.put(fields.redundant_pic_cnt_present_flag != 0)
        bits.put(fields.transform_8x8_mode_flag != 0)
        bits.put(matrix != nil)
        if let matrix {
            let small = FixedArray.values(matrix.ScalingList4x4, as: UInt8.self, count: 96)
            for list in 0..<6 { put(Array(small[16 * list..<16 * list + 16]), order: Self.zigzag(4), &bits) }
            if fields.transform_8x8_mode_flag != 0 {
                let large = FixedArray.values(matrix.ScalingList8x8, as: UInt8.self, count: 128)
                for list in 0..<2 { put(Array(large[64 * list..<64 * list + 64]), order: Self.zigzag(8), &bits) }
            }
        }
        bits.putSigned(Int(picture.second_chroma_qp_index_offset))
        return bits
    }

    /// Writes a scaling list (H.264 7.3.2.1.1.1).
    ///
    /// - Parameters:
    ///   - list: The entries in raster order, from 1 to 255.
    ///   - order: The raster indices in the order of the scan.
    private func put(_ list: [UInt8], order: [Int], _ bits: inout HeaderBitWriter) {
        bits.put(1, 1)
        var last: UInt8 = 8
        for index in order {
            bits.putSigned(Int(Int8(bitPattern: list[index] &- last)))
            last = list[index]
        }
    }

    /// Returns the raster indices of a block of `side`×`side` in the order of the zig-zag scan (H.264 8.5.6, 8.5.7).
    static func zigzag(_ side: Int) -> [Int] {
        (0...2 * side - 2).flatMap { sum in
            let columns = max(0, sum - side + 1)...min(sum, side - 1)
            // Odd diagonals run down to the left.
            return (sum & 1 == 1 ? columns.reversed() : Array(columns)).map { (sum - $0) * side + $0 }
        }
    }
}
