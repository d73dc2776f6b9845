/// slice_segment_header, H.265 7.3.6.1, of an independent slice segment without weighted prediction.
package struct HEVCSliceSegmentHeader: Equatable, Sendable {
    package var nal_unit_type = 1
    package var no_output_of_prior_pics_flag = false
    package var slice_pic_parameter_set_id = 0
    package var slice_segment_address = 0
    /// The slice_reserved_flag bits.
    package var slice_reserved_flags: UInt32 = 0
    package var slice_type = SliceType.i
    package var pic_output_flag = true
    /// slice_pic_order_cnt_lsb. IDR pictures have neither this element nor the reference pictures.
    package var slice_pic_order_cnt_lsb = 0
    /// short_term_ref_pic_set_idx; nil if the header contains its own set.
    package var short_term_ref_pic_set_idx: Int?
    package var shortTermSet = HEVCShortTermReferencePictureSet()
    package var longTermReferences: [LongTermReference] = []
    package var slice_temporal_mvp_enabled_flag = false
    package var slice_sao_luma_flag = false
    package var slice_sao_chroma_flag = false
    /// num_ref_idx_active_override_flag, and the number of references in each list.
    package var num_ref_idx_active_override_flag = false
    package var num_ref_idx_active = [0, 0]
    /// list_entry_l0 and list_entry_l1; nil if the list is not modified.
    package var list_entry: [[Int]?] = [nil, nil]
    package var mvd_l1_zero_flag = false
    package var cabac_init_flag = false
    package var collocated_from_l0_flag = true
    package var collocated_ref_idx = 0
    /// MaxNumMergeCand.
    package var maxNumMergeCand = 5
    package var slice_qp_delta = 0
    package var slice_cb_qp_offset = 0
    package var slice_cr_qp_offset = 0
    package var deblocking_filter_override_flag = false
    package var slice_deblocking_filter_disabled_flag = false
    package var slice_beta_offset_div2 = 0
    package var slice_tc_offset_div2 = 0
    package var slice_loop_filter_across_slices_enabled_flag = false

    package struct LongTermReference: Equatable, Sendable {
        /// lt_idx_sps; nil for an entry whose values are in the header.
        package var lt_idx_sps: Int?
        package var poc_lsb_lt = 0
        package var used_by_curr_pic_lt_flag = true
        /// DeltaPocMsbCycleLt; nil if the low bits identify the picture.
        package var deltaPOCMsbCycle: Int?

        package init(
            lt_idx_sps: Int? = nil, poc_lsb_lt: Int = 0, used_by_curr_pic_lt_flag: Bool = true,
            deltaPOCMsbCycle: Int? = nil
        ) {
            self.lt_idx_sps = lt_idx_sps
            self.poc_lsb_lt = poc_lsb_lt
            self.used_by_curr_pic_lt_flag = used_by_curr_pic_lt_flag
            self.deltaPOCMsbCycle = deltaPOCMsbCycle
        }
    }

    package init() {}

    package var isIDR: Bool { nal_unit_type == 19 || nal_unit_type == 20 }
    /// Whether the picture is a BLA, IDR or CRA picture, or has a type reserved for IRAP pictures.
    package var isIRAP: Bool { (16...23).contains(nal_unit_type) }
    package var listCount: Int { slice_type == .b ? 2 : slice_type == .p ? 1 : 0 }

    /// NumPicTotalCurr, (7-55).
    package var numPicTotalCurr: Int {
        isIDR ? 0 : shortTermSet.usedCount + longTermReferences.count { $0.used_by_curr_pic_lt_flag }
    }

    /// Returns the header's bits up to the entry points, preceded by a start code and a NAL unit header with temporal
    /// sub-layer 0.
    package func bits(sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet) -> SliceHeaderBits {
        var bits = HeaderBitWriter()
        bits.put(slice_segment_address == 0)
        if isIRAP { bits.put(no_output_of_prior_pics_flag) }
        bits.putUnsigned(slice_pic_parameter_set_id)
        if slice_segment_address != 0 {
            if picture.dependent_slice_segments_enabled_flag { bits.put(false) }
            bits.put(UInt32(slice_segment_address), Self.addressBits(sequence))
        }
        bits.put(slice_reserved_flags, picture.num_extra_slice_header_bits)
        bits.putUnsigned(Int(slice_type == .b ? 0 : slice_type == .p ? 1 : 2))
        if picture.output_flag_present_flag { bits.put(pic_output_flag) }
        if !isIDR { putReferences(&bits, sequence) }
        if sequence.sample_adaptive_offset_enabled_flag {
            bits.put(slice_sao_luma_flag)
            bits.put(slice_sao_chroma_flag)
        }
        if slice_type != .i { putInter(&bits, picture) }
        bits.putSigned(slice_qp_delta)
        if picture.pps_slice_chroma_qp_offsets_present_flag {
            bits.putSigned(slice_cb_qp_offset)
            bits.putSigned(slice_cr_qp_offset)
        }
        if picture.deblocking_filter_override_enabled_flag { bits.put(deblocking_filter_override_flag) }
        if deblocking_filter_override_flag {
            bits.put(slice_deblocking_filter_disabled_flag)
            if !slice_deblocking_filter_disabled_flag {
                bits.putSigned(slice_beta_offset_div2)
                bits.putSigned(slice_tc_offset_div2)
            }
        }
        if picture.pps_loop_filter_across_slices_enabled_flag
            && (slice_sao_luma_flag || slice_sao_chroma_flag || !slice_deblocking_filter_disabled_flag)
        {
            bits.put(slice_loop_filter_across_slices_enabled_flag)
        }
        return SliceHeaderBits(
            prefix: [0, 0, 0, 1, UInt8(nal_unit_type << 1), 1], payload: bits.bytes, bitCount: bits.bitCount)
    }

    private func putReferences(_ bits: inout HeaderBitWriter, _ sequence: HEVCSequenceParameterSet) {
        let lsbBits = sequence.log2_max_pic_order_cnt_lsb
        bits.put(UInt32(slice_pic_order_cnt_lsb), lsbBits)
        bits.put(short_term_ref_pic_set_idx != nil)
        if let short_term_ref_pic_set_idx {
            if sequence.short_term_ref_pic_sets.count > 1 {
                bits.put(UInt32(short_term_ref_pic_set_idx), Self.bits(for: sequence.short_term_ref_pic_sets.count))
            }
        } else {
            shortTermSet.write(to: &bits, index: sequence.short_term_ref_pic_sets.count)
        }
        if sequence.long_term_ref_pics_present_flag {
            let known = sequence.long_term_ref_pics_sps
            let listed = longTermReferences.filter { $0.lt_idx_sps != nil }
            if !known.isEmpty { bits.putUnsigned(listed.count) }
            bits.putUnsigned(longTermReferences.count - listed.count)
            for part in [listed, longTermReferences.filter { $0.lt_idx_sps == nil }] {
                var last = 0
                for entry in part {
                    if let index = entry.lt_idx_sps {
                        if known.count > 1 { bits.put(UInt32(index), Self.bits(for: known.count)) }
                    } else {
                        bits.put(UInt32(entry.poc_lsb_lt), lsbBits)
                        bits.put(entry.used_by_curr_pic_lt_flag)
                    }
                    bits.put(entry.deltaPOCMsbCycle != nil)
                    if let cycle = entry.deltaPOCMsbCycle {
                        bits.putUnsigned(cycle - last)
                        last = cycle
                    }
                }
            }
        }
        if sequence.sps_temporal_mvp_enabled_flag { bits.put(slice_temporal_mvp_enabled_flag) }
    }

    private func putInter(_ bits: inout HeaderBitWriter, _ picture: HEVCPictureParameterSet) {
        bits.put(num_ref_idx_active_override_flag)
        if num_ref_idx_active_override_flag {
            for list in 0..<listCount { bits.putUnsigned(num_ref_idx_active[list] - 1) }
        }
        if picture.lists_modification_present_flag && numPicTotalCurr > 1 {
            for list in 0..<listCount {
                bits.put(list_entry[list] != nil)
                for entry in list_entry[list] ?? [] { bits.put(UInt32(entry), Self.bits(for: numPicTotalCurr)) }
            }
        }
        if slice_type == .b { bits.put(mvd_l1_zero_flag) }
        if picture.cabac_init_present_flag { bits.put(cabac_init_flag) }
        if slice_temporal_mvp_enabled_flag {
            if slice_type == .b { bits.put(collocated_from_l0_flag) }
            if num_ref_idx_active[collocated_from_l0_flag ? 0 : 1] > 1 { bits.putUnsigned(collocated_ref_idx) }
        }
        bits.putUnsigned(5 - maxNumMergeCand)
    }

    /// Returns Ceil(Log2(`count`)).
    static func bits(for count: Int) -> Int { count > 1 ? Int.bitWidth - (count - 1).leadingZeroBitCount : 0 }

    static func addressBits(_ sequence: HEVCSequenceParameterSet) -> Int { bits(for: sequence.grid.codingTrees) }

    /// A reference picture as the header identifies it: by its PicOrderCntVal, or by the low bits of it.
    package struct Reference: Equatable, Sendable {
        package var pictureOrderCount: Int
        package var isLongTerm: Bool
        /// Whether only the low bits of the count are known.
        package var isLsb = false
    }

    /// Returns RefPicList0 and RefPicList1 of a picture with PicOrderCntVal `count`, 8.3.4. Returns nil if the header
    /// has no reference pictures, or if a list entry is out of range.
    package func lists(pictureOrderCount count: Int, sequence: HEVCSequenceParameterSet) -> [[Reference]]? {
        guard listCount > 0 else { return [[], []] }
        func used(_ entries: [HEVCShortTermReferencePictureSet.Entry]) -> [Reference] {
            entries.filter(\.isUsed).map { Reference(pictureOrderCount: count + $0.deltaPOC, isLongTerm: false) }
        }
        let size = 1 << sequence.log2_max_pic_order_cnt_lsb
        let distant = longTermReferences.filter(\.used_by_curr_pic_lt_flag).map { entry in
            let msb = entry.deltaPOCMsbCycle.map { count - $0 * size - (count & (size - 1)) }
            return Reference(
                pictureOrderCount: entry.poc_lsb_lt + (msb ?? 0), isLongTerm: true, isLsb: msb == nil)
        }
        let (before, after) = (used(shortTermSet.negative), used(shortTermSet.positive))
        let initial = [before + after + distant, after + before + distant]
        guard !initial[0].isEmpty, numPicTotalCurr == initial[0].count else { return nil }
        var lists: [[Reference]] = []
        for list in 0..<2 {
            let indices = list_entry[list] ?? (0..<num_ref_idx_active[list]).map { $0 % numPicTotalCurr }
            guard list < listCount else {
                lists.append([])
                continue
            }
            guard indices.count == num_ref_idx_active[list], indices.allSatisfy({ $0 < numPicTotalCurr }) else {
                return nil
            }
            lists.append(indices.map { initial[list][$0] })
        }
        return lists
    }
}
