# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads objects with DWARF.

  check_debug.py OBJECT.o SOURCE.mlir         compares the line table with the section that repeats it and the source
  check_debug.py [--every=N] [--target=T] FILE.desc…
                                              checks every N-th problem: the loaded code is the same as without DWARF
"""

import argparse
import re
import struct
import subprocess
import sys
import tempfile


def sectionsOf(data):
    """Yields (name, type, flags, contents) of each section of an ELF object."""
    place, = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, place + 64 * i) for i in range(count)]
    strings = headers[names][4]
    for name, kind, flags, _, offset, size, *_ in headers:
        text = data[strings + name:data.index(b"\0", strings + name)].decode()
        yield text, kind, flags, b"" if kind == 8 else data[offset:offset + size]


def checkLines(path, source):
    with open(path, "rb") as file:
        sections = {name: contents for name, _, _, contents in sectionsOf(file.read())}
    table = sections[".quern.lines"]
    own = [struct.unpack_from("<QI", table, at) for at in range(0, len(table), 12)]
    dump = subprocess.run(["llvm-dwarfdump", "--debug-line", path], capture_output=True, text=True, check=True).stdout
    rows = {}
    for match in re.finditer(r"^0x([0-9a-f]+)\s+(\d+)\s.*$", dump, re.MULTILINE):
        rows[int(match[1], 16)] = 0 if "end_sequence" in match[0] else int(match[2])
    assert own == sorted(rows.items()), (own, rows)
    with open(source, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert all(0 <= line <= len(lines) for _, line in own), own
    places = sum(1 for _, line in own if line and "// emit:" in lines[line - 1])
    assert places >= 0.9 * sum(1 for _, line in own if line), "rows that lead to no line of emit"
    print(f"{len(own)} rows of {len(lines)} lines")


def loaded(line, target, form):
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["quern", "compile", line, *target, "--emit=" + form, "-o", file.name], check=True)
        with open(file.name, "rb") as made:
            sections = list(sectionsOf(made.read()))
    allocated = {name for name, _, flags, _ in sections if flags & 2}
    relocated = {".rela" + name for name in allocated}
    return ([(name, contents) for name, _, flags, contents in sections if flags & 2],
            [len(contents) for name, _, _, contents in sections if name in relocated])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--target")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    if options.files[0].endswith(".o"):
        return checkLines(*options.files)
    lines = []
    for path in options.files:
        with open(path, encoding="utf-8") as file:
            texts = [line.split("#")[0].strip() for line in file]
        lines += [line for line in texts if line][::options.every]
    target = ["--target=" + options.target] if options.target else []
    for line in lines:
        if loaded(line, target, "obj") != loaded(line, target, "debug"):
            sys.exit("different code: " + line)
    print(f"{len(lines)} problems, the same code with and without")


main()
