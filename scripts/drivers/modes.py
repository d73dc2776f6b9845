#!/usr/bin/env python3
"""modes.py PROBE.json: prints a line for each mode that `vaenc probe --json` advertises: a name, the picture size, and
the options of vaenc that select the mode. A name has the codec (h264, hevc, hevc10 for Main 10), the entry point (slice,
lp), and a rate-control mode or a feature that is tested with a constant QP. HEVC's `plan` corresponds to `encode` of
H.264, with a size that is not a multiple of any block size."""
import json, sys

CQP = "--qp 27 --qp-i 27"
RATES = {
    "cqp": CQP,
    "cbr": "--bitrate 1M",
    "vbr": "--bitrate 1M --max-bitrate 1500k",
    "icq": "--quality 27",
    "qvbr": "--bitrate 1M --max-bitrate 1500k --quality 27",
    "avbr": "--bitrate 1M",
}
CODECS = {
    ("h264", "High"): ("h264", "--codec h264 --profile high"),
    ("hevc", "Main"): ("hevc", "--codec hevc --profile main"),
    ("hevc", "Main 10"): ("hevc10", "--codec hevc --profile main10"),
}
# 368 rows of samples are six rows of HEVC's largest blocks (64×64), which make three equal slices.
SLICES = {"h264": 4, "hevc": 3, "hevc10": 3}


def features(entry, codec):
    """Yields the name and the options of each feature that the entry point advertises. By default, the options select P
    pictures with one reference."""
    has = entry["attributes"]
    attribute = lambda name: has.get("VAConfigAttrib" + name, 0)
    plain = "--bframes 0 --refs 1"
    if entry["bFrames"]:
        yield "b", "--bframes 2 --refs 1 --qp-b 27"
    if entry["maxReferences"]["l0"] > 1:
        yield "references", f"--bframes 0 --refs {entry['maxReferences']['l0']}"
    # Long-term references and layers need packed slice headers, which say which picture is stored and referenced.
    if "slice" in entry["packedHeaders"] and entry["maxReferences"]["l0"] > 1:
        yield "ltr", "--bframes 0 --refs 2 --ltr 1"
        yield "layers", "--bframes 0 --refs 2 --temporal-layers 2"
    if entry["maxSlices"] >= SLICES[codec]:
        yield "slices", f"{plain} --slices {SLICES[codec]}"
    if entry["roi"]:
        yield "roi", f"{plain} --roi 64,64,128x128:-5"
    if "column" in entry["intraRefresh"]:
        yield "refresh", f"{plain} --intra-refresh"
    if entry["qualityLevels"] > 1:
        yield "fast", f"{plain} --preset 7"
        yield "slow", f"{plain} --preset 1"
    if attribute("EncQuantization") & 1:
        yield "trellis", f"{plain} --trellis on"
    if codec == "h264":
        yield "cavlc", f"{plain} --entropy cavlc"


devices = json.load(open(sys.argv[1]))["devices"]
device = next(d for d in devices if d.get("path") == "/dev/dri/renderD128")
for entry in device["capabilities"]:
    if (entry["codec"], entry["profile"]) not in CODECS or not entry["entrypoint"].startswith("EncSlice"):
        continue
    codec, codec_options = CODECS[entry["codec"], entry["profile"]]
    low = entry["entrypoint"] == "EncSliceLP"
    point = f"{codec}-{'lp' if low else 'slice'}"
    common = f"{codec_options} --low-power {'on' if low else 'off'}"
    if codec != "h264":
        print(f"{point}-plan 1366x768 {common} --qp 27 --qp-i 24 --bframes 0 --refs 1 --slices 1")
    for mode in entry["rateControl"]:
        print(f"{point}-{mode} 640x368 {common} --slices 1 --rate-control {mode} {RATES[mode]} --bframes 0 --refs 1")
    for name, options in features(entry, codec):
        slices = "" if "--slices" in options else "--slices 1"
        print(f"{point}-{name} 640x368 {common} {slices} --rate-control cqp {CQP} {options}")
