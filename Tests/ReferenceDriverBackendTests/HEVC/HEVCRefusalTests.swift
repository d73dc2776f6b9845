import CVA
import Testing

/// Wrong HEVC pictures are refused with their status, and the next correct one is encoded as if there had been no
/// refusal.
@Suite struct HEVCRefusalTests {
    private let invalid = VA_STATUS_ERROR_INVALID_PARAMETER

    /// Sends two pictures; the second, or the first if `isFirst`, has the change.
    private func expect(
        _ status: Int32? = nil, isFirst: Bool = false, slices: Int = 1, plan: HEVCClient.Plan? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, _ change: (inout HEVCClient.Buffers) -> Void
    ) {
        let stream = HEVCClient(HEVCClient.null)
        let plans = HEVCClient.lowDelay(2)
        if !isFirst { #expect(stream.encode(stream.buffers(plans[0])) != nil) }
        let next = isFirst ? plans[0] : plan ?? plans[1]
        var buffers = stream.buffers(next, slices: slices)
        change(&buffers)
        #expect(stream.send(buffers) == status ?? invalid, sourceLocation: sourceLocation)
        #expect(
            stream.encode(stream.buffers(next))?.isEmpty == false, "the next picture is fine",
            sourceLocation: sourceLocation)
    }

    @Test func missingBuffersAreRefused() {
        expect(isFirst: true) { $0.sequence = nil }
        expect { $0.picture = nil }
        expect { $0.slices = [] }
        expect(VA_STATUS_SUCCESS) { _ in }
        expect(VA_STATUS_SUCCESS, isFirst: true) { _ in }
    }

    @Test func wrongSequencesAreRefused() {
        func sequence(
            sourceLocation: SourceLocation = #_sourceLocation,
            _ change: (inout VAEncSequenceParameterBufferHEVC) -> Void
        ) {
            expect(isFirst: true, sourceLocation: sourceLocation) { change(&$0.sequence!) }
        }
        sequence { $0.general_profile_idc = 2 }
        sequence { $0.general_profile_idc = 0 }
        sequence { $0.general_level_idc = 40 }
        sequence { ($0.general_level_idc, $0.general_tier_flag) = (93, 1) }
        sequence { $0.pic_width_in_luma_samples += 16 }
        sequence { $0.pic_width_in_luma_samples -= 4 }
        sequence { $0.pic_height_in_luma_samples = 0 }
        sequence { $0.seq_fields.bits.chroma_format_idc = 2 }
        sequence { $0.seq_fields.bits.bit_depth_luma_minus8 = 2 }
        sequence { $0.seq_fields.bits.scaling_list_enabled_flag = 1 }
        sequence { $0.seq_fields.bits.pcm_enabled_flag = 1 }
        sequence { $0.log2_min_luma_coding_block_size_minus3 = 1 }
        sequence { $0.log2_min_luma_coding_block_size_minus3 = 255 }
        sequence { $0.log2_diff_max_min_luma_coding_block_size = 4 }
        sequence { $0.log2_diff_max_min_luma_coding_block_size = 0 }
        sequence { $0.log2_min_transform_block_size_minus2 = 1 }
        sequence { $0.log2_diff_max_min_transform_block_size = 4 }
        sequence { $0.max_transform_hierarchy_depth_inter = 3 }
        sequence { $0.max_transform_hierarchy_depth_intra = 200 }
    }

