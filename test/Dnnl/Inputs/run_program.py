# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a program with oneDNN's headers, runs it with oneDNN and with the drop-in, and
compares the outputs.

  run_program.py --peer=FOLDER --dropin=FOLDER [--only-ours] [--tolerance=T] [--verbose]
      [--sysroot=FOLDER --emulator=COMMAND] SOURCE OUT

With --sysroot, the program for the drop-in is a separate one for 64-bit Arm. Otherwise it is the same program, linked
with oneDNN (with the drop-in if only that runs) and run with another LD_LIBRARY_PATH. Lines must be equal word by word;
words that are numbers with a point must agree within T + T * |value|. A line that starts with ~T has its own T. A line
of oneDNN that ends with ": refused" means that oneDNN does not support the feature; the drop-in may. With --verbose,
only lines about created and executed primitives are compared, without their time and implementation. Prints the
drop-in's output, then a summary for FileCheck.
"""

import argparse
import os
import subprocess
import sys


def compile(options, out, folder, flags=()):
    isC = options.source.endswith(".c")
    command = ["clang-22", "-std=c11"] if isC else ["clang++-22", "-std=c++17"]
    command += ["-O1", "-Wall", "-Wextra", "-Werror", "-isystem", options.peer + "/include"]
    command += ["-I", os.path.dirname(os.path.abspath(__file__)), options.source, "-o", out]
    command += [folder + "/libdnnl.so.3", "-Wl,--allow-shlib-undefined", "-pthread", "-lm", *flags]
    subprocess.run(command, check=True)


def build(options):
    """Returns the commands of the drop-in's program and of oneDNN's program."""
    if options.sysroot:
        cross = ["--target=aarch64-linux-gnu", "--sysroot=" + options.sysroot, "-fuse-ld=lld"]
        compile(options, options.out + ".arm64", options.dropin, cross)
        if not options.only_ours:
            compile(options, options.out, options.peer + "/lib")
        return [*options.emulator.split(), options.out + ".arm64"], [options.out]
    # No build of oneDNN exports all functions that its headers declare.
    compile(options, options.out, options.dropin if options.only_ours else options.peer + "/lib")
    return [options.out], [options.out]


def run(command, name, environment):
    # By default, oneDNN prints a line for each error.
    silence = {} if "DNNL_VERBOSE" in os.environ else {"ONEDNN_VERBOSE": "none"}
    environment = {**silence, **os.environ, **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"{name}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout.splitlines()


def profileLines(lines):
    """Returns the fields of lines about creations and executions, without time stamp, implementation and time."""
    found = []
    for line in lines:
        fields = line.split(",")
        if len(fields) > 3 and fields[2].replace(".", "").isdigit():
            del fields[2]
        isEvent = len(fields) > 3 and (fields[3] == "exec" or fields[3].startswith("create:cache"))
        if fields[0] == "onednn_verbose" and isEvent:
            found.append(",".join(fields[:6] + fields[7:-1]))
    return found


def isNear(theirs, mine, tolerance):
    if theirs == mine:
        return True
    if "." not in theirs and "e" not in theirs:
        return False
    try:
        return abs(float(theirs) - float(mine)) <= tolerance + tolerance * abs(float(theirs))
    except ValueError:
        return False


def isSameLine(theirs, mine, tolerance):
    a, b = theirs.split(), mine.split()
    if a and a[0].startswith("~"):
        tolerance = float(a[0][1:])
    return len(a) == len(b) and all(isNear(x, y, tolerance) for x, y in zip(a, b))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", required=True)
    parser.add_argument("--dropin", required=True)
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--tolerance", type=float, default=2e-6)
    parser.add_argument("--sysroot")
    parser.add_argument("--emulator", default="")
    parser.add_argument("source")
    parser.add_argument("out")
    options = parser.parse_args()
    ours, genuine = build(options)
    folders = [options.dropin, os.environ.get("LD_LIBRARY_PATH", "")]
    mine = run(ours, "drop-in", {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, folders))})
    print("\n".join(mine))
    if options.only_ours:
        return
    # The SYCL build finds its CPU device through the OpenCL loader, which needs the path of the driver.
    lib = options.peer + "/lib"
    theirs = run(genuine, "genuine", {"LD_LIBRARY_PATH": lib, "OCL_ICD_FILENAMES": lib + "/libintelocl.so"})
    if options.verbose:
        theirs, mine = profileLines(theirs), profileLines(mine)
    wrong = refused = 0
    for number in range(max(len(theirs), len(mine))):
        a = theirs[number] if number < len(theirs) else "(nothing)"
        b = mine[number] if number < len(mine) else "(nothing)"
        if a.endswith(": refused") and a != b:
            refused += 1
        elif not isSameLine(a, b, options.tolerance):
            wrong += 1
            print(f"line {number + 1}:\n  genuine: {a}\n  drop-in: {b}")
    print(f"{len(theirs)} lines compared, {wrong} differ, {refused} refused only by oneDNN")
    sys.exit(1 if wrong or not theirs else 0)


main()
