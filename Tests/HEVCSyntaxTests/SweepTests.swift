import HEVCSyntax
import NALUnits
import TestOracles
import Testing
import VideoBase

/// Covers every pair of values of the fields that decide which other fields a header has. If a field is missing or at
/// the wrong position, all later fields shift, and FFmpeg reads other values or warns.
@Suite struct SweepTests {
    /// The values of one row by name.
    private struct Row {
        static let parameters: [(name: String, values: [Int])] = [
            ("depth", [8, 10]), ("size", [0, 1, 2]), ("subLayers", [1, 2, 7]), ("minBlock", [3, 4]), ("ctb", [4, 5, 6]),
            ("amp", [0, 1]), ("sao", [0, 1, 2, 3]), ("tmvp", [0, 1, 2, 3]), ("smoothing", [0, 1]),
            ("sets", [0, 1, 2, 3, 5]), ("inHeader", [0, 1]), ("longTerm", [-1, 0, 1, 2]), ("signHiding", [0, 1]),
            ("cabacInit", [0, 1, 2]), ("skip", [0, 1]), ("qpDepth", [-1, 0, 1]), ("chroma", [0, 1]),
            ("tiles", [0, 1, 2, 3]), ("sync", [0, 1]), ("across", [0, 1, 2]), ("deblocking", [0, 1, 2, 3, 4, 5]),
            ("modification", [0, 1, 2]), ("output", [0, 1, 2]), ("dependent", [0, 1, 2]), ("initQP", [-6, 26, 51]),
            ("qp", [-6, 24, 51]), ("mergeLevel", [2, 4]), ("type", [0, 1, 2]), ("unit", [0, 1, 9, 18, 19, 20, 21]),
            ("l0", [1, 2, 15]), ("l1", [1, 3]), ("defaults", [1, 2]), ("merge", [1, 2, 5]), ("mvd", [0, 1]),
            ("entries", [0, 1, 3]), ("ids", [0, 1]), ("lsb", [4, 16]),
        ]
        var values: [String: Int] = [:]

        /// - Parameter type: the slice type instead of the row's, for pictures that are no IRAP pictures.
        init(_ indices: [Int], type: SliceType?) {
            for (parameter, index) in zip(Self.parameters, indices) { values[parameter.name] = parameter.values[index] }
            if let type {
                values["type"] = Int(type.rawValue)
                values["unit"] = min(self["unit"], 9)
            }
            // IRAP pictures are intra pictures, and negative QPs need ten bits.
            if self["unit"] >= 16 { values["type"] = 2 }
            if self["depth"] == 8 { for name in ["qp", "initQP"] { values[name] = max(self[name], 0) } }
            values["minBlock"] = min(self["minBlock"], self["ctb"])
            values["qpDepth"] = min(self["qpDepth"], self["ctb"] - self["minBlock"])
        }

        subscript(_ name: String) -> Int { values[name] ?? 0 }
        func on(_ name: String) -> Bool { self[name] > 0 }
    }

    private func sequence(_ row: Row) -> SequenceParameterSet {
        let sizes = [(1920, 1080), (426, 240), (64, 64)]
        let size = VideoSize(width: sizes[row["size"]].0, height: sizes[row["size"]].1)
        var sps = SequenceParameterSet(
            profile: row["depth"] == 10 ? .hevcMain10 : .hevcMain, tier: .main, level: Level.highest, size: size,
            codedSize: size.aligned(to: 16),
            subLayers: [SubLayerOrdering](
                repeating: SubLayerOrdering(max_dec_pic_buffering: 16, max_num_reorder_pics: 2),
                count: row["subLayers"]),
            vui: nil)
        sps.log2_min_luma_coding_block_size = row["minBlock"]
        sps.log2_diff_max_min_luma_coding_block_size = row["ctb"] - row["minBlock"]
        sps.log2_diff_max_min_luma_transform_block_size = min(row["ctb"], 5) - 2
        sps.max_transform_hierarchy_depth_inter = row["amp"]
        sps.amp_enabled_flag = row.on("amp")
        sps.sample_adaptive_offset_enabled_flag = row.on("sao")
        sps.sps_temporal_mvp_enabled_flag = row.on("tmvp")
        sps.strong_intra_smoothing_enabled_flag = row.on("smoothing")
        sps.long_term_ref_pics_present_flag = row["longTerm"] >= 0
        sps.log2_max_pic_order_cnt_lsb = row["lsb"]
        sps.sps_seq_parameter_set_id = row["ids"] * 3
        sps.short_term_ref_pic_sets = (0..<row["sets"]).map { number in
            ShortTermReferencePictureSet([.init(deltaPOC: -1 - number), .init(deltaPOC: 2, isUsed: number % 2 == 0)])
        }
        return sps
    }

