/// slice_header of frames, H.264 7.3.3.
package struct H264SliceHeader: Equatable, Sendable {
    package var nal_ref_idc = 0
    /// Whether nal_unit_type is 5. Otherwise it is 1.
    package var isIDR = false
    package var first_mb_in_slice = 0
    /// slice_type as it is coded, 0…9.
    package var slice_type = 0
    package var pic_parameter_set_id = 0
    package var frame_num = 0
    package var idr_pic_id = 0
    package var pic_order_cnt_lsb = 0
    package var delta_pic_order_cnt_bottom = 0
    package var delta_pic_order_cnt = [0, 0]
    package var direct_spatial_mv_pred_flag = false
    /// num_ref_idx_active of both lists as it applies to the slice, whether overridden or not. It is 0 if the slice
    /// type has no such list.
    package var num_ref_idx_active = [0, 0]
    package var num_ref_idx_active_override_flag = false
    /// ref_pic_list_modification of both lists, without the final 3.
    package var modifications: [[ReferenceListModification]] = [[], []]
    /// pred_weight_table, or nil if the syntax does not contain it.
    package var weights: Weights?
    package var no_output_of_prior_pics_flag = false
    package var long_term_reference_flag = false
    /// memory_management_control_operation with its operands, without the final 0. nil means sliding window marking.
    package var marking: [MemoryManagementOperation]?
    package var cabac_init_idc = 0
    package var slice_qp_delta = 0
    package var disable_deblocking_filter_idc = 0
    package var slice_alpha_c0_offset_div2 = 0
    package var slice_beta_offset_div2 = 0

    package struct ReferenceListModification: Equatable, Sendable {
        /// modification_of_pic_nums_idc, 0…2.
        package var modification_of_pic_nums_idc: Int
        /// abs_diff_pic_num_minus1 or long_term_pic_num.
        package var value: Int

        package init(idc: Int, value: Int) {
            self.modification_of_pic_nums_idc = idc
            self.value = value
        }
    }

    package struct MemoryManagementOperation: Equatable, Sendable {
        /// The operation, 1…6.
        package var memory_management_control_operation: Int
        package var operands: [Int]

        package init(operation: Int, operands: [Int]) {
            self.memory_management_control_operation = operation
            self.operands = operands
        }
    }

    /// pred_weight_table, 7.3.3.2, with the entries of both lists by refIdx.
    package struct Weights: Equatable, Sendable {
        package var luma_log2_weight_denom = 0
        package var chroma_log2_weight_denom = 0
        package var lists: [[Entry]] = [[], []]

        package init() {}

        package struct Entry: Equatable, Sendable {
            /// Weight and offset, or nil if the flag is 0.
            package var luma: [Int]?
            /// Weight and offset of Cb, then of Cr, or nil if the flag is 0.
            package var chroma: [Int]?

            package init() {}
        }
    }

    package init() {}

    /// The slice type, or nil for SP and SI slices.
    package var type: SliceType? { slice_type % 5 < 3 ? SliceType(rawValue: UInt8(slice_type % 5)) : nil }

    /// Returns whether the syntax contains pred_weight_table.
    package func hasWeights(_ picture: H264PictureParameterSet) -> Bool {
        type == .p && picture.weighted_pred_flag || type == .b && picture.weighted_bipred_idc == 1
    }

    /// The number of reference lists of the slice type.
    package var listCount: Int {
        switch type {
        case .p: 1
        case .b: 2
        default: 0
        }
    }
}

// MARK: Writing

extension H264SliceHeader {
    /// Returns the header as bits after a start code. The start code has four bytes in the first slice of a picture,
    /// otherwise three.
    package func bits(sequence: H264SequenceParameterSet, picture: H264PictureParameterSet) -> SliceHeaderBits {
        var bits = HeaderBitWriter()
        write(to: &bits, sequence: sequence, picture: picture)
        let startCode: [UInt8] = first_mb_in_slice == 0 ? [0, 0, 0, 1] : [0, 0, 1]
        return SliceHeaderBits(
            prefix: startCode + [UInt8(nal_ref_idc & 3) << 5 | (isIDR ? 5 : 1)], payload: bits.bytes,
            bitCount: bits.bitCount)
    }

