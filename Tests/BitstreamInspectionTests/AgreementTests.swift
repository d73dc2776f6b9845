import BitstreamInspection
import TestOracles
import Testing

/// The reader against FFmpeg's, on x264's streams.
@Suite struct AgreementTests {
    @Test(arguments: Sample.structures + Sample.rates) func nothingIsWrongWithSoundStreams(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        #expect(stream.violations.map(\.description) == [])
        #expect(stream.frames.count == sample.frames)
        #expect(stream.frames.reduce(0) { $0 + $1.byteCount } == bytes.count)
        let size = stream.sequenceSets[0].visibleSize
        #expect(size == (sample.width, sample.height))
    }

    /// Every field of every slice header, parameter set and timing message that both name.
    @Test(arguments: Sample.structures + Sample.rates) func fieldsAreThoseOfTraceHeaders(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        let trace = try Files.withTemporaryFolder { folder in
            try Files.write(bytes, to: folder + "/a.h264")
            return try TraceHeaders(path: folder + "/a.h264")
        }
        let theirs = trace.units(named: "Slice Header")
        let slices = stream.frames.flatMap(\.slices)
        #expect(theirs.count == slices.count)
        let pps = stream.pictureSets[0]
        for (slice, unit) in zip(slices.map(\.header), theirs) {
            func same(_ name: String, _ value: Int?) {
                if let field = unit[name] { #expect(value == field, "\(name)") }
            }
            same("nal_ref_idc", slice.nal_ref_idc)
            same("nal_unit_type", slice.nal_unit_type)
            same("first_mb_in_slice", slice.first_mb_in_slice)
            same("slice_type", slice.kind.rawValue + (slice.kindHoldsForPicture ? 5 : 0))
            same("frame_num", slice.frame_num)
            same("idr_pic_id", slice.idr_pic_id)
            same("pic_order_cnt_lsb", slice.pic_order_cnt_lsb)
            same("delta_pic_order_cnt_bottom", slice.delta_pic_order_cnt_bottom)
            same("direct_spatial_mv_pred_flag", slice.direct_spatial_mv_pred_flag ? 1 : 0)
            same("num_ref_idx_active_override_flag", slice.num_ref_idx_active_override_flag ? 1 : 0)
            same("num_ref_idx_l0_active_minus1", slice.activeReferences[0] - 1)
            same("num_ref_idx_l1_active_minus1", slice.activeReferences[1] - 1)
            same("ref_pic_list_modification_flag_l0", slice.modifications[0] == nil ? 0 : 1)
            same("ref_pic_list_modification_flag_l1", slice.modifications[1] == nil ? 0 : 1)
            same("luma_log2_weight_denom", slice.weights?.luma_log2_weight_denom)
            same("cabac_init_idc", slice.cabac_init_idc)
            same("slice_qp_delta", slice.qp - pps.pic_init_qp)
            same("disable_deblocking_filter_idc", slice.disable_deblocking_filter_idc)
            same("slice_alpha_c0_offset_div2", slice.slice_alpha_c0_offset_div2)
            same("slice_beta_offset_div2", slice.slice_beta_offset_div2)
            if case .adaptive(let operations)? = slice.marking {
                let numbers = unit.fields.filter { $0.name.hasPrefix("memory_management_control_operation") }
                #expect(numbers.count == operations.count + 1)
            } else if slice.marking == .slidingWindow {
                same("adaptive_ref_pic_marking_mode_flag", 0)
            }
        }
        compareSequence(stream.sequenceSets[0], trace)
        compareTiming(stream, trace)
    }

    private func compareSequence(_ sps: SequenceParameters, _ trace: TraceHeaders) {
        func same(_ name: String, _ value: Int?) {
            if let field = trace[name].first { #expect(value == field, "\(name)") }
        }
        same("profile_idc", sps.profile_idc)
        same("level_idc", sps.level_idc)
        same("log2_max_frame_num_minus4", sps.log2_max_frame_num - 4)
        same("pic_order_cnt_type", sps.pic_order_cnt_type)
        same("log2_max_pic_order_cnt_lsb_minus4", sps.log2_max_pic_order_cnt_lsb - 4)
        same("max_num_ref_frames", sps.max_num_ref_frames)
        same("pic_width_in_mbs_minus1", sps.pic_width_in_mbs - 1)
        same("frame_crop_right_offset", sps.cropping?[1])
        same("max_num_reorder_frames", sps.vui?.restriction?.max_num_reorder_frames)
        same("max_dec_frame_buffering", sps.vui?.restriction?.max_dec_frame_buffering)
        same("num_units_in_tick", sps.vui?.timing?.num_units_in_tick)
        same("time_scale", sps.vui?.timing?.time_scale)
        same("initial_cpb_removal_delay_length_minus1", sps.vui?.nalHRD.map { $0.initial_cpb_removal_delay_length - 1 })
        same("cpb_removal_delay_length_minus1", sps.vui?.nalHRD.map { $0.cpb_removal_delay_length - 1 })
        same("cbr_flag[0]", sps.vui?.nalHRD.map { $0.schedules[0].cbr_flag ? 1 : 0 })
        if let value = trace["bit_rate_value_minus1[0]"].first, let scale = trace["bit_rate_scale"].first {
            #expect(sps.vui?.nalHRD?.schedules[0].bitRate == (value + 1) << (6 + scale))
        }
        if let value = trace["cpb_size_value_minus1[0]"].first, let scale = trace["cpb_size_scale"].first {
            #expect(sps.vui?.nalHRD?.schedules[0].cpbSize == (value + 1) << (4 + scale))
        }
    }

    private func compareTiming(_ stream: H264Stream, _ trace: TraceHeaders) {
        let periods = stream.frames.compactMap(\.bufferingPeriod)
        let timings = stream.frames.compactMap(\.pictureTiming)
        let delays = trace.units.flatMap { unit in
            unit.fields.filter {
                $0.name.hasPrefix("nal_initial_cpb_removal_delay[") || $0.name.hasPrefix("initial_cpb_removal_delay[")
            }.map(\.value)
        }
        // FFmpeg reads the extradata's SEI once more, at the start.
        #expect(periods.flatMap(\.nal).map(\.initial_cpb_removal_delay) == delays.suffix(periods.count))
        let removals = trace["cpb_removal_delay"]
        #expect(timings.compactMap(\.cpb_removal_delay) == removals.suffix(timings.count))
        #expect(timings.compactMap(\.dpb_output_delay) == trace["dpb_output_delay"].suffix(timings.count))
        let points = stream.frames.compactMap(\.recoveryPoint).map(\.recovery_frame_cnt)
        #expect(points == trace["recovery_frame_cnt"].suffix(points.count))
    }

    /// Types and bytes in output order, as a decoder gives them.
    @Test(arguments: Sample.structures) func outputOrderIsFFprobes(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        let lines = try Files.withTemporaryFolder { folder in
            try Files.write(bytes, to: folder + "/a.h264")
            let result = try ProcessRunner.run(
                "ffprobe",
                [
                    "-v", "error", "-show_entries", "frame=pict_type,pkt_size", "-of", "csv=p=0", folder + "/a.h264",
                ])
            return result.output.split(separator: "\n").map { $0.split(separator: ",") }
        }
        #expect(lines.count == stream.frames.count)
        for (line, frame) in zip(lines, stream.framesInOutputOrder) {
            #expect(line.contains(Substring(frame.kind == .i ? "I" : frame.typeName)))
            #expect(line.contains("\(frame.byteCount)"))
        }
    }

    /// A picture changes when a picture goes missing only if the reader says that it can depend on it.
    @Test(arguments: Sample.structures[..<7]) func picturesDependOnWhatTheirListsName(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        let whole = ForeignDecoder.libavcodec.decode(bytes).frames
        #expect(whole.count == stream.frames.count)
        var changed = 0
        for dropped in stream.frames.indices.dropFirst() where dropped % 3 == 1 && !stream.frames[dropped].isIDR {
            var descendants: Set<Int> = [dropped]
            for frame in stream.frames[dropped...] where !descendants.isDisjoint(with: frame.references) {
                descendants.insert(frame.index)
            }
            // What follows the next IDR picture would come out the same in any case.
            let end = stream.frames[dropped...].first { $0.isIDR }?.index ?? stream.frames.count
            let rest = Set(stream.frames.filter { !descendants.contains($0.index) && $0.index < end }.map(\.index))
            let removed = descendants.union(end..<stream.frames.count)
            let decoded = ForeignDecoder.libavcodec.decode(stream.removing(removed, from: bytes))
            let expected = stream.framesInOutputOrder.filter { rest.contains($0.index) }.map { whole[$0.displayIndex] }
            let same = decoded.frames.filter { expected.contains($0) } == expected
            #expect(same, "without picture \(dropped)")
            if descendants.count > 1 { changed += 1 }
        }
        #expect(changed > 0)
    }
}
