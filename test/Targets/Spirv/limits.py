# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""limits.py COMMAND…: runs the command on a problem of each schedule for targets with unusual limits and prints each
refusal, which is a failure."""

import subprocess
import sys

LINES = (
    "softmax fwd_i src=f32:8x300:ab dst=f32:8x300:ab axis=1",
    "softmax fwd_i src=f32:100x8:ab dst=f32:100x8:ab axis=0",
    "reorder src=f32:100x90:ab dst=f16:100x90:ba",
    "gemm src=f32:33x65:ab weights=f32:65x40:ab dst=f32:33x40:ab",
)
TARGETS = ("sg=16,group=100,slm=1000", "sg=32,group=24", "sg=8+32,group=24,slm=64", "sg=64+128,group=96",
           "sg=16,group=1", "sg=8,group=7")

wrong = 0
for target in TARGETS:
    for line in LINES:
        done = subprocess.run([*sys.argv[1:], line, f"--target=spirv64:{target}"], capture_output=True, text=True)
        if done.returncode:
            wrong += 1
            print(f"{target}: {line}: {done.stderr.splitlines()[0]}")
sys.exit(wrong > 0)
