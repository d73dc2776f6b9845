public import NALUnits
package import VideoBase

/// slice_type modulo 5, H.264 Table 7-6.
public enum SliceType: UInt8, Sendable {
    case p = 0
    case b = 1
    case i = 2
}

/// slice_header(), H.264 7.3.3, of a frame picture. Fields have the standard's names and values.
public struct SliceHeader: Sendable, Hashable {
    public var nal_ref_idc: UInt8
    public var isIDR: Bool
    public var first_mb_in_slice = 0
    /// All slices of a picture have the same type, and slice_type says so (5…9).
    public var slice_type: SliceType
    public var frame_num: Int
    public var idr_pic_id = 0
    public var pic_order_cnt_lsb: Int
    public var direct_spatial_mv_pred_flag = true
    /// 0 where the slice type has no such list.
    public var num_ref_idx_l0_active = 0
    public var num_ref_idx_l1_active = 0
    public var modificationsL0: [ReferenceListModification] = []
    public var modificationsL1: [ReferenceListModification] = []
    /// IDR pictures: the picture becomes a long-term reference.
    public var long_term_reference_flag = false
    /// Empty: the sliding window (8.2.5.3).
    package var marking: [MemoryManagementOperation] = []
    public var cabac_init_idc = 0
    /// SliceQPY.
    public var qp: Int
    public var disable_deblocking_filter_idc = 0
    public var slice_alpha_c0_offset_div2 = 0
    public var slice_beta_offset_div2 = 0

    public init(nal_ref_idc: UInt8, isIDR: Bool, slice_type: SliceType, frame_num: Int, pic_order_cnt_lsb: Int, qp: Int)
    {
        self.nal_ref_idc = nal_ref_idc
        self.isIDR = isIDR
        self.slice_type = slice_type
        self.frame_num = frame_num
        self.pic_order_cnt_lsb = pic_order_cnt_lsb
        self.qp = qp
    }

    public var nalUnitType: NALUnitType { isIDR ? .idrSlice : .slice }

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

    /// Writes the header's bits. No trailing bits follow: the slice data does, and whether alignment bits come first
    /// is the entropy coder's matter.
    public func write(to w: inout BitWriter, sps: SequenceParameterSet, pps: PictureParameterSet) {
        w.ue(first_mb_in_slice)
        w.ue(slice_type.rawValue + 5)
        w.ue(pps.pic_parameter_set_id)
        w.u(sps.log2_max_frame_num, frame_num)
        if isIDR { w.ue(idr_pic_id) }
        w.u(sps.log2_max_pic_order_cnt_lsb, pic_order_cnt_lsb)
        if slice_type == .b { w.flag(direct_spatial_mv_pred_flag) }
        if slice_type != .i {
            let overrides = overridesReferenceCount(pps)
            w.flag(overrides)
            if overrides {
                w.ue(num_ref_idx_l0_active - 1)
                if slice_type == .b { w.ue(num_ref_idx_l1_active - 1) }
            }
            writeModifications(modificationsL0, to: &w)
            if slice_type == .b { writeModifications(modificationsL1, to: &w) }
        }
        if nal_ref_idc != 0 { writeMarking(to: &w) }
        if pps.entropy_coding_mode_flag, slice_type != .i { w.ue(cabac_init_idc) }
        w.se(qp - pps.pic_init_qp)
        if pps.deblocking_filter_control_present_flag {
            w.ue(disable_deblocking_filter_idc)
            if disable_deblocking_filter_idc != 1 {
                w.se(slice_alpha_c0_offset_div2)
                w.se(slice_beta_offset_div2)
            }
        }
    }

    private func writeModifications(_ modifications: [ReferenceListModification], to w: inout BitWriter) {
        w.flag(!modifications.isEmpty)  // ref_pic_list_modification_flag_l0 or _l1
        guard !modifications.isEmpty else { return }
        for modification in modifications { modification.write(to: &w) }
        w.ue(3)
    }

    /// dec_ref_pic_marking(), 7.3.3.3.
    private func writeMarking(to w: inout BitWriter) {
        if isIDR {
            w.flag(false)  // no_output_of_prior_pics_flag
            w.flag(long_term_reference_flag)
        } else {
            w.flag(!marking.isEmpty)  // adaptive_ref_pic_marking_mode_flag
            guard !marking.isEmpty else { return }
            for operation in marking { operation.write(to: &w) }
            w.ue(0)
        }
    }
}
