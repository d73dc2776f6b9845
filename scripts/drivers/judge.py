#!/usr/bin/env python3
"""judge.py SYSTEM FOLDER GPU...: judges what collect.sh laid into FOLDER/GPU. A line per GPU and check; status 1 where
one failed. The plan is known from collect.sh's options, not from vaenc: IDR every 30 frames, P between, QP 24 and 27."""
import glob, json, os, re, subprocess, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vainfo

FRAMES, GOP, QP_I, QP_P, WIDTH, HEIGHT = 100, 30, 24, 27, 640, 368


def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def ended_well(at, name):
    status = read(f"{at}/{name}.status").strip()
    if status != "0":
        lines = [line for line in read(f"{at}/{name}.err").splitlines() if line.strip()]
        raise AssertionError(f"{name} ended with status {status or 'none'}: {' / '.join(lines[-2:])}")


def check_probe(at, gpu):
    ended_well(at, "vainfo")
    ended_well(at, "probe")
    devices = json.loads(read(f"{at}/probe.out"))["devices"]
    device = next(d for d in devices if d.get("path") == "/dev/dri/renderD128")
    assert device["usable"], device.get("why")
    rows, faults = vainfo.compare(read(f"{at}/vainfo.out"), device)
    assert not faults, f"{len(faults)} of {rows} differ: " + "; ".join(faults[:4])
    return f"{rows} rows as vainfo's"


def check_encode(at, gpu):
    ended_well(at, "encode")
    report = json.loads(read(f"{at}/encode.out"))
    frames = report["frames"]
    assert (frames["input"], frames["encoded"], frames["dropped"]) == (FRAMES, FRAMES, 0), frames
    assert (frames["key"], frames["p"], frames["b"]) == (4, 96, 0), frames
    assert report["device"]["kind"] == "vaapi", report["device"]
    assert report["bytes"] == os.path.getsize(f"{at}/encode.h264"), "bytes are not the file's"
    problems = []
    if gpu.startswith("intel"):
        log = read(f"{at}/encode.i915")
        totals = re.findall(r"ioctls \d+ \(unknown (\d+)\).*cmds \d+ \(unknown (\d+)\).*bad-addr (\d+) frames (\d+)", log)
        assert totals, "the faked kernel kept no totals"
        unknown, commands, addresses, coded = map(sum, zip(*[map(int, t) for t in totals]))
        if (unknown, commands, addresses) != (0, 0, 0) or coded < FRAMES:
            problems.append(f"unknown ioctls {unknown}, unknown commands {commands}, bad addresses {addresses}, "
                            f"frames {coded}")
    else:
        problems += re.findall(r"# WARNING (.*)", read(f"{at}/encode.amd"))
        problems += re.findall(r"fakeamd: (.*)", read(f"{at}/encode.err"))
    assert not problems, "; ".join(problems[:3])
    return f"{FRAMES} frames, no complaint of the kernel's"


# How a driver says that it lacks something: a client can only ask, once, and go another way.
REFUSALS = {"vaDeriveImage: VA_STATUS_ERROR_OPERATION_FAILED", "vaSyncBuffer: VA_STATUS_ERROR_UNIMPLEMENTED",
            "vaSyncSurface2: VA_STATUS_ERROR_UNIMPLEMENTED"}


def judge_calls(pattern):
    calls, failed = 0, []
    for path in glob.glob(pattern):
        for line in open(path, errors="replace"):
            result = re.search(r"=+(va\w+) ret = (\w+)", line)
            if result:
                calls += 1
                if result[2] != "VA_STATUS_SUCCESS":
                    failed.append(f"{result[1]}: {result[2]}")
    assert calls > FRAMES * 5, f"only {calls} calls traced"
    refused = {call for call in failed if call in REFUSALS and failed.count(call) == 1}
    failed = [call for call in failed if call not in refused]
    assert not failed, f"{len(failed)} of {calls} failed: " + "; ".join(sorted(set(failed))[:4])
    return calls, refused


def check_calls(at, gpu):
    ended_well(at, "trace")
    calls, refused = judge_calls(f"{at}/trace.*thd*")
    return f"{calls} calls, none failed" + (
        f" but to say what the driver lacks: {', '.join(sorted(c.split(':')[0] for c in refused))}" if refused else "")


def headers(path):
    """The fields of each slice header and the parameter sets, as FFmpeg's trace_headers reads them."""
    log = subprocess.run(["ffmpeg", "-nostdin", "-hide_banner", "-f", "h264", "-i", path, "-c:v", "copy", "-bsf:v",
                          "trace_headers", "-f", "null", "-"], capture_output=True, text=True, errors="replace").stderr
    units, seen = [], None
    for line in log.splitlines():
        if "trace_headers" not in line:
            continue
        text = line.split("] ", 1)[-1].strip()
        field = re.match(r"^\d+\s+(\S+)\s+[01]+ = (-?\d+)$", text)
        if field and seen is not None:
            seen.setdefault(field[1], int(field[2]))
        elif re.match(r"^[A-Z]", text):
            seen = {"unit": text}
            units.append(seen)
    return units


