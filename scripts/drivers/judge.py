#!/usr/bin/env python3
"""judge.py SYSTEM FOLDER GPU...: checks what collect.sh wrote into FOLDER/GPU. It prints a line for each GPU and check.
The exit status is 1 if a check fails. The expected plan follows from collect.sh's options, not from vaenc: an IDR
picture every 30 frames, P pictures between, QP 24 and 27."""
import json, multiprocessing, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import choice, hevc, rates, vainfo
from fakes import Packets, judge_calls, judge_kernel, read
from streams import FRAMES, GOP, SLICES, headers, judge_pictures, planned_types, slices, types

QP_I, QP_P = 24, 27
SIZE, HEVC_SIZE = "640x368", "1366x768"


def ended_well(at, name):
    status = read(f"{at}/{name}.status").strip()
    if status != "0":
        lines = [line for line in read(f"{at}/{name}.err").splitlines() if line.strip()]
        raise AssertionError(f"{name} ended with status {status or 'none'}: {' / '.join(lines[-2:])}")


def device_of(at, name="probe"):
    devices = json.loads(read(f"{at}/{name}.out"))["devices"]
    return next(d for d in devices if d.get("path") == "/dev/dri/renderD128")


def check_probe(at, gpu):
    ended_well(at, "vainfo")
    ended_well(at, "probe")
    device = device_of(at)
    assert device["usable"], device.get("why")
    rows, faults = vainfo.compare(read(f"{at}/vainfo.out"), device)
    assert not faults, f"{len(faults)} of {rows} differ: " + "; ".join(faults[:4])
    return f"{rows} rows equal those of vainfo"


def judge_report(at, name, stream):
    report = json.loads(read(f"{at}/{name}.out"))
    frames = report["frames"]
    assert (frames["input"], frames["encoded"], frames["dropped"]) == (FRAMES, FRAMES, 0), frames
    assert (frames["key"], frames["p"], frames["b"]) == (4, 96, 0), frames
    assert report["device"]["kind"] == "vaapi", report["device"]
    assert report["bytes"] == os.path.getsize(stream), "bytes are not the file's"


def check_udmabuf(at, gpu):
    """Checks whether the driver imports the program's memory as a DMA-BUF. Mesa 22 does not import NV12."""
    ended_well(at, "udmabuf")
    report = json.loads(read(f"{at}/udmabuf.out"))
    memory = next(entry for entry in report["effective"] if entry["option"] == "inputMemory")
    assert report["frames"]["encoded"] == FRAMES, report["frames"]
    if (SYSTEM, gpu.split("-")[0]) == ("debian12", "amd"):
        assert memory["used"] == "driver" and "vaCreateSurfaces failed" in memory["why"], memory
        return f"not imported: {memory['why']}"
    assert memory["used"] == "udmabuf", memory
    judge_kernel(at, "udmabuf", gpu)
    return "imported; the picture of the trial is coded as from the driver's memory"


def check_encode(at, gpu):
    ended_well(at, "encode")
    judge_report(at, "encode", f"{at}/encode.h264")
    judge_kernel(at, "encode", gpu)
    return f"{FRAMES} frames, the kernel reported no error"


def check_calls(at, gpu):
    ended_well(at, "trace")
    calls, refused = judge_calls(f"{at}/trace.*thd*")
    if not refused:
        return f"{calls} calls, none failed"
    return f"{calls} calls; the only failures report missing features: {', '.join(sorted(c.split(':')[0] for c in refused))}"


def check_decode(at, gpu):
    judge_pictures(f"{at}/encode.h264", "h264", SIZE)
    return f"{FRAMES} frames of {SIZE}"


