#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the checks of test/faults: programs and scripts that use Quern in hostile surroundings.

A check is a line in a comment of a .cpp, .py or .sh file below test/faults, of any number in one file:

  FAULTS: NAME [short=N] [full=N] [limit=SECONDS]: [VARIABLE=VALUE …] [ARGUMENT …]

NAME is unique. `short` and `full` are the numbers of runs of the two forms (default: 1); a check with short=0 runs in
the full form only. A run that takes more than `limit` seconds (default: 30) is stopped and has failed. The rest is
split like a shell command; {build}, {bin} (the programs of test/faults), {root} and {folder} are replaced by these
paths.

Each run is a process in a new empty folder ({folder}), without the caller's QUERN_ variables, with QUERN_CACHE_DIR in
that folder, and with QUERN (the command), QUERN_BUILD and QUERN_LIBRARY set; Python finds test/Remote/servers.py. A
run has passed if it exits with 0. Status 77 means skipped; the last line of its output says why. A program that ends
with a line "N passed, N failed" is counted by that line, any other run counts as one.
"""

import argparse
import concurrent.futures
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LINE = re.compile(r"^\s*(?://|#)\s*FAULTS:\s*([\w.-]+)((?:\s+\w+=\w+)*)\s*(?::\s*(.*))?$")
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed", re.MULTILINE)
SKIPPED = 77
MOST_FAILURES = 3  # per check; further runs would only take time
SETTINGS = {"short": 1, "full": 1, "limit": 30}


class Check:
    def __init__(self, source, match):
        self.source, self.name, self.rest = source, match.group(1), match.group(3) or ""
        given = dict(word.split("=") for word in match.group(2).split())
        unknown = given.keys() - SETTINGS.keys()
        if unknown:
            sys.exit(f"{source}: {self.name}: unknown setting {unknown.pop()}; there are {', '.join(SETTINGS)}")
        self.settings = SETTINGS | {key: int(value) for key, value in given.items()}

    def command(self, build, folder):
        """Returns the arguments of a run and the environment variables that it sets."""
        bin = os.path.join(build, "bin", "tests", "faults")
        places = {"{build}": build, "{bin}": bin, "{root}": ROOT, "{folder}": folder}
        words = shlex.split(re.sub(r"\{\w+\}", lambda match: places.get(match[0], match[0]), self.rest))
        variables = {}
        while words and re.match(r"^\w+=", words[0]):
            name, _, variables[name] = words.pop(0).partition("=")
        path, (stem, suffix) = os.path.join(HERE, self.source), os.path.splitext(os.path.basename(self.source))
        scripts = {".py": [sys.executable, "-B", path], ".sh": ["/bin/bash", path]}
        return scripts.get(suffix, [os.path.join(bin, stem)]) + words, variables


class Outcome:
    """Sums up the runs of a check."""

    def __init__(self):
        self.runs = self.failedRuns = self.passed = self.failed = self.skipped = 0
        self.why, self.seconds = "", 0.0


def checksOf(only):
    checks = {}
    for folder, _, names in sorted(os.walk(HERE)):
        for name in sorted(names):
            source = os.path.relpath(os.path.join(folder, name), HERE)
            if not name.endswith((".cpp", ".py", ".sh")) or source == "run.py":
                continue
            with open(os.path.join(HERE, source), encoding="utf-8") as file:
                found = [Check(source, match) for match in map(LINE.match, file) if match]
            for check in found:
                if check.name in checks:
                    sys.exit(f"{source}: the name {check.name} is taken by {checks[check.name].source}")
                checks[check.name] = check
    return [check for check in checks.values() if only in check.name or only in check.source]


def environment(build, folder, variables):
    base = {name: value for name, value in os.environ.items() if not name.startswith("QUERN_")}
    return base | {
        "QUERN_CACHE_DIR": os.path.join(folder, "cache"), "QUERN_BUILD": build,
        "QUERN": os.path.join(build, "bin", "quern"), "QUERN_LIBRARY": os.path.join(build, "lib", "libquern.so.0"),
        "PYTHONPATH": os.path.join(ROOT, "test", "Remote"), "TMPDIR": folder} | variables


def execute(check, build, folder):
    """Runs it once. Returns its status (negative: the signal, None: it was stopped) and its output."""
    words, variables = check.command(build, folder)
    if not os.path.exists(words[0]):
        return 127, f"{words[0]} was not built (target quern-faults)"
    path = os.path.join(folder, "output")
    with open(path, "wb") as output:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=folder, start_new_session=True,
            env=environment(build, folder, variables))
        try:
            status = process.wait(check.settings["limit"])
        except subprocess.TimeoutExpired:
            status = None
        # Children that it has left run in its session, too.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    with open(path, "r", encoding="utf-8", errors="replace") as output:
        return status, output.read()


def endOf(status, limit):
    if status is None:
        return f"did not end within {limit} s"
    return f"ended by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def describe(check, build, status, output):
    """Returns the lines that are printed for the first failure."""
    words, variables = check.command(build, "$F")
    settings = {"QUERN_CACHE_DIR": "$F/cache", "QUERN_BUILD": build} | variables
    command = " ".join([f'{name}="{value}"' for name, value in settings.items()] + list(map(shlex.quote, words)))
    lines = [line[:400] for line in output.rstrip().splitlines()[-15:]]
    return "\n".join(["    " + line for line in [endOf(status, check.settings["limit"]), *lines,
                                                 f"to repeat it: F=$(mktemp -d); cd $F; {command}"]])


def runCheck(check, build, count):
    outcome, start = Outcome(), time.monotonic()
    while outcome.runs < count and outcome.failedRuns < MOST_FAILURES and not outcome.skipped:
        folder = tempfile.mkdtemp(prefix="quern-faults-")
        try:
            status, output = execute(check, build, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        outcome.runs += 1
        if status == SKIPPED:
            outcome.skipped, outcome.why = 1, (output.rstrip().splitlines() or ["no reason given"])[-1]
            continue
        counts = COUNTS.findall(output)
        passed, failed = map(int, counts[-1]) if counts else (int(status == 0), int(status != 0))
        if status != 0 and failed == 0:
            failed = 1
        outcome.passed += passed
        outcome.failed += failed
        if status != 0:
            outcome.failedRuns += 1
            outcome.why = outcome.why or describe(check, build, status, output)
    outcome.seconds = time.monotonic() - start
    return outcome


def report(check, outcome):
    if outcome.skipped:
        print(f"skipped {check.name:44}  {outcome.why.removeprefix('skipped: ')}", flush=True)
        return
    word = "FAILED" if outcome.failed else "ok"
    runs = f"{outcome.failedRuns} of {outcome.runs} runs" if outcome.failed else f"{outcome.runs} runs"
    print(f"{word:7} {check.name:44} {runs:>14} {outcome.seconds:8.1f} s", flush=True)
    if outcome.failed:
        print(outcome.why, flush=True)


def main():
    parser = argparse.ArgumentParser(prog="tools/faults.sh", description="Runs Quern under fault conditions")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--short", action="store_true", help="Run each check as often as CI does (default)")
    form.add_argument("--full", action="store_true", help="Run each check as often as its source states")
    parser.add_argument("--only", default="", metavar="TEXT", help="Run only checks whose name or source contains TEXT")
    parser.add_argument("--count", type=int, help="Number of runs of each check")
    parser.add_argument("--most", type=int, help="Maximum number of runs of each check (default: no limit)")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="The build to test")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="Number of parallel checks")
    parser.add_argument("--list", action="store_true", help="Print the checks and do not run them")
    options = parser.parse_args()

    build, kind = os.path.abspath(options.build), "full" if options.full else "short"
    checks = checksOf(options.only)
    if options.list:
        for check in checks:
            settings = " ".join(f"{key}={value}" for key, value in check.settings.items())
            print(f"{check.name:44} {settings:32} {check.source}")
        return 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        counted = [(check, options.count or min(check.settings[kind], options.most or sys.maxsize)) for check in checks]
        running = {pool.submit(runCheck, check, build, count): check for check, count in counted if count}
        for done in concurrent.futures.as_completed(running):
            outcome = done.result()
            report(running[done], outcome)
            passed, failed, skipped = passed + outcome.passed, failed + outcome.failed, skipped + outcome.skipped
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.1f} s of CPU")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed + skipped else 0


if __name__ == "__main__":
    sys.exit(main())