    private func write(
        to bits: inout HeaderBitWriter, sequence: H264SequenceParameterSet, picture: H264PictureParameterSet
    ) {
        bits.putUnsigned(first_mb_in_slice)
        bits.putUnsigned(slice_type)
        bits.putUnsigned(pic_parameter_set_id)
        bits.put(UInt32(frame_num) & (1 << UInt32(sequence.log2_max_frame_num) - 1), sequence.log2_max_frame_num)
        if !sequence.frame_mbs_only_flag { bits.put(false) }  // field_pic_flag
        if isIDR { bits.putUnsigned(idr_pic_id) }
        if sequence.pic_order_cnt_type == 0 {
            let size = sequence.log2_max_pic_order_cnt_lsb
            bits.put(UInt32(truncatingIfNeeded: pic_order_cnt_lsb) & (1 << UInt32(size) - 1), size)
            if picture.bottom_field_pic_order_in_frame_present_flag { bits.putSigned(delta_pic_order_cnt_bottom) }
        } else if sequence.pic_order_cnt_type == 1 && !sequence.delta_pic_order_always_zero_flag {
            bits.putSigned(delta_pic_order_cnt[0])
            if picture.bottom_field_pic_order_in_frame_present_flag { bits.putSigned(delta_pic_order_cnt[1]) }
        }
        if picture.redundant_pic_cnt_present_flag { bits.putUnsigned(0) }
        if type == .b { bits.put(direct_spatial_mv_pred_flag) }
        if listCount > 0 {
            bits.put(num_ref_idx_active_override_flag)
            if num_ref_idx_active_override_flag {
                for list in 0..<listCount { bits.putUnsigned(num_ref_idx_active[list] - 1) }
            }
        }
        for list in 0..<listCount {
            bits.put(!modifications[list].isEmpty)
            if !modifications[list].isEmpty {
                for modification in modifications[list] {
                    bits.putUnsigned(modification.modification_of_pic_nums_idc)
                    bits.putUnsigned(modification.value)
                }
                bits.putUnsigned(3)
            }
        }
        if hasWeights(picture) { write(weights ?? Weights(), to: &bits) }
        if nal_ref_idc != 0 { writeMarking(to: &bits) }
        if picture.entropy_coding_mode_flag && type != .i { bits.putUnsigned(cabac_init_idc) }
        bits.putSigned(slice_qp_delta)
        if picture.deblocking_filter_control_present_flag {
            bits.putUnsigned(disable_deblocking_filter_idc)
            if disable_deblocking_filter_idc != 1 {
                bits.putSigned(slice_alpha_c0_offset_div2)
                bits.putSigned(slice_beta_offset_div2)
            }
        }
    }

    private func write(_ weights: Weights, to bits: inout HeaderBitWriter) {
        bits.putUnsigned(weights.luma_log2_weight_denom)
        bits.putUnsigned(weights.chroma_log2_weight_denom)
        for list in 0..<listCount {
            for index in 0..<num_ref_idx_active[list] {
                let entry = index < weights.lists[list].count ? weights.lists[list][index] : Weights.Entry()
                for values in [entry.luma, entry.chroma] {
                    bits.put(values != nil)
                    for value in values ?? [] { bits.putSigned(value) }
                }
            }
        }
    }

    /// Writes dec_ref_pic_marking, 7.3.3.3.
    private func writeMarking(to bits: inout HeaderBitWriter) {
        if isIDR {
            bits.put(no_output_of_prior_pics_flag)
            bits.put(long_term_reference_flag)
        } else {
            bits.put(marking != nil)
            if let marking {
                for command in marking {
                    bits.putUnsigned(command.memory_management_control_operation)
                    for operand in command.operands { bits.putUnsigned(operand) }
                }
                bits.putUnsigned(0)
            }
        }
    }
}
