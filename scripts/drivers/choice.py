"""Checks the codec that vaenc chooses if none is requested, and the reported reason, against what vainfo lists."""
import json
import vainfo
from fakes import read


def chosen(at, name):
    """Returns the codec, the profile and the reported reason; or None, None and the error."""
    if read(f"{at}/{name}.status").strip() != "0":
        return None, None, read(f"{at}/{name}.err").strip()
    report = json.loads(read(f"{at}/{name}.out"))
    entry = next(entry for entry in report["effective"] if entry["option"] == "codec")
    assert entry["used"] == report["codec"], f"{entry['used']} reported, {report['codec']} encoded"
    return report["codec"], report["profile"], entry["why"]


def judge(at, name, codec, profile, reason):
    got = chosen(at, name)
    assert got[:2] == (codec, profile) and reason in got[2], f"{name}: {got}, not {codec} {profile} for: {reason}"
    return f"{profile or 'an error'}: {got[2].splitlines()[-1].removeprefix('vaenc: ')[:90]}"


def check(at, gpu):
    listed = read(f"{at}/vainfo.out")
    main = vainfo.encoders(listed, "VAProfileHEVCMain")
    main10 = vainfo.encoders(listed, "VAProfileHEVCMain10")
    verdicts = []
    for name, has, profile in (("choice-8", main, "Main"), ("choice-10", main10, "Main 10")):
        if has:
            expected = "hevc", profile, f"the device encodes HEVC {profile}"
        elif main:
            expected = "h264", "High", f"the device encodes HEVC Main, not {profile}"
        else:
            expected = "h264", "High", "the device does not encode HEVC"
        verdicts.append(judge(at, name, *expected))
    # 96×96 is below the minimum of Intel's low-power HEVC encoder, and 128×128 below AMD's, if the driver reports a
    # minimum. AMD's older drivers report none; with them, vaenc encodes nothing below 256×128.
    device = next(d for d in json.loads(read(f"{at}/probe.out"))["devices"] if d.get("path") == "/dev/dri/renderD128")
    if gpu.startswith("amd") and "Mesa Gallium driver 22." in device["driver"]:
        expected = None, None, "the device does not encode pictures of 128×128"
    elif gpu.startswith("amd"):
        expected = "h264", "High", "not 128×128"
    elif main and "slice" not in main:
        expected = "h264", "High", "not 96×96"
    else:
        least = [(row["minWidth"], row["minHeight"]) for row in device["capabilities"]
                 if (row["codec"], row["profile"]) == ("hevc", "Main") and row["entrypoint"].startswith("EncSlice")]
        fits = any(width <= 96 and height <= 96 for width, height in least)
        expected = ("hevc", "Main", "of 96×96") if fits else ("h264", "High", "not 96×96" if main else "not encode HEVC")
    verdicts.append(judge(at, "choice-small", *expected))
    return "; ".join(verdicts)
