#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes one small mistake at a time in the sources and checks whether the tests detect it.

  # 10 mistakes, anywhere in lib/Schedule, lib/Transforms, Emit* and runtime
  tools/mutants.py --seed=1 --count=10
  tools/mutants.py --seed=1 --count=10 --only='Schedule/Map'
  tools/mutants.py --seed=1 --count=10 --list              # lists the mistakes without making them

A mistake changes an operator, a constant, a comparison or a branch of one line. It is made in a copy of the tree
(--copy, which has the tracked files and is built once), so an interrupted run leaves no changes here. Then the targets
that contain the line are built and the tests of its folder run, in ascending order of cost: random problems on this
machine's instruction set, then on all, lit, unit tests. A mistake is killed by the first test that fails, crashes or
does not terminate. Mistakes that do not compile are not counted. Prints a line for each, with the change, and the
score; --report writes them as JSON, one per line, and mistakes that are in the report already are not repeated.
"""

import argparse
import fnmatch
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

LIT = "/usr/lib/llvm-22/bin/lit"
PRESET = "release"
BUILD_SECONDS = 600

# Folders in which mistakes are made, and the weight of a line in each.
FOLDERS = {
    "lib/Schedule/*/*.cpp": 2,
    "lib/Schedule/*/*/*.cpp": 2,
    "lib/Transforms/*.cpp": 3,
    "lib/Transforms/*/*.cpp": 3,
    "lib/Primitives/Emission/*.cpp": 3,
    "lib/Primitives/*/Emit*.cpp": 3,
    "runtime/*.cpp": 1,
    "runtime/*/*.cpp": 1,
}
# Costs that choose among plans with equal results, and code that only reports.
LEFT_OUT = ["lib/Schedule/Rows/Cpu/Cost.cpp", "runtime/Dnnl/Verbose*.cpp", "runtime/*/Profile*.cpp"]

# Edits of a line without its literals. Formatted code has spaces around binary operators and none in templates.
EDITS = [
    ("comparison", r" <= ", [" < ", " > "]),
    ("comparison", r" >= ", [" > ", " < "]),
    ("comparison", r" < ", [" <= ", " >= "]),
    ("comparison", r" > ", [" >= ", " <= "]),
    ("comparison", r" == ", [" != "]),
    ("comparison", r" != ", [" == "]),
    ("operator", r" && ", [" || "]),
    ("operator", r" \|\| ", [" && "]),
    ("operator", r" \+ ", [" - "]),
    ("operator", r" - ", [" + "]),
    ("operator", r" \* ", [" + ", " / "]),
    ("operator", r" / ", [" * "]),
    ("operator", r" % ", [" / "]),
    ("operator", r" \+= ", [" -= "]),
    ("operator", r"\bstd::min\b", ["std::max"]),
    ("operator", r"\bstd::max\b", ["std::min"]),
    ("operator", r"\bAddIOp\b", ["SubIOp"]),
    ("operator", r"\bMulIOp\b", ["AddIOp"]),
    ("operator", r"\bAddFOp\b", ["SubFOp"]),
    ("operator", r"\bMulFOp\b", ["AddFOp"]),
    ("operator", r"\bsucceeded\(", ["failed("]),
    ("operator", r"(?<=[ (])!(?=[a-zA-Z(])", [""]),
    ("constant", r"(?<![\w.\"'])[0-9]+(?![\w.\"'])", ["+1"]),
    ("constant", r"\btrue\b", ["false"]),
    ("constant", r"\bfalse\b", ["true"]),
    ("branch", r"^\s*(?:\} else )?if \((?=[^;]*\)( \{)?$)", ["negate"]),
    ("branch", r"^\s*[a-z]\w*(?:(?:\.|->)\w+)*\((?=.*\);$)", ["drop"]),
    ("branch", r"^\s*(?:continue|break);$", ["drop"]),
]

# The tests of a path: sets of conformance, lit folders with a filter, unit tests with a filter, and whether the
# conformance of devices tests it. The first pattern that matches is used.
ALL_SETS = "softmax,reorder,eltwise,binary,sum,concat,gemm,rnn"
SERVED = [
    ("lib/Schedule/*Device/*", "softmax,reorder,rnn", [("Targets/Spirv", "")], ["quern-compiler-test"], True),
    ("lib/Schedule/Device/GroupMemory*", "softmax,reorder", [("Targets/Spirv", "")], ["quern-compiler-test"], True),
    ("lib/Schedule/Map/*", "reorder,binary,eltwise,sum,concat",
     [("Schedule", "Map/|mismatch|filled|in-place|views"), ("Primitives/Reorder", "/schedule"),
      ("Primitives/Binary", "/schedule")],
     ["quern-schedule-test:*Map*"], False),
    ("lib/Schedule/Rows/*", "softmax,gemm,rnn", [("Schedule", ""), ("Primitives/Softmax", "schedule|run-short")],
     ["quern-schedule-test:*Chains*"], False),
    ("lib/Schedule/Contraction/*", "gemm,rnn",
     [("Schedule", "Contraction/|mismatch"), ("Primitives/Rnn", "schedule|program|rounded")],
     ["quern-schedule-test:*Contraction*"], False),
    ("lib/Schedule/*", ALL_SETS, [("Schedule", "")], ["quern-schedule-test"], False),
    ("lib/Transforms/*", ALL_SETS, [("Transforms", ""), ("Schedule", "")],
     ["quern-transforms-test", "quern-schedule-test"], False),
    ("lib/Primitives/Emission/*", ALL_SETS, [("Primitives", "/emit[^/]*$")],
     ["quern-emission-test", "quern-transforms-test"], False),
    ("runtime/LevelZero/*", "softmax,reorder,rnn", [], ["quern-level-zero-test", "quern-ze-driver-test"], True),
    ("runtime/Dnnl/*", "", [("Dnnl", "")], [], False),
    ("runtime/*", "softmax,reorder,rnn", [("Tools", "cache|run|errors")],
     ["quern-runtime-test", "quern-compiler-runtime-test", "quern-api-test", "quern-rnn-test"], False),
]


def servedBy(path):
    primitive = re.match(r"lib/Primitives/(\w+)/Emit", path)
    if primitive and primitive.group(1) != "Emission":
        name = primitive.group(1)
        folders = [("Primitives/" + name, "/(emit|schedule|oracle|program)[^/]*$")]
        return name.lower(), folders, ["quern-api-test", "quern-rnn-test"], False
    for pattern, *rest in SERVED:
        if fnmatch.fnmatch(path, pattern):
            return rest
    raise ValueError("nothing tests " + path)


# --- Mistakes ---------------------------------------------------------------------------------------------------------


def withoutText(line):
    """Returns the line with the contents of literals and comments masked; its length stays the same."""
    literal = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\''
    line = re.sub(literal, lambda m: m.group()[0] + "\1" * (len(m.group()) - 2) + m.group()[-1], line)
    comment = line.find("//")
    return line if comment < 0 else line[:comment] + "\1" * (len(line) - comment)


def isCode(line):
    text = line.strip()
    exempt = ("//", "#", "///", "*", "/*", "using ", "namespace ", "case ", "static_assert", "assert(")
    return bool(text) and not text.startswith(exempt) \
        and "operator" not in text and "template" not in text and "\"" not in text


def edited(line, match, change):
    if change == "+1":
        value = int(match.group())
        return line[:match.start()] + str(value + 1) + line[match.end():]
    if change == "negate":
        end = line.rindex(")")
        return line[:match.end()] + "!(" + line[match.end():end] + ")" + line[end:]
    if change == "drop":
        return line[:len(line) - len(line.lstrip())] + ";"
    return line[:match.start()] + change + line[match.end():]


def candidates(root, path):
    """Returns the lines of a file and all of its mistakes as (0-based line number, kind, changed line)."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    found = []
    for number, line in enumerate(lines):
        if isCode(line):
            bare = withoutText(line)
            for kind, pattern, changes in EDITS:
                for match in re.finditer(pattern, bare):
                    found += [(number, kind, edited(line, match, change)) for change in changes]
    return lines, found


