# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares math functions that the reader of modules replaces by others with Python's functions, in ULP of f32.

  math_functions.py [--quern=PROGRAM]
"""

import argparse
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

from exact_integers import npy

MOST_ULP = 6


def cbrt(x):
    return math.copysign(abs(x) ** (1 / 3), x)


def rounded(x):
    whole = math.trunc(x)
    return math.copysign(whole + math.copysign(1, x) if abs(x - whole) >= 0.5 else whole, x)


FUNCTIONS = {"acosh": math.acosh, "asinh": math.asinh, "atanh": math.atanh, "cbrt": cbrt, "cosh": math.cosh,
             "log10": math.log10, "round": rounded, "sinh": math.sinh}
TESTS = {"isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite}


def f32(x):
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def exact(name, x):
    """Returns the function's value, with the special values of IEEE 754."""
    if math.isnan(x):
        return math.nan
    if name == "log10" and x == 0:
        return -math.inf
    if name == "atanh" and abs(x) == 1:
        return math.copysign(math.inf, x)
    if math.isinf(x) and name in ("cbrt", "round"):
        return x
    try:
        return f32(FUNCTIONS[name](x))
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf if name == "cosh" else math.copysign(math.inf, x)


def ulps(found, wanted):
    if math.isnan(wanted) or math.isinf(wanted) or wanted == 0:
        same = found == wanted and math.copysign(1, found) == math.copysign(1, wanted)
        return 0 if same or (math.isnan(found) and math.isnan(wanted)) else math.inf
    if math.isnan(found) or math.isinf(found):
        return math.inf
    return abs(found - wanted) / max(2.0 ** (math.frexp(wanted)[1] - 24), 2.0 ** -149)


def module(size):
    lines = [f"func.func @f(%x: tensor<{size}xf32>) -> ("]
    names = list(FUNCTIONS) + list(TESTS)
    lines[0] += ", ".join([f"tensor<{size}xf32>"] * len(names)) + ") {"
    lines.append(f"  %e = tensor.empty() : tensor<{size}xf32>")
    for name in names:
        lines += [f"  %{name} = linalg.map ins(%x : tensor<{size}xf32>) outs(%e : tensor<{size}xf32>)",
                  "      (%a: f32, %o: f32) {"]
        if name in TESTS:
            lines += [f"    %b = math.{name} %a : f32", "    %c = arith.uitofp %b : i1 to f32"]
        else:
            lines += [f"    %c = math.{name} %a : f32"]
        lines += ["    linalg.yield %c : f32", "  }"]
    lines += [f"  return {', '.join('%' + n for n in names)} : " + ", ".join([f"tensor<{size}xf32>"] * len(names)), "}"]
    return "\n".join(lines), names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quern", default="quern")
    given = parser.parse_args()
    draw = random.Random(1)
    x = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 1.0, -1.0, 1.0000001, 0.99999994, 8388607.5, 1e-45, -1e-40,
         1.1754944e-38, 3.4028235e38, -3.4028235e38, math.inf, -math.inf, math.nan, 88.7, 89.3, 89.5, -89.4, 1e9, 1e10]
    x += [draw.uniform(-30, 30) for _ in range(400)] + [draw.uniform(-1, 1) for _ in range(400)]
    x += [draw.choice([-1, 1]) * 10 ** draw.uniform(-44, 38) for _ in range(600)]
    x = [f32(v) for v in x]
    text, names = module(len(x))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "functions")
        with open(path + ".mlir", "w", encoding="utf-8") as file:
            file.write(text)
        npy(path + ".npy", "f", x)
        command = [given.quern, "run", f"--mlir={path}.mlir", "--check", "--repeat=1", f"--arg=arg0={path}.npy"]
        command += [f"--out=result{i}={path}-{i}.npy" for i in range(len(names))]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            sys.exit(ran.stderr + ran.stdout)
        for i, name in enumerate(names):
            with open(f"{path}-{i}.npy", "rb") as file:
                found = struct.unpack(f"<{len(x)}f", file.read()[-4 * len(x):])
            wanted = [float(TESTS[name](v)) if name in TESTS else exact(name, v) for v in x]
            off, value, result, expected = max((ulps(f, w), v, f, w) for f, w, v in zip(found, wanted, x))
            print(f"{name}: {off:.2f} ULP at {value!r}, {result!r} for {expected!r}")
            wrong += off > MOST_ULP
    print(f"{len(names)} functions, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
