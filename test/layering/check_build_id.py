#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the files that the compiler's build ID is a hash of with the files that the compiler was built from.

  check_build_id.py ROOT BUILD LISTING

LISTING is lib/BuildId.txt of the build directory: a line of versions, followed by lines with a path relative to ROOT
and a hash. The files that were read are taken from Ninja's dependency log for the objects of quern_core and
quern_compiler_objects, except generated files in the build directory and files that no longer exist. (When a source
moves, its old object stays in the build directory.) Prints one line for each file that only one side has; then the exit
status is 1.
"""

import os
import subprocess
import sys

LIBRARIES = ("quern_core", "quern_compiler_objects")


def filesRead(root, build):
    real = os.path.realpath
    command = ["ninja", "-C", build, "-t"]

    def run(*arguments):
        return subprocess.run(command + list(arguments), capture_output=True, text=True, check=True).stdout.splitlines()

    # Only objects that the build produces; the build directory may also contain objects of removed sources.
    folders = tuple(f"lib/CMakeFiles/{library}.dir/" for library in LIBRARIES)
    targets = (line.split(":")[0] for line in run("targets", "all"))
    objects = [target for target in targets if target.startswith(folders) and target.endswith((".o", ".pch"))]
    paths = {os.path.join(build, line.strip()) for line in run("deps", *sorted(objects)) if line.startswith("    ")}
    made = [os.path.relpath(path, build)
            for path in paths if path.endswith(".inc") and real(path).startswith(real(build) + os.sep)]
    paths.update(os.path.join(build, name) for name in (run("inputs", *sorted(made)) if made else []))
    read = set()
    for path in map(real, paths):
        if os.path.exists(path) and path.startswith(real(root) + os.sep) and not path.startswith(real(build) + os.sep):
            read.add(os.path.relpath(path, real(root)))
    return read


def main():
    root, build, listing = sys.argv[1:]
    with open(listing, encoding="utf-8") as lines:
        hashed = {line.rsplit(" ", 1)[0] for line in lines.read().splitlines()[1:]}
    read = filesRead(root, build)
    for name in sorted(read - hashed):
        print(f"{name}: read by the compiler's build and not hashed")
    for name in sorted(hashed - read):
        print(f"{name}: hashed and not read")
    print(f"{len(read)} files read, {len(hashed)} hashed")
    sys.exit(read != hashed or not read)


if __name__ == "__main__":
    main()