def judge_pictures(path):
    run = subprocess.run(["ffmpeg", "-nostdin", "-v", "warning", "-xerror", "-err_detect", "crccheck+explode", "-f", "h264",
                          "-i", path, "-f", "framemd5", "-"], capture_output=True, text=True, errors="replace")
    pictures = [line for line in run.stdout.splitlines() if line and line[0] != "#"]
    size = re.search(r"#dimensions 0: (\S+)", run.stdout)
    assert run.returncode == 0 and not run.stderr.strip(), f"status {run.returncode}: {run.stderr.strip()[:200]}"
    assert len(pictures) == FRAMES, f"{len(pictures)} frames"
    assert size and size[1] == f"{WIDTH}x{HEIGHT}", size and size[1]


def check_decode(at, gpu):
    judge_pictures(f"{at}/encode.h264")
    return f"{FRAMES} frames of {WIDTH}×{HEIGHT}"


def check_headers(at, gpu):
    units = headers(f"{at}/encode.h264")
    # trace_headers reads the extradata and then the packets: parameter sets may stand twice at the start.
    slices = [u for u in units if u["unit"] == "Slice Header"]
    sps = [u for u in units if u["unit"] == "Sequence Parameter Set"]
    pps = [u for u in units if u["unit"] == "Picture Parameter Set"]
    assert len(slices) == FRAMES, f"{len(slices)} slices"
    assert len(sps) >= 4 and len(pps) >= 4, f"{len(sps)} SPS and {len(pps)} PPS for 4 key frames"
    assert all(u["profile_idc"] == 100 for u in sps), "profile_idc"
    assert all(u["entropy_coding_mode_flag"] == 1 for u in pps), "entropy_coding_mode_flag"
    bits = sps[0]["log2_max_frame_num_minus4"] + 4
    for index, unit in enumerate(slices):
        inside = index % GOP
        expected = {"nal_unit_type": 5 if inside == 0 else 1, "frame_num": inside % (1 << bits)}
        if "pic_order_cnt_lsb" in unit:
            modulo = 1 << sps[0]["log2_max_pic_order_cnt_lsb_minus4"] + 4
            step = slices[1]["pic_order_cnt_lsb"]  # a client may count pictures or fields
            assert step in (1, 2), f"frame 1: pic_order_cnt_lsb {step}"
            expected["pic_order_cnt_lsb"] = step * inside % modulo
        for name, value in expected.items():
            assert unit[name] == value, f"frame {index}: {name} is {unit[name]}, not {value}"
        assert unit["slice_type"] % 5 == (2 if inside == 0 else 0), f"frame {index}: slice_type {unit['slice_type']}"
        assert unit["nal_ref_idc"] > 0, f"frame {index}: nal_ref_idc 0"
    if gpu.startswith("intel"):  # the slice header is vaenc's own there, QP included
        for index, unit in enumerate(slices):
            qp = 26 + pps[0]["pic_init_qp_minus26"] + unit["slice_qp_delta"]
            wanted = QP_P if index % GOP else QP_I
            assert qp == wanted, f"frame {index}: QP {qp} in the slice header, not {wanted}"
    return "types, frame_num, POC as planned"


