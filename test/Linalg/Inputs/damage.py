# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explains damaged copies of a module, each in a separate process. Fails if one ends by a signal or an internal error.

  damage.py MODULE
"""

import os
import random
import subprocess
import sys
import tempfile


def damaged(module, draw):
    """Returns the module truncated or with a few bytes changed."""
    if draw.random() < 0.3:
        return module[: draw.randrange(1, len(module))]
    changed = bytearray(module)
    for _ in range(draw.choice((1, 1, 2, 8))):
        changed[draw.randrange(4, len(changed))] = draw.randrange(256)
    return bytes(changed)


def main():
    with open(sys.argv[1], "rb") as file:
        module = file.read()
    draw = random.Random(7)
    codes = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "module.mlirbc")
        for i in range(40):
            with open(path, "wb") as file:
                file.write(damaged(module, draw))
            ran = subprocess.run(["quern", "explain", "--mlir=" + path], capture_output=True, timeout=60,
                                 env=dict(os.environ, QUERN_COMPILER="process"), check=False)
            codes[ran.returncode] = codes.get(ran.returncode, 0) + 1
            if ran.returncode not in (0, 2, 3):
                print(f"copy {i}: exit {ran.returncode}: {ran.stderr}")
    print(codes)
    sys.exit(0 if set(codes) <= {0, 2, 3} else 1)


if __name__ == "__main__":
    main()
