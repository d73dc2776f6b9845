internal import CVA
internal import DecodeDamageDetection

/// Writes a slice segment with a new header (H.265 7.3.6.1), followed by the client's slice data.
///
/// The header has the values of the client's buffers and refers to the parameter sets of `HEVCDecodeSets`.
struct HEVCDecodeSlice {
    let picture: VAPictureParameterBufferHEVC
    let references: HEVCDecodeReferences
    let slice: VASliceParameterBufferHEVC
    /// The client's NAL unit, with its header of two bytes.
    let unit: [UInt8]

    private static let (bSlice, pSlice, iSlice): (UInt32, UInt32, UInt32) = (0, 1, 2)

    /// nal_unit_type.
    var type: UInt8 { HEVCDecodeSlice.type(unit) }

    /// Returns nal_unit_type of a NAL unit.
    static func type(_ unit: [UInt8]) -> UInt8 { (unit.first ?? 0) >> 1 & 63 }

    /// Returns the NAL unit of the slice segment, with its start code.
    func bytes() throws -> [UInt8] {
        let data = try dataStart()
        // A RASL picture is changed to a trailing picture, because the decoder may skip RASL pictures. Only the client
        // knows whether a RASL picture can be decoded.
        let header = type == 8 || type == 9 ? [unit[0] & 0x81 | (type - 8) << 1, unit[1]] : Array(unit.prefix(2))
        return try DecodePacket.unit(header, self.header()) + unit[data...] + SliceSentinel.forHEVC
    }

    /// Returns the offset of the slice data in `unit`.
    ///
    /// The client's slice_data_byte_offset does not count emulation prevention bytes.
    private func dataStart() throws -> Int {
        var (position, count, zeros) = (0, 0, 0)
        while count < Int(slice.slice_data_byte_offset), position < unit.count {
            let byte = unit[position]
            position += 1
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            count += 1
        }
        try require(
            position >= 3 && position < unit.count,
            "slice_data_byte_offset \(slice.slice_data_byte_offset) is "
                + "out of range")
        return position
    }

    private func header() throws -> HeaderBitWriter {
        let flags = unsafe slice.LongSliceFlags.fields
        let fields = unsafe picture.pic_fields.bits
        let address = Int(slice.slice_segment_address)
        let isDependent = flags.dependent_slice_segment_flag != 0
        var bits = HeaderBitWriter()
        bits.put(address == 0)
        if (16...23).contains(type) { bits.put(0, 1) }
        bits.putUnsigned(0)
        if address > 0 {
            if unsafe picture.slice_parsing_fields.bits.dependent_slice_segments_enabled_flag != 0 { bits.put(isDependent) }
            bits.put(UInt32(address), addressBits)
        }
        if !isDependent {
            bits.putUnsigned(Int(flags.slice_type))
            putReferencePictureSet(&bits)
            if unsafe picture.slice_parsing_fields.bits.sample_adaptive_offset_enabled_flag != 0 {
                bits.put(flags.slice_sao_luma_flag != 0)
                bits.put(flags.slice_sao_chroma_flag != 0)
            }
            if flags.slice_type != Self.iSlice { putPrediction(&bits) }
            putFilters(&bits)
        }
        if fields.tiles_enabled_flag != 0 || fields.entropy_coding_sync_enabled_flag != 0 {
            // num_entry_point_offsets. Only decoders that decode in parallel need entry points.
            bits.putUnsigned(0)
        }
        return bits
    }

    private var isIDR: Bool { type == 19 || type == 20 }

    private func putReferencePictureSet(_ bits: inout HeaderBitWriter) {
        guard !isIDR else { return }
        bits.put(HEVCDecodeSets.lowBits(of: Int(picture.CurrPic.pic_order_cnt)), HEVCDecodeSets.orderBits)
        references.put(&bits)
        if unsafe picture.slice_parsing_fields.bits.sps_temporal_mvp_enabled_flag != 0 {
            bits.put(unsafe slice.LongSliceFlags.fields.slice_temporal_mvp_enabled_flag != 0)
        }
    }

    /// The number of active references in each list of the slice.
    private var counts: [Int] {
        let all = [slice.num_ref_idx_l0_active_minus1, slice.num_ref_idx_l1_active_minus1].map { min(Int($0), 14) + 1 }
        return unsafe slice.LongSliceFlags.fields.slice_type == Self.bSlice ? all : [all[0]]
    }

