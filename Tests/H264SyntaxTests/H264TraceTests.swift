import H264Syntax
import NALUnits
import TestOracles
import Testing
import VideoBase

/// FFmpeg reads every header and message, field by field.
@Suite struct H264TraceTests {
    private let hrd = HRDParameters(bitrate: BitsPerSecond(2_000_000), cpbSize: 3_000_000, isConstant: true)

    private func sps() throws -> SequenceParameterSet {
        var vui = VUIParameters(
            sampleAspectRatio: Rational(4, 3), color: ColorDescription(primaries: 9, transfer: 16, matrix: 9),
            frameRate: Rational(30000, 1001), fixed_frame_rate_flag: false, max_num_reorder_frames: 2,
            max_dec_frame_buffering: 4)
        vui.nal_hrd_parameters = hrd
        vui.vcl_hrd_parameters = hrd
        vui.pic_struct_present_flag = true
        var sps = SequenceParameterSet(
            profile: .h264High, level: try #require(Level(number: 31)), size: VideoSize(width: 64, height: 48),
            references: 4, hasBFrames: true, vui: vui)
        sps.gaps_in_frame_num_value_allowed_flag = true
        return sps
    }

    private func trace(_ units: [[UInt8]]) throws -> TraceHeaders {
        var stream: [UInt8] = []
        for unit in units { AnnexB.append(unit, to: &stream) }
        return try Files.withTemporaryFolder { folder in
            try Files.write(stream, to: folder + "/a.h264")
            return try TraceHeaders(path: folder + "/a.h264")
        }
    }

    /// Returns a slice with a header and arbitrary data, which the parser does not read.
    private func slice(_ header: SliceHeader, _ sps: SequenceParameterSet, _ pps: PictureParameterSet) -> [UInt8] {
        var w = BitWriter()
        header.write(to: &w, sps: sps, pps: pps)
        while !w.isByteAligned { w.flag(true) }
        w.append([0x55, 0xAA, 0x55, 0xAA])
        w.trailingBits()
        return NALUnit.bytes(header.nal_unit_type, nal_ref_idc: header.nal_ref_idc, rbsp: w.bytes)
    }

