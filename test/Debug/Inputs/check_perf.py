# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command with QUERN_DEBUG=perf and reads the files that it leaves: check_perf.py COMMAND…

Each function of the map is in the jitdump, with the same address, name and bytes. The records of its lines precede it;
their addresses are inside it, and their lines exist in the file of the schedule.
"""

import glob
import os
import struct
import subprocess
import sys


def records(data):
    """Checks the header of a jitdump and yields (kind, body) of each record."""
    magic, version, header, machine, _, pid, _, flags = struct.unpack_from("<IIIIIIQQ", data)
    assert (magic, version, header, machine, flags) == (0x4A695444, 1, 40, 62, 0), data[:40]
    at, last = header, 0
    while at < len(data):
        kind, size, time = struct.unpack_from("<IIQ", data, at)
        assert size >= 16 and at + size <= len(data) and time >= last, (kind, size, time)
        yield pid, kind, data[at + 16:at + size]
        at, last = at + size, time


def textAt(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def linesOf(body):
    """Returns the function's address, and (address, line, file) of each row."""
    address, count = struct.unpack_from("<QQ", body)
    at, rows = 16, []
    for _ in range(count):
        place, line, _ = struct.unpack_from("<QII", body, at)
        name, at = textAt(body, at + 16)
        rows.append((place, line, name))
    assert at == len(body)
    return address, rows


def main():
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    assert process.wait() == 0
    path = f"/tmp/perf-{process.pid}.map"
    with open(path, encoding="utf-8") as file:
        mapped = [line.split() for line in file]
    os.remove(path)
    dump, = glob.glob(os.path.join(os.environ["JITDUMPDIR"], ".debug", "jit", "quern.*", f"jit-{process.pid}.dump"))
    with open(dump, "rb") as file:
        data = file.read()
    loaded, lines = [], {}
    for pid, kind, body in records(data):
        assert pid == process.pid
        if kind == 2:
            address, rows = linesOf(body)
            lines[address] = rows
            continue
        assert kind == 0, kind
        owner, _, _, address, size, number = struct.unpack_from("<IIQQQQ", body)
        name, at = textAt(body, 40)
        assert owner == pid and number == len(loaded) and len(body) - at == size > 0
        rows = lines.pop(address)  # the line records precede the function
        files = {file for _, _, file in rows}
        assert len(files) == 1 and all(address <= place < address + size for place, _, _ in rows)
        source = files.pop()
        with open(source, encoding="utf-8") as file:
            count = len(file.read().splitlines())
        assert all(1 <= line <= count for _, line, _ in rows)
        assert os.path.basename(source) == name.split(".")[-1] + ".mlir", (source, name)
        loaded.append([f"{address:x}", f"{size:x}", name])
        print(f"{name}: {size} bytes, {len(rows)} lines of {source}")
    assert not lines and loaded == mapped, (loaded, mapped)
    print("map and jitdump agree")


main()
