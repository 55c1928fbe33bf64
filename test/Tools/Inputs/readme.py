# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""readme.py ROOT BUILD DIRECTORY: runs the commands of README.md that need only built programs.

The PATH has only the system's programs and the programs that tools/try.sh builds, so a command fails here if it would
fail for a reader who has run tools/try.sh. Commands are the lines of `console` and `sh` blocks, and code within text
that contains 'LINE', for which a problem is inserted. Scripts of tools/ and CMake are skipped. Instruction sets are
capped at the target that the README shows, and the output is compared if this machine has that target.
"""

import os
import re
import shutil
import subprocess
import sys

PROBLEM = "softmax fwd_i src=f32:4x5:ab dst=f32:4x5:ab axis=1"
PROGRAMS = {"quern_tool": "quern", "quern-opt": "quern-opt"}  # by CMake target
SKIPPED = ("tools/", "cmake ")


def commands_of(text):
    """Yields each command with the output that the README shows."""
    for language, block in re.findall(r"^```(sh|console)\n(.*?)^```$", text, re.M | re.S):
        if language == "sh":
            yield from ((line.split(" #")[0].strip(), "") for line in block.splitlines() if line.strip())
            continue
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for code in re.findall(r"`([^`]+)`", prose):
        code = " ".join(code.split())
        if code.startswith("quern ") and "LINE" in code:
            yield code.replace("LINE", PROBLEM), ""


def prepared(root, build, directory):
    """Makes the working directory. Returns the environment of the commands."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(os.path.join(directory, "bin"))
    with open(os.path.join(root, "tools", "try.sh"), encoding="utf-8") as script:
        targets = re.search(r"--target ([\w -]+)", script.read())[1].split()
    for target in targets:
        if target in PROGRAMS:
            name = PROGRAMS[target]
            os.symlink(os.path.join(build, "bin", name), os.path.join(directory, "bin", name))
    return dict(os.environ, PATH=os.path.join(directory, "bin") + ":/usr/bin:/bin", QUERN_CACHE_DIR="cache")


def run(command, directory, environment):
    """Returns the exit status and the output."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=directory, env=environment, text=True, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def difference(shown, output):
    """Returns the first shown line that the output does not have in its place, or None. A line "…" stands for all other
    lines, and "…" at the end of a line for its rest."""
    lines = output.splitlines()
    for at, line in enumerate(shown.splitlines()):
        if line.strip() == "…":
            return None
        begin, *rest = line.split("…")
        if at >= len(lines) or not (lines[at].startswith(begin) if rest else lines[at] == line):
            return line
    return None


def main():
    root, build, directory = (os.path.abspath(path) for path in sys.argv[1:])
    environment = prepared(root, build, directory)
    with open(os.path.join(root, "README.md"), encoding="utf-8") as page:
        commands = [pair for pair in commands_of(page.read()) if not pair[0].startswith(SKIPPED)]
    target = re.search(r"^// target \w+", "".join(shown for _, shown in commands), re.M)
    environment["QUERN_MAX_CPU_ISA"] = target[0].split()[-1]
    has_target = target[0] + " " in run(f"quern dump '{PROBLEM}' --stage=emit", directory, environment)[1]
    run(f"quern run '{PROBLEM}' --dst=x.npy", directory, environment)  # the file that a command reads
    failures = 0
    for command, shown in commands:
        status, output = run(command, directory, environment)
        should_fail = ": error: " in shown
        wrong = difference(shown, output) if has_target else None
        if (status != 0) != should_fail or wrong is not None:
            failures += 1
            print(f"FAILED, exit status {status}: {command}\n{output}", end="")
            if wrong is not None:
                print(f"the README shows: {wrong}")
    print(f"{len(commands)} commands, {failures} failed, output {'compared' if has_target else 'of another target'}")
    return 1 if failures or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
