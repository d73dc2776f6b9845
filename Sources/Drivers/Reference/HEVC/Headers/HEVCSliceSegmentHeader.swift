/// slice_segment_header, H.265 7.3.6.1, of an independent slice segment without weighted prediction.
package struct HEVCSliceSegmentHeader: Equatable, Sendable {
    package var nal_unit_type = 1
    package var no_output_of_prior_pics_flag = false
    package var slice_pic_parameter_set_id = 0
    package var slice_segment_address = 0
    /// The slice_reserved_flag bits.
    package var extraBits: UInt32 = 0
    package var type = SliceType.i
    package var pic_output_flag = true
    /// slice_pic_order_cnt_lsb. IDR pictures have neither this element nor the reference pictures.
    package var slice_pic_order_cnt_lsb = 0
    /// short_term_ref_pic_set_idx; nil if the header contains its own set.
    package var short_term_ref_pic_set_idx: Int?
    package var referenceSet = HEVCShortTermReferencePictureSet()
    package var longTerm: [LongTerm] = []
    package var slice_temporal_mvp_enabled_flag = false
    package var slice_sao_luma_flag = false
    package var slice_sao_chroma_flag = false
    /// num_ref_idx_active_override_flag, and the number of references in each list.
    package var num_ref_idx_active_override_flag = false
    package var referenceCounts = [0, 0]
    /// list_entry_l0 and list_entry_l1; nil if the list is not modified.
    package var listEntries: [[Int]?] = [nil, nil]
    package var mvd_l1_zero_flag = false
    package var cabac_init_flag = false
    package var collocated_from_l0_flag = true
    package var collocated_ref_idx = 0
    /// MaxNumMergeCand.
    package var mergeCandidates = 5
    package var slice_qp_delta = 0
    package var slice_cb_qp_offset = 0
    package var slice_cr_qp_offset = 0
    package var deblocking_filter_override_flag = false
    package var slice_deblocking_filter_disabled_flag = false
    package var slice_beta_offset_div2 = 0
    package var slice_tc_offset_div2 = 0
    package var slice_loop_filter_across_slices_enabled_flag = false

    package struct LongTerm: Equatable, Sendable {
        /// lt_idx_sps; nil for an entry whose values are in the header.
        package var lt_idx_sps: Int?
        package var poc_lsb_lt = 0
        package var used_by_curr_pic_lt_flag = true
        /// DeltaPocMsbCycleLt; nil if the low bits identify the picture.
        package var cycle: Int?

        package init(index: Int? = nil, pictureOrderCountLsb: Int = 0, isUsed: Bool = true, cycle: Int? = nil) {
            self.lt_idx_sps = index
            self.poc_lsb_lt = pictureOrderCountLsb
            self.used_by_curr_pic_lt_flag = isUsed
            self.cycle = cycle
        }
    }

    package init() {}

    package var isIDR: Bool { nal_unit_type == 19 || nal_unit_type == 20 }
    /// Whether the picture is a BLA, IDR or CRA picture, or has a type reserved for IRAP pictures.
    package var isIRAP: Bool { (16...23).contains(nal_unit_type) }
    package var listCount: Int { type == .b ? 2 : type == .p ? 1 : 0 }

    /// NumPicTotalCurr, (7-55).
    package var currentCount: Int {
        isIDR ? 0 : referenceSet.usedCount + longTerm.count { $0.used_by_curr_pic_lt_flag }
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
        bits.put(extraBits, picture.num_extra_slice_header_bits)
        bits.putUnsigned(Int(type == .b ? 0 : type == .p ? 1 : 2))
        if picture.output_flag_present_flag { bits.put(pic_output_flag) }
        if !isIDR { putReferences(&bits, sequence) }
        if sequence.sample_adaptive_offset_enabled_flag {
            bits.put(slice_sao_luma_flag)
            bits.put(slice_sao_chroma_flag)
        }
        if type != .i { putInter(&bits, picture) }
        bits.putSigned(slice_qp_delta)
        if picture.pps_slice_chroma_qp_offsets_present_flag {
            bits.putSigned(slice_cb_qp_offset)
            bits.putSigned(slice_cr_qp_offset)
        }
        if picture.deblocking?.deblocking_filter_override_enabled_flag ?? false { bits.put(deblocking_filter_override_flag) }
        if deblocking_filter_override_flag {
            bits.put(slice_deblocking_filter_disabled_flag)
            if !slice_deblocking_filter_disabled_flag {
                bits.putSigned(slice_beta_offset_div2)
                bits.putSigned(slice_tc_offset_div2)
            }
        }
        if picture.pps_loop_filter_across_slices_enabled_flag && (slice_sao_luma_flag || slice_sao_chroma_flag || !slice_deblocking_filter_disabled_flag) {
            bits.put(slice_loop_filter_across_slices_enabled_flag)
        }
        return SliceHeaderBits(
            prefix: [0, 0, 0, 1, UInt8(nal_unit_type << 1), 1], payload: bits.bytes, bitCount: bits.bitCount)
    }

    private func putReferences(_ bits: inout HeaderBitWriter, _ sequence: HEVCSequenceParameterSet) {
        let lsbBits = sequence.log2MaxPictureOrderCountLsb
        bits.put(UInt32(slice_pic_order_cnt_lsb), lsbBits)
        bits.put(short_term_ref_pic_set_idx != nil)
        if let short_term_ref_pic_set_idx {
            if sequence.referenceSets.count > 1 {
                bits.put(UInt32(short_term_ref_pic_set_idx), Self.bits(for: sequence.referenceSets.count))
            }
        } else {
            referenceSet.write(to: &bits, index: sequence.referenceSets.count)
        }
        if let known = sequence.longTerm {
            let listed = longTerm.filter { $0.lt_idx_sps != nil }
            if !known.isEmpty { bits.putUnsigned(listed.count) }
            bits.putUnsigned(longTerm.count - listed.count)
            for part in [listed, longTerm.filter { $0.lt_idx_sps == nil }] {
                var last = 0
                for entry in part {
                    if let index = entry.lt_idx_sps {
                        if known.count > 1 { bits.put(UInt32(index), Self.bits(for: known.count)) }
                    } else {
                        bits.put(UInt32(entry.poc_lsb_lt), lsbBits)
                        bits.put(entry.used_by_curr_pic_lt_flag)
                    }
                    bits.put(entry.cycle != nil)
                    if let cycle = entry.cycle {
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
            for list in 0..<listCount { bits.putUnsigned(referenceCounts[list] - 1) }
        }
        if picture.lists_modification_present_flag && currentCount > 1 {
            for list in 0..<listCount {
                bits.put(listEntries[list] != nil)
                for entry in listEntries[list] ?? [] { bits.put(UInt32(entry), Self.bits(for: currentCount)) }
            }
        }
        if type == .b { bits.put(mvd_l1_zero_flag) }
        if picture.cabac_init_present_flag { bits.put(cabac_init_flag) }
        if slice_temporal_mvp_enabled_flag {
            if type == .b { bits.put(collocated_from_l0_flag) }
            if referenceCounts[collocated_from_l0_flag ? 0 : 1] > 1 { bits.putUnsigned(collocated_ref_idx) }
        }
        bits.putUnsigned(5 - mergeCandidates)
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
            entries.filter(\.isUsed).map { Reference(pictureOrderCount: count + $0.delta, isLongTerm: false) }
        }
        let size = 1 << sequence.log2MaxPictureOrderCountLsb
        let distant = longTerm.filter(\.used_by_curr_pic_lt_flag).map { entry in
            let msb = entry.cycle.map { count - $0 * size - (count & (size - 1)) }
            return Reference(
                pictureOrderCount: entry.poc_lsb_lt + (msb ?? 0), isLongTerm: true, isLsb: msb == nil)
        }
        let (before, after) = (used(referenceSet.before), used(referenceSet.after))
        let initial = [before + after + distant, after + before + distant]
        guard !initial[0].isEmpty, currentCount == initial[0].count else { return nil }
        var lists: [[Reference]] = []
        for list in 0..<2 {
            let indices = listEntries[list] ?? (0..<referenceCounts[list]).map { $0 % currentCount }
            guard list < listCount else {
                lists.append([])
                continue
            }
            guard indices.count == referenceCounts[list], indices.allSatisfy({ $0 < currentCount }) else { return nil }
            lists.append(indices.map { initial[list][$0] })
        }
        return lists
    }
}
