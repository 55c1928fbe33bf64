# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads libquern, computes with the kernel of a family, and unloads it while the specialization thread waits, compiles,
or is done.

  unload.py LIBRARY SEED [softmax|logistic]

The kernel of this softmax has scratch, which belongs to the thread and keeps the library loaded.
"""

import _ctypes
import ctypes
import random
import sys
import time

library, seed = sys.argv[1], int(sys.argv[2])
moments = random.Random(seed)
PROBLEMS = {"softmax": ("softmax fwd_i", " axis=1", 1), "logistic": ("eltwise fwd_i alg=logistic", "", 77 / 2)}
kind, end, total = PROBLEMS[sys.argv[3] if len(sys.argv) > 3 else "softmax"]
FAMILY = 6  # quern_origin_family


def check(status):
    if status != 0:
        sys.exit(f"status {status}")


def compute(quern, rows):
    """Executes a primitive, destroys it after a random part of its specialization, and returns its origin."""
    engine, stream, desc, primitive, memory = (ctypes.c_void_p() for _ in range(5))
    check(quern.quern_engine_create(ctypes.byref(engine), 1, ctypes.c_size_t(0)))
    check(quern.quern_stream_create(ctypes.byref(stream), engine, 1))
    line = f"{kind} src=f32:{rows}x77:ab dst=f32:{rows}x77:ab{end}"
    check(quern.quern_primitive_desc_create_from_text(ctypes.byref(desc), engine, line.encode()))
    check(quern.quern_primitive_create(ctypes.byref(primitive), desc))
    info = (ctypes.c_int64 * 64)()
    check(quern.quern_primitive_get_info(primitive, info))
    data = (ctypes.c_float * (rows * 77))()
    quern.quern_primitive_desc_query_md.restype = ctypes.c_void_p
    md = ctypes.c_void_p(quern.quern_primitive_desc_query_md(desc, 129, 0))
    check(quern.quern_memory_create(ctypes.byref(memory), md, engine, data))

    class Argument(ctypes.Structure):
        _fields_ = [("index", ctypes.c_int), ("memory", ctypes.c_void_p)]

    arguments = (Argument * 2)(Argument(1, memory), Argument(17, memory))
    check(quern.quern_primitive_execute(primitive, stream, 2, arguments))
    if abs(sum(data[:77]) - total) > 1e-4:
        sys.exit("the result is wrong")
    wait = moments.choice([0, 0, 0.002, 0.01, 0.04, 0.12])
    time.sleep(wait)
    for destroy, handle in [
        (quern.quern_memory_destroy, memory),
        (quern.quern_primitive_destroy, primitive),
        (quern.quern_primitive_desc_destroy, desc),
        (quern.quern_stream_destroy, stream),
        (quern.quern_engine_destroy, engine),
    ]:
        check(destroy(handle))
    return info[0] & 0xFFFFFFFF


families = 0
for turn in range(12):
    quern = ctypes.CDLL(library)
    families += compute(quern, 20 + turn) == FAMILY
    handle = quern._handle
    del quern
    _ctypes.dlclose(handle)
with open("/proc/self/maps", encoding="ascii") as maps:
    isMapped = any("libquern.so" in line for line in maps)
with open("/proc/self/status", encoding="ascii") as status:
    threads = next(line.split()[1] for line in status if line.startswith("Threads:"))
print(f"{families} of families, {'still mapped' if isMapped else 'unmapped'}, {threads} threads, seed {seed}")
