"""Compares HEVC's headers with the plan and with the parameter buffers that the driver got."""
from fakes import parameter_buffers
from streams import FRAMES, GOP, TYPES, headers, slices, types

QP_I, QP_P = 24, 27
DEPTHS = {"hevc": 8, "hevc10": 10}


def coded_size(size):
    """Returns the coded size of AMD's hardware for a picture size."""
    width, height = map(int, size.split("x"))
    return -(-width // 64) * 64, -(-height // 16) * 16


def sets(units):
    """Returns the parameter sets: VPS, SPS, PPS."""
    return [[u for u in units if u["unit"] == f"{name} Parameter Set"] for name in ("Video", "Sequence", "Picture")]


def judge_headers(path, codec, size, gpu, two_lists):
    """Checks the headers of the plan: a key frame every 30 frames, and P pictures that predict from the previous one."""
    units = headers(path, codec)
    found = slices(units, codec)
    vps, sps, pps = sets(units)
    assert len(found) == FRAMES, f"{len(found)} slices"
    assert min(len(vps), len(sps), len(pps)) >= 4, f"{len(vps)} VPS, {len(sps)} SPS and {len(pps)} PPS for 4 key frames"
    depth = DEPTHS[codec]
    for unit in sps:
        assert unit["general_profile_idc"] == (1 if depth == 8 else 2), f"general_profile_idc {unit['general_profile_idc']}"
        depths = unit["bit_depth_luma_minus8"] + 8, unit["bit_depth_chroma_minus8"] + 8
        assert depths == (depth, depth), f"{depths} bits"
        coded = unit["pic_width_in_luma_samples"], unit["pic_height_in_luma_samples"]
        # The offsets are in chroma samples, which are two luma samples wide and high (7.4.3.2.1).
        window = [2 * unit.get(f"conf_win_{edge}_offset", 0) for edge in ("left", "right", "top", "bottom")]
        shown = f"{coded[0] - window[0] - window[1]}x{coded[1] - window[2] - window[3]}"
        assert shown == size, f"{coded} less {window} is {shown}"
        if gpu.startswith("amd"):  # the hardware's coded size
            assert coded[0] % 64 == 0 and coded[1] % 16 == 0, f"{coded} are coded"
    bits = sps[0]["log2_max_pic_order_cnt_lsb_minus4"] + 4
    expected_types = ["I" if index % GOP == 0 else "B" if two_lists else "P" for index in range(FRAMES)]
    assert types(units, codec) == expected_types, f"slice types {''.join(types(units, codec)[:12])}…"
    for index, unit in enumerate(found):
        inside = index % GOP
        # IDR_W_RADL or IDR_N_LP, TRAIL_R (Table 7-1).
        assert unit["nal_unit_type"] in ((19, 20) if inside == 0 else (1,)), f"frame {index}: NAL {unit['nal_unit_type']}"
        assert unit["nuh_temporal_id_plus1"] == 1, f"frame {index}: temporal sub-layer {unit['nuh_temporal_id_plus1'] - 1}"
        if inside == 0:
            continue
        poc = unit["slice_pic_order_cnt_lsb"]
        assert poc == inside % (1 << bits), f"frame {index}: slice_pic_order_cnt_lsb {poc}"
        source = sps[0] if unit["short_term_ref_pic_set_sps_flag"] else unit
        reference = source["num_negative_pics"], source["num_positive_pics"], source["delta_poc_s0_minus1[0]"]
        assert reference == (1, 0, 0), f"frame {index}: reference picture set {reference}"
    if gpu.startswith("intel"):  # vaenc packs the slice header, with the QP
        for index, unit in enumerate(found):
            qp = 26 + pps[0]["init_qp_minus26"] + unit["slice_qp_delta"]
            expected = QP_P if index % GOP else QP_I
            assert qp == expected, f"frame {index}: QP {qp} in the slice header, not {expected}"


def judge_mode(units, mode):
    """Checks what a mode changes in the headers."""
    found = slices(units, "hevc")
    pps = sets(units)[2][0]
    if mode == "layers":
        ids = [unit["nuh_temporal_id_plus1"] - 1 for unit in found]
        assert ids == [index % GOP % 2 for index in range(FRAMES)], f"temporal sub-layers {ids[:8]}…"
    elif mode == "ltr":
        named = [unit for unit in found if unit.get("num_long_term_pics")]
        assert named, "no slice names a long-term picture"
    elif mode == "references":
        most = max(len(lists(unit, pps)[0]) for unit in found)
        assert most > 1, f"lists of {most}"
    elif mode == "slices":
        ordinals = [unit["first_slice_segment_in_pic_flag"] for unit in found]
        assert ordinals == [1, 0, 0] * FRAMES, f"first_slice_segment_in_pic_flag {ordinals[:6]}…"


def lists(unit, pps):
    """Returns the picture order counts in a slice's lists, relative to its own (8.3.2, 8.3.4). Returns None if the slice
    refers to long-term pictures."""
    kind = TYPES["hevc"][unit["slice_type"]]
    if kind == "I":
        return [], []
    if unit.get("num_long_term_pics"):
        return None
    assert not unit["short_term_ref_pic_set_sps_flag"], "a reference picture set of the SPS"
    used = []
    for side, sign, count in (("s0", -1, "num_negative_pics"), ("s1", 1, "num_positive_pics")):
        delta = 0
        used.append([])
        for index in range(unit.get(count, 0)):
            delta += sign * (unit[f"delta_poc_{side}_minus1[{index}]"] + 1)
            if unit[f"used_by_curr_pic_{side}_flag[{index}]"]:
                used[-1].append(delta)
    before, after = used
    counts = [
        unit.get(f"num_ref_idx_l{which}_active_minus1", pps[f"num_ref_idx_l{which}_default_active_minus1"]) + 1
        for which in (0, 1)]
    list0 = ((before + after) * 16)[: counts[0]]
    return list0, ((after + before) * 16)[: counts[1]] if kind == "B" else []


# The name of each field in the parameter buffer, and its name in the header.
SEQUENCE = {name: name for name in (
    "general_profile_idc", "general_level_idc", "general_tier_flag", "pic_width_in_luma_samples",
    "pic_height_in_luma_samples", "chroma_format_idc", "bit_depth_luma_minus8", "bit_depth_chroma_minus8",
    "scaling_list_enabled_flag", "strong_intra_smoothing_enabled_flag", "amp_enabled_flag",
    "sample_adaptive_offset_enabled_flag", "pcm_enabled_flag", "sps_temporal_mvp_enabled_flag",
    "log2_min_luma_coding_block_size_minus3", "log2_diff_max_min_luma_coding_block_size",
    "max_transform_hierarchy_depth_inter", "max_transform_hierarchy_depth_intra", "vui_time_scale",
    "vui_num_units_in_tick")} | {
    "log2_min_transform_block_size_minus2": "log2_min_luma_transform_block_size_minus2",
    "log2_diff_max_min_transform_block_size": "log2_diff_max_min_luma_transform_block_size"}
PICTURE = {name: name for name in (
    "diff_cu_qp_delta_depth", "pps_cb_qp_offset", "pps_cr_qp_offset", "log2_parallel_merge_level_minus2",
    "num_ref_idx_l0_default_active_minus1", "num_ref_idx_l1_default_active_minus1", "sign_data_hiding_enabled_flag",
    "constrained_intra_pred_flag", "transform_skip_enabled_flag", "cu_qp_delta_enabled_flag",
    "weighted_pred_flag", "weighted_bipred_flag", "tiles_enabled_flag", "pps_loop_filter_across_slices_enabled_flag")}
SLICE = {name: name for name in (
    "slice_segment_address", "slice_type", "slice_qp_delta", "slice_sao_luma_flag", "slice_sao_chroma_flag",
    "mvd_l1_zero_flag", "cabac_init_flag", "num_ref_idx_active_override_flag", "slice_temporal_mvp_enabled_flag")}


def same(sent, written, names, what):
    """Compares the fields of a buffer with those of a header. A field that the header does not contain has the value 0. A
    field that libva's trace does not contain is not compared. Returns the number of compared fields."""
    compared = 0
    for buffer, header in names.items():
        if buffer in sent:
            compared += 1
            assert sent[buffer] == written.get(header, 0), \
                f"{what}: {buffer} {sent[buffer]} sent to the driver, {written.get(header, 0)} written"
    return compared


def judge_buffers(path, pattern, codec, units=None):
    """Compares the buffers that the driver got with the stream's headers, which vaenc wrote. Returns the number of
    compared fields."""
    units = units or headers(path, codec)
    _, sps, pps = sets(units)
    found = slices(units, codec)
    buffers = parameter_buffers(pattern)
    compared, index, picture = 0, 0, None
    for kind, sent in buffers:
        if kind == "Sequence":
            compared += same(sent, sps[0], SEQUENCE, "sequence")
        elif kind == "Picture":
            picture = sent
            compared += same(sent, pps[0], PICTURE, f"picture of slice {index}")
            assert sent["pic_init_qp"] == 26 + pps[0]["init_qp_minus26"], f"slice {index}: pic_init_qp {sent['pic_init_qp']}"
        else:
            assert index < len(found), "more slices sent than written"
            unit = found[index]
            # Fields that are not in the slice header are inferred from the picture parameter set (7.4.7.1).
            whole = {
                "slice_deblocking_filter_disabled_flag": pps[0].get("pps_deblocking_filter_disabled_flag", 0),
                "slice_loop_filter_across_slices_enabled_flag": pps[0]["pps_loop_filter_across_slices_enabled_flag"],
                "collocated_from_l0_flag": 1} | unit
            compared += same(sent, whole, SLICE | {name: name for name in whole if name not in unit}, f"slice {index}")
            if unit["first_slice_segment_in_pic_flag"]:
                compared += same(picture, unit, {"nal_unit_type": "nal_unit_type"}, f"slice {index}")
            if TYPES["hevc"][unit["slice_type"]] != "I":
                merging = 5 - unit["five_minus_max_num_merge_cand"]
                assert sent["max_num_merge_cand"] == merging, f"slice {index}: max_num_merge_cand {merging} written"
            poc = picture["decoded_curr_pic.pic_order_cnt"]
            bits = sps[0]["log2_max_pic_order_cnt_lsb_minus4"] + 4
            assert unit.get("slice_pic_order_cnt_lsb", 0) == poc % (1 << bits), f"slice {index}: order count {poc} sent"
            expected = lists(unit, pps[0])
            for which, entries in enumerate(expected or []):
                sent_entries = [sent[f"ref_pic_list{which}[{i}].pic_order_cnt"] - poc for i in range(15)
                                if sent[f"ref_pic_list{which}[{i}].picture_id"] != 0xFFFFFFFF]
                assert sent_entries[: len(entries)] == entries and len(sent_entries) >= len(entries), \
                    f"slice {index}: list {which} of {sent_entries} sent, {entries} written"
                compared += 1
            index += 1
    assert index == len(found), f"{index} slices sent, {len(found)} written"
    assert compared > 10 * FRAMES, f"only {compared} fields compared"
    return compared