def check_headers(at, gpu):
    units = headers(f"{at}/encode.h264", "h264")
    # trace_headers reads the extradata and then the packets, so the first parameter sets may occur twice.
    found = slices(units, "h264")
    sps = [u for u in units if u["unit"] == "Sequence Parameter Set"]
    pps = [u for u in units if u["unit"] == "Picture Parameter Set"]
    assert len(found) == FRAMES, f"{len(found)} slices"
    assert len(sps) >= 4 and len(pps) >= 4, f"{len(sps)} SPS and {len(pps)} PPS for 4 key frames"
    assert all(u["profile_idc"] == 100 for u in sps), "profile_idc"
    assert all(u["entropy_coding_mode_flag"] == 1 for u in pps), "entropy_coding_mode_flag"
    bits = sps[0]["log2_max_frame_num_minus4"] + 4
    for index, unit in enumerate(found):
        inside = index % GOP
        expected = {"nal_unit_type": 5 if inside == 0 else 1, "frame_num": inside % (1 << bits)}
        if "pic_order_cnt_lsb" in unit:
            modulo = 1 << sps[0]["log2_max_pic_order_cnt_lsb_minus4"] + 4
            step = found[1]["pic_order_cnt_lsb"]  # the unit of the order count may be a picture or a field
            assert step in (1, 2), f"frame 1: pic_order_cnt_lsb {step}"
            expected["pic_order_cnt_lsb"] = step * inside % modulo
        for name, value in expected.items():
            assert unit[name] == value, f"frame {index}: {name} is {unit[name]}, not {value}"
        assert unit["slice_type"] % 5 == (2 if inside == 0 else 0), f"frame {index}: slice_type {unit['slice_type']}"
        assert unit["nal_ref_idc"] > 0, f"frame {index}: nal_ref_idc 0"
    if gpu.startswith("intel"):  # vaenc packs the slice header, with the QP
        for index, unit in enumerate(found):
            qp = 26 + pps[0]["pic_init_qp_minus26"] + unit["slice_qp_delta"]
            expected = QP_P if index % GOP else QP_I
            assert qp == expected, f"frame {index}: QP {qp} in the slice header, not {expected}"
    return "types, frame_num, POC as planned"


def judge_packets(packets, width, height):
    """Checks every encode packet that AMD's driver sent for the plan. Returns a text with the special cases."""
    assert packets.session and packets.session[1:3] == [width, height], f"session of {packets.session}"
    assert len(packets.pictures) == FRAMES, f"{len(packets.pictures)} pictures"
    slot = None
    for index, (kind, reference, reconstruction, used) in enumerate(packets.pictures):
        key = index % GOP == 0
        assert kind == ("I" if key else "P"), f"frame {index}: type {kind}"
        # Mesa 22 uses one QP for all pictures, pic_init_qp. It does not send slice_qp_delta to the hardware.
        expected = QP_I if key and packets.sent > 1 else QP_P
        assert used == expected, f"frame {index}: QP {used}, not {expected}"
        assert reference == (0xffffffff if key else slot), f"frame {index}: references slot {reference}, not {slot}"
        slot = reconstruction
    once = " (this driver uses one QP, that of P pictures)" if packets.sent == 1 else ""
    first = ", after one picture that shows the driver's headers" if packets.has_extra_picture else ""
    return f"frame by frame{once}{first}"


def check_parameters(at, gpu):
    if not gpu.startswith("amd"):
        return None
    packets = Packets(f"{at}/encode.amd")
    verdict = judge_packets(packets, *map(int, SIZE.split("x")))
    assert packets.spec and packets.spec[1] == 1, "CABAC is off"
    assert packets.spec[5] == 100, f"profile_idc {packets.spec[5]}"
    sps = next(u for u in headers(f"{at}/encode.h264", "h264") if u["unit"] == "Sequence Parameter Set")
    assert packets.spec[6] == sps["level_idc"], f"level {packets.spec[6]}, SPS says {sps['level_idc']}"
    return f"QP, type, reference, level as planned, {verdict}"


def has_two_lists(at, gpu, codec, point):
    """Returns whether P pictures must have B slices. The driver reports this in VAConfigAttribPredictionDirection (4,
    VA_PREDICTION_DIRECTION_BI_NOT_EMPTY). If an older driver does not report it, the low-power encoder needs them."""
    if not gpu.startswith("intel") or codec == "h264":
        return False
    expected = ("Main" if codec == "hevc" else "Main 10", "EncSliceLP" if point == "lp" else "EncSlice")
    row = next(row for row in device_of(at)["capabilities"]
               if row["codec"] == "hevc" and (row["profile"], row["entrypoint"]) == expected)
    direction = row["attributes"].get("VAConfigAttribPredictionDirection")
    return point == "lp" if direction is None else bool(direction & 4)


