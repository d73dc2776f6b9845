#!/usr/bin/env python3
"""run-tests.py BUILD [PART…]: runs the tests that `swift build --build-tests` wrote into the folder BUILD, in several
processes at once, the longest first. Without PART, it runs the part `daily`: the suites that are in no part of
Tests/parts.txt. PART `all` runs every suite, and so does --filter without PART.

A process needs a third of a second to find its tests. Therefore up to eight suites of a module share a process. The
suites of SEPARATE modules and of Tests/parts.txt have a process each. If a process crashes or hangs, the run fails, and
each of its suites runs again by itself, which shows the suite that failed.

It prints a line for each process, the twenty slowest tests, and what failed. The exit status is 0 if all tests passed.
  --jobs N        the number of processes at once (default: the number of processors plus one, because some tests wait)
  --filter REGEX  runs only suites whose name matches REGEX in part
  --repeat N      runs the suites N times
  --list          prints the suites and runs none
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = ROOT / "Tests/parts.txt"
LIMIT = 1200  # the timeout of a process in seconds, for a busy machine
# The modules whose suites mostly run other programs and take long.
SEPARATE = {"CommandLineTests", "FaultTests", "OtherProgramsTests", "PipelineTests", "StreamTests"}
SHARED = 8  # the number of suites of another module in a process
PLAIN = re.compile(r"\x1b\[[0-9;]*m")
PASSED = re.compile(r"Test (?:\"(.*)\"|(\S+\(.*?\))) (?:with \d+ test cases? )?(?:passed|failed) after ([0-9.]+) seconds")
SUMMARY = re.compile(r"Test run with (\d+) tests? in \d+ suites? (passed|failed)")


def parts():
    """Returns the suites of each part. A part is a line `[part] description`, followed by a line for each suite."""
    found, part = {}, None
    for line in PARTS.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            part = line[1 : line.index("]")]
            found[part] = []
        elif line:
            found[part].append(line)
    return found


def suites(program):
    """Returns the names of all suites, as `Module.Suite`."""
    listing = subprocess.run(
        [program, "--testing-library", "swift-testing", "--list-tests"], capture_output=True, text=True, timeout=120).stdout
    names = {line.split("/")[0] for line in listing.splitlines() if re.match(r"^\w+\.\w+/", line)}
    if not names:
        sys.exit(f"run-tests.py: {program} lists no test: build it again (make test-build)")
    return names


children = set()


def kill(processes):
    """Kills processes that have process groups of their own, with their groups."""
    for process in list(processes):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class LoadedPrograms:
    """Keeps ffmpeg and ffprobe loaded, and puts clients that run them into PATH (Tests/LoadedPrograms). Loading their
    libraries takes 60 ms, most of the time of a short run. If this fails, the tests start the programs directly."""

    def __init__(self):
        self.servers = set()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="vaenc-programs-"))

    def start(self):
        # vaenc records trials of drivers there. The user's folder stays as it is.
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")
        sources = ROOT / "Tests/LoadedPrograms"
        library, client = self.folder / "server.so", self.folder / "client"
        try:
            for output, source, options in [(library, "server.c", ["-shared", "-fPIC"]), (client, "client.c", ["-static"])]:
                subprocess.run(
                    ["cc", "-O2", *options, "-o", output, sources / source], check=True, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError):
            return
        for name in ["ffmpeg", "ffprobe"]:
            # The client knows this path alone.
            if shutil.which(name) != f"/usr/bin/{name}" or "LD_PRELOAD" in os.environ:
                continue
            variables = {"LD_PRELOAD": str(library), "LOADED_PROGRAM_SOCKET": f"{self.folder / name}.socket"}
            self.servers.add(subprocess.Popen(
                [f"/usr/bin/{name}"], env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True))
            shutil.copy(client, self.folder / name)
        os.environ["PATH"] = f"{self.folder}:{os.environ.get('PATH', os.defpath)}"

    def end(self):
        kill(self.servers)
        shutil.rmtree(self.folder, ignore_errors=True)


def end(programs):
    """Handles Ctrl-C. It kills the test processes, because they have their own process groups and would continue."""
    kill(children)
    programs.end()
    os.write(2, b"\ninterrupted\n")
    os._exit(130)


def groups(names, long):
    """Returns lists of suites that share a process. A suite of `long` has a separate one."""
    modules = {}
    for name in sorted(names):
        alone = name in long or name.split(".")[0] in SEPARATE
        modules.setdefault(name if alone else name.split(".")[0], []).append(name)
    for members in modules.values():
        yield from (members[i : i + SHARED] for i in range(0, len(members), SHARED))


class Run:
    """One run of a process with some suites."""

    def __init__(self, program, members):
        self.members = members
        self.name = members[0] if len(members) == 1 else f"{members[0]} to {members[-1].split('.')[1]}"
        start = time.monotonic()
        pattern = "|".join(name.replace(".", r"\.") for name in members)
        child = subprocess.Popen(
            [program, "--testing-library", "swift-testing", "--no-parallel", "--filter", f"^({pattern})/"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=ROOT, start_new_session=True)
        children.add(child)
        self.ended = True
        try:
            output = child.communicate(timeout=LIMIT)[0]
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output = child.communicate()[0] + f"\nthe process did not end within {LIMIT} s\n".encode()
            self.ended = False
        children.discard(child)
        self.seconds = time.monotonic() - start
        self.lines = PLAIN.sub("", output.decode(errors="replace")).splitlines()
        summary = next((m for m in map(SUMMARY.search, reversed(self.lines)) if m), None)
        self.count = int(summary[1]) if summary else 0
        self.passed = child.returncode == 0 and summary is not None and summary[2] == "passed" and self.count > 0
        self.status = child.returncode
        self.ended = self.ended and self.status >= 0
        self.tests = [(float(m[3]), m[1] or m[2]) for m in map(PASSED.search, self.lines) if m]

    def report(self):
        """Returns the output lines that describe failures."""
        words = [l for l in self.lines if re.search(r" recorded an issue |^↳ (?!Testing Library|Target Platform|///)|(?:^|\s)error: |Fatal error|✘ Test (?!run)|[Cc]rash|did not end", l)]
        if self.status < 0:
            words.append(f"the process ended by {signal.Signals(-self.status).name}")
            # The frames of the stack that have a place in this project.
            words += [l for l in self.lines if re.search(r" at \S+/(?:Sources|Tests)/\S+\.swift:\d+", l)][:8] or self.lines[-15:]
        return [l[:1000] for l in words] or self.lines[-15:]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("part", nargs="*")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)) + 1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    program = str((pathlib.Path(options.build) / "vaencPackageTests.xctest").resolve())
    if not os.access(program, os.X_OK):
        sys.exit(f"run-tests.py: there is no {program}: build the tests first (make test-build)")
    every, known = suites(program), parts()
    named = {suite for part in known.values() for suite in part}
    if stale := named - every:
        sys.exit("Tests/parts.txt names suites that are not there: " + ", ".join(sorted(stale)))
    known = {"all": every, "daily": every - named} | {part: set(members) for part, members in known.items()}
    chosen = set()
    for part in options.part:
        if part not in known:
            sys.exit(f"run-tests.py: no part {part}: the parts are " + ", ".join(known))
        chosen |= known[part]
    chosen = {s for s in (chosen if options.part else known["all" if options.filter else "daily"]) if re.search(options.filter, s)}
    if not chosen:
        sys.exit("run-tests.py: no suite has that name")
    # The durations of the previous run. The longest processes start first, so that none of them starts last.
    record = ROOT / ".build/test-seconds.json"
    seconds = json.loads(record.read_text()) if record.exists() else {}

    def expected(members):
        return sum(seconds.get(name, 30 if name in named else 15 if len(members) == 1 else 3) for name in members)

    order = sorted(groups(chosen, named), key=lambda members: (-expected(members), members)) * options.repeat
    if options.list:
        print(*sorted(chosen), sep="\n")
        return 0
    programs = LoadedPrograms()
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
        # nohup ignores SIGHUP. A script ignores SIGINT for its background jobs, which `kill -INT` must still end.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: end(programs))
    programs.start()
    begin, done = time.monotonic(), []
    try:
        with concurrent.futures.ThreadPoolExecutor(max(options.jobs, 1)) as pool:
            waiting = {pool.submit(Run, program, members) for members in order}
            while waiting:
                ready, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                for run in (future.result() for future in ready):
                    done.append(run)
                    seconds |= {name: round(run.seconds / len(run.members), 1) for name in run.members}
                    print(f"{'ok    ' if run.passed else 'FAILED'} {run.seconds:6.1f} s  {run.name} ({run.count})", flush=True)
                    if not run.passed:
                        print("\n".join(run.report()), flush=True)
                    if not run.ended and len(run.members) > 1:
                        waiting |= {pool.submit(Run, program, [name]) for name in run.members}
    finally:
        programs.end()
    record.parent.mkdir(exist_ok=True)
    record.write_text(json.dumps(seconds, indent=0, sort_keys=True))
    print("\nThe slowest tests:")
    for took, name, suite in sorted(((t, n, r.name) for r in done for t, n in r.tests), reverse=True)[:20]:
        print(f"{took:7.1f} s  {suite}/{name}")
    failed = [run for run in done if not run.passed]
    for run in failed:
        print(f"\nfailed: {run.name}")
        print("\n".join(run.report()))
    print(
        f"\n{sum(run.count for run in done)} tests in {sum(len(run.members) for run in done)} suites, "
        f"{len(failed)} of {len(done)} processes failed, {time.monotonic() - begin:.0f} s with {options.jobs} at once")
    return 1 if failed else 0


sys.exit(main())
