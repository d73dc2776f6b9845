internal import CVA

/// Parameter sets that say what a client's buffers say, for a decoder that reads streams (H.264 7.3.2.1, 7.3.2.2).
struct H264DecodeSets {
    let picture: VAPictureParameterBufferH264
    /// Nil: flat.
    let matrix: VAIQMatrixBufferH264?

    /// The sequence parameter set, and a picture parameter set for each of `ids`.
    /// - Parameter counts: num_ref_idx_l0_default_active and that of list 1.
    func bytes(ids: [Int], counts: (list0: Int, list1: Int)) -> [UInt8] {
        ids.reduce(DecodePacket.unit([0x67], sequence())) {
            $0 + DecodePacket.unit([0x68], pictureSet(id: $1, counts: counts))
        }
    }

    private func sequence() -> HeaderBitWriter {
        let fields = unsafe picture.seq_fields.bits
        var bits = HeaderBitWriter()
        // High has all tools of the profiles offered; level 6.2.
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
        // No cropping; of the VUI only bitstream_restriction: nothing waits for its turn.
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

    /// A list whose entries, 1…255, come in raster order, in the order of the scan (7.3.2.1.1.1).
    private func put(_ list: [UInt8], order: [Int], _ bits: inout HeaderBitWriter) {
        bits.put(1, 1)
        var last: UInt8 = 8
        for index in order {
            bits.putSigned(Int(Int8(bitPattern: list[index] &- last)))
            last = list[index]
        }
    }

    /// Places in raster order, by the zig-zag scan of `side`×`side` (6.4.8's figure 6-11).
    static func zigzag(_ side: Int) -> [Int] {
        (0...2 * side - 2).flatMap { sum in
            let columns = max(0, sum - side + 1)...min(sum, side - 1)
            // Odd diagonals run down to the left.
            return (sum & 1 == 1 ? columns.reversed() : Array(columns)).map { (sum - $0) * side + $0 }
        }
    }
}
