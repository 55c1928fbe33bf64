# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes and reads .npy files without NumPy: `write FILE TYPE ROWS COLUMNS VALUE...`,
`bytes FILE DIM...` of s8, `read FILE`."""

import ast
import math
import struct
import sys

CODES = {"<f4": "f", "<f8": "d", "<u2": "H", "|u1": "B"}


def write(path, descr, rows, columns, *values):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s, %s), }" % (descr, rows, columns)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    number = float if descr[1] == "f" else int
    data = struct.pack("<%d%s" % (len(values), CODES[descr]), *map(number, values))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def pattern(path, *dims):
    """Writes a file of s8 whose values differ from row to row."""
    header = "{'descr': '|i1', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(dims)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = bytes(i * 7919 % 251 for i in range(math.prod(map(int, dims))))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read(path):
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    size = struct.unpack("<H", content[8:10])[0]
    assert (10 + size) % 64 == 0
    header = ast.literal_eval(content[10 : 10 + size].decode())
    code = CODES[header["descr"]]
    count = (len(content) - 10 - size) // struct.calcsize(code)
    values = struct.unpack("<%d%s" % (count, code), content[10 + size :])
    print(header["descr"], header["shape"], *("%g" % value for value in values))


{"write": write, "bytes": pattern, "read": read}[sys.argv[1]](*sys.argv[2:])
