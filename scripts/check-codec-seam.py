#!/usr/bin/env python3
"""check-codec-seam.py [--print]: adds an unimplemented codec to a copy of the sources, and collects the files with
compiler errors. They must be the files that docs/ADDING-A-CODEC.md lists. The script also rejects comparisons with one
codec or profile, patterns with one case (`if case .hevc`), codecs that are compared as text or as AVCodecID, and
`default:` in a switch over codecs or profiles, because they would silently treat every new codec like another one. This
holds for Sources and for Tests/TestOracles. It also rejects files that name a codec in another way (`?? .h264`,
`"hevc"`) and are in no list of the page. `--print` prints the list for the page. The script takes about three minutes on
two cores.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/ADDING-A-CODEC.md"
# The enums that have a case for each codec.
ENUMS = ["VideoCodec", "CodecProfile", "CodecTools", "CodecCapabilities", "StreamLevel", "SoftwareLibrary"]
PROFILE = "(?:High|Main10|Main|ConstrainedBaseline)"
COMPARISON = re.compile(rf"[=!]= *\.(h264|hevc){PROFILE}?\b|\.(h264|hevc){PROFILE}? *[=!]=")
# The same in other forms. Drivers are not searched for them: their own codecs and buffers have cases of the same names.
ONE_CASE = re.compile(
    # A pattern with one case: `if case .hevc(let x) = y`, `for case .hevc in y`.
    rf"\bcase\b[^:]*\.(h264|hevc){PROFILE}?\b[^:]*(?<![=!<>~])=(?!=)|\bfor case\b.*\.(h264|hevc){PROFILE}?\b"
    # An optional that is nil for other codecs: `limits.hevc?.blocks`, `limits.hevc ?? x`.
    r"|\.(h264|hevc)( *\?)"
    # Text: `codecName == "hevc"`, `["h264"].contains(track.codecName)`, `VideoCodec(rawValue: codecName)`.
    r'|codecName *[=!]= *("(h264|hevc)"|\w+(\.\w+)*\.rawValue)|"(h264|hevc)" *[=!]=|"(h264|hevc)"\]\.contains\([^)]*codecName'
    r"|codecName\b.*VideoCodec\.init|VideoCodec(\.init)?\(rawValue:[^)]*codecName")
# AVCodecIDs outside the switch of `VideoCodec.libavcodecID`.
LIBAVCODEC_ID = re.compile(r"^(?!\s*case \.).*\bAV_CODEC_ID_(H264|HEVC)\b")
# The case of a switch over codecs or profiles, or over a tuple with one of them.
CASE = re.compile(rf"^\s*case [^:]*\.(h264|hevc){PROFILE}?\b")

# Names of codecs in code. Texts for people are not searched.
NAME = re.compile(
    r"(?:(?<!\w)|Codec)\.(h264|hevc)(?!\w)|\.(h264|hevc)(High|Main|Main10|ConstrainedBaseline)\b"
    r'|"(h264|hevc|h265|avc1|hvc1|hev1|avcC|hvcC|x264|x265)"')
# The parts that belong to one codec, and the drivers and readers, which have lists of their own.
ONE_CODEC = re.compile(r"/(H264|HEVC)|/(AVC|H264|HEVC)[A-Z]|\+HEVC|/Drivers/|/BitstreamInspection/")


def unlisted(listed):
    """Yields the first line with a codec's name of each file that the page does not list. A case of a switch does not
    count, because the compiler finds it."""
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        name = str(path.relative_to(ROOT))
        if name in listed or ONE_CODEC.search(name):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if NAME.search(outside_cases(line)):
                yield f"{name}:{number}: {line.strip()}"
                break


def outside_cases(line):
    """Returns a line without its comment and without the case of a switch that it begins with."""
    return re.sub(r"^\s*case \(?\.[^:]*:", "", line.split("//")[0])


def searched():
    """Returns the sources of the engine, the drivers and the judges of the tests."""
    return sorted([*(ROOT / "Sources").rglob("*.swift"), *(ROOT / "Tests/TestOracles").rglob("*.swift")])


def comparisons():
    """Yields the lines that compare with one codec or one profile."""
    for path in searched():
        is_driver = "/Drivers/" in str(path)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            if COMPARISON.search(code) or not is_driver and (ONE_CASE.search(outside_cases(line)) or LIBAVCODEC_ID.search(code)):
                yield f"{path.relative_to(ROOT)}:{number}: {line.strip()}"


def defaults():
    """Yields the lines with `default:` or `case _` in a switch whose cases are codecs or profiles."""
    for path in searched():
        # Whether the innermost switches have a case of a codec, by the indentation of their cases.
        switches = {}
        for number, line in enumerate(path.read_text().splitlines(), 1):
            indent = len(line) - len(line.lstrip())
            code = line.split("//")[0]
            if re.search(r"\bswitch\b.*\{\s*$", code):
                switches = {i: found for i, found in switches.items() if i < indent} | {indent: False}
            elif indent in switches and CASE.search(code):
                switches[indent] = True
            elif switches.get(indent) and re.match(r"\s*(default|case _|case \(_(, _)*\)) *:", code):
                yield f"{path.relative_to(ROOT)}:{number}: {line.strip()}"


def add_cases(tree):
    found = set()
    for path in (tree / "Sources").rglob("*.swift"):
        text = path.read_text()
        for name in ENUMS:
            changed = re.sub(rf"(\benum {name}\b[^{{]*\{{)", r"\1\n    case codecOfNobody", text)
            if changed != text:
                found.add(name)
                text = changed
                path.write_text(text)
    if missing := set(ENUMS) - found:
        sys.exit(f"no such enum: {', '.join(sorted(missing))}")


def end_of_switch(text, start):
    """Returns the offset of the brace that closes the first switch at or after `start`."""
    depth, index = 0, text.index("{", text.index("switch", start))
    while True:
        character = text[index]
        if text.startswith("//", index):
            index = text.index("\n", index)
            continue
        if character == '"':
            # Skips a string on one line. Interpolations have balanced braces.
            index += 1
            while text[index] != '"':
                index += 2 if text[index] == "\\" and text[index + 1] != "(" else 1
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return index
        index += 1


def compiled(tree):
    """Returns the number of switches without the new cases in each file. Each switch gets a default case, so that the
    compiler continues with the next one."""
    files = {}
    while True:
        run = subprocess.run(
            ["swift", "build", "--package-path", tree, "--product", "vaenc"], capture_output=True, text=True)
        output = run.stdout + run.stderr
        errors = set(re.findall(r"^(/[^\n:]+):(\d+):(\d+): error: (.*)$", output, re.M))
        if run.returncode == 0:
            return files
        others = [e for e in errors if "switch must be exhaustive" not in e[3]]
        if others or not errors:
            sys.exit("the compiler says something else:\n" + "\n".join(":".join(e) for e in others[:5]) + output[-2000:] * (not errors))
        for path in {e[0] for e in errors}:
            lines = sorted({int(e[1]) for e in errors if e[0] == path}, reverse=True)
            file = pathlib.Path(path)
            text = file.read_text()
            starts = [0]
            for line in text.splitlines(keepends=True):
                starts.append(starts[-1] + len(line))
            for line in lines:
                end = end_of_switch(text, starts[line - 1])
                text = text[:end] + "\ndefault: fatalError()\n" + text[end:]
            file.write_text(text)
            name = str(file.relative_to(tree))
            files[name] = files.get(name, 0) + len(lines)


def main():
    if found := [*comparisons(), *defaults()]:
        print("Switch over all codecs, so that a third codec is a compiler error here:", *found, sep="\n")
        return 1
    if found := list(unlisted(set(re.findall(r"^[-*] `(Sources/[^`]+)`", PAGE.read_text(), re.M)))):
        print("docs/ADDING-A-CODEC.md must list these files, because they name a codec:", *found, sep="\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="vaenc-codec-") as folder:
        tree = pathlib.Path(folder).resolve()
        for name in ["Sources", "Tests", "Examples"]:
            shutil.copytree(ROOT / name, tree / name, symlinks=True)
        shutil.copy(ROOT / "Package.swift", tree)
        add_cases(tree)
        files = compiled(tree)
    if "--print" in sys.argv:
        for name, count in sorted(files.items()):
            print(f"- `{name}`" + (f" ({count} switches)" if count > 1 else ""))
        return 0
    listed = set(re.findall(r"^- `(Sources/[^`]+)`", PAGE.read_text(), re.M))
    missing, stale = sorted(set(files) - listed), sorted(listed - set(files))
    for name in missing:
        print(f"docs/ADDING-A-CODEC.md does not list {name}")
    for name in stale:
        print(f"docs/ADDING-A-CODEC.md lists {name}, which the compiler does not name")
    print(f"a new codec is a compiler error in {len(files)} files, {sum(files.values())} switches")
    return 1 if missing or stale else 0


sys.exit(main())
