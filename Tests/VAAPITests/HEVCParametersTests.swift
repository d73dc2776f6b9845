import CVA
import Testing
import VideoBase

@testable import VAAPI

/// Compares the bytes that HEVC encoders get with C structs and with words packed by hand.
@Suite struct HEVCParametersTests {
    private func bytes(_ parameters: some ParameterBuffer, _ type: BufferType) -> [UInt8] {
        var result: [UInt8] = []
        unsafe parameters.withBuffers { actual, bytes in
            #expect(actual == type)
            unsafe result += bytes
        }
        return result
    }

    private func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32($1 * 8) }
    }

    private func sequence() -> HEVCSequenceParameters {
        HEVCSequenceParameters(
            general_profile_idc: 2, general_level_idc: 123, intra_period: 250, intra_idr_period: 500, ip_period: 3,
            pic_width_in_luma_samples: 1920, pic_height_in_luma_samples: 1088,
            log2_min_luma_coding_block_size_minus3: 0,
            log2_diff_max_min_luma_coding_block_size: 3, log2_min_transform_block_size_minus2: 0,
            log2_diff_max_min_transform_block_size: 3, max_transform_hierarchy_depth_inter: 2,
            max_transform_hierarchy_depth_intra: 1)
    }

    @Test func sequenceFieldsHaveTheirOffsets() {
        var sequence = sequence()
        let plain = bytes(sequence, .sequence)
        #expect(plain.count == MemoryLayout<VAEncSequenceParameterBufferHEVC>.size)
        // There are three bytes, one of padding, four words and two halves; then chroma_format_idc 1 alone.
        #expect(Array(plain[0..<4]) == [2, 123, 0, 0])
        #expect([4, 8, 12, 16].map { word(plain, at: $0) } == [250, 500, 3, 0])
        #expect(word(plain, at: 20) == 1920 | 1088 << 16)
        #expect(word(plain, at: 24) == 1)
        #expect(Array(plain[28..<34]) == [0, 3, 0, 3, 2, 1])
        #expect(plain[34...].allSatisfy { $0 == 0 })

        sequence.general_tier_flag = true
        sequence.bits_per_second = 6_000_000
        sequence.bit_depth_luma_minus8 = 2
        sequence.bit_depth_chroma_minus8 = 2
        sequence.sps_temporal_mvp_enabled_flag = true
        sequence.sample_adaptive_offset_enabled_flag = true
        let actual = bytes(sequence, .sequence)
        #expect(actual[2] == 1 && word(actual, at: 16) == 6_000_000)
        // The depths begin at bits 3 and 6; sample adaptive offset is bit 12, temporal MVP bit 15.
        #expect(word(actual, at: 24) == 1 | 2 << 3 | 2 << 6 | 1 << 12 | 1 << 15)
    }

    @Test func eachSequenceFlagSetsOnlyItsBit() {
        let flags: [(WritableKeyPath<HEVCSequenceParameters, Bool>, Int)] = [
            (\HEVCSequenceParameters.separate_colour_plane_flag, 2), (\.scaling_list_enabled_flag, 9),
            (\.strong_intra_smoothing_enabled_flag, 10),
            (\.amp_enabled_flag, 11), (\.sample_adaptive_offset_enabled_flag, 12),
            (\.sps_temporal_mvp_enabled_flag, 15), (\.low_delay_seq, 16), (\.hierachical_flag, 17),
        ]
        for (flag, bit) in flags {
            var sequence = self.sequence()
            sequence[keyPath: flag] = true
            #expect(unsafe sequence.lowered.seq_fields.value == 1 | 1 << UInt32(bit))
        }
    }

    @Test func sequencePCMAndVUIAreWritten() {
        var sequence = sequence()
        sequence.pcm = .init(
            pcm_sample_bit_depth_luma_minus1: 7, pcm_sample_bit_depth_chroma_minus1: 6,
            log2_min_pcm_luma_coding_block_size_minus3: 1,
            log2_max_pcm_luma_coding_block_size_minus3: 2)
        sequence.pcm?.pcm_loop_filter_disabled_flag = true
        sequence.palette_mode_enabled_flag = true
        var c = sequence.lowered
        #expect(unsafe c.seq_fields.value == 1 | 1 << 13 | 1 << 14)
        #expect(c.pcm_sample_bit_depth_luma_minus1 == 7 && c.pcm_sample_bit_depth_chroma_minus1 == 6)
        #expect(c.log2_min_pcm_luma_coding_block_size_minus3 == 1)
        #expect(c.log2_max_pcm_luma_coding_block_size_minus3 == 2)
        #expect(unsafe c.scc_fields.value == 1)
        #expect(c.vui_parameters_present_flag == 0)

        var vui = HEVCSequenceParameters.VUI()
        sequence.vui = vui
        c = sequence.lowered
        #expect(unsafe c.vui_parameters_present_flag == 1 && c.vui_fields.value == 0)
        vui.aspect_ratio_idc = 255
        (vui.sar_width, vui.sar_height) = (40, 33)
        vui.neutral_chroma_indication_flag = true
        vui.field_seq_flag = true
        vui.timing = .init(vui_num_units_in_tick: 1001, vui_time_scale: 30000)
        var restriction = HEVCSequenceParameters.Restriction()
        restriction.log2_max_mv_length_vertical = 14
        restriction.min_spatial_segmentation_idc = 300
        restriction.max_bytes_per_pic_denom = 2
        restriction.max_bits_per_min_cu_denom = 1
        vui.restriction = restriction
        sequence.vui = vui
        c = sequence.lowered
        // Aspect, neutral chroma, fields, timing and restriction; motion vectors over boundaries is bit 6; 15 << 8 and
        // 14 << 13.
        #expect(unsafe c.vui_fields.value == 0b11111 | 1 << 6 | 15 << 8 | 14 << 13)
        #expect(c.aspect_ratio_idc == 255 && c.sar_width == 40 && c.sar_height == 33)
        #expect(c.vui_num_units_in_tick == 1001 && c.vui_time_scale == 30000)
        #expect(c.min_spatial_segmentation_idc == 300 && c.max_bytes_per_pic_denom == 2)
        #expect(c.max_bits_per_min_cu_denom == 1)
        sequence.vui?.restriction?.motion_vectors_over_pic_boundaries_flag = false
        sequence.vui?.restriction?.tiles_fixed_structure_flag = true
        sequence.vui?.restriction?.restricted_ref_pic_lists_flag = true
        #expect(unsafe sequence.lowered.vui_fields.value == 0b11111 | 1 << 5 | 1 << 7 | 15 << 8 | 14 << 13)
    }

    /// Returns two surfaces and a coded buffer of an H.264 encoder; the test needs only their identifiers.
    private func objects() throws -> (surfaces: [Surface], output: CodedBuffer) {
        let display = try TestDevice.open()
        let size = VideoSize(width: 64, height: 64)
        let surfaces = try Surface.make(display, count: 2, size: size)
        let config = try Config(display, profile: .h264High, entryPoint: TestDevice.entryPoint(display))
        let context = try Context(config, size: size, targets: surfaces)
        return (surfaces, try CodedBuffer(context, capacity: 65536))
    }

    private func picture(_ surfaces: [Surface], _ output: CodedBuffer) -> HEVCPictureParameters {
        HEVCPictureParameters(
            decoded_curr_pic: HEVCPicture(surfaces[0], pic_order_cnt: 8, role: .none),
            reference_frames: [
                HEVCPicture(surfaces[1], pic_order_cnt: 4, role: .shortTermBefore),
                HEVCPicture(surfaces[1], pic_order_cnt: 12, role: .shortTermAfter),
                HEVCPicture(surfaces[1], pic_order_cnt: -3, role: .longTerm),
                HEVCPicture(surfaces[1], pic_order_cnt: 2, role: .longTermKept),
                HEVCPicture(surfaces[1], pic_order_cnt: 3, role: .none),
            ],
            coded_buf: output, nal_unit_type: 1, idr_pic_flag: false, coding_type: .b, reference_pic_flag: true)
    }

    @Test func pictureReferencesFillTheArrays() throws {
        let (surfaces, output) = try objects()
        var picture = picture(surfaces, output)
        let actual = bytes(picture, .picture)
        #expect(actual.count == MemoryLayout<VAEncPictureParameterBufferHEVC>.size)
        // A VAPictureHEVC has seven words: the surface, the order count, the flags, four reserved.
        #expect(word(actual, at: 0) == surfaces[0].identifier && word(actual, at: 4) == 8 && word(actual, at: 8) == 0)
        let references = (0..<15).map { 28 + 28 * $0 }
        #expect(references.prefix(5).map { word(actual, at: $0 + 8) } == [0x10, 0x20, 0x48, 0x8, 0])
        #expect(references.prefix(5).map { Int32(bitPattern: word(actual, at: $0 + 4)) } == [4, 12, -3, 2, 3])
        #expect(references.prefix(5).allSatisfy { word(actual, at: $0) == surfaces[1].identifier })
        #expect(
            references.dropFirst(5).allSatisfy { word(actual, at: $0) == 0xffff_ffff && word(actual, at: $0 + 8) == 1 })
        #expect(word(actual, at: 28 * 16) == output.identifier)
        // There is no collocated picture; init_qp 26 is the third byte.
        #expect(Array(actual[452..<456]) == [0xff, 0, 26, 0])
        let c = picture.lowered
        #expect(unsafe c.pic_fields.value == 3 << 1 | 1 << 4 && c.nal_unit_type == 1)

        picture.collocated_ref_pic_index = 1
        picture.last_picture = 1
        picture.pic_init_qp = 30
        picture.diff_cu_qp_delta_depth = 2
        picture.pps_cb_qp_offset = -3
        picture.pps_cr_qp_offset = 4
        picture.log2_parallel_merge_level_minus2 = 1
        picture.ctu_max_bitsize_allowed = 9
        picture.num_ref_idx_l0_default_active_minus1 = 2
        picture.num_ref_idx_l1_default_active_minus1 = 1
        picture.slice_pic_parameter_set_id = 5
        picture.hierarchical_level_plus1 = 3
        picture.pps_curr_pic_ref_enabled_flag = true
        let full = picture.lowered
        #expect(full.collocated_ref_pic_index == 1 && full.last_picture == 1 && full.pic_init_qp == 30)
        #expect(full.diff_cu_qp_delta_depth == 2 && full.pps_cb_qp_offset == -3 && full.pps_cr_qp_offset == 4)
        #expect(full.log2_parallel_merge_level_minus2 == 1 && full.ctu_max_bitsize_allowed == 9)
        #expect(full.num_ref_idx_l0_default_active_minus1 == 2 && full.num_ref_idx_l1_default_active_minus1 == 1)
        #expect(full.slice_pic_parameter_set_id == 5 && full.hierarchical_level_plus1 == 3)
        #expect(unsafe full.scc_fields.value == 1)
    }

    @Test func tilesStayWithinTheArrays() throws {
        let (surfaces, output) = try objects()
        var picture = picture(surfaces, output)
        picture.tiles = .init(column_width_minus1: [9, 9, 8], row_height_minus1: [7, 6])
        var c = picture.lowered
        #expect(c.num_tile_columns_minus1 == 2 && c.num_tile_rows_minus1 == 1)
        #expect(c.column_width_minus1.0 == 9 && c.column_width_minus1.2 == 8 && c.column_width_minus1.3 == 0)
        #expect(c.row_height_minus1.0 == 7 && c.row_height_minus1.1 == 6 && c.row_height_minus1.2 == 0)
        #expect(unsafe c.pic_fields.value == 3 << 1 | 1 << 4 | 1 << 13)
        picture.tiles = .init(
            column_width_minus1: [UInt8](repeating: 1, count: 25), row_height_minus1: [UInt8](repeating: 2, count: 25))
        c = picture.lowered
        #expect(c.column_width_minus1.18 == 1 && c.row_height_minus1.0 == 2 && c.row_height_minus1.20 == 2)
        #expect(c.log2_parallel_merge_level_minus2 == 0)
    }

    @Test func eachPictureFlagSetsOnlyItsBit() throws {
        let flags: [(WritableKeyPath<HEVCPictureParameters, Bool>, Int)] = [
            (\HEVCPictureParameters.idr_pic_flag, 0), (\.dependent_slice_segments_enabled_flag, 5),
            (\.sign_data_hiding_enabled_flag, 6),
            (\.constrained_intra_pred_flag, 7), (\.transform_skip_enabled_flag, 8), (\.cu_qp_delta_enabled_flag, 9),
            (\.weighted_pred_flag, 10),
            (\.weighted_bipred_flag, 11), (\.transquant_bypass_enabled_flag, 12),
            (\.entropy_coding_sync_enabled_flag, 14), (\.loop_filter_across_tiles_enabled_flag, 15),
            (\.pps_loop_filter_across_slices_enabled_flag, 16), (\.scaling_list_data_present_flag, 17),
            (\.screen_content_flag, 18), (\.enable_gpu_weighted_prediction, 19),
            (\.no_output_of_prior_pics_flag, 20),
        ]
        let (surfaces, output) = try objects()
        for (flag, bit) in flags {
            var picture = self.picture(surfaces, output)
            picture.coding_type = .p
            picture.reference_pic_flag = false
            picture[keyPath: flag] = true
            #expect(unsafe picture.lowered.pic_fields.value == 2 << 1 | 1 << UInt32(bit))
        }
    }

    @Test func sliceReferencesFillTheLists() throws {
        let (surfaces, _) = try objects()
        var slice = HEVCSliceParameters(
            slice_segment_address: 30, num_ctu_in_slice: 60, slice_type: .p, last_slice_of_pic_flag: true)
        slice.ref_pic_list0 = [HEVCPicture(surfaces[0], pic_order_cnt: 4, role: .shortTermBefore)]
        let actual = bytes(slice, .slice)
        #expect(actual.count == MemoryLayout<VAEncSliceParameterBufferHEVC>.size)
        #expect(word(actual, at: 0) == 30 && word(actual, at: 4) == 60 && Array(actual[8..<12]) == [1, 0, 0, 0])
        #expect(word(actual, at: 12) == surfaces[0].identifier && word(actual, at: 20) == 0x10)
        for entry in 1..<30 {
            #expect(word(actual, at: 12 + 28 * entry) == 0xffff_ffff && word(actual, at: 20 + 28 * entry) == 1)
        }
        var c = slice.lowered
        #expect(unsafe c.max_num_merge_cand == 5 && c.slice_fields.value == 1 | 1 << 13)

        slice.slice_type = .b
        slice.ref_pic_list1 = slice.ref_pic_list0
        slice.slice_pic_parameter_set_id = 3
        slice.num_ref_idx_l0_active_minus1 = 2
        slice.num_ref_idx_l1_active_minus1 = 1
        slice.max_num_merge_cand = 3
        slice.slice_qp_delta = -4
        slice.slice_cb_qp_offset = 1
        slice.slice_cr_qp_offset = -1
        slice.slice_beta_offset_div2 = 2
        slice.slice_tc_offset_div2 = -2
        slice.pred_weight_table_bit_offset = 77
        slice.pred_weight_table_bit_length = 12
        c = slice.lowered
        #expect(c.slice_type == 0 && c.slice_pic_parameter_set_id == 3)
        #expect(c.num_ref_idx_l0_active_minus1 == 2 && c.num_ref_idx_l1_active_minus1 == 1)
        #expect(c.ref_pic_list1.0.picture_id == surfaces[0].identifier && c.ref_pic_list1.1.flags == 1)
        #expect(c.max_num_merge_cand == 3 && c.slice_qp_delta == -4)
        #expect(c.slice_cb_qp_offset == 1 && c.slice_cr_qp_offset == -1)
        #expect(c.slice_beta_offset_div2 == 2 && c.slice_tc_offset_div2 == -2)
        #expect(c.pred_weight_table_bit_offset == 77 && c.pred_weight_table_bit_length == 12)
    }

    @Test func eachSliceFlagSetsOnlyItsBit() {
        let flags: [(WritableKeyPath<HEVCSliceParameters, Bool>, Int)] = [
            (\HEVCSliceParameters.last_slice_of_pic_flag, 0), (\.dependent_slice_segment_flag, 1),
            (\.slice_temporal_mvp_enabled_flag, 4), (\.slice_sao_luma_flag, 5),
            (\.slice_sao_chroma_flag, 6), (\.num_ref_idx_active_override_flag, 7), (\.mvd_l1_zero_flag, 8),
            (\.cabac_init_flag, 9),
            (\.slice_deblocking_filter_disabled_flag, 10), (\.slice_loop_filter_across_slices_enabled_flag, 12),
            (\.collocated_from_l0_flag, 13),
        ]
        for (flag, bit) in flags {
            var slice = HEVCSliceParameters(
                slice_segment_address: 0, num_ctu_in_slice: 1, slice_type: .i, last_slice_of_pic_flag: false)
            slice.collocated_from_l0_flag = false
            slice.colour_plane_id = 2
            slice[keyPath: flag] = true
            #expect(unsafe slice.lowered.slice_fields.value == 2 << 2 | 1 << UInt32(bit))
        }
    }

    @Test func predictionWeightsHaveTheirOffsets() {
        var slice = HEVCSliceParameters(
            slice_segment_address: 0, num_ctu_in_slice: 1, slice_type: .b, last_slice_of_pic_flag: true)
        func entry(_ first: Int8) -> HEVCSliceParameters.Weights.Entry {
            var entry = HEVCSliceParameters.Weights.Entry()
            entry.delta_luma_weight = first
            entry.luma_offset = first + 1
            entry.delta_cb_weight = first + 2
            entry.delta_cr_weight = first + 3
            entry.cb_offset = first + 4
            entry.cr_offset = first + 5
            return entry
        }
        slice.weights = .init(
            luma_log2_weight_denom: 6, delta_chroma_log2_weight_denom: -1, list0: [entry(10), entry(20)],
            list1: [entry(-30)])
        let actual = bytes(slice, .slice)
        // After the lists there are two bytes; then for each list 15 weights, 15 offsets, and 15 pairs of each for
        // chroma.
        let start = 12 + 28 * 30
        func signed(_ offset: Int) -> Int8 { Int8(bitPattern: actual[start + offset]) }
        #expect(signed(0) == 6 && signed(1) == -1)
        #expect([2, 3, 4].map(signed) == [10, 20, 0] && [17, 18, 19].map(signed) == [11, 21, 0])
        #expect((32..<37).map(signed) == [12, 13, 22, 23, 0] && (62..<67).map(signed) == [14, 15, 24, 25, 0])
        #expect(signed(92) == -30 && signed(107) == -29)
        #expect([122, 123].map(signed) == [-28, -27] && [152, 153].map(signed) == [-26, -25])
        #expect(signed(182) == 5)
    }
}
