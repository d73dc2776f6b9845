#!/usr/bin/env python3
"""doc-programs.py PACKAGE URL: writes the package that README.md describes, with this URL, and every Swift program of the
pages and of doc comments.

Each fenced `swift` block becomes the unchanged main.swift of a program. Programs that call `record` also get
Record.swift. A block that does not import Vaenc is no complete program, which is an error. The script prints the names
of the programs.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
package, url = pathlib.Path(sys.argv[1]), sys.argv[2]


def blocks(text):
    return re.findall(r"^```swift\n(.*?)^```$", text, re.S | re.M)


def put(name, files):
    folder = package / "Sources" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (folder / file).write_text(text)


manifest, film = blocks((root / "README.md").read_text())
if '"URL"' not in manifest:
    sys.exit("README.md: the manifest has no URL to replace")

programs = {}
for page in ["LIBRARY", "PROGRAMS", "VIDEOTOOLBOX"]:
    for number, text in enumerate(blocks((root / f"docs/{page}.md").read_text()), 1):
        programs[f"{page.lower()}-{number}"] = text
for source in sorted((root / "Sources").rglob("*.swift")):
    comments = "\n".join(
        re.sub(r"^\s*/// ?", "", line) for line in source.read_text().splitlines() if line.lstrip().startswith("///"))
    for number, text in enumerate(blocks(comments), 1):
        programs[f"{source.stem.lower().replace('+', '-')}-{number}"] = text
record = (root / "Examples/Record.swift").read_text()
programs = {name: text for name, text in programs.items() if text != record}

incomplete = [name for name, text in programs.items() if not re.search(r"^import Vaenc$", text, re.M)]
if incomplete:
    sys.exit(f"no complete programs, without import Vaenc: {', '.join(incomplete)}")
for name, text in programs.items():
    put(name, {"main.swift": text} | ({"Record.swift": record} if " record(" in text else {}))
put("film", {"main.swift": film})

names = ", ".join(f'"{name}"' for name in programs)
(package / "Package.swift").write_text(
    manifest.replace('"URL"', f'"{url}"')
    + f"""
package.targets += [{names}].map {{
    .executableTarget(name: $0, dependencies: [.product(name: "Vaenc", package: "vaenc")])
}}
"""
)
print("\n".join(programs))
