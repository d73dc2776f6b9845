"""What AMD's driver told the chip in a mode: rate, types, references, and the QP where that is constant."""
import json
from fakes import Packets, read
from streams import planned_types

# The rate-control method in AMD's session, by Mesa's name for it.
METHODS = {"cqp": {0}, "cbr": {3}, "vbr": {1, 2}, "qvbr": {4}}
# Bits per second asked for.
TARGET, MOST = 1000000, 1500000


def said(at, mode):
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


def judge(at, mode):
    packets = Packets(f"{at}/run.amd")
    kinds = "".join(kind for kind, *_ in packets.pictures)
    assert kinds == "".join(planned_types(mode)), f"types {kinds[:12]}…"
    anchor = None
    for index, (kind, reference, reconstruction, qp) in enumerate(packets.pictures):
        # A P picture predicts from the reference picture before it; so does the first list of a B picture.
        if kind != "B" and mode not in ("ltr", "layers"):
            wanted = 0xffffffff if kind == "I" else anchor
            assert reference == wanted, f"picture {index}: references slot {reference}, not {wanted}"
            anchor = reconstruction
        if mode not in METHODS or mode == "cqp":
            assert qp == 27, f"picture {index}: QP {qp}"
    if mode not in METHODS:
        return
    assert packets.method in METHODS[mode], f"rate-control method {packets.method}"
    if mode == "cqp":
        return
    # The chip is told again at key frames; Mesa rounds the percentage down.
    chip = [rate for rate, before in zip(packets.rates, [None] + packets.rates) if rate != before]
    told = said(at, mode)
    if len(chip) == len(told) + 1:  # the picture in which vaenc reads the driver's parameter sets
        chip = chip[1:]
    assert len(chip) == len(told), f"rates {chip} asked of the chip, {told} told to the driver"
    for (target, peak), (bitrate, most) in zip(chip, told):
        assert 0 <= bitrate - target <= 1 and peak == most, f"{target}, at most {peak} bit/s asked of the chip"
