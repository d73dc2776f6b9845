package import NALUnits
package import VideoBase

/// slice_type modulo 5, H.264 Table 7-6.
package enum SliceType: UInt8, Sendable {
    case p = 0
    case b = 1
    case i = 2
}

/// The slice header, slice_header(), H.264 7.3.3, of a frame picture. The fields have the names and values of the
/// standard.
package struct SliceHeader: Sendable, Hashable {
    /// The importance for reference, 0…3; 0 for a picture that is not used for reference.
    package var nal_ref_idc: UInt8
    /// Whether the picture is an IDR picture.
    package var isIDR: Bool
    /// The address of the slice's first macroblock.
    package var first_mb_in_slice = 0
    /// The type of the slice. It is written as 5…9, because all slices of a picture have the same type.
    package var slice_type: SliceType
    /// The frame number, below MaxFrameNum.
    package var frame_num: Int
    /// The ID that distinguishes consecutive IDR pictures, 0…65535.
    package var idr_pic_id = 0
    /// The low bits of the picture order count.
    package var pic_order_cnt_lsb: Int
    /// Whether direct prediction in B slices is spatial. Otherwise, it is temporal.
    package var direct_spatial_mv_pred_flag = true
    /// The numbers of entries in lists 0 and 1; 0 if the slice type has no such list.
    package var num_ref_idx_active = PerList(0, 0)
    /// The modifications of lists 0 and 1. Empty for the initial order.
    package var modifications = PerList<[ReferenceListModification]>([], [])
    /// Whether an IDR picture becomes a long-term reference.
    package var long_term_reference_flag = false
    /// The memory management operations. Empty for the sliding window (8.2.5.3).
    package var marking: [MemoryManagementOperation] = []
    /// The initialization table of CABAC contexts, 0…2.
    package var cabac_init_idc = 0
    /// SliceQPY.
    package var qp: Int
    /// The deblocking of the slice: 0 on, 1 off, 2 on except at slice edges.
    package var disable_deblocking_filter_idc = 0
    /// The alpha and C0 offset of deblocking, divided by 2, −6…6.
    package var slice_alpha_c0_offset_div2 = 0
    /// The beta offset of deblocking, divided by 2, −6…6.
    package var slice_beta_offset_div2 = 0

    /// Creates a header. The other fields have their default values.
    package init(
        nal_ref_idc: UInt8, isIDR: Bool, slice_type: SliceType, frame_num: Int, pic_order_cnt_lsb: Int, qp: Int
    ) {
        self.nal_ref_idc = nal_ref_idc
        self.isIDR = isIDR
        self.slice_type = slice_type
        self.frame_num = frame_num
        self.pic_order_cnt_lsb = pic_order_cnt_lsb
        self.qp = qp
    }

    /// The type of the slice's NAL unit.
    package var nal_unit_type: NALUnitType { isIDR ? .idrSlice : .slice }

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

    /// Writes the bits of the header, without trailing bits. Slice data must follow. Whether alignment bits precede
    /// that data depends on the entropy coder.
    package func write(to w: inout BitWriter, sps: SequenceParameterSet, pps: PictureParameterSet) {
        w.ue(first_mb_in_slice)
        w.ue(slice_type.rawValue + 5)
        w.ue(pps.pic_parameter_set_id)
        w.u(sps.log2_max_frame_num, frame_num)
        if isIDR { w.ue(idr_pic_id) }
        w.u(sps.log2_max_pic_order_cnt_lsb, pic_order_cnt_lsb)
        if slice_type == .b { w.flag(direct_spatial_mv_pred_flag) }
        if slice_type != .i {
            let num_ref_idx_active_override_flag = overridesReferenceCount(pps)
            w.flag(num_ref_idx_active_override_flag)
            if num_ref_idx_active_override_flag {
                w.ue(num_ref_idx_active[0] - 1)
                if slice_type == .b { w.ue(num_ref_idx_active[1] - 1) }
            }
            writeModifications(modifications[0], to: &w)
            if slice_type == .b { writeModifications(modifications[1], to: &w) }
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

    /// Writes the part of ref_pic_list_modification() for one list, 7.3.3.1.
    private func writeModifications(_ modifications: [ReferenceListModification], to w: inout BitWriter) {
        w.flag(!modifications.isEmpty)  // ref_pic_list_modification_flag_l0 or _l1
        guard !modifications.isEmpty else { return }
        for modification in modifications { modification.write(to: &w) }
        w.ue(3)  // modification_of_pic_nums_idc: the end
    }

    /// Writes dec_ref_pic_marking(), 7.3.3.3.
    private func writeMarking(to w: inout BitWriter) {
        if isIDR {
            w.flag(false)  // no_output_of_prior_pics_flag
            w.flag(long_term_reference_flag)
        } else {
            w.flag(!marking.isEmpty)  // adaptive_ref_pic_marking_mode_flag
            guard !marking.isEmpty else { return }
            for operation in marking { operation.write(to: &w) }
            w.ue(0)  // memory_management_control_operation: the end
        }
    }
}
