#!/usr/bin/env python3
"""modes.py PROBE.json: the ways of encoding H.264 that `vaenc probe --json` advertises, a line each: a name, and the
options of vaenc that ask for it. A name is the entry point (slice, lp), then a rate-control mode or what else is asked
for beside a constant QP."""
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


def features(entry):
    """Name and options of what the entry point advertises, P pictures with one reference unless it says otherwise."""
    has = entry["attributes"]
    said = lambda name: has.get("VAConfigAttrib" + name, 0)
    plain = "--bframes 0 --refs 1"
    if entry["bFrames"]:
        yield "b", "--bframes 2 --refs 1 --qp-b 27"
    if entry["maxReferences"]["l0"] > 1:
        yield "references", f"--bframes 0 --refs {entry['maxReferences']['l0']}"
    # Which picture is kept and named, the slice header says.
    if "slice" in entry["packedHeaders"] and entry["maxReferences"]["l0"] > 1:
        yield "ltr", "--bframes 0 --refs 2 --ltr 1"
        yield "layers", "--bframes 0 --refs 2 --temporal-layers 2"
    if entry["maxSlices"] > 3:
        yield "slices", f"{plain} --slices 4"
    if entry["roi"]:
        yield "roi", f"{plain} --roi 64,64,128x128:-5"
    if "column" in entry["intraRefresh"]:
        yield "refresh", f"{plain} --intra-refresh"
    if entry["qualityLevels"] > 1:
        yield "fast", f"{plain} --preset 7"
        yield "slow", f"{plain} --preset 1"
    if said("EncQuantization") & 1:
        yield "trellis", f"{plain} --trellis on"
    yield "cavlc", f"{plain} --entropy cavlc"


devices = json.load(open(sys.argv[1]))["devices"]
device = next(d for d in devices if d.get("path") == "/dev/dri/renderD128")
for entry in device["capabilities"]:
    if (entry["codec"], entry["profile"]) != ("h264", "High") or not entry["entrypoint"].startswith("EncSlice"):
        continue
    low = entry["entrypoint"] == "EncSliceLP"
    point = "lp" if low else "slice"
    common = f"--profile high --low-power {'on' if low else 'off'}"
    for mode in entry["rateControl"]:
        print(f"{point}-{mode} {common} --slices 1 --rate-control {mode} {RATES[mode]} --bframes 0 --refs 1")
    for name, options in features(entry):
        slices = "" if "--slices" in options else "--slices 1"
        print(f"{point}-{name} {common} {slices} --rate-control cqp {CQP} {options}")
