/// slice_header() (H.264 7.3.3).
package struct H264SliceHeader: Sendable, Hashable {
    /// slice_type modulo 5 (table 7-6).
    package enum SliceType: Int, Sendable, Hashable {
        case p = 0
        case b = 1
        case i = 2
        case sp = 3
        case si = 4

        package var isIntra: Bool { self == .i || self == .si }
    }

    /// One command of ref_pic_list_modification() (7.3.3.1).
    package enum ReferenceListModification: Sendable, Hashable {
        /// modification_of_pic_nums_idc 0.
        case subtract(abs_diff_pic_num: Int)
        /// modification_of_pic_nums_idc 1.
        case add(abs_diff_pic_num: Int)
        /// modification_of_pic_nums_idc 2.
        case longTerm(long_term_pic_num: Int)
    }

    /// memory_management_control_operation 1 to 6 (7.4.3.3).
    package enum MemoryManagementOperation: Sendable, Hashable {
        case forgetShortTerm(difference_of_pic_nums: Int)
        case forgetLongTerm(long_term_pic_num: Int)
        case makeLongTerm(difference_of_pic_nums: Int, long_term_frame_idx: Int)
        /// Sets MaxLongTermFrameIdx to max_long_term_frame_idx_plus1 − 1.
        case setLongTermCount(max_long_term_frame_idx_plus1: Int)
        case forgetAll
        case makeCurrentLongTerm(long_term_frame_idx: Int)
    }

    /// dec_ref_pic_marking() (7.3.3.3).
    package enum Marking: Sendable, Hashable {
        case idr(no_output_of_prior_pics_flag: Bool, long_term_reference_flag: Bool)
        case slidingWindow
        case adaptive([MemoryManagementOperation])
    }

    /// The contents of pred_weight_table() (7.3.3.2) that are stored.
    package struct Weights: Sendable, Hashable {
        package var luma_log2_weight_denom: Int
        package var chroma_log2_weight_denom = 0
        /// The number of entries in both lists that have explicit weights.
        package var weighted = 0
    }

    package var nal_unit_type: Int
    package var nal_ref_idc: Int
    package var first_mb_in_slice: Int
    /// slice_type modulo 5.
    package var slice_type: SliceType
    /// Whether slice_type is 5 to 9: every slice of the picture has this type.
    package var sliceTypeHoldsForPicture: Bool
    package var pic_parameter_set_id: Int
    package var colour_plane_id = 0
    package var frame_num: Int
    package var field_pic_flag = false
    package var bottom_field_flag = false
    package var idr_pic_id = 0
    package var pic_order_cnt_lsb = 0
    package var delta_pic_order_cnt_bottom = 0
    /// delta_pic_order_cnt[0] and delta_pic_order_cnt[1].
    package var delta_pic_order_cnt = [0, 0]
    package var redundant_pic_cnt = 0
    package var direct_spatial_mv_pred_flag = false
    package var num_ref_idx_active_override_flag = false
    /// num_ref_idx_l0_active_minus1 + 1 and num_ref_idx_l1_active_minus1 + 1, or the defaults of the PPS; 0 if the
    /// slice has no such list.
    package var num_ref_idx_active = [0, 0]
    /// The modification commands of each list; nil without ref_pic_list_modification_flag.
    package var modifications: [[ReferenceListModification]?] = [nil, nil]
    package var weights: Weights?
    /// The marking commands; nil in non-reference pictures.
    package var marking: Marking?
    package var cabac_init_idc = 0
    /// SliceQPY (7-30).
    package var qp: Int
    package var disable_deblocking_filter_idc = 0
    package var slice_alpha_c0_offset_div2 = 0
    package var slice_beta_offset_div2 = 0

    /// Whether the slice's reference lists are constructed as those of another slice of its picture.
    func hasLists(of other: H264SliceHeader) -> Bool {
        slice_type == other.slice_type && num_ref_idx_active == other.num_ref_idx_active && modifications == other.modifications
    }

    /// IdrPicFlag.
    package var isIDR: Bool { nal_unit_type == 5 }
    /// Whether the slice has memory_management_control_operation 5.
    package var includesForgetAll: Bool {
        if case .adaptive(let operations)? = marking { operations.contains(.forgetAll) } else { false }
    }
}