def check_parameters(at, gpu):
    """Every encode packet that the driver sent to the faked VCN."""
    if not gpu.startswith("amd"):
        return None
    qp, sent, pictures, spec, session = None, 0, [], None, None
    for line in read(f"{at}/encode.amd").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "session_init":
            session = [int(w) for w in words[2:]]
        elif words[0] == "h264_spec_misc":
            spec = [int(w) for w in words[2:]]
        elif words[0] == "rc_per_picture":
            qp, sent = {1: int(words[2]), 2: int(words[2])}, sent + 1
        elif words[0] == "rc_per_picture_ex":  # a QP for each of I, P, B
            qp, sent = {2: int(words[2]), 1: int(words[3])}, sent + 1
        elif words[0] == "encode_params":
            values = [int(w, 16) if "f" in w else int(w) for w in words[2:]]
            pictures.append((values[0], values[9], values[10], (qp or {}).get(values[0])))
    assert session and session[1:3] == [WIDTH, HEIGHT], f"session of {session and session[1:3]}"
    assert spec and spec[1] == 1, "CABAC is off"
    assert spec[5] == 100, f"profile_idc {spec[5]}"
    sps = next(u for u in headers(f"{at}/encode.h264") if u["unit"] == "Sequence Parameter Set")
    assert spec[6] == sps["level_idc"], f"level {spec[6]}, SPS says {sps['level_idc']}"
    # A driver that takes no packed headers first encodes a picture for nobody, in which vaenc reads its parameter sets.
    rehearsed = len(pictures) == FRAMES + 1 and pictures[0][0] == 2
    if rehearsed:
        pictures = pictures[1:]
    assert len(pictures) == FRAMES, f"{len(pictures)} pictures"
    slot = None
    for index, (kind, reference, reconstruction, used) in enumerate(pictures):
        key = index % GOP == 0
        assert kind == (2 if key else 1), f"frame {index}: type {kind}"
        # Mesa 22 takes one QP for all pictures, pic_init_qp; a slice_qp_delta never reaches the chip.
        wanted = QP_I if key and sent > 1 else QP_P
        assert used == wanted, f"frame {index}: QP {used}, not {wanted}"
        assert reference == (0xffffffff if key else slot), f"frame {index}: references slot {reference}, not {slot}"
        slot = reconstruction
    once = " (this driver knows one QP, that of P)" if sent == 1 else ""
    first = ", after one picture to learn its headers" if rehearsed else ""
    return f"QP, type, reference, level as planned, frame by frame{once}{first}"


# The rate-control method in AMD's session, by Mesa's name for it.
METHODS = {"cqp": {0}, "cbr": {3}, "vbr": {1, 2}, "qvbr": {4}}


def planned_types(mode):
    """Slice types in coding order: an IDR picture every 30 frames, two B pictures after each P, a GOP closed by P. A
    rolling refresh has one IDR picture."""
    types = []
    gop = FRAMES if mode == "refresh" else GOP
    for start in range(0, FRAMES, gop):
        types.append("I")
        left = min(gop, FRAMES - start) - 1
        while left > 0:
            group = min(3 if mode == "b" else 1, left)
            types += ["P"] + ["B"] * (group - 1)
            left -= group
    return types


# Bits per second asked for.
TARGET, MOST = 1000000, 1500000


def said_rates(at, mode):
    """What vaenc reports that it told the driver: target and peak, in order. Both are what was asked for, less the
    headers that the driver does not see: less than 1 %."""
    told = json.loads(read(f"{at}/run.out"))["statistics"]["driverRates"]
    assert told and told[0]["picture"] == 0, "vaenc says nothing of the driver's rate"
    for rate in told:
        assert 0.99 * TARGET <= rate["bitrate"] <= TARGET, f"{rate['bitrate']} bit/s told to the driver"
        # A driver's target is a whole percentage of the maximum.
        most = rate["bitrate"] * 100 // 67 if mode in ("vbr", "qvbr") else rate["bitrate"]
        assert rate["maxBitrate"] == most <= MOST, f"at most {rate['maxBitrate']} bit/s told to the driver"
    return [(rate["bitrate"], rate["maxBitrate"]) for rate in told]


def judge_rate(at, mode):
    """What AMD's driver told the chip: rate, slice types, references, and the QP where that is constant."""
    method = None
    pictures, qps, rates = [], [], []
    for line in read(f"{at}/run.amd").splitlines():
        words = line.split()
        if words[:1] == ["rc_session_init"]:
            method = int(words[2])
        elif words[:1] == ["rc_layer_init"]:
            rates.append((int(words[2]), int(words[3])))
        elif words[:1] == ["rc_per_picture"]:
            qps = [int(words[2])] * 3
        elif words[:1] == ["rc_per_picture_ex"]:
            qps = [int(word) for word in words[2:5]]
        elif words[:1] == ["encode_params"]:
            values = [int(w, 16) if "f" in w else int(w) for w in words[2:]]
            kind = {0: "B", 1: "P", 2: "I"}[values[0]]
            pictures.append((kind, values[9], values[10], qps and qps["IPB".index(kind)]))
    if len(pictures) == FRAMES + 1:  # the picture in which vaenc reads the driver's parameter sets
        pictures = pictures[1:]
    kinds = "".join(kind for kind, *_ in pictures)
    assert kinds == "".join(planned_types(mode)), f"types {kinds[:12]}…"
    anchor = None
    for index, (kind, reference, reconstruction, qp) in enumerate(pictures):
        # A P picture predicts from the reference picture before it; so does the first list of a B picture.
        if kind != "B" and mode not in ("ltr", "layers"):
            wanted = 0xffffffff if kind == "I" else anchor
            assert reference == wanted, f"picture {index}: references slot {reference}, not {wanted}"
            anchor = reconstruction
        if mode not in METHODS or mode == "cqp":
            assert qp == 27, f"picture {index}: QP {qp}"
    if mode not in METHODS:
        return
    assert method in METHODS[mode], f"method {method} for {mode}"
    if mode == "cqp":
        return
    # The chip is told again at key frames; Mesa rounds the percentage down.
    chip = [rate for rate, before in zip(rates, [None] + rates) if rate != before]
    said = said_rates(at, mode)
    if len(chip) == len(said) + 1:  # the picture in which vaenc reads the driver's parameter sets
        chip = chip[1:]
    assert len(chip) == len(said), f"rates {chip} asked of the chip, {said} told to the driver"
    for (target, peak), (bitrate, most) in zip(chip, said):
        assert 0 <= bitrate - target <= 1 and peak == most, f"{target}, at most {peak} bit/s asked of the chip"


