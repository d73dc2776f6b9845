/// slice_type, H.265 Table 7-7.
public enum SliceType: UInt8, Sendable, CaseIterable {
    case b = 0
    case p = 1
    case i = 2
}

/// slice_segment_header(), H.265 7.3.6.1, without weighted prediction. Fields have the standard's names and values.
public struct SliceSegmentHeader: Sendable, Hashable {
    /// Where the slice's short-term reference picture set is.
    public enum ShortTermReferences: Sendable, Hashable {
        /// short_term_ref_pic_set_idx: the number of one of the sequence parameter set's.
        case index(Int)
        /// In the header itself.
        case explicit(ShortTermReferencePictureSet)
    }

    /// A picture of the long-term reference picture set.
    public struct LongTermReference: Sendable, Hashable {
        /// poc_lsb_lt: the low bits of its picture order count.
        public var poc_lsb_lt: Int
        /// used_by_curr_pic_lt_flag: the picture may refer to it; false: it is only kept for later pictures.
        public var isUsed: Bool
        /// DeltaPocMsbCycleLt, (7-52): how many times the low bits wrapped since, not taken from the entry before;
        /// needed where several pictures share the low bits. nil: delta_poc_msb_present_flag 0. Entries stand in
        /// rising order of it.
        public var deltaPOCMsbCycle: Int?

        public init(poc_lsb_lt: Int, isUsed: Bool = true, deltaPOCMsbCycle: Int? = nil) {
            self.poc_lsb_lt = poc_lsb_lt
            self.isUsed = isUsed
            self.deltaPOCMsbCycle = deltaPOCMsbCycle
        }
    }

    /// What a slice has in place of the picture parameter set's deblocking.
    public struct Deblocking: Sendable, Hashable {
        public var slice_deblocking_filter_disabled_flag: Bool
        /// −6…6.
        public var slice_beta_offset_div2: Int
        public var slice_tc_offset_div2: Int

        public init(isDisabled: Bool, betaOffsetDiv2: Int = 0, tcOffsetDiv2: Int = 0) {
            slice_deblocking_filter_disabled_flag = isDisabled
            slice_beta_offset_div2 = betaOffsetDiv2
            slice_tc_offset_div2 = tcOffsetDiv2
        }
    }

    public var nal_unit_type: NALUnitType
    /// TemporalId, 0…6.
    public var temporalID = 0
    public var no_output_of_prior_pics_flag = false
    /// In coding tree blocks, raster order; 0: the picture's first slice segment.
    public var slice_segment_address = 0
    /// The segment goes on with the slice before it: of the fields below it has only the entry points.
    public var dependent_slice_segment_flag = false
    public var slice_type: SliceType
    public var pic_output_flag = true
    /// The picture order count's low bits; IDR pictures have none (0).
    public var slice_pic_order_cnt_lsb: Int
    public var shortTermReferences = ShortTermReferences.explicit(ShortTermReferencePictureSet())
    public var longTermReferences: [LongTermReference] = []
    public var slice_temporal_mvp_enabled_flag = false
    public var slice_sao_luma_flag = false
    public var slice_sao_chroma_flag = false
    /// 0 where the slice type has no such list.
    public var num_ref_idx_l0_active = 0
    public var num_ref_idx_l1_active = 0
    /// list_entry_l0 and list_entry_l1, (7-57): for each index of the list the place in its initial order; empty: that
    /// order itself.
    public var list_entry_l0: [Int] = []
    public var list_entry_l1: [Int] = []
    public var mvd_l1_zero_flag = false
    public var cabac_init_flag = false
    public var collocated_from_l0_flag = true
    public var collocated_ref_idx = 0
    /// MaxNumMergeCand, 1…5: five_minus_max_num_merge_cand is 5 less it.
    public var maxNumMergeCand = 5
    /// SliceQpY.
    public var qp: Int
    /// −12…12.
    public var slice_cb_qp_offset = 0
    public var slice_cr_qp_offset = 0
    /// nil: the picture parameter set's.
    public var deblocking: Deblocking?
    /// Written where the picture parameter set lets filters cross slices; else they do not.
    public var slice_loop_filter_across_slices_enabled_flag = true
    /// Bytes of each substream but the last one, as they stand in the NAL unit, escapes included.
    public var entryPoints: [Int] = []

    public init(
        nal_unit_type: NALUnitType, temporalID: Int = 0, slice_type: SliceType, slice_pic_order_cnt_lsb: Int, qp: Int
    ) {
        self.nal_unit_type = nal_unit_type
        self.temporalID = temporalID
        self.slice_type = slice_type
        self.slice_pic_order_cnt_lsb = slice_pic_order_cnt_lsb
        self.qp = qp
    }

    /// The short-term reference picture set, wherever it is; an IDR picture's, and that of a number that the sequence
    /// parameter set has not, is empty.
    public func shortTermSet(_ sps: SequenceParameterSet) -> ShortTermReferencePictureSet {
        if nal_unit_type.isIDR { return ShortTermReferencePictureSet() }
        switch shortTermReferences {
        case .explicit(let set): return set
        case .index(let index):
            return sps.short_term_ref_pic_sets.indices.contains(index)
                ? sps.short_term_ref_pic_sets[index] : ShortTermReferencePictureSet()
        }
    }

    /// NumPicTotalCurr, (7-55): the pictures that the slice may refer to.
    public func numPicTotalCurr(_ sps: SequenceParameterSet) -> Int {
        let longTerm =
            nal_unit_type.isIDR || !sps.long_term_ref_pics_present_flag ? 0 : longTermReferences.count { $0.isUsed }
        return shortTermSet(sps).usedCount + longTerm
    }

    /// num_ref_idx_active_override_flag: the counts differ from the picture parameter set's.
    public func overridesReferenceCount(_ pps: PictureParameterSet) -> Bool {
        switch slice_type {
        case .i: false
        case .p: num_ref_idx_l0_active != pps.num_ref_idx_l0_default_active
        case .b:
            num_ref_idx_l0_active != pps.num_ref_idx_l0_default_active
                || num_ref_idx_l1_active != pps.num_ref_idx_l1_default_active
        }
    }

    /// Whether deblocking is off for the slice (slice_deblocking_filter_disabled_flag, as inferred).
    public func isDeblockingDisabled(_ pps: PictureParameterSet) -> Bool {
        let own = pps.deblocking_filter_override_enabled_flag ? deblocking : nil
        return own?.slice_deblocking_filter_disabled_flag ?? pps.pps_deblocking_filter_disabled_flag
    }
}