extension H264SliceHeader {
    /// Reads a slice header up to its last bit.
    ///
    /// - Throws: `Malformed` if the header cannot be read or refers to a missing parameter set.
    init(
        _ reader: inout BitReader, unit: H264NALUnit, pictureSet: (Int) -> H264PictureParameterSet?,
        sequenceSet: (Int) -> H264SequenceParameterSet?
    ) throws(Malformed) {
        nal_unit_type = unit.type
        nal_ref_idc = unit.nal_ref_idc
        first_mb_in_slice = reader.unsigned()
        let type = try reader.unsigned("slice_type", in: 0...9)
        guard let slice_type = SliceType(rawValue: type % 5) else { throw Malformed("slice_type is \(type)") }
        self.slice_type = slice_type
        sliceTypeHoldsForPicture = type >= 5
        pic_parameter_set_id = try reader.unsigned("pic_parameter_set_id", in: 0...255)
        guard let pps = pictureSet(pic_parameter_set_id) else {
            throw Malformed("a slice refers to PPS \(pic_parameter_set_id), which does not exist")
        }
        guard let sps = sequenceSet(pps.seq_parameter_set_id) else {
            throw Malformed("a slice refers to SPS \(pps.seq_parameter_set_id), which does not exist")
        }
        guard first_mb_in_slice < sps.macroblocksPerFrame else {
            throw Malformed("first_mb_in_slice is \(first_mb_in_slice) of \(sps.macroblocksPerFrame)")
        }
        qp = pps.pic_init_qp
        if sps.separate_colour_plane_flag { colour_plane_id = reader.bits(2) }
        frame_num = reader.bits(sps.log2_max_frame_num)
        if !sps.frame_mbs_only_flag {
            field_pic_flag = reader.flag()
            if field_pic_flag { bottom_field_flag = reader.flag() }
        }
        if unit.type == 5 { idr_pic_id = try reader.unsigned("idr_pic_id", in: 0...65535) }
        if sps.pic_order_cnt_type == 0 {
            pic_order_cnt_lsb = reader.bits(sps.log2_max_pic_order_cnt_lsb)
            if pps.bottom_field_pic_order_in_frame_present_flag, !field_pic_flag {
                delta_pic_order_cnt_bottom = reader.signed()
            }
        }
        if sps.pic_order_cnt_type == 1, !sps.delta_pic_order_always_zero_flag {
            delta_pic_order_cnt[0] = reader.signed()
            if pps.bottom_field_pic_order_in_frame_present_flag, !field_pic_flag {
                delta_pic_order_cnt[1] = reader.signed()
            }
        }
        if pps.redundant_pic_cnt_present_flag {
            redundant_pic_cnt = try reader.unsigned("redundant_pic_cnt", in: 0...127)
        }
        if slice_type == .b { direct_spatial_mv_pred_flag = reader.flag() }
        try readReferences(&reader, pps)
        if (pps.weighted_pred_flag && (slice_type == .p || slice_type == .sp))
            || (pps.weighted_bipred_idc == 1 && slice_type == .b)
        {
            weights = try Self.weights(&reader, counts: num_ref_idx_active, chroma: sps.chromaArrayType != 0)
        }
        if nal_ref_idc != 0 { marking = try Self.marking(&reader, isIDR: unit.type == 5) }
        if pps.entropy_coding_mode_flag, !slice_type.isIntra {
            cabac_init_idc = try reader.unsigned("cabac_init_idc", in: 0...2)
        }
        let delta = reader.signed()
        guard abs(delta) <= 128 else { throw Malformed("slice_qp_delta is \(delta)") }
        qp += delta
        try reader.checkEnd("the slice header")
        guard (-6 * (sps.bit_depth_luma - 8)...51).contains(qp) else { throw Malformed("the slice's QP is \(qp)") }
        if slice_type == .sp || slice_type == .si {
            if slice_type == .sp { _ = reader.flag() }
            _ = reader.signed()
        }
        if pps.deblocking_filter_control_present_flag {
            disable_deblocking_filter_idc = try reader.unsigned("disable_deblocking_filter_idc", in: 0...2)
            if disable_deblocking_filter_idc != 1 {
                slice_alpha_c0_offset_div2 = try reader.signed("slice_alpha_c0_offset_div2", in: -6...6)
                slice_beta_offset_div2 = try reader.signed("slice_beta_offset_div2", in: -6...6)
            }
        }
        try reader.checkEnd("the slice header")
    }