def check_hevc(at, gpu, codec="hevc"):
    """Checks the plan in HEVC: calls, the kernel's log, headers, parameter buffers, and on AMD the pictures."""
    runs = [line.split()[0] for line in read(f"{at}/modes").splitlines() if line.startswith(f"{codec}-")]
    offered = vainfo.encoders(read(f"{at}/vainfo.out"), "VAProfileHEVCMain" + ("10" if codec == "hevc10" else ""))
    points = {name.split("-")[1] for name in runs}
    assert points == offered, f"vainfo lists {sorted(offered)}, encoded at {sorted(points)}"
    verdicts = []
    for point in sorted(points):
        name = f"{codec}-{point}-plan"
        folder = f"{at}/mode-{name}"
        try:
            ended_well(folder, "run")
            stream = f"{folder}/run.h265"
            judge_report(folder, "run", stream)
            judge_kernel(folder, "run", gpu)
            calls, _ = judge_calls(f"{folder}/trace.*thd*")
            hevc.judge_headers(stream, codec, HEVC_SIZE, gpu, has_two_lists(at, gpu, codec, point))
            if gpu.startswith("intel"):
                # The faked kernel writes no slice data, so the stream has no pictures to decode.
                compared = hevc.judge_buffers(stream, f"{folder}/trace.*thd*", codec)
                verdicts.append(f"{point}: {calls} calls, none failed; headers as planned; {compared} fields equal the parameter buffers")
            else:
                judge_pictures(stream, codec, HEVC_SIZE)
                packets = Packets(f"{folder}/run.amd")
                verdict = judge_packets(packets, *hevc.coded_size(HEVC_SIZE))
                # The first VCN supports only 8 bits, so the driver sends it no output format.
                is_ten_bits = (packets.output or [0] * 4)[3]
                assert is_ten_bits == (codec == "hevc10"), f"output format {packets.output}"
                verdicts.append(f"{calls} calls, none failed; {FRAMES} frames of {HEVC_SIZE} decode; headers, QP, type, "
                                f"reference as planned, {verdict}")
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}")
    return "; ".join(verdicts) or "no encoder, as in vainfo"


# Quality levels at which a driver rejects pictures. iHD 23.1 rejects every P picture on Ice Lake at levels 1 and 2, also
# FFmpeg's. After three rejected pictures in a row, vaenc continues without the level.
REFUSED = {("debian12", "intel-icl", "h264-lp-slow")}
# If the driver controls the rate on Ice Lake, the HuC firmware writes the commands that code HEVC's slices (its command
# initializer). The faked kernel runs no firmware, so coded buffers have 0 bytes, also with FFmpeg.
EMPTY = {(system, "intel-icl", f"{codec}-lp-{mode}")
         for system in ("debian12", "debian13") for codec in ("hevc", "hevc10") for mode in ("cbr", "vbr")}


def judge_refusals(at):
    """Checks that vaenc stops using a quality level that the driver rejects, and reports it."""
    report = json.loads(read(f"{at}/run.out"))
    preset = next(entry for entry in report["effective"] if entry["option"] == "preset")
    assert (preset["asked"], preset["used"]) == ("1", "driver's"), f"reports preset {preset}"
    counts = report["statistics"]
    assert (counts["delivered"], counts["dropped"], counts["rebuilds"]) == (FRAMES, 0, 3), f"counts {counts}"
    judge_pictures(f"{at}/run.h264", "h264", SIZE)


def judge_emptiness(at):
    """Checks that coded buffers without a slice end the session with a clear error, and that no file is left."""
    status = read(f"{at}/run.status").strip()
    words = read(f"{at}/run.err")
    assert status == "75" and "0 bytes without a slice" in words, f"status {status}: {words.strip()[-200:]}"
    assert not os.path.exists(f"{at}/run.h265"), "a file is left"