def tracked(root):
    """Returns the files that git tracks, and untracked ones that it does not ignore."""
    command = ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def draw(root, options):
    """Draws `count` mistakes: a folder by its weight, a file in it by its length, and any mistake in the file."""
    generator = random.Random(options.seed)
    files = []
    for path in tracked(root):
        weight = next((w for pattern, w in FOLDERS.items() if fnmatch.fnmatch(path, pattern)), 0)
        if weight and not any(fnmatch.fnmatch(path, pattern) for pattern in LEFT_OUT) and re.search(options.only, path):
            lines, found = candidates(root, path)
            if found:
                files.append((path, weight * len(lines), lines, found))
    if not files:
        sys.exit("mutants.py: no file matches " + options.only)
    drawn, seen = [], set()
    while len(drawn) < options.count and len(seen) < sum(len(f[3]) for f in files):
        path, _, lines, found = generator.choices(files, weights=[f[1] for f in files])[0]
        number, kind, after = generator.choice(found)
        if (path, number, after) not in seen:
            seen.add((path, number, after))
            drawn.append({"path": path, "line": number + 1, "kind": kind, "before": lines[number].strip(),
                          "after": after.strip(), "text": after})
    return drawn


def again(root, report):
    """Returns the surviving mistakes of a report at their present lines; mistakes whose line is gone are left out."""
    with open(report, encoding="utf-8") as file:
        survivors = [m for m in map(json.loads, file) if m["status"] == "survived"]
    found = []
    for m in survivors:
        with open(os.path.join(root, m["path"]), encoding="utf-8") as file:
            numbers = [i + 1 for i, line in enumerate(file.read().split("\n")) if line.strip() == m["before"]]
        if numbers:
            m["line"] = min(numbers, key=lambda number, was=m["line"]: abs(number - was))
            found.append(m)
        else:
            print(f"gone: {m['path']}: {m['before']}")
    return found