    private func picture(_ row: Row, _ sps: SequenceParameterSet) -> PictureParameterSet {
        var pps = PictureParameterSet(qp: row["initQP"], references: row["defaults"])
        pps.pps_pic_parameter_set_id = row["ids"] * 5
        pps.pps_seq_parameter_set_id = row["ids"] * 3
        pps.dependent_slice_segments_enabled_flag = row.on("dependent")
        pps.output_flag_present_flag = row.on("output")
        pps.sign_data_hiding_enabled_flag = row.on("signHiding")
        pps.cabac_init_present_flag = row.on("cabacInit")
        pps.transform_skip_enabled_flag = row.on("skip")
        pps.diff_cu_qp_delta_depth = row["qpDepth"] < 0 ? nil : row["qpDepth"]
        pps.pps_slice_chroma_qp_offsets_present_flag = row.on("chroma")
        let columns = min([0, 2, 1, 3][row["tiles"]], sps.sizeInCtbs.width)
        let rows = min([0, 1, 3, 2][row["tiles"]], sps.sizeInCtbs.height)
        if columns * rows > 1 { pps.tiles = .init(num_tile_columns: columns, num_tile_rows: rows) }
        pps.tiles?.loop_filter_across_tiles_enabled_flag = row.on("across")
        pps.entropy_coding_sync_enabled_flag = row.on("sync")
        pps.pps_loop_filter_across_slices_enabled_flag = row.on("across")
        pps.deblocking_filter_override_enabled_flag = row["deblocking"] >= 3
        pps.pps_deblocking_filter_disabled_flag = [1, 5].contains(row["deblocking"])
        pps.pps_beta_offset_div2 = row["deblocking"] == 2 ? -3 : 0
        pps.lists_modification_present_flag = row.on("modification")
        pps.log2_parallel_merge_level = row["mergeLevel"]
        return pps
    }

    private func slice(_ row: Row, _ sps: SequenceParameterSet) throws -> SliceSegmentHeader {
        var header = SliceSegmentHeader(
            nal_unit_type: try #require(NALUnitType(rawValue: UInt8(row["unit"]))),
            temporalID: row["unit"] < 16 ? row["subLayers"] - 1 : 0,
            slice_type: try #require(SliceType(rawValue: UInt8(row["type"]))), slice_pic_order_cnt_lsb: 11,
            qp: row["qp"])
        header.shortTermReferences =
            row.on("inHeader") || row["sets"] == 0
            ? .explicit(ShortTermReferencePictureSet([.init(deltaPOC: -2), .init(deltaPOC: -4), .init(deltaPOC: 3)]))
            : .index(row["sets"] - 1)
        header.longTermReferences = (0..<max(row["longTerm"], 0)).map { .init(poc_lsb_lt: $0 + 5) }
        header.pic_output_flag = row["output"] < 2
        header.slice_temporal_mvp_enabled_flag = row["tmvp"] >= 2
        header.collocated_from_l0_flag = row["tmvp"] < 3
        header.slice_sao_luma_flag = row["sao"] == 2
        header.slice_sao_chroma_flag = row["sao"] == 3
        header.num_ref_idx_active[0] = header.slice_type == .i ? 0 : row["l0"]
        header.num_ref_idx_active[1] = header.slice_type == .b ? row["l1"] : 0
        if row["modification"] == 2 {
            header.list_entry[0] = [Int](repeating: 1, count: header.num_ref_idx_active[0])
            header.list_entry[1] = [Int](repeating: 0, count: header.num_ref_idx_active[1])
        }
        header.mvd_l1_zero_flag = row.on("mvd")
        header.cabac_init_flag = row["cabacInit"] == 2
        header.maxNumMergeCand = row["merge"]
        header.slice_cb_qp_offset = -2
        header.slice_cr_qp_offset = 3
        if row["deblocking"] >= 4 {
            header.deblocking = .init(
                slice_deblocking_filter_disabled_flag: false, slice_beta_offset_div2: 4, slice_tc_offset_div2: -6)
        }
        header.slice_loop_filter_across_slices_enabled_flag = row["across"] == 2
        return header
    }