# Quality levels at which a driver refuses pictures: iHD 23.1 every P picture of Ice Lake at levels 1 and 2, FFmpeg's
# too. vaenc goes on without, after three refusals in a row.
REFUSED = {("debian12", "intel-icl", "lp-slow")}


def judge_refusals(at):
    """A level that the driver refuses is left, and that is reported."""
    report = json.loads(read(f"{at}/run.out"))
    preset = next(entry for entry in report["effective"] if entry["option"] == "preset")
    assert (preset["asked"], preset["used"]) == ("1", "driver's"), f"reports preset {preset}"
    counts = report["statistics"]
    assert (counts["delivered"], counts["dropped"], counts["rebuilds"]) == (FRAMES, 0, 3), f"counts {counts}"
    judge_pictures(f"{at}/run.h264")


def check_verify(at, gpu):
    """`probe --verify` names the modes that a driver refuses, and no others."""
    devices = json.loads(read(f"{at}/verify.out"))["devices"]
    device = next(d for d in devices if d.get("path") == "/dev/dri/renderD128")
    point = {"EncSlice": "slice", "EncSliceLP": "lp"}
    tried, failed = 0, set()
    for entry in device["capabilities"]:
        if entry["codec"] != "h264":
            continue
        for mode, verdict in (entry.get("verified") or {}).items():
            tried += 1
            if verdict != "ok":
                failed.add((point[entry["entrypoint"]], mode))
    assert tried, "nothing was tried"
    known = {tuple(name.split("-")) for system, which, name in REFUSED if (system, which) == (SYSTEM, gpu)}
    known = {(where, "qualityLevels") for where, _ in known}
    assert failed == known, f"{len(failed)} modes fail: {sorted(failed)}"
    status = read(f"{at}/verify.status").strip()
    assert status == ("75" if known else "0"), f"status {status}"
    return f"{tried} modes tried" + (f", {len(failed)} named as failing" if failed else "")


def check_modes(at, gpu):
    ran = []
    for line in read(f"{at}/modes").splitlines():
        name = line.split()[0]
        folder, mode = f"{at}/mode-{name}", name.split("-")[1]
        try:
            ended_well(folder, "run")
            if (SYSTEM, gpu, name) in REFUSED:
                judge_refusals(folder)
                ran.append(f"{name} (refused by the driver, encoded without)")
                continue
            judge_calls(f"{folder}/trace.*thd*")
            judge_pictures(f"{folder}/run.h264")
            types = [{0: "P", 1: "B", 2: "I"}[u["slice_type"] % 5] for u in headers(f"{folder}/run.h264")
                     if u["unit"] == "Slice Header"]
            types = types[::4] if mode == "slices" else types
            assert types == planned_types(mode), f"slice types {''.join(types[:12])}…"
            if gpu.startswith("amd"):
                judge_rate(folder, mode)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}")
        ran.append(name)
    assert ran, "no mode was run"
    return f"{FRAMES} frames each: {' '.join(ran)}"


CHECKS = {"probe": check_probe, "encode": check_encode, "calls": check_calls, "decode": check_decode,
          "headers": check_headers, "parameters": check_parameters, "verify": check_verify,
          "modes": check_modes}


def main():
    global SYSTEM
    SYSTEM, folder, *gpus = sys.argv[1:]
    failures = 0
    for gpu in gpus:
        for name, check in CHECKS.items():
            try:
                verdict, good = check(f"{folder}/{gpu}", gpu), True
                if verdict is None:
                    continue
            except Exception as error:
                verdict, good = f"{'' if isinstance(error, AssertionError) else type(error).__name__ + ': '}{error}", False
            failures += not good
            print(f"{SYSTEM:<9} {gpu:<14} {name:<11} {'ok    ' if good else 'FAILED'} {verdict}", flush=True)
    return 1 if failures else 0


sys.exit(main())