# --- The copy ---------------------------------------------------------------------------------------------------------


def synchronize(root, copy):
    """Copies the tracked files of the tree that differ to the copy; equal files keep their modification time."""
    names = tracked(root)
    for name in names:
        source, target = os.path.join(root, name), os.path.join(copy, name)
        if not os.path.isfile(source):
            continue
        with open(source, "rb") as file:
            content = file.read()
        if not os.path.isfile(target) or open(target, "rb").read() != content:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)


class Copy:
    def __init__(self, root, options):
        self.root = os.path.abspath(options.copy)
        self.build = os.path.join(self.root, "build", PRESET)
        self.slot = options.prefix.split()
        self.refused = options.leave_out
        self.leftOut = set()  # commands that fail without a mistake
        self.known = {}  # by lit folder and filter: a filter of tests that fail or are slow without a mistake
        os.makedirs(self.root, exist_ok=True)
        synchronize(root, self.root)
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            subprocess.run(["cmake", "--preset", PRESET], cwd=self.root, check=True, stdout=subprocess.DEVNULL)

    def run(self, command, seconds, environment=None):
        """Returns (status, output): status 0, another number, "time", or "failed" for a process that was stopped after
        it printed a failure. `seconds` limits the CPU time of a process, and four times as many the wall time of all,
        so that other load on the machine kills no mistake."""
        process = subprocess.Popen(self.slot + command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, errors="replace", start_new_session=True,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
                                   env={**os.environ, "QUERN_CACHE_DIR": "off", **(environment or {})})
        previous = signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
        signal.alarm(4 * seconds)
        start, output, failed = time.time(), [], False
        for line in process.stdout:
            output.append(line)
            if re.match(r"FAILED|\[  FAILED  \]|FAIL: |TIMEOUT: ", line):
                failed = True
                os.killpg(process.pid, signal.SIGKILL)
                break
        process.stdout.close()
        status = process.wait()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
        status = "failed" if failed else "time" if status and time.time() - start >= seconds - 1 else status
        return status, "".join(output)

    def make(self, targets):
        return self.run(["cmake", "--build", self.build, "--target"] + targets, BUILD_SECONDS)

    def onDevice(self):
        """Returns the environment for the driver of the tests, or None if its runtime is missing."""
        runtime = os.path.join(self.root, "build", "peers", "intel-opencl", "lib")
        driver = os.path.join(self.build, "lib", "tests", "libze_over_opencl.so")
        if not os.path.exists(os.path.join(runtime, "libintelocl.so")):
            return None
        return {"ZE_ENABLE_ALT_DRIVERS": driver, "LD_LIBRARY_PATH": runtime,
                "ZE_OPENCL_LIBRARY": os.path.join(runtime, "libintelocl.so"),
                "CL_CONFIG_LLVM_OPTIONS": "-fast-isel -optimize-regalloc=false -regalloc=fast -disable-lsr"}

    def steps(self, path):
        """Returns (targets, command, seconds, environment) of the tests of a path, in their order."""
        sets, folders, units, isDevice = servedBy(path)
        tests = os.path.join("build", PRESET, "bin", "tests")
        conformance = [os.path.join(tests, "quern-conformance"), "--linker=orc"]
        judged = ["quern-conformance", "quern_compiler"]
        steps = []
        if isDevice and sets and self.onDevice():
            for one in sets.split(","):
                command = conformance + ["--cases=" + one, "--count=25", "--engine=gpu"]
                steps.append((judged + ["ze_over_opencl"], command, 240, self.onDevice()))
        elif sets:
            steps.append((judged, conformance + ["--cases=" + sets, "--count=60"], 120, None))
            steps.append((judged, conformance + ["--cases=" + sets, "--count=150", "--isa=all", "--seed=2"], 300, None))
        if folders:
            tools = ["quern_tool", "quern-opt", "quern_compiler"]
            for folder, chosen in folders:
                lit = [LIT, "-v", "-j1", os.path.join("build", PRESET, "test", folder)]
                lit += ["--filter=" + chosen] if chosen else []
                lit += ["--filter-out=" + self.known[folder, chosen]] if self.known.get((folder, chosen)) else []
                steps.append((tools + (["quern_dnnl"] if folder == "Dnnl" else []), lit, 300, None))
        for unit in units:
            name, _, chosen = unit.partition(":")
            environment = self.onDevice() if name in ("quern-level-zero-test", "quern-ze-driver-test") else None
            command = [os.path.join(tests, name), "--gtest_fail_fast"]
            command += ["--gtest_filter=" + chosen] if chosen else []
            steps.append(([name], command, 200, environment))
        return steps

    def learn(self, paths):
        """Runs the same tests without a mistake; tests that fail then are not used."""
        done = set()
        targets = sorted({target for path in paths for step in self.steps(path) for target in step[0]})
        status, output = self.make(targets)
        if status:
            sys.exit("mutants.py: the copy does not build:\n" + output[-4000:])
        for path in paths:
            for folder, chosen in servedBy(path)[1]:
                if (folder, chosen) not in self.known:
                    self.known[folder, chosen] = self.unusable(folder, chosen)
            for _, command, seconds, environment in self.steps(path):
                if tuple(command) in done:
                    continue
                done.add(tuple(command))
                status, output = self.run(command, seconds, environment)
                if status:
                    print(f"left out, status without a mistake: {status}: {' '.join(command)}\n{output[-400:]}",
                          flush=True)
                    self.leftOut.add(tuple(command))

    def unusable(self, folder, chosen):
        """Returns a filter of a folder's lit tests that fail, or take more than 5 seconds, without a mistake."""
        report = os.path.join(self.build, "mutants-lit.json")
        command = [LIT, "-q", "-j1", "--filter=" + chosen, "--output", report, os.path.join(self.build, "test", folder)]
        subprocess.run(self.slot + command, cwd=self.root, capture_output=True, check=False,
                       env={**os.environ, "QUERN_CACHE_DIR": "off"})
        with open(report, encoding="utf-8") as file:
            tests = json.load(file)["tests"]
        bad = [re.escape(os.path.basename(t["name"])) for t in tests
               if t["code"] in ("FAIL", "TIMEOUT") or (t["elapsed"] or 0) > 5]
        if bad:
            print(f"left out of {folder}: {' '.join(bad)}", flush=True)
        return "/(" + "|".join(bad) + ")$" if bad else ""

    def test(self, mutant):
        """Sets `status` and `by` of a mistake."""
        path = os.path.join(self.root, mutant["path"])
        with open(path, encoding="utf-8") as file:
            original = file.read()
        lines = original.split("\n")
        lines[mutant["line"] - 1] = mutant["text"]
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
            self.judge(mutant)
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(original)

    def judge(self, mutant):
        built = set()
        for targets, command, seconds, environment in self.steps(mutant["path"]):
            if tuple(command) in self.leftOut or (self.refused and re.search(self.refused, " ".join(command))):
                continue
            if not set(targets) <= built:
                status, output = self.make(targets)
                if status:
                    mutant.update(status="does not compile", by=str(status))
                    return
                built |= set(targets)
            status, output = self.run(command, seconds, environment)
            if status:
                lines = output.splitlines()
                lines = [line for line in lines if re.match(r"FAILED|\[  FAILED|FAIL: ", line)] or lines[-1:]
                what = " ".join(c for c in command if c not in (LIT, "-v", "-j1", "--linker=orc"))
                mutant.update(status="killed", by=f"{status}: {what}", first=" ".join(lines[:1])[:200])
                return
        mutant.update(status="survived", by="")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10, help="number of mistakes, including those that do not compile")
    parser.add_argument("--only", default="", help="regular expression of paths")
    parser.add_argument("--copy", default=os.path.join(root, "build", "mutants"),
                        help="copy of the tree in which mistakes are made")
    parser.add_argument("--report", help="file to which results are appended as JSON lines")
    parser.add_argument("--survivors", metavar="REPORT",
                        help="report of another run whose surviving mistakes are tested instead of random ones")
    parser.add_argument("--prefix", default="", help="command that runs the others, such as nice")
    parser.add_argument("--trusted", action="store_true",
                        help="skip the initial run, because every test passes without a mistake")
    parser.add_argument("--leave-out", default="", help="regular expression of commands that are not run")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    drawn = again(root, options.survivors) if options.survivors else draw(root, options)
    done = []
    if options.report and os.path.exists(options.report):
        with open(options.report, encoding="utf-8") as file:
            done = [json.loads(line) for line in file]
    repeated = {(m["path"], m["line"], m["text"]) for m in done}
    drawn = [m for m in drawn if (m["path"], m["line"], m["text"]) not in repeated]
    if options.list:
        for m in drawn:
            print(f"{m['path']}:{m['line']} {m['kind']}\n  - {m['before']}\n  + {m['after']}")
        return
    copy = Copy(root, options)
    if not options.trusted:
        copy.learn(sorted({m["path"] for m in drawn}))
    for m in drawn:
        start = time.time()
        copy.test(m)
        m["seconds"] = round(time.time() - start, 1)
        done.append(m)
        change = f"  - {m['before']}\n  + {m['after']}\n"
        print(f"{m['status']} ({m['seconds']} s) {m['path']}:{m['line']} {m['kind']}\n{change}  {m['by']}", flush=True)
        if options.report:
            with open(options.report, "a", encoding="utf-8") as file:
                file.write(json.dumps(m) + "\n")
    killed, survived = (sum(m["status"] == status for m in done) for status in ("killed", "survived"))
    print(f"{killed} of {killed + survived} mistakes killed; {len(done) - killed - survived} did not compile")


if __name__ == "__main__":
    main()