def check_verify(at, gpu):
    """Checks that `probe --verify` names exactly the modes that the driver rejects."""
    device = device_of(at, "verify")
    point = {"EncSlice": "slice", "EncSliceLP": "lp"}
    codec = {("hevc", "Main"): "hevc", ("hevc", "Main 10"): "hevc10"}
    tried, failed, seen = 0, set(), set()
    for entry in device["capabilities"]:
        name = codec.get((entry["codec"], entry["profile"]), entry["codec"])
        for mode, verdict in (entry.get("verified") or {}).items():
            tried += 1
            seen.add(name)
            if verdict != "ok":
                failed.add((name, point[entry["entrypoint"]], mode))
    run = {line.split("-")[0] for line in read(f"{at}/modes").splitlines()}
    assert seen == run, f"tried {sorted(seen)}, encoded {sorted(run)}"
    known = {tuple(name.split("-")) for system, which, name in REFUSED | EMPTY if (system, which) == (SYSTEM, gpu)}
    known = {(name, where, "qualityLevels" if mode == "slow" else mode) for name, where, mode in known}
    assert failed == known, f"{len(failed)} modes fail: {sorted(failed)}"
    status = read(f"{at}/verify.status").strip()
    assert status == ("75" if known else "0"), f"status {status}"
    return f"{tried} modes tried" + (f", {len(failed)} reported as failing" if failed else "")


def check_modes(at, gpu, which=("h264",)):
    ran = []
    for line in read(f"{at}/modes").splitlines():
        name, size = line.split()[:2]
        codec, point, mode = name.split("-")
        if codec not in which:
            continue
        folder = f"{at}/mode-{name}"
        stream = f"{folder}/run.{'h264' if codec == 'h264' else 'h265'}"
        try:
            if (SYSTEM, gpu, name) in EMPTY:
                judge_emptiness(folder)
                ran.append(f"{name} (needs the firmware; reported as an error)")
                continue
            ended_well(folder, "run")
            if (SYSTEM, gpu, name) in REFUSED:
                judge_refusals(folder)
                ran.append(f"{name} (refused by the driver; encoded without the quality level)")
                continue
            judge_calls(f"{folder}/trace.*thd*")
            decodes = codec == "h264" or gpu.startswith("amd")
            if decodes:
                judge_pictures(stream, codec, size)
            units = headers(stream, codec)
            found = types(units, codec)
            found = found[:: SLICES[codec]] if mode == "slices" else found
            assert found == planned_types(mode, has_two_lists(at, gpu, codec, point)), f"slice types {''.join(found[:12])}…"
            if codec != "h264":
                hevc.judge_mode(units, mode)
                if gpu.startswith("intel"):
                    hevc.judge_buffers(stream, f"{folder}/trace.*thd*", codec, units)
            if gpu.startswith("amd") and mode != "plan":
                rates.judge(folder, mode)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}")
        ran.append(name)
    assert ran or which != ("h264",), "no mode was run"
    return f"{FRAMES} frames each: {' '.join(ran)}" if ran else "none, as in vainfo"


CHECKS = {"probe": check_probe, "choice": choice.check, "udmabuf": check_udmabuf, "encode": check_encode, "calls": check_calls,
          "decode": check_decode, "headers": check_headers, "parameters": check_parameters, "verify": check_verify,
          "modes": check_modes, "hevc": check_hevc, "hevc10": lambda at, gpu: check_hevc(at, gpu, "hevc10"),
          "hevc modes": lambda at, gpu: check_modes(at, gpu, ("hevc", "hevc10"))}


def judge(job):
    """Returns the lines of a GPU, and the number of its failed checks."""
    global SYSTEM
    SYSTEM, at, gpu = job
    failures, lines = 0, []
    for name, check in CHECKS.items():
        try:
            verdict, good = check(at, gpu), True
            if verdict is None:
                continue
        except Exception as error:
            verdict, good = f"{'' if isinstance(error, AssertionError) else type(error).__name__ + ': '}{error}", False
        failures += not good
        lines.append(f"{SYSTEM:<9} {gpu:<14} {name:<11} {'ok    ' if good else 'FAILED'} {verdict}")
    return lines, failures


def main():
    system, folder, *gpus = sys.argv[1:]
    failures = 0
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for lines, failed in pool.imap(judge, [(system, f"{folder}/{gpu}", gpu) for gpu in gpus], 1):
            print("\n".join(lines), flush=True)
            failures += failed
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
