#!/usr/bin/env python3
"""Makes the reference driver's personalities from capabilities of real drivers (`vainfo -a`, raw attribute values).

personalities.py write CAPABILITIES       writes the driver's table from a folder of dumps
personalities.py check CAPABILITIES BUILD compares `vainfo -a` under each personality of the driver in BUILD with the
                                          dump that it was made from; prints a line for each personality; the exit
                                          status is 1 if there is a difference
"""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "drivers"))
import vainfo  # noqa: E402

TABLE = Path(__file__).parent.parent / "Sources/Drivers/Reference/Backend/Personalities/PersonalityTable.swift"
# The values of VAConfigAttribType, VAProfile and VAEntrypoint of va.h that encoders, decoders and video processors use.
TYPES = {
    "RTFormat": 0, "RateControl": 5, "DecSliceMode": 6, "DecProcessing": 8, "EncPackedHeaders": 10, "EncInterlaced": 11,
    "EncMaxRefFrames": 13,
    "EncMaxSlices": 14, "EncSliceStructure": 15, "MaxPictureWidth": 18, "MaxPictureHeight": 19, "EncQualityRange": 21,
    "EncQuantization": 22, "EncIntraRefresh": 23, "EncSkipFrame": 24, "EncROI": 25, "EncRateControlExt": 26,
    "ProcessingRate": 27, "EncDirtyRect": 28, "EncParallelRateControl": 29, "EncDynamicScaling": 30,
    "FEIMVPredictors": 33, "EncTileSupport": 35, "QPBlockSize": 37, "MaxFrameSize": 38,
    "PredictionDirection": 39, "EncHEVCFeatures": 50, "EncHEVCBlockSizes": 51}
PROFILES = {
    "VAProfileNone": -1, "VAProfileH264Main": 6, "VAProfileH264High": 7, "VAProfileH264ConstrainedBaseline": 13,
    "VAProfileHEVCMain": 17, "VAProfileHEVCMain10": 18}
ENTRYPOINTS = {
    "VAEntrypointVLD": 1, "VAEntrypointEncSlice": 6, "VAEntrypointEncSliceLP": 8, "VAEntrypointVideoProc": 10}
# vainfo 2.12 prints the value of EncMaxRefFrames on the row of EncMaxSlices, so these values are from the drivers'
# sources.
SLICES = {"iHD": 256, "iHDnonfree": 256, "i965": 32, "radeonsi": 128}
# The minimum and maximum sizes if no dump has them. AMD's maximum sizes were assumed when the dumps were made.
SIZES = {
    "iHD": (32, 32, 4096, 4096), "iHDnonfree": (32, 32, 4096, 4096), "iHD25nonfree": (32, 32, 4096, 4096),
    "i965": (16, 16, 4096, 4096), "radeonsi": (256, 128, 4096, 2304), "radeonsi25": (128, 128, 4096, 2304)}
# The minimum size of processed pictures, which no dump has.
PROCESSED = (16, 16)
# The values of VA_SURFACE_ATTRIB_MEM_TYPE_… if the raw attributes do not have them. They are from the drivers' sources.
# iHD has different values for integrated GPUs and for GPUs with their own memory.
MEMORY = {"iHD": 0x70000005, "iHDnonfree": 0x70000005, "i965": 0x30000005, "radeonsi": 0x60000001, "radeonsi25": 0x68000001}
DISCRETE = {"56A0": 0x40000001}
# The alignment of Mesa's HEVC surfaces (VASurfaceAttribAlignmentSize), which only newer versions report.
ALIGNMENT = {"radeonsi25": 70}
# The minimum size of decoded pictures, which no dump has: a macroblock.
DECODED = (16, 16)


