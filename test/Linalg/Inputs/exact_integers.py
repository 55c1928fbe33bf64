# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares integer divisions, shifts and conversions of callers' functions with exact arithmetic, and with the oracle.

  exact_integers.py [--quern=PROGRAM] [--engine=cpu] [--jobs=N]

Every operation of every width is computed on tensors of odd and even sizes. Divisors, shift amounts and floats include
those for which arith defines no value: 0, the minimum divided by -1, the width and more, NaN and infinities.
"""

import argparse
import concurrent.futures
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

DIVISIONS = ["divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"]
SHIFTS = ["shli", "shrsi", "shrui"]
WIDTHS = ["i1", "i4", "i8", "i16", "i32", "i64", "index"]
SIZES = [1, 15, 16, 67]


def bits_of(kind):
    return 64 if kind == "index" else int(kind[1:])


def signed(number, bits):
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


def exact(operation, a, b, bits):
    """Returns the result that StableHLO defines. Operands are the bits as unsigned numbers; the result is signed."""
    x, y = (a, b) if operation.endswith("ui") else (signed(a, bits), signed(b, bits))
    if operation.startswith("sh"):
        amount = min(b, bits)
        return signed({"shli": a << amount, "shrui": a >> amount, "shrsi": signed(a, bits) >> amount}[operation], bits)
    if operation.startswith("rem"):
        return signed(x if y == 0 else int(math.copysign(1, x)) * (abs(x) % abs(y)), bits)
    if y == 0:
        return -1
    quotient, rest = divmod(x, y)
    if operation.startswith("ceil"):
        quotient += rest != 0
    elif operation.startswith("div"):
        quotient += rest != 0 and (x < 0) != (y < 0)
    return signed(quotient, bits)


def npy(path, code, values):
    kind = {"b": "<i1", "i": "<i4", "f": "<f4"}[code]
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack(f"<{len(values)}{code}", *values))


def read(path, count):
    with open(path, "rb") as file:
        return list(struct.unpack(f"<{count}i", file.read()[-4 * count:]))


def generic(name, inputs, lines, yielded, size):
    """Returns the text of an elementwise operation; `inputs` are (tensor, type)."""
    maps = ", ".join(["affine_map<(i) -> (i)>"] * (len(inputs) + 1))
    tensors, types = ", ".join(n for n, _ in inputs), ", ".join(f"tensor<{size}x{t}>" for _, t in inputs)
    blocks = ", ".join(f"%i{i}: {t}" for i, (_, t) in enumerate(inputs))
    return "\n".join([
        f"  {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\"]}}"
        f" ins({tensors} : {types}) outs(%e : tensor<{size}xi32>) {{",
        f"  ^bb0({blocks}, %o: i32):"] + ["    " + line for line in lines] +
        [f"    linalg.yield {yielded} : i32", f"  }} -> tensor<{size}xi32>"])


def operand(kind, value, name, lines):
    """Converts an i32 to another width; the upper halves of i64 and index also depend on it."""
    bits = bits_of(kind)
    if bits < 32:
        lines.append(f"%{name} = arith.trunci {value} : i32 to {kind}")
        return f"%{name}"
    if bits == 32:
        return value
    lines += [f"%{name}w = arith.extsi {value} : i32 to i64", f"%{name}c = arith.constant 4294967297 : i64",
              f"%{name}l = arith.muli %{name}w, %{name}c : i64"]
    if kind == "i64":
        return f"%{name}l"
    lines.append(f"%{name}x = arith.index_cast %{name}l : i64 to index")
    return f"%{name}x"


def wide_value(kind, value):
    """Returns the bits of the value that operand() computes."""
    bits = bits_of(kind)
    return (value * 4294967297 if bits == 64 else value) & ((1 << bits) - 1)


def result(kind, name, lines):
    bits = bits_of(kind)
    if kind == "index":
        lines.append(f"%rl = arith.index_cast {name} : index to i64")
        name = "%rl"
    if bits < 32:
        lines.append(f"%r = arith.extsi {name} : {kind} to i32")
    elif bits == 64:  # both halves
        lines += ["%hc = arith.constant 32 : i64", f"%hi = arith.shrui {name}, %hc : i64",
                  "%hl = arith.trunci %hi : i64 to i32", f"%lo = arith.trunci {name} : i64 to i32",
                  "%k = arith.constant 31 : i32", "%m = arith.muli %hl, %k : i32", "%r = arith.addi %m, %lo : i32"]
    return name if bits == 32 else "%r"


def seen(kind, value):
    """Returns the value that result() computes from a number."""
    if bits_of(kind) == 64:
        return signed((value >> 32) * 31 + value, 32)
    return value


def values_for(draw, kind, size):
    """Returns dividends and divisors, half of them at the limits of the type."""
    bits = min(bits_of(kind), 32)
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    ends = [least, least + 1, most, 0, 1, -1, 2, -2, 3, bits, bits - 1, bits + 1]

    def one():
        if draw.random() < 0.5:
            return draw.choice(ends)
        return draw.randint(least, most) if draw.random() < 0.5 else draw.randint(-9, 9)
    return [one() for _ in range(size)], [one() for _ in range(size)]


def integers(kind, size, draw):
    """Returns (module, arguments, expected results by name) for all operations of a width."""
    a, b = values_for(draw, kind, size)
    if size > 2:
        a[0], b[0] = -(1 << (min(bits_of(kind), 32) - 1)), -1
        b[1] = 0
    body, expected = [], []
    constants = [c for c in (0, 1, -1, 3, -4) if -(1 << bits_of(kind)) < 2 * c < (1 << bits_of(kind))]
    for operation in DIVISIONS + SHIFTS:
        for constant in [None] + (constants if operation in DIVISIONS else []):
            lines = []
            x = operand(kind, "%i0", "x", lines)
            if constant is None:
                y = operand(kind, "%i1", "y", lines)
                divisors = [wide_value(kind, v) for v in b]
            else:
                y = "%y"
                shown = ("true" if constant else "false") if kind == "i1" else constant
                lines.append(f"%y = arith.constant {shown}" + ("" if kind == "i1" else f" : {kind}"))
                divisors = [constant & ((1 << bits_of(kind)) - 1)] * size
            if kind == "i1" and constant is not None and constant not in (0, -1):
                continue
            lines.append(f"%q = arith.{operation} {x}, {y} : {kind}")
            r = result(kind, "%q", lines)
            inputs = [("%a", "i32"), ("%b", "i32")]
            body.append(generic(f"%r{len(expected)}", inputs, lines, r, size))
            expected.append((f"{operation} {kind}" + (f" by {constant}" if constant is not None else ""), [
                seen(kind, exact(operation, wide_value(kind, v), w, bits_of(kind))) for v, w in zip(a, divisors)]))
    return module(body, len(expected), "i32", size), [("i", a), ("i", b)], expected


def conversions(size, draw):
    """Like integers(), for floats to integers: values out of range saturate, and NaN becomes 0."""
    ends = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 7.5, -8.5, 127.5, -129.0, 255.5, 256.0, 32768.0, 2147483520.0,
            2147483648.0, -2147483648.0, 4294967040.0, 4294967296.0, 1e30, -1e30, math.inf, -math.inf, math.nan]
    x = [struct.unpack("f", struct.pack("f", draw.choice(ends) if draw.random() < 0.7 else draw.uniform(-300, 300)))[0]
         for _ in range(size)]
    body, expected = [], []
    for kind in ("i1", "i4", "i8", "i16", "i32", "i64"):
        for operation in ("fptosi", "fptoui"):
            for through in ("f32", "bf16", "f64"):
                if through == "bf16" and kind == "i64":
                    continue
                lines, name = [], "%i0"
                if through == "f64":
                    lines.append("%w = arith.extf %i0 : f32 to f64")
                    name = "%w"
                elif through == "bf16":
                    lines.append("%w = arith.truncf %i0 : f32 to bf16")
                    name = "%w"
                lines.append(f"%q = arith.{operation} {name} : {through} to {kind}")
                r = result(kind, "%q", lines)
                body.append(generic(f"%r{len(expected)}", [("%a", "f32"), ("%b", "f32")], lines, r, size))
                bits = bits_of(kind)
                low, high = ((0, (1 << bits) - 1) if operation == "fptoui" else
                             (-(1 << (bits - 1)), (1 << (bits - 1)) - 1))

                def one(number):
                    if through == "bf16" and not (math.isnan(number) or math.isinf(number)):
                        number = to_bf16(number)
                    if math.isnan(number):
                        return 0
                    if math.isinf(number):
                        return signed(high if number > 0 else low, bits)
                    return signed(max(low, min(high, int(number))), bits)
                expected.append((f"{operation} {through} {kind}", [seen(kind, one(v)) for v in x]))
    return module(body, len(expected), "f32", size), [("f", x), ("f", x)], expected


def to_bf16(number):
    bits = struct.unpack("I", struct.pack("f", number))[0]
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("f", struct.pack("I", bits))[0]


def module(body, count, kind, size):
    names, types = ", ".join(f"%r{i}" for i in range(count)), ", ".join([f"tensor<{size}xi32>"] * count)
    return "\n".join([f"func.func @f(%a: tensor<{size}x{kind}>, %b: tensor<{size}x{kind}>) -> ({types}) {{",
                      f"  %e = tensor.empty() : tensor<{size}xi32>"] + body +
                     [f"  return {names} : {types}", "}", ""])


def check(given, folder, title, made):
    """Returns the failures as text."""
    text, arguments, expected = made
    path = os.path.join(folder, title)
    with open(path + ".mlir", "w", encoding="utf-8") as file:
        file.write(text)
    command = [given.quern, "run", f"--mlir={path}.mlir", "--repeat=1", f"--engine={given.engine}"]
    command += ["--check"] if given.engine == "cpu" else []
    for i, (code, values) in enumerate(arguments):
        npy(f"{path}-{i}.npy", code, values)
        command.append(f"--arg=arg{i}={path}-{i}.npy")
    command += [f"--out=result{i}={path}-r{i}.npy" for i in range(len(expected))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        return [f"{title}: exit {ran.returncode}\n{(ran.stderr + ran.stdout)[-700:]}"]
    failures = []
    for i, (what, numbers) in enumerate(expected):
        found = read(f"{path}-r{i}.npy", len(numbers))
        wrong = [n for n in range(len(numbers)) if found[n] != numbers[n]]
        if wrong:
            n = wrong[0]
            failures.append(f"{title}: {what}: {len(wrong)} wrong, of {[v[n] for _, v in arguments]} {found[n]}, "
                            f"expected {numbers[n]}")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quern", default="quern")
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    cases = [(f"{kind}-{size}", integers(kind, size, draw)) for kind in WIDTHS for size in SIZES]
    cases += [(f"floats-{size}", conversions(size, draw)) for size in SIZES]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        failures = [f for found in pool.map(lambda case: check(given, folder, *case), cases) for f in found]
    for failure in failures:
        print(failure)
    print(f"{len(cases)} modules, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
