# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles programs with oneDNN's headers and, without them, with quern/dnnl_compat.hpp;
compares the outputs.

  run_compat.py --root=FOLDER --build=FOLDER --peer=FOLDER --out=PREFIX SOURCE...

The first binary runs with the drop-in, the second with libquern.
"""

import argparse
import os
import subprocess
import sys

INPUTS = os.path.dirname(os.path.abspath(__file__))


def compile(source, out, include, libraries):
    command = ["clang++-22", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", *include]
    command += ["-I", INPUTS, source]
    subprocess.run(command + ["-o", out, *libraries, "-Wl,--allow-shlib-undefined", "-pthread"], check=True)


def run(program, folder):
    environment = dict(os.environ, LD_LIBRARY_PATH=folder)
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"{program}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout.splitlines()


def withoutReason(line):
    """Removes the message of an exception, which differs: only the status is compared."""
    return line.split(", ")[0] if ": status " in line else line


def main():
    parser = argparse.ArgumentParser()
    for name in ["root", "build", "peer", "out"]:
        parser.add_argument("--" + name, required=True)
    parser.add_argument("sources", nargs="+")
    options = parser.parse_args()
    lib = options.build + "/lib"
    wrong = 0
    for source in options.sources:
        theirs, ours = options.out + ".dnnl", options.out + ".quern"
        compile(source, theirs, ["-isystem", options.peer + "/include"], [options.peer + "/lib/libdnnl.so.3"])
        shim = ["-I", INPUTS + "/compat", "-I", options.root + "/include"]
        compile(source, ours, shim, [lib + "/libquern.so"])
        a, b = run(theirs, lib + "/quern-dnnl"), run(ours, lib)
        differing = [pair for pair in zip(a, b) if withoutReason(pair[0]) != withoutReason(pair[1])]
        for pair in differing[:5]:
            print("\n  dnnl.hpp: {}\n  quern.hpp: {}".format(*pair))
        count = len(differing) + abs(len(a) - len(b))
        wrong += count
        print(f"{os.path.basename(source)}: {len(a)} lines, {count} differ")
    sys.exit(1 if wrong else 0)


main()