def hevc(driver, gpu, entrypoint):
    """Returns the HEVC attributes that vainfo of libva 2.17 does not print or prints wrongly, as {type: value}, and the
    minimum size. The values were read from the drivers themselves. If a driver could not run, they are those of its newer
    version on the same GPU."""
    gen11 = gpu == "8A52"
    if driver == "radeonsi":
        features = 0x10041010 if gpu == "raven" else 0x10041050
        return {14: 128, 50: features, 51: 0xcf}, (256, 128)
    if driver not in ("iHD", "iHDnonfree"):
        return {}, None
    if entrypoint == "VAEntrypointEncSliceLP":
        return {14: 70, 39: 5 if gen11 else 7, 50: 0x1900464, 51: 0x88cf}, (128, 128)
    if gpu in ("1912", "5916"):
        return {14: 200}, (32, 32)
    answers = {14: 600, 50: 0x1900464, 51: 0x88c6 if gen11 else 0x88c7}
    return (answers if gen11 else answers | {39: 7}), (128, 128)


def value(driver, name, printed):
    """Returns the raw value of printed rows; None if the attribute is not supported here."""
    if name == "EncMaxSlices" and driver in SLICES:
        return SLICES[driver]
    if name in vainfo.FLAGS:
        bits = 0
        for word in printed:
            bits |= vainfo.FLAGS[name][vainfo.PREFIX.sub("", word)]
        return bits
    if name in vainfo.FIELDS:
        bits = 0
        for pair in " ".join(printed).split():
            field, number = pair.split("=")
            shift, _ = vainfo.FIELDS[name][field]
            bits |= int(number) << shift
        return bits
    if name in vainfo.NUMBERS or name == "FEIMVPredictors":
        return int(re.search(r"\d+$", printed[0])[0])
    return 1 if name in vainfo.SUPPORTED else None


def entries(folder, name):
    """Returns {(profile, entry point): [{type: value}, sizes, alignment]} of a dump. Raw values have priority."""
    driver = name.split("-")[0]
    found = {}
    for key, rows in vainfo.parse((folder / f"{name}.txt").read_text()).items():
        if key[0] not in PROFILES or key[1] not in ENTRYPOINTS:
            continue
        values = {}
        for row, printed in rows.items():
            raw = value(driver, row, printed) if row in TYPES else None
            if raw is None:
                print(f"{name}: {row} is left out", file=sys.stderr)
            else:
                values[TYPES[row]] = raw
        decodes = key[1] == "VAEntrypointVLD"
        least, sizes = SIZES[driver][:2], SIZES[driver]
        if not key[1].startswith("VAEntrypointEnc"):
            least = DECODED if decodes else PROCESSED
        sizes = (*least, values.get(18, sizes[2]), values.get(19, sizes[3]))
        alignment = 0
        if key[0].startswith("VAProfileHEVC") and not decodes:
            more, least = hevc(driver, name.split("-")[1], key[1])
            values |= more
            if least:
                sizes = (*least, *sizes[2:])
            alignment = ALIGNMENT.get(driver, 0)
        found[key] = [values, sizes, alignment]
    raw = folder / f"attributes-{name}.txt"
    key = None
    for line in raw.read_text().splitlines() if raw.exists() else []:
        head = re.match(r"^(VAProfile\w+)/(VAEntrypoint\w+)", line)
        row = re.match(r"^  (\w+)=(0x[0-9a-f]+)$", line)
        if head:
            key = (head[1], head[2])
        elif key in found and row and row[1] in TYPES:
            found[key][0][TYPES[row[1]]] = int(row[2], 0)
        elif key in found and line.startswith("  surface:"):
            size = dict(re.findall(r"(M\w+)=(\d+)", line))
            found[key][1] = tuple(int(size[n]) for n in ("MinWidth", "MinHeight", "MaxWidth", "MaxHeight"))
    # A device that encodes nothing is no personality.
    return found if any(key[1].startswith("VAEntrypointEnc") for key in found) else {}


def memory(folder, name):
    """Returns the memory types of the driver's surfaces."""
    raw = folder / f"attributes-{name}.txt"
    types = re.findall(r"mem=(0x[0-9a-f]+)", raw.read_text()) if raw.exists() else []
    driver, gpu = name.split("-")
    return int(types[0], 0) if types else MEMORY[driver] if "iHD" not in driver else DISCRETE.get(gpu, MEMORY[driver])