    @Test func wrongPicturesAreRefused() {
        func picture(
            isFirst: Bool = false, sourceLocation: SourceLocation = #_sourceLocation,
            _ change: (inout VAEncPictureParameterBufferHEVC) -> Void
        ) {
            expect(isFirst: isFirst, sourceLocation: sourceLocation) { change(&$0.picture!) }
        }
        picture { $0.pic_init_qp = 52 }
        picture { $0.pps_cb_qp_offset = 13 }
        picture { $0.pps_cr_qp_offset = -13 }
        picture { $0.diff_cu_qp_delta_depth = 4 }
        picture { $0.log2_parallel_merge_level_minus2 = 5 }
        picture { $0.num_ref_idx_l0_default_active_minus1 = 15 }
        picture { $0.slice_pic_parameter_set_id = 64 }
        picture { $0.nal_unit_type = 10 }
        picture { $0.nal_unit_type = 19 }
        picture { $0.nal_unit_type = 21 }
        picture { $0.pic_fields.bits.idr_pic_flag = 1 }
        picture { $0.pic_fields.bits.coding_type = 0 }
        picture(isFirst: true) { $0.decoded_curr_pic.pic_order_cnt = 1 }
        picture(isFirst: true) { $0.pic_fields.bits.reference_pic_flag = 0 }
        picture(isFirst: true) { $0.nal_unit_type = 1 }
        picture { $0.pic_fields.bits.weighted_pred_flag = 1 }
        picture { $0.pic_fields.bits.weighted_bipred_flag = 1 }
        picture { $0.pic_fields.bits.transquant_bypass_enabled_flag = 1 }
        picture { $0.pic_fields.bits.dependent_slice_segments_enabled_flag = 1 }
        picture { $0.pic_fields.bits.entropy_coding_sync_enabled_flag = 1 }
        picture { $0.pic_fields.bits.scaling_list_data_present_flag = 1 }
        picture { $0.decoded_curr_pic.flags = UInt32(VA_PICTURE_HEVC_FIELD_PIC) }
        picture { $0.collocated_ref_pic_index = 15 }
        picture { ($0.pic_fields.bits.tiles_enabled_flag, $0.num_tile_columns_minus1) = (1, 20) }
        picture { ($0.pic_fields.bits.tiles_enabled_flag, $0.num_tile_columns_minus1) = (1, 0) }
        picture {
            $0.pic_fields.bits.tiles_enabled_flag = 1
            $0.num_tile_columns_minus1 = 1
            // The first column takes all three coding trees.
            $0.column_width_minus1.0 = 2
        }
        picture { $0.reference_frames.0.picture_id = VA_INVALID_ID }
        picture { $0.decoded_curr_pic.picture_id = $0.reference_frames.0.picture_id }
    }

    @Test func wrongSlicesAreRefused() {
        func slice(
            count: Int = 1, isFirst: Bool = false, sourceLocation: SourceLocation = #_sourceLocation,
            _ change: (inout [VAEncSliceParameterBufferHEVC]) -> Void
        ) {
            expect(isFirst: isFirst, slices: count, sourceLocation: sourceLocation) { change(&$0.slices) }
        }
        slice { $0[0].slice_type = 3 }
        slice(isFirst: true) { $0[0].slice_type = 1 }
        slice { $0[0].slice_pic_parameter_set_id = 1 }
        slice { $0[0].slice_fields.bits.dependent_slice_segment_flag = 1 }
        slice { $0[0].slice_qp_delta = 22 }
        slice { $0[0].slice_qp_delta = -31 }
        slice { $0[0].slice_cb_qp_offset = 13 }
        slice { $0[0].slice_beta_offset_div2 = 7 }
        slice { $0[0].slice_tc_offset_div2 = -7 }
        slice { $0[0].max_num_merge_cand = 0 }
        slice { $0[0].max_num_merge_cand = 6 }
        slice { $0[0].num_ref_idx_l0_active_minus1 = 15 }
        slice { $0[0].num_ref_idx_l0_active_minus1 = 1 }
        slice { $0[0].ref_pic_list0.0.picture_id = 12345 }
        slice { $0[0].ref_pic_list0.0.pic_order_cnt += 1 }
        slice { $0[0].slice_segment_address = 1 }
        slice { $0[0].num_ctu_in_slice += 1 }
        slice { $0[0].num_ctu_in_slice -= 1 }
        slice(count: 2) { $0[1].slice_segment_address -= 1 }
        slice(count: 2) { $0.swapAt(0, 1) }
    }

    /// These personalities belong to drivers that predict only from both lists.
    @Test func unsupportedListsOfLowPowerAreRefused() {
        func send(_ name: String, _ plans: [HEVCClient.Plan]) -> VAStatus {
            var environment = HEVCClient.null
            environment.personality = name
            let stream = HEVCClient(
                environment, width: 200, height: 136, entrypoint: VAEntrypointEncSliceLP, packedHeaders: 0)
            var status = VA_STATUS_SUCCESS
            for plan in plans { status = stream.send(stream.buffers(plan)) }
            return status
        }
        for name in ["iHD-8A52", "iHD-9A49"] {
            #expect(send(name, HEVCClient.lowDelay(2)) == invalid, "\(name): a P slice")
            #expect(send(name, HEVCClient.lowDelay(4, references: 3, isGeneralized: true)) == VA_STATUS_SUCCESS, "\(name)")
        }
        let start = HEVCClient.lowDelay(2, isGeneralized: true)
        let far = HEVCClient.Plan(order: 4, type: 0, lists: [[1], [1]], unitType: 1)
        let between = HEVCClient.Plan(order: 2, type: 0, lists: [[1], [4]], unitType: 0)
        #expect(send("iHD-8A52", start + [far, between]) == invalid, "lists that differ on Gen11")
        #expect(send("iHD-9A49", start + [far, between]) == VA_STATUS_SUCCESS)
    }
}
