"""Parses the output of `vainfo -a`, and compares it with raw attribute values (the constants of va.h)."""
import re

FLAGS = {
    "RTFormat": {
        "YUV420": 0x1, "YUV422": 0x2, "YUV444": 0x4, "YUV411": 0x8, "YUV400": 0x10, "YUV420_10": 0x100,
        "YUV420_10BPP": 0x100, "YUV422_10": 0x200, "YUV444_10": 0x400, "YUV420_12": 0x1000, "YUV422_12": 0x2000,
        "YUV444_12": 0x4000, "RGB16": 0x10000, "RGB32": 0x20000, "RGBP": 0x100000, "RGB32_10": 0x200000,
        "RGB32_10BPP": 0x200000, "PROTECTED": 0x80000000},
    "RateControl": {
        "NONE": 0x1, "CBR": 0x2, "VBR": 0x4, "VCM": 0x8, "CQP": 0x10, "VBR_CONSTRAINED": 0x20, "ICQ": 0x40, "MB": 0x80,
        "CFS": 0x100, "PARALLEL": 0x200, "QVBR": 0x400, "AVBR": 0x800, "TCBRC": 0x1000},
    "EncPackedHeaders": {"NONE": 0, "SEQUENCE": 0x1, "PICTURE": 0x2, "SLICE": 0x4, "MISC": 0x8, "RAW_DATA": 0x10},
    "EncInterlaced": {"NONE": 0, "FRAME": 0x1, "FIELD": 0x2, "MBAFF": 0x4, "PAFF": 0x8},
    "EncSliceStructure": {
        "POWER_OF_TWO_ROWS": 0x1, "ARBITRARY_MACROBLOCKS": 0x2, "EQUAL_ROWS": 0x4, "MAX_SLICE_SIZE": 0x8,
        "ARBITRARY_ROWS": 0x10},
    "EncQuantization": {"NONE": 0, "TRELLIS_SUPPORTED": 0x1},
    "EncIntraRefresh": {
        "NONE": 0, "ROLLING_COLUMN": 0x1, "ROLLING_ROW": 0x2, "ADAPTIVE": 0x10, "CYCLIC": 0x20, "P_FRAME": 0x10000,
        "B_FRAME": 0x20000, "MULTI_REF": 0x40000},
    "ProcessingRate": {"ENCODE": 0x1, "DECODE": 0x2},
    "DecSliceMode": {"NORMAL": 0x1, "BASE": 0x2},
    "DecProcessing": {"VA_DEC_PROCESSING_NONE": 0, "VA_DEC_PROCESSING": 0x1},
    "PredictionDirection": {"PREVIOUS": 0x1, "FUTURE": 0x2},
}
PREFIX = re.compile(
    r"^VA_(RT_FORMAT|RC|ENC_PACKED_HEADER|ENC_INTERLACED|ENC_SLICE_STRUCTURE|ENC_QUANTIZATION|ENC_INTRA_REFRESH"
    r"|PROCESSING_RATE|DEC_SLICE_MODE|PREDICTION_DIRECTION)_")
FIELDS = {  # attributes that vainfo prints as name=value: (shift, mask)
    "EncMaxRefFrames": {"l0": (0, 0xffff), "l1": (16, 0xffff)},
    "EncROI": {"num_roi_regions": (0, 0xff), "roi_rc_priority_support": (8, 1), "roi_rc_qp_delta_support": (9, 1)},
    "EncRateControlExt": {"max_num_temporal_layers_minus1": (0, 0xff), "temporal_layer_bitrate_control_flag": (8, 1)},
    "MaxFrameSize": {"max_frame_size": (0, 1), "multiple_pass": (1, 1)},
}
NUMBERS = ("EncMaxSlices", "MaxPictureWidth", "MaxPictureHeight", "EncQualityRange", "EncDirtyRect",
           "EncParallelRateControl")
SUPPORTED = ("EncSkipFrame", "EncTileSupport", "EncDynamicScaling", "QPBlockSize")
KNOWN = (*FLAGS, *FIELDS, *NUMBERS, *SUPPORTED)


def parse(text):
    """Returns {(profile, entry point): {attribute: [printed values]}}."""
    found, rows, name = {}, None, None
    for line in text.splitlines():
        head = re.match(r"^(VAProfile\w+)/(VAEntrypoint\w+)", line)
        row = re.match(r"^    VAConfigAttrib(\w+)\s*: (.*)$", line)
        more = re.match(r"^ {20,}(\S.*)$", line)
        if head:
            rows = found.setdefault((head[1], head[2]), {})
            name = None
        elif row and rows is not None:
            name = row[1]
            rows.setdefault(name, []).append(row[2].strip())
        elif more and name:
            rows[name].append(more[1].strip())
    return found


