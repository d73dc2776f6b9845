package import NALUnits

/// slice_type, H.265 Table 7-7.
package enum SliceType: UInt8, Sendable, CaseIterable {
    case b = 0
    case p = 1
    case i = 2
}

/// The slice segment header, slice_segment_header(), H.265 7.3.6.1, without weighted prediction. The fields have the
/// names and values of the standard.
package struct SliceSegmentHeader: Sendable, Hashable {
    /// The source of the slice's short-term reference picture set.
    package enum ShortTermReferences: Sendable, Hashable {
        /// The set of the sequence parameter set with this index (short_term_ref_pic_set_idx).
        case index(Int)
        /// A set in the header itself.
        case explicit(ShortTermReferencePictureSet)
    }

    /// A picture of the long-term reference picture set.
    package struct LongTermReference: Sendable, Hashable {
        /// The low bits of the picture order count.
        package var poc_lsb_lt: Int
        /// Whether the current picture may refer to the picture. If false, the picture only stays in the buffer for
        /// later pictures.
        package var used_by_curr_pic_lt_flag: Bool
        /// DeltaPocMsbCycleLt, (7-52): the number of times that the low bits have wrapped since the picture, not
        /// relative to the previous entry. It is required if several pictures have the same low bits.
        ///
        /// If the value is nil, delta_poc_msb_present_flag is 0. Entries must be in ascending order of this value.
        package var deltaPOCMsbCycle: Int?

        /// Creates an entry.
        package init(poc_lsb_lt: Int, used_by_curr_pic_lt_flag: Bool = true, deltaPOCMsbCycle: Int? = nil) {
            self.poc_lsb_lt = poc_lsb_lt
            self.used_by_curr_pic_lt_flag = used_by_curr_pic_lt_flag
            self.deltaPOCMsbCycle = deltaPOCMsbCycle
        }
    }

    /// The deblocking parameters of a slice, which override those of the picture parameter set.
    package struct Deblocking: Sendable, Hashable {
        /// Whether deblocking is off.
        package var slice_deblocking_filter_disabled_flag: Bool
        /// The beta offset, divided by 2, −6…6.
        package var slice_beta_offset_div2: Int
        /// The tC offset, divided by 2, −6…6.
        package var slice_tc_offset_div2: Int

        /// Creates deblocking parameters.
        package init(
            slice_deblocking_filter_disabled_flag: Bool, slice_beta_offset_div2: Int = 0, slice_tc_offset_div2: Int = 0
        ) {
            self.slice_deblocking_filter_disabled_flag = slice_deblocking_filter_disabled_flag
            self.slice_beta_offset_div2 = slice_beta_offset_div2
            self.slice_tc_offset_div2 = slice_tc_offset_div2
        }
    }

    /// The type of the slice segment's NAL unit.
    package var nal_unit_type: NALUnitType
    /// TemporalId, 0…6.
    package var temporalID = 0
    /// Whether an IRAP picture discards earlier pictures that have not been output.
    package var no_output_of_prior_pics_flag = false
    /// The address in coding tree blocks in raster order; 0 for the first slice segment of the picture.
    package var slice_segment_address = 0
    /// Whether the segment continues the previous slice. If so, the header contains none of the following fields except
    /// the entry points.
    package var dependent_slice_segment_flag = false
    /// The type of the slice.
    package var slice_type: SliceType
    /// Whether the picture is output.
    package var pic_output_flag = true
    /// The low bits of the picture order count; 0 for IDR pictures, which do not have the field.
    package var slice_pic_order_cnt_lsb: Int
    /// The short-term reference picture set.
    package var shortTermReferences = ShortTermReferences.explicit(ShortTermReferencePictureSet())
    /// The long-term reference picture set.
    package var longTermReferences: [LongTermReference] = []
    /// Whether temporal motion vector prediction is used.
    package var slice_temporal_mvp_enabled_flag = false
    /// Whether sample adaptive offset is used for luma.
    package var slice_sao_luma_flag = false
    /// Whether sample adaptive offset is used for chroma.
    package var slice_sao_chroma_flag = false
    /// The numbers of entries in lists 0 and 1; 0 if the slice type has no such list.
    package var num_ref_idx_active = PerList(0, 0)
    /// list_entry_l0 and list_entry_l1, (7-57): for each entry of a list, its index in the initial list. Empty for the
    /// initial order.
    package var list_entry = PerList<[Int]>([], [])
    /// Whether motion vector differences for list 1 are zero in bi-prediction.
    package var mvd_l1_zero_flag = false
    /// Whether the initialization tables of CABAC for P and B slices are swapped.
    package var cabac_init_flag = false
    /// Whether the collocated picture is in list 0. Otherwise, it is in list 1.
    package var collocated_from_l0_flag = true
    /// The index of the collocated picture in its list.
    package var collocated_ref_idx = 0
    /// MaxNumMergeCand, 1…5: 5 − five_minus_max_num_merge_cand.
    package var maxNumMergeCand = 5
    /// SliceQpY.
    package var qp: Int
    /// The offset of the QP of Cb, −12…12.
    package var slice_cb_qp_offset = 0
    /// The offset of the QP of Cr, −12…12.
    package var slice_cr_qp_offset = 0
    /// The deblocking parameters, or nil for those of the picture parameter set.
    package var deblocking: Deblocking?
    /// Whether in-loop filters cross the slice's boundaries. Written only if the picture parameter set allows it;
    /// otherwise filters do not cross them.
    package var slice_loop_filter_across_slices_enabled_flag = true
    /// entry_point_offset_minus1[] + 1: the size of each substream except the last, in bytes of the NAL unit, including
    /// emulation prevention bytes.
    package var entry_point_offset: [Int] = []

    /// Creates a header. The other fields have their default values.
    package init(
        nal_unit_type: NALUnitType, temporalID: Int = 0, slice_type: SliceType, slice_pic_order_cnt_lsb: Int, qp: Int
    ) {
        self.nal_unit_type = nal_unit_type
        self.temporalID = temporalID
        self.slice_type = slice_type
        self.slice_pic_order_cnt_lsb = slice_pic_order_cnt_lsb
        self.qp = qp
    }

    /// Returns the short-term reference picture set. It is empty for an IDR picture, and if the sequence parameter set
    /// has no set with the index.
    package func shortTermSet(_ sps: SequenceParameterSet) -> ShortTermReferencePictureSet {
        if nal_unit_type.isIDR { return ShortTermReferencePictureSet() }
        switch shortTermReferences {
        case .explicit(let set): return set
        case .index(let index):
            return sps.short_term_ref_pic_sets.indices.contains(index)
                ? sps.short_term_ref_pic_sets[index] : ShortTermReferencePictureSet()
        }
    }

    /// Returns NumPicTotalCurr, (7-55): the number of pictures to which the slice may refer.
    package func numPicTotalCurr(_ sps: SequenceParameterSet) -> Int {
        let longTerm =
            nal_unit_type.isIDR || !sps.long_term_ref_pics_present_flag
            ? 0 : longTermReferences.count { $0.used_by_curr_pic_lt_flag }
        return shortTermSet(sps).usedCount + longTerm
    }

    /// Returns num_ref_idx_active_override_flag: whether the numbers of list entries differ from those in the picture
    /// parameter set.
    package func overridesReferenceCount(_ pps: PictureParameterSet) -> Bool {
        switch slice_type {
        case .i: false
        case .p: num_ref_idx_active[0] != pps.num_ref_idx_default_active[0]
        case .b:
            num_ref_idx_active[0] != pps.num_ref_idx_default_active[0]
                || num_ref_idx_active[1] != pps.num_ref_idx_default_active[1]
        }
    }

    /// Returns whether deblocking is off for the slice: slice_deblocking_filter_disabled_flag, or its inferred value.
    package func isDeblockingDisabled(_ pps: PictureParameterSet) -> Bool {
        let own = pps.deblocking_filter_override_enabled_flag ? deblocking : nil
        return own?.slice_deblocking_filter_disabled_flag ?? pps.pps_deblocking_filter_disabled_flag
    }
}