    private func check(_ unit: TraceHeaders.Unit?, _ row: Row, _ expected: [String: Int?]) {
        #expect(unit != nil)
        for (name, value) in expected { #expect(unit?[name] == value, "\(name) of \(row.values)") }
    }

    @Test func traceHeadersReadsEveryPairOfValues() throws {
        let rows = PairwiseCover.rows(counts: Row.parameters.map(\.values.count))
        #expect(rows.count >= 42)
        // Intra slices lack fields that only others have, so each row is also used with a P and a B picture.
        for (indices, type) in rows.flatMap({ row in [nil, .p, .b].map { (row, $0 as SliceType?) } }) {
            let row = Row(indices, type: type)
            let sps = sequence(row)
            let pps = picture(row, sps)
            var first = try slice(row, sps)
            let tiles = pps.tiles.map { $0.num_tile_columns * $0.num_tile_rows } ?? 1
            let parts = tiles * (row.on("sync") ? sps.sizeInCtbs.height : 1)
            first.entry_point_offset = Array([300, 1, 70000].prefix(min(row["entries"], parts - 1)))
            let entries = pps.tiles != nil || row.on("sync") ? first.entry_point_offset.count : nil
            var second = first
            second.slice_segment_address = sps.sizeInCtbs.width * sps.sizeInCtbs.height - 1
            second.dependent_slice_segment_flag = row["dependent"] == 2
            let vps = VideoParameterSet(profileTierLevel: sps.profileTierLevel, subLayers: sps.subLayers)
            var units = [vps.unit, sps.unit, pps.unit, Headers.slice(first, sps, pps)]
            if second.slice_segment_address > 0 { units.append(Headers.slice(second, sps, pps)) }
            let headers = try Headers.trace(units)
            checkSets(headers, row)
            let slices = headers.units.filter { $0["first_slice_segment_in_pic_flag"] != nil }
            #expect(slices.count == units.count - 3)
            checkSlice(slices.first, row, first, entries: entries)
            guard slices.count == 2 else { continue }
            check(
                slices[1], row,
                [
                    "first_slice_segment_in_pic_flag": 0, "slice_segment_address": second.slice_segment_address,
                    "dependent_slice_segment_flag": row.on("dependent") ? row["dependent"] - 1 : nil,
                ])
            if row["dependent"] == 2 {
                check(slices[1], row, ["slice_type": nil, "slice_qp_delta": nil])
            } else {
                checkSlice(slices[1], row, second, entries: entries)
            }
        }
    }

    private func checkSets(_ headers: TraceHeaders, _ row: Row) {
        check(
            headers.units(named: "Sequence Parameter Set").last, row,
            [
                "sps_max_sub_layers_minus1": row["subLayers"] - 1, "general_profile_idc": row["depth"] == 10 ? 2 : 1,
                "bit_depth_luma_minus8": row["depth"] - 8, "log2_max_pic_order_cnt_lsb_minus4": row["lsb"] - 4,
                "log2_min_luma_coding_block_size_minus3": row["minBlock"] - 3,
                "log2_diff_max_min_luma_coding_block_size": row["ctb"] - row["minBlock"],
                "max_transform_hierarchy_depth_inter": row["amp"], "amp_enabled_flag": row["amp"],
                "sample_adaptive_offset_enabled_flag": min(row["sao"], 1), "num_short_term_ref_pic_sets": row["sets"],
                "long_term_ref_pics_present_flag": row["longTerm"] >= 0 ? 1 : 0,
                "sps_temporal_mvp_enabled_flag": min(row["tmvp"], 1),
                "strong_intra_smoothing_enabled_flag": row["smoothing"], "vui_parameters_present_flag": 0,
                "sps_extension_present_flag": 0,
            ])
        let hasDeblocking = row.on("deblocking")
        let isDisabled = [1, 5].contains(row["deblocking"])
        check(
            headers.units(named: "Picture Parameter Set").last, row,
            [
                "pps_pic_parameter_set_id": row["ids"] * 5, "sign_data_hiding_enabled_flag": row["signHiding"],
                "num_ref_idx_l0_default_active_minus1": row["defaults"] - 1, "init_qp_minus26": row["initQP"] - 26,
                "transform_skip_enabled_flag": row["skip"], "cu_qp_delta_enabled_flag": row["qpDepth"] < 0 ? 0 : 1,
                "diff_cu_qp_delta_depth": row["qpDepth"] < 0 ? nil : row["qpDepth"], "weighted_pred_flag": 0,
                "entropy_coding_sync_enabled_flag": row["sync"],
                "pps_loop_filter_across_slices_enabled_flag": min(row["across"], 1),
                "deblocking_filter_control_present_flag": hasDeblocking ? 1 : 0,
                "pps_deblocking_filter_disabled_flag": hasDeblocking ? isDisabled ? 1 : 0 : nil,
                "pps_beta_offset_div2": hasDeblocking && !isDisabled ? row["deblocking"] == 2 ? -3 : 0 : nil,
                "lists_modification_present_flag": min(row["modification"], 1),
                "log2_parallel_merge_level_minus2": row["mergeLevel"] - 2, "pps_extension_present_flag": 0,
            ])
    }

    /// Checks the fields that the row requires of an independent slice segment.
    private func checkSlice(_ unit: TraceHeaders.Unit?, _ row: Row, _ header: SliceSegmentHeader, entries: Int?) {
        let isB = row["type"] == 0
        let isInter = row["type"] < 2
        let isIDR = [19, 20].contains(row["unit"])
        let explicit = row.on("inHeader") || row["sets"] == 0
        let counts = row["l0"] != row["defaults"] || isB && row["l1"] != 1
        let hasMotion = isInter && row["tmvp"] >= 2
        let collocatedCount = isB && row["tmvp"] == 3 ? row["l1"] : row["l0"]
        let isFiltered = row["deblocking"] != 1
        check(
            unit, row,
            [
                "nal_unit_type": row["unit"], "nuh_temporal_id_plus1": row["unit"] < 16 ? row["subLayers"] : 1,
                "no_output_of_prior_pics_flag": row["unit"] >= 16 ? 0 : nil, "slice_type": row["type"],
                "pic_output_flag": row.on("output") ? 2 - row["output"] : nil,
                "slice_pic_order_cnt_lsb": isIDR ? nil : 11,
                "short_term_ref_pic_set_sps_flag": isIDR ? nil : explicit ? 0 : 1,
                "short_term_ref_pic_set_idx": isIDR || explicit || row["sets"] < 2 ? nil : row["sets"] - 1,
                "num_negative_pics": isIDR || !explicit ? nil : 2,
                "num_long_term_pics": isIDR || row["longTerm"] < 0 ? nil : row["longTerm"],
                "slice_temporal_mvp_enabled_flag": isIDR || !row.on("tmvp") ? nil : row["tmvp"] / 2,
                "slice_sao_luma_flag": row.on("sao") ? row["sao"] == 2 ? 1 : 0 : nil,
                "slice_sao_chroma_flag": row.on("sao") ? row["sao"] == 3 ? 1 : 0 : nil,
                "num_ref_idx_active_override_flag": isInter ? counts ? 1 : 0 : nil,
                "num_ref_idx_l0_active_minus1": isInter && counts ? row["l0"] - 1 : nil,
                "num_ref_idx_l1_active_minus1": isB && counts ? row["l1"] - 1 : nil,
                "mvd_l1_zero_flag": isB ? row["mvd"] : nil,
                "cabac_init_flag": isInter && row.on("cabacInit") ? row["cabacInit"] - 1 : nil,
                "collocated_from_l0_flag": isB && hasMotion ? 3 - row["tmvp"] : nil,
                "collocated_ref_idx": hasMotion && collocatedCount > 1 ? 0 : nil,
                "five_minus_max_num_merge_cand": isInter ? 5 - row["merge"] : nil,
                "slice_qp_delta": row["qp"] - row["initQP"], "slice_cb_qp_offset": row.on("chroma") ? -2 : nil,
                "deblocking_filter_override_flag": row["deblocking"] >= 3 ? row["deblocking"] >= 4 ? 1 : 0 : nil,
                "slice_tc_offset_div2": row["deblocking"] >= 4 ? -6 : nil,
                "slice_loop_filter_across_slices_enabled_flag":
                    row.on("across") && (isFiltered || row["sao"] >= 2) ? row["across"] - 1 : nil,
            ])
        check(unit, row, ["num_entry_point_offsets": entries])
        #expect(
            unit?.values("entry_point_offset_minus1") == Array([299, 0, 69999].prefix(entries ?? 0)), "\(row.values)")
        let total = explicit ? 3 : 1 + (row["sets"] % 2)
        let modifies = isInter && row["modification"] == 2 && total + max(row["longTerm"], 0) > 1
        #expect(unit?.values("list_entry_l0") == [Int](repeating: 1, count: modifies ? row["l0"] : 0), "\(row.values)")
        #expect(
            unit?.values("list_entry_l1") == [Int](repeating: 0, count: modifies && isB ? row["l1"] : 0),
            "\(row.values)")
    }
}
