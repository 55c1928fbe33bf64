#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the ELF files of a build are hardened.

  check_binaries.py BUILD [FILE…]

Every program and library in BUILD/bin and BUILD/lib (or each FILE) must

- look for libraries in absolute folders or relative to itself ($ORIGIN); an empty or relative part of a run path would
  depend on the current working directory of the process
- have read-only relocations (RELRO and BIND_NOW), no text relocations and no executable stack
- be position-independent

If the machine has landing pads for indirect branches (endbr64, bti c, paciasp), the functions that Quern's installed
libraries export must begin with one. Prints a line for each fault; the last line is "N passed, N failed".
"""

import os
import re
import struct
import subprocess
import sys

# Libraries whose exported functions are checked. libquern-compiler.so is not among them, because it may contain code of
# LLVM, which was compiled with other options.
HARDENED = re.compile(r"^lib(quern|quern-remote|quern-onnxruntime|quern_dnnl|dnnl)\.so")
PADS = {62: (b"\xf3\x0f\x1e\xfa",), 183: (b"\x5f\x24\x03\xd5", b"\x3f\x23\x03\xd5")}
MOST_PADS = 2000


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def isLinked(path):
    """Returns True for a program or a library, False for an object file."""
    with open(path, "rb") as file:
        head = file.read(18)
    return head[:4] == b"\x7fELF" and len(head) == 18 and struct.unpack_from("<H", head, 16)[0] != 1


def faultsOf(path, readelf):
    dynamic, segments = run(readelf, "-dW", path), run(readelf, "-lW", path)
    for runPath in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
        for part in runPath.split(":"):
            if not part.startswith(("/", "$ORIGIN")):
                yield f"run path '{runPath}' has the part '{part}'"
    if "GNU_RELRO" not in segments:
        yield "no RELRO"
    if "BIND_NOW" not in dynamic and not re.search(r"FLAGS_1\).*NOW", dynamic):
        yield "no BIND_NOW"
    if "TEXTREL" in dynamic:
        yield "text relocations"
    if re.search(r"GNU_STACK.*RWE", segments):
        yield "an executable stack"
    if not re.search(r"Elf file type is DYN", segments):
        yield "not position-independent"


def exportsWithoutPad(path, readelf):
    with open(path, "rb") as file:
        content = file.read()
    pads = PADS.get(struct.unpack_from("<H", content, 18)[0])
    if not pads:
        return
    loads = [tuple(int(number, 16) for number in match)
             for match in re.findall(r"LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+)", run(readelf, "-lW", path))]
    symbols = re.findall(r":\s+(\w+)\s+\d+ FUNC\s+GLOBAL DEFAULT\s+\d+ (\S+)", run(readelf, "--dyn-syms", "-W", path))
    for value, name in symbols[:MOST_PADS]:
        address = int(value, 16)
        for offset, start, size in loads:
            if start <= address < start + size:
                if content[address - start + offset:address - start + offset + 4] not in pads:
                    yield f"{name} has no landing pad"
                break


def main():
    build, *files = sys.argv[1:]
    readelf = "/usr/lib/llvm-22/bin/llvm-readelf"
    if not os.path.exists(readelf):
        readelf = "readelf"
    if not files:
        for top in ("bin", "lib"):
            for folder, _, names in os.walk(os.path.join(build, top)):
                files += [os.path.join(folder, name) for name in sorted(names)]
    passed = failed = 0
    for path in files:
        if os.path.islink(path) or not os.path.isfile(path) or not isLinked(path):
            continue
        faults = list(faultsOf(path, readelf))
        if HARDENED.match(os.path.basename(path)):
            faults += exportsWithoutPad(path, readelf)
        for fault in faults[:5]:
            print(f"{os.path.relpath(path, build)}: {fault}")
        passed, failed = passed + (not faults), failed + bool(faults)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