    private func putPrediction(_ bits: inout HeaderBitWriter) {
        let flags = unsafe slice.LongSliceFlags.fields
        let isB = flags.slice_type == Self.bSlice
        bits.put(1, 1)
        for count in counts { bits.putUnsigned(count - 1) }
        if references.count > 1 {
            let indices = FixedArray.values(slice.RefPicList, as: UInt8.self, count: 30)
            let width = Int.bitWidth - (references.count - 1).leadingZeroBitCount
            for (list, count) in counts.enumerated() {
                bits.put(1, 1)
                for entry in references.entries(Array(indices[15 * list..<15 * list + count]), list: list) {
                    bits.put(UInt32(entry), width)
                }
            }
        }
        if isB { bits.put(flags.mvd_l1_zero_flag != 0) }
        bits.put(flags.cabac_init_flag != 0)
        if flags.slice_temporal_mvp_enabled_flag != 0 {
            let isFromList0 = !isB || flags.collocated_from_l0_flag != 0
            if isB { bits.put(isFromList0) }
            let count = isFromList0 ? counts[0] : counts[counts.count - 1]
            if count > 1 { bits.putUnsigned(min(Int(slice.collocated_ref_idx), count - 1)) }
        }
        let fields = unsafe picture.pic_fields.bits
        if (isB ? fields.weighted_bipred_flag : fields.weighted_pred_flag) != 0 { putWeights(&bits) }
        bits.putUnsigned(Int(slice.five_minus_max_num_merge_cand))
    }

    /// Writes pred_weight_table (H.265 7.3.6.3).
    private func putWeights(_ bits: inout HeaderBitWriter) {
        bits.putUnsigned(Int(slice.luma_log2_weight_denom))
        bits.putSigned(Int(slice.delta_chroma_log2_weight_denom))
        let chromaDenominator = Int(slice.luma_log2_weight_denom) + Int(slice.delta_chroma_log2_weight_denom)
        func values<Tuple>(_ tuple: Tuple) -> [Int] { FixedArray.values(tuple, as: Int8.self, count: 30).map(Int.init) }
        let lists = [
            (
                luma: values(slice.delta_luma_weight_l0), offsets: values(slice.luma_offset_l0),
                chroma: values(slice.delta_chroma_weight_l0), chromaOffsets: values(slice.ChromaOffsetL0)
            ),
            (
                luma: values(slice.delta_luma_weight_l1), offsets: values(slice.luma_offset_l1),
                chroma: values(slice.delta_chroma_weight_l1), chromaOffsets: values(slice.ChromaOffsetL1)
            ),
        ]
        for (list, count) in zip(lists, counts) {
            let luma = (0..<count).map { list.luma[$0] != 0 || list.offsets[$0] != 0 }
            let chroma = (0..<count).map { entry in
                (2 * entry..<2 * entry + 2).contains { list.chroma[$0] != 0 || list.chromaOffsets[$0] != 0 }
            }
            for flag in luma + chroma { bits.put(flag) }
            for entry in 0..<count {
                if luma[entry] {
                    bits.putSigned(list.luma[entry])
                    bits.putSigned(list.offsets[entry])
                }
                for plane in 2 * entry..<2 * entry + 2 where chroma[entry] {
                    // Converts ChromaOffset to delta_chroma_offset. The predicted offset depends on the weight
                    // (H.265 equation 7-56).
                    let weight = list.chroma[plane] + 1 << max(chromaDenominator, 0)
                    bits.putSigned(list.chroma[plane])
                    bits.putSigned(
                        list.chromaOffsets[plane] - 128 + (128 * weight) >> max(chromaDenominator, 0))
                }
            }
        }
    }

    private func putFilters(_ bits: inout HeaderBitWriter) {
        let flags = unsafe slice.LongSliceFlags.fields
        bits.putSigned(Int(slice.slice_qp_delta))
        bits.putSigned(Int(slice.slice_cb_qp_offset))
        bits.putSigned(Int(slice.slice_cr_qp_offset))
        let isDeblocked = flags.slice_deblocking_filter_disabled_flag == 0
        bits.put(1, 1)
        bits.put(!isDeblocked)
        if isDeblocked {
            bits.putSigned(Int(slice.slice_beta_offset_div2))
            bits.putSigned(Int(slice.slice_tc_offset_div2))
        }
        let isFiltered = isDeblocked || flags.slice_sao_luma_flag != 0 || flags.slice_sao_chroma_flag != 0
        if unsafe picture.pic_fields.bits.pps_loop_filter_across_slices_enabled_flag != 0, isFiltered {
            bits.put(flags.slice_loop_filter_across_slices_enabled_flag != 0)
        }
    }

    /// The length of slice_segment_address in bits: Ceil(Log2(PicSizeInCtbsY)).
    private var addressBits: Int {
        let log2 =
            Int(picture.log2_min_luma_coding_block_size_minus3) + 3
            + Int(picture.log2_diff_max_min_luma_coding_block_size)
        func blocks(_ samples: UInt16) -> Int { (Int(samples) + (1 << log2) - 1) >> log2 }
        let count = blocks(picture.pic_width_in_luma_samples) * blocks(picture.pic_height_in_luma_samples)
        return Int.bitWidth - (count - 1).leadingZeroBitCount
    }
}