def differs(name, printed, raw):
    """Returns an empty text if the raw value matches what vainfo printed, the difference if it does not, and None for an
    unknown attribute."""
    if name in FLAGS:
        bits = 0
        for word in printed:
            flag = FLAGS[name].get(PREFIX.sub("", word))
            if flag is None:
                return f"vainfo prints {word}, which is not known here"
            bits |= flag
        mask = 0
        for flag in FLAGS[name].values():
            mask |= flag
        return "" if raw & mask == bits else f"vainfo {'|'.join(printed)}, raw {raw:#x}"
    if name in FIELDS:
        for pair in " ".join(printed).split():
            field, value = pair.split("=")
            shift, mask = FIELDS[name][field]
            if raw >> shift & mask != int(value):
                return f"vainfo {pair}, raw {raw:#x}"
        return ""
    if name in NUMBERS:
        number = int(re.search(r"\d+$", printed[0])[0])
        return "" if raw == number else f"vainfo {number}, raw {raw}"
    if name in SUPPORTED:
        return "" if raw else f"vainfo {printed[0]}, raw {raw}"
    return None


PROFILES = {
    ("h264", "Constrained Baseline"): "VAProfileH264ConstrainedBaseline", ("h264", "Main"): "VAProfileH264Main",
    ("h264", "High"): "VAProfileH264High", ("hevc", "Main"): "VAProfileHEVCMain",
    ("hevc", "Main 10"): "VAProfileHEVCMain10"}


def compare(vainfo_text, device):
    """Compares vainfo's encoder rows with a device of `vaenc probe --json`. Returns the number of compared rows and the
    list of differences."""
    theirs = parse(vainfo_text)
    ours = {}
    for row in device["capabilities"]:
        profile = PROFILES.get((row["codec"], row["profile"].removeprefix("HEVC ")), row["profile"])
        entry = row["entrypoint"] if row["entrypoint"].startswith("VA") else "VAEntrypoint" + row["entrypoint"]
        ours[profile, entry] = row
    count, faults = 0, []
    wanted = {key for key in theirs if key[1] in ("VAEntrypointEncSlice", "VAEntrypointEncSliceLP")
              and key[0] in PROFILES.values()}
    for key in sorted(wanted | set(ours)):
        where = "/".join(key).replace("VAProfile", "").replace("VAEntrypoint", "")
        if key not in ours or key not in theirs:
            faults.append(f"{where}: only {'vainfo' if key in theirs else 'probe'} lists it")
            continue
        values = {name.removeprefix("VAConfigAttrib"): value for name, value in ours[key]["attributes"].items()}
        for name, printed in theirs[key].items():
            if name not in KNOWN:
                continue
            count += 1
            raw = values.get(name)
            if isinstance(raw, str):
                raw = int(raw, 0)
            if name == "EncMaxSlices" and printed == [str(values.get("EncMaxRefFrames"))]:
                continue  # Up to version 2.12, vainfo prints another attribute's value on this row.
            why = "probe lacks it" if raw is None else differs(name, printed, raw)
            if why:
                faults.append(f"{where} {name}: {why}")
        for name in KNOWN:
            if values.get(name) and name not in theirs[key]:
                faults.append(f"{where} {name}: probe says {values[name]}, vainfo nothing")
        # Programs read values that probe derives from the raw attributes. These must match too.
        row, printed = ours[key], theirs[key]
        modes = {PREFIX.sub("", w).lower() for w in printed.get("RateControl", [])}
        offered = modes & {"cqp", "cbr", "vbr", "icq", "qvbr", "avbr"}
        count += 1
        if set(row["rateControl"]) != offered:
            faults.append(f"{where} rateControl: {row['rateControl']}, vainfo {sorted(offered)}")
        for key_name, attribute in (("maxWidth", "MaxPictureWidth"), ("maxHeight", "MaxPictureHeight")):
            if attribute in printed:
                count += 1
                limit = int(printed[attribute][0])
                # vainfo -a shows only the limit of the configuration. The limit of surfaces may be lower, but on no
                # tested driver is it lower for a profile that vaenc encodes.
                if row[key_name] != limit and (key in wanted or not 0 < row[key_name] < limit):
                    faults.append(f"{where} {key_name}: {row[key_name]}, vainfo {printed[attribute][0]}")
        if "EncMaxRefFrames" in printed:
            count += 1
            lists = dict(pair.split("=") for pair in printed["EncMaxRefFrames"])
            if [row["maxReferences"]["l0"], row["maxReferences"]["l1"]] != [int(lists["l0"]), int(lists["l1"])]:
                faults.append(f"{where} maxReferences: {row['maxReferences']}, vainfo {lists}")
    if not theirs:
        faults.append("vainfo listed nothing")
    if count == 0:
        faults.append("nothing was compared")
    return count, faults


def encoders(text, profile):
    """Returns the entry points at which vainfo lists an encoder for the profile: slice (EncSlice), lp (EncSliceLP)."""
    points = {"VAEntrypointEncSlice": "slice", "VAEntrypointEncSliceLP": "lp"}
    return {points[point] for name, point in parse(text) if name == profile and point in points}