def names(folder):
    return sorted(p.stem for p in folder.glob("*.txt") if not p.stem.startswith("attributes-"))


def write(folder):
    sets, lines = [], []
    for name in names(folder):
        text = (folder / f"{name}.txt").read_text()
        # The kernel and DRM versions of the dump's machine are removed from the driver's name.
        vendor = re.search(r"Driver version: (.*?)(?: \(\))?$", text, re.M)[1]
        vendor = re.sub(r", DRM [\d.]+, [^)]*\)", ")", vendor)
        rows = []
        for (profile, entrypoint), (values, sizes, alignment) in entries(folder, name).items():
            row = " ".join(f"{t}={v:x}" for t, v in sorted(values.items()))
            if row not in sets:
                sets.append(row)
            size = ",".join(map(str, (*sizes, alignment) if alignment else sizes))
            rows.append(f"{PROFILES[profile]},{ENTRYPOINTS[entrypoint]},{sets.index(row)},{size}")
        if rows:
            lines.append(f"{name}|{vendor}|{memory(folder, name):x}|{' '.join(rows)}")
    TABLE.write_text(
        "// Generated by scripts/personalities.py from the attributes that real drivers reported.\n\n"
        "/// The personalities as text, which is parsed when a personality is requested.\n"
        "enum PersonalityTable {\n"
        "    /// One line per personality: name, vendor, VA_SURFACE_ATTRIB_MEM_TYPE_… in hexadecimal, and a word per profile and\n"
        "    /// entry point. A word has VAProfile, VAEntrypoint, the index of a line in `attributes`, the minimum width and\n"
        "    /// height, the maximum width and height and, if the driver reports one, the alignment.\n"
        '    static let personalities = """\n'
        + "".join(f"        {wrap(line)}\n" for line in lines)
        + '        """\n\n'
        "    /// The sets of attributes, one per line: VAConfigAttribType, and its value in hexadecimal.\n"
        '    static let attributes = """\n'
        + "".join(f"        {wrap(line)}\n" for line in sets)
        + '        """\n}\n')
    print(f"{len(lines)} personalities, {len(sets)} sets of attributes")


def wrap(line):
    """Returns a line of the literal, with line continuations if it is too long."""
    words, out = line.split(" "), ""
    width = 0
    for word in words:
        if out and width + len(word) > 105:
            out += " \\\n        "
            width = 0
        elif out:
            out += " "
        out += word
        width += len(word) + 1
    return out


def check(folder, build):
    failed = False
    for name in names(folder):
        expected = entries(folder, name)
        if not expected:
            continue
        environment = dict(
            os.environ, LIBVA_DRIVERS_PATH=build, LIBVA_DRIVER_NAME="libvaenc", LIBVA_MESSAGING_LEVEL="0",
            VAENC_REFERENCE_PERSONALITY=name)
        run = subprocess.run(
            ["xvfb-run", "-a", "vainfo", "-a", "--display", "x11"], env=environment, capture_output=True, text=True)
        answers = vainfo.parse(run.stdout)
        printed = vainfo.parse((folder / f"{name}.txt").read_text())
        faults, rows = [], 0
        if set(answers) != set(expected):
            faults.append(f"entry points {sorted(answers)}")
        for key in set(answers) & set(expected):
            for row in set(answers[key]) | set(printed[key]):
                if row == "EncMaxSlices":
                    continue  # vainfo may print another attribute's value on this row
                rows += 1
                if answers[key].get(row) != printed[key].get(row):
                    faults.append(f"{'/'.join(key)} {row}: {answers[key].get(row)}, not {printed[key].get(row)}")
        print(f"{name:24} {'FAILED ' + faults[0] if faults else 'ok'}, {rows} rows")
        failed |= bool(faults) or rows == 0
    return 1 if failed else 0


if len(sys.argv) == 3 and sys.argv[1] == "write":
    write(Path(sys.argv[2]))
elif len(sys.argv) == 4 and sys.argv[1] == "check":
    sys.exit(check(Path(sys.argv[2]), sys.argv[3]))
else:
    sys.exit(__doc__)