    private mutating func readReferences(_ reader: inout BitReader, _ pps: H264PictureParameterSet) throws(Malformed) {
        guard !slice_type.isIntra else { return }
        let lists = slice_type == .b ? 2 : 1
        num_ref_idx_active = [
            pps.num_ref_idx_default_active[0], lists == 2 ? pps.num_ref_idx_default_active[1] : 0,
        ]
        num_ref_idx_active_override_flag = reader.flag()
        let limit = field_pic_flag ? 31 : 15
        if num_ref_idx_active_override_flag {
            for list in 0..<lists {
                let name = "num_ref_idx_l\(list)_active_minus1"
                num_ref_idx_active[list] = try reader.unsigned(name, in: 0...limit) + 1
            }
        } else if num_ref_idx_active.max() ?? 0 > limit + 1 {
            throw Malformed("num_ref_idx_active of the PPS is \(num_ref_idx_active)")
        }
        for list in 0..<lists where reader.flag() {
            var commands: [ReferenceListModification] = []
            while true {
                let idc = try reader.unsigned("modification_of_pic_nums_idc", in: 0...3)
                if idc == 3 { break }
                // Each entry allows at most one command (7.4.3.1).
                guard commands.count < num_ref_idx_active[list] else {
                    throw Malformed("there are more list modifications than entries in list \(list)")
                }
                let value = reader.unsigned()
                commands.append(
                    idc == 2
                        ? .longTerm(long_term_pic_num: value)
                        : idc == 0 ? .subtract(abs_diff_pic_num: value + 1) : .add(abs_diff_pic_num: value + 1))
            }
            modifications[list] = commands
        }
        try reader.checkEnd("ref_pic_list_modification()")
    }

    private static func weights(
        _ reader: inout BitReader, counts: [Int], chroma: Bool
    ) throws(Malformed) -> Weights {
        var result = Weights(luma_log2_weight_denom: try reader.unsigned("luma_log2_weight_denom", in: 0...7))
        if chroma { result.chroma_log2_weight_denom = try reader.unsigned("chroma_log2_weight_denom", in: 0...7) }
        for count in counts {
            for _ in 0..<count {
                var isWeighted = false
                // The weight 128 is only inferred (7.4.3.2), so the largest coded weight is 127.
                for components in chroma ? [1, 2] : [1] where reader.flag() {
                    isWeighted = true
                    for _ in 0..<components {
                        _ = try reader.signed("a prediction weight", in: -128...127)
                        _ = try reader.signed("a prediction offset", in: -128...127)
                    }
                }
                if isWeighted { result.weighted += 1 }
            }
        }
        try reader.checkEnd("pred_weight_table()")
        return result
    }

    private static func marking(_ reader: inout BitReader, isIDR: Bool) throws(Malformed) -> Marking {
        if isIDR {
            return .idr(no_output_of_prior_pics_flag: reader.flag(), long_term_reference_flag: reader.flag())
        }
        guard reader.flag() else { return .slidingWindow }
        var operations: [MemoryManagementOperation] = []
        while true {
            let operation = try reader.unsigned("memory_management_control_operation", in: 0...6)
            switch operation {
            case 1: operations.append(.forgetShortTerm(difference_of_pic_nums: reader.unsigned() + 1))
            case 2: operations.append(.forgetLongTerm(long_term_pic_num: reader.unsigned()))
            case 3:
                operations.append(
                    .makeLongTerm(
                        difference_of_pic_nums: reader.unsigned() + 1, long_term_frame_idx: reader.unsigned()))
            case 4: operations.append(.setLongTermCount(max_long_term_frame_idx_plus1: reader.unsigned()))
            case 5: operations.append(.forgetAll)
            case 6: operations.append(.makeCurrentLongTerm(long_term_frame_idx: reader.unsigned()))
            default: return .adaptive(operations)
            }
            try reader.checkEnd("dec_ref_pic_marking()")
            guard operations.count <= 66 else { throw Malformed("there are more than 66 marking operations") }
        }
    }

    /// Returns whether this slice starts a new picture after the picture of `other` (7.4.1.2.4).
    ///
    /// - Parameter pic_order_cnt_type: The value of the active SPS.
    func startsPicture(after other: H264SliceHeader, pic_order_cnt_type: Int) -> Bool {
        if frame_num != other.frame_num || pic_parameter_set_id != other.pic_parameter_set_id { return true }
        if field_pic_flag != other.field_pic_flag || bottom_field_flag != other.bottom_field_flag { return true }
        if (nal_ref_idc == 0) != (other.nal_ref_idc == 0) || isIDR != other.isIDR { return true }
        if isIDR, idr_pic_id != other.idr_pic_id { return true }
        switch pic_order_cnt_type {
        case 0:
            return pic_order_cnt_lsb != other.pic_order_cnt_lsb
                || delta_pic_order_cnt_bottom != other.delta_pic_order_cnt_bottom
        case 1: return delta_pic_order_cnt != other.delta_pic_order_cnt
        default: return false
        }
    }
}