    @Test func traceHeadersReadsEveryWrittenField() throws {
        let sps = try sps()
        let pps = PictureParameterSet(profile: .h264High, entropy: .cabac, transform8x8: true, qp: 26, references: 2)
        let messages: [SEIMessage] =
            [
                .bufferingPeriod(sps, nal: .init(delay: 81000, offset: 9000), vcl: .init(delay: 70000, offset: 20000)),
                .pictureTiming(sps, removalDelay: 77, outputDelay: 4), .recoveryPoint(frameCount: 12, isExact: false),
                .userData(uuid: SEIMessage.identifierUUID, Array("vaenc".utf8)),
            ] + SEIMessage.captions([0xFC, 0x94, 0x2C])
        var key = SliceHeader(nal_ref_idc: 3, isIDR: true, slice_type: .i, frame_num: 0, pic_order_cnt_lsb: 0, qp: 30)
        key.long_term_reference_flag = true
        key.idr_pic_id = 1
        var p = SliceHeader(nal_ref_idc: 2, isIDR: false, slice_type: .p, frame_num: 1, pic_order_cnt_lsb: 8, qp: 31)
        p.num_ref_idx_active[0] = 1
        p.modifications[0] = [.longTerm(long_term_pic_num: 0)]
        p.marking = [
            .forgetShortTerm(difference_of_pic_nums: 3), .forgetLongTerm(long_term_pic_num: 2),
            .makeLongTerm(difference_of_pic_nums: 5, long_term_frame_idx: 1),
            .setLongTermCount(max_long_term_frame_idx_plus1: 4), .makeCurrentLongTerm(long_term_frame_idx: 3),
        ]
        var b = SliceHeader(nal_ref_idc: 0, isIDR: false, slice_type: .b, frame_num: 2, pic_order_cnt_lsb: 4, qp: 33)
        b.num_ref_idx_active[0] = 2
        b.num_ref_idx_active[1] = 3
        b.direct_spatial_mv_pred_flag = true
        b.modifications[1] = [.subtract(abs_diff_pic_num: 2), .add(abs_diff_pic_num: 1)]
        let found = try trace([
            AccessUnitDelimiter.unit(for: .i), sps.unit, pps.unit, SEIMessage.unit(messages), slice(key, sps, pps),
            AccessUnitDelimiter.unit(for: .p), slice(p, sps, pps), FillerData.unit(byteCount: 40),
            AccessUnitDelimiter.unit(for: .b), slice(b, sps, pps),
        ])
        func unit(_ name: String) throws -> TraceHeaders.Unit {
            try #require(found.units(named: name).last, "no \(name) in \(found.units.map(\.name))")
        }
        let set = try unit("Sequence Parameter Set")
        let expected: [String: Int] = [
            "max_num_ref_frames": 4, "gaps_in_frame_num_allowed_flag": 1, "aspect_ratio_idc": 14,
            "colour_primaries": 9, "transfer_characteristics": 16, "matrix_coefficients": 9,
            "num_units_in_tick": 1001, "time_scale": 60000, "fixed_frame_rate_flag": 0,
            "nal_hrd_parameters_present_flag": 1, "vcl_hrd_parameters_present_flag": 1, "low_delay_hrd_flag": 0,
            "cpb_cnt_minus1": 0, "bit_rate_scale": hrd.schedule.bit_rate_scale,
            "cpb_size_scale": hrd.schedule.cpb_size_scale, "bit_rate_value_minus1[0]": hrd.schedule.bit_rate_value_minus1,
            "cpb_size_value_minus1[0]": hrd.schedule.cpb_size_value_minus1, "cbr_flag[0]": 1,
            "initial_cpb_removal_delay_length_minus1": 23, "cpb_removal_delay_length_minus1": 23,
            "dpb_output_delay_length_minus1": 23, "time_offset_length": 24, "pic_struct_present_flag": 1,
            "bitstream_restriction_flag": 1, "max_num_reorder_frames": 2, "max_dec_frame_buffering": 4,
        ]
        for (name, value) in expected { #expect(set[name] == value, "\(name)") }
        let delays = found.units.flatMap(\.fields)
        /// Returns a field's value. FFmpeg 5 and 6 use one name for the delays of both buffers, first NAL's and then
        /// VCL's.
        func value(_ name: String) -> Int? {
            if let field = delays.first(where: { $0.name == name }) { return field.value }
            let both = delays.filter { $0.name == name.dropFirst(4) }
            return name.hasPrefix("vcl_") ? both.dropFirst().first?.value : both.first?.value
        }
        let fields: [String: Int] = [
            "nal_initial_cpb_removal_delay[0]": 81000, "nal_initial_cpb_removal_delay_offset[0]": 9000,
            "vcl_initial_cpb_removal_delay[0]": 70000, "vcl_initial_cpb_removal_delay_offset[0]": 20000,
            "cpb_removal_delay": 77, "dpb_output_delay": 4, "pic_struct": 0, "recovery_frame_cnt": 12,
            "exact_match_flag": 0, "broken_link_flag": 0, "itu_t_t35_country_code": 0xB5,
        ]
        for (name, expected) in fields { #expect(value(name) == expected, "\(name)") }
        let slices = found.units(named: "Slice Header")
        #expect(slices.count == 3)
        guard slices.count == 3 else { return }
        func check(_ index: Int, _ fields: [String: Int]) {
            for (name, value) in fields { #expect(slices[index][name] == value, "slice \(index): \(name)") }
        }
        check(0, ["nal_unit_type": 5, "idr_pic_id": 1, "long_term_reference_flag": 1, "slice_type": 7, "slice_qp_delta": 4])
        check(
            1,
            [
                "nal_ref_idc": 2, "slice_type": 5, "frame_num": 1, "pic_order_cnt_lsb": 8,
                "num_ref_idx_active_override_flag": 1, "num_ref_idx_l0_active_minus1": 0,
                "modification_of_pic_nums_idc": 2, "long_term_pic_num": 0, "adaptive_ref_pic_marking_mode_flag": 1,
                "difference_of_pic_nums_minus1": 2, "long_term_frame_idx": 1, "max_long_term_frame_idx_plus1": 4,
                "slice_qp_delta": 5,
            ])
        let operations = slices[1].fields.filter { $0.name == "memory_management_control_operation" }.map(\.value)
        #expect(operations == [1, 2, 3, 4, 6, 0])
        check(
            2,
            [
                "nal_ref_idc": 0, "slice_type": 6, "frame_num": 2, "direct_spatial_mv_pred_flag": 1,
                "num_ref_idx_l0_active_minus1": 1, "num_ref_idx_l1_active_minus1": 2,
                "ref_pic_list_modification_flag_l0": 0, "ref_pic_list_modification_flag_l1": 1, "slice_qp_delta": 7,
            ])
        let steps = slices[2].fields.filter { $0.name == "modification_of_pic_nums_idc" }.map(\.value)
        #expect(steps == [0, 1, 3])
        #expect(slices[2].fields.filter { $0.name == "abs_diff_pic_num_minus1" }.map(\.value) == [1, 0])
    }
}
