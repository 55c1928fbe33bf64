# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates functions on integers and compares them with exact arithmetic and with the oracle, on guarded memory.

  exact_functions.py [--quern=PROGRAM] [--engine=cpu] [--seed=N] [--first=N] [--count=N] [--jobs=N] [--print]

Values are tensors of i4, i8 and i32 of odd and even sizes, some of them without elements. They are converted, used in
arithmetic (with any divisors and shift amounts), transposed, sliced, joined, padded, packed, multiplied and summed,
starting from constants, arguments and computed tensors. Arguments of i4 are computed from i8, because files have no i4;
results of i4 are also returned as i8. Function N of a seed does not depend on the other functions.
"""

import argparse
import concurrent.futures
import itertools
import os
import random
import struct
import subprocess
import sys
import tempfile

from exact_integers import DIVISIONS, SHIFTS, exact, signed

DIMS = [1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 33]
MOST_ELEMENTS = 5000
BITS = {"i4": 4, "i8": 8, "i32": 32}


def count_of(shape):
    count = 1
    for d in shape:
        count *= d
    return count


def points(shape):
    return itertools.product(*(range(d) for d in shape))


def type_of(shape, kind):
    return "tensor<" + "".join(f"{d}x" for d in shape) + kind + ">"


def map_of(rank, results):
    return f"affine_map<({', '.join(f'd{i}' for i in range(rank))}) -> ({', '.join(results)})>"


def identity(rank):
    return map_of(rank, [f"d{i}" for i in range(rank)])


class Value:
    """A tensor and its elements by index."""

    def __init__(self, name, shape, kind, elements):
        self.name, self.shape, self.kind, self.elements = name, list(shape), kind, elements

    @property
    def type(self):
        return type_of(self.shape, self.kind)


class Function:
    def __init__(self, seed, number):
        self.draw = random.Random(seed * 1000003 + number)
        self.lines, self.arguments, self.values, self.count = [], [], [], 0
        self.zero_share = self.draw.choice([0, 0, 0, 0.15])

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, line):
        self.lines.append("  " + line)

    def dim(self):
        return 0 if self.draw.random() < self.zero_share else self.draw.choice(DIMS)

    def element(self, kind):
        bits = min(BITS[kind], 32)
        if self.draw.random() < 0.2:
            return self.draw.choice([-(1 << (bits - 1)), (1 << (bits - 1)) - 1, 0, -1, 1])
        return self.draw.randint(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if self.draw.random() < 0.5 else \
            self.draw.randint(-8, 7)

    def argument(self, shape, kind):
        """Returns an argument; for i4, the conversion of an i8 argument."""
        given = "i8" if kind == "i4" else kind
        elements = {p: self.element(given) for p in points(shape)}
        value = Value(f"%a{len(self.arguments)}", shape, given, elements)
        self.arguments.append(value)
        return self.converted(value, "i4", turns=False) if kind == "i4" else value

    def empty(self, shape, kind):
        name = self.name()
        self.emit(f"{name} = tensor.empty() : {type_of(shape, kind)}")
        return name

    def filled(self, shape, kind, number):
        constant, empty, name = self.name(), self.empty(shape, kind), self.name()
        self.emit(f"{constant} = arith.constant {number} : {kind}")
        self.emit(f"{name} = linalg.fill ins({constant} : {kind}) outs({empty} : {type_of(shape, kind)}) -> "
                  f"{type_of(shape, kind)}")
        return Value(name, shape, kind, {p: number for p in points(shape)})

    def generic(self, inputs, maps, out, shape, kind, iterators, lines, yielded):
        """Emits a linalg.generic whose `lines` compute `yielded` from %i0, %i1, … and %o."""
        name = self.name()
        blocks = ", ".join([f"%i{n}: {v.kind}" for n, v in enumerate(inputs)] + [f"%o: {kind}"])
        self.emit(f"{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = "
                  f"[{', '.join(chr(34) + i + chr(34) for i in iterators)}]}} "
                  f"ins({', '.join(v.name for v in inputs)} : {', '.join(v.type for v in inputs)}) "
                  f"outs({out} : {type_of(shape, kind)}) {{")
        self.emit(f"^bb0({blocks}):")
        for line in lines + [f"linalg.yield {yielded} : {kind}"]:
            self.emit("  " + line)
        self.emit(f"}} -> {type_of(shape, kind)}")
        return name

    def converted(self, value, kind, turns=True):
        """Converts directly or through a float, perhaps into another order of dims."""
        rank = len(value.shape)
        order = list(range(rank))
        if turns and rank > 1 and self.draw.random() < 0.3:
            self.draw.shuffle(order)
        shape = [value.shape[d] for d in order]
        place = {d: i for i, d in enumerate(order)}
        maps = [map_of(rank, [f"d{place[d]}" for d in range(rank)]), identity(rank)]
        lines, compute = self.conversion(value.kind, kind)
        name = self.generic([value], maps, self.empty(shape, kind), shape, kind, ["parallel"] * rank, lines, "%c")
        elements = {p: compute(value.elements[tuple(p[place[d]] for d in range(rank))]) for p in points(shape)}
        return Value(name, shape, kind, elements)

    def conversion(self, given, kind):
        bits, to = BITS[given], BITS[kind]
        if given == kind:
            return [f"%k = arith.constant 1 : {kind}", f"%c = arith.xori %i0, %k : {kind}"], lambda v: signed(v ^ 1, to)
        if bits < to:
            if self.draw.random() < 0.5:
                return [f"%c = arith.extui %i0 : {given} to {kind}"], lambda v: signed(v & ((1 << bits) - 1), to)
            if self.draw.random() < 0.5:
                return [f"%f = arith.sitofp %i0 : {given} to f32", f"%c = arith.fptosi %f : f32 to {kind}"], lambda v: v
            return [f"%c = arith.extsi %i0 : {given} to {kind}"], lambda v: v
        if bits == 8 and self.draw.random() < 0.3:  # saturates
            how = self.draw.choice(["si", "ui"])
            low, high = (0, (1 << to) - 1) if how == "ui" else (-(1 << (to - 1)), (1 << (to - 1)) - 1)
            return [f"%f = arith.sitofp %i0 : {given} to f32", f"%c = arith.fpto{how} %f : f32 to {kind}"], \
                lambda v: signed(max(low, min(high, v)), to)
        return [f"%c = arith.trunci %i0 : {given} to {kind}"], lambda v: signed(v, to)

    def elementwise(self, value):
        """Applies an operation with a second operand, which is perhaps broadcast."""
        rank, kind = len(value.shape), value.kind
        bits = BITS[kind]
        operation = self.draw.choice(["addi", "subi", "muli", "andi", "xori", "maxsi", "minui"] + DIVISIONS + SHIFTS)
        kept = [d for d in range(rank) if self.draw.random() < 0.7]
        other = self.argument([value.shape[d] for d in kept], kind)
        lines = [f"%c = arith.{operation} %i0, %i1 : {kind}"]
        maps = [identity(rank), map_of(rank, [f"d{d}" for d in kept]), identity(rank)]
        name = self.generic([value, other], maps, self.empty(value.shape, kind), value.shape, kind, ["parallel"] * rank,
                            lines, "%c")

        def compute(a, b):
            mask = (1 << bits) - 1
            simple = {"addi": a + b, "subi": a - b, "muli": a * b, "andi": a & b, "xori": a ^ b, "maxsi": max(a, b),
                      "minui": min(a & mask, b & mask)}
            if operation in simple:
                return signed(simple[operation], bits)
            return exact(operation, a & mask, b & mask, bits)
        elements = {p: compute(value.elements[p], other.elements[tuple(p[d] for d in kept)])
                    for p in points(value.shape)}
        return Value(name, value.shape, kind, elements)

    def cut(self, value):
        step = [self.draw.choice([1, 1, 1, 2]) for _ in value.shape]
        size = [self.draw.randint(1, (d + s - 1) // s) if d else 0 for d, s in zip(value.shape, step)]
        first = [self.draw.randint(0, d - 1 - (n - 1) * s) if d else 0 for d, s, n in zip(value.shape, step, size)]
        name = self.name()
        self.emit(f"{name} = tensor.extract_slice {value.name}{first} {size} {step} : {value.type} to "
                  f"{type_of(size, value.kind)}")
        elements = {p: value.elements[tuple(f + i * s for f, i, s in zip(first, p, step))] for p in points(size)}
        return Value(name, size, value.kind, elements)

    def inserted(self, value):
        shape = [max(d + self.draw.choice([0, 0, 1, 3]), 1) for d in value.shape]
        first = [self.draw.randint(0, s - max(d, 1)) for d, s in zip(value.shape, shape)]
        into, name = self.filled(shape, value.kind, 3), self.name()
        self.emit(f"{name} = tensor.insert_slice {value.name} into {into.name}{first} {value.shape} "
                  f"{[1] * len(shape)} : {value.type} into {into.type}")
        elements = dict(into.elements)
        elements.update({tuple(f + i for f, i in zip(first, p)): e for p, e in value.elements.items()})
        return Value(name, shape, value.kind, elements)

    def flattened(self, value):
        if len(value.shape) < 2:
            return self.elementwise(value)
        name, shape = self.name(), [count_of(value.shape)]
        self.emit(f"{name} = tensor.collapse_shape {value.name} [{list(range(len(value.shape)))}] : {value.type} into "
                  f"{type_of(shape, value.kind)}")
        return Value(name, shape, value.kind, {(n,): value.elements[p] for n, p in enumerate(points(value.shape))})

    def packed(self, value):
        """Packs into tiles, the last of which are padded."""
        if len(value.shape) != 2 or 0 in value.shape:
            return self.elementwise(value)
        tiles = [self.draw.choice([2, 3, 4, 8]) for _ in range(2)]
        shape = [-(-d // t) for d, t in zip(value.shape, tiles)] + tiles
        pad, empty, name = self.name(), self.empty(shape, value.kind), self.name()
        self.emit(f"{pad} = arith.constant 5 : {value.kind}")
        self.emit(f"{name} = linalg.pack {value.name} padding_value({pad} : {value.kind}) inner_dims_pos = [0, 1] "
                  f"inner_tiles = {tiles} into {empty} : {value.type} -> {type_of(shape, value.kind)}")
        elements = {p: value.elements.get((p[0] * tiles[0] + p[2], p[1] * tiles[1] + p[3]), 5) for p in points(shape)}
        return Value(name, shape, value.kind, elements)

    def widened(self, value):
        return value if value.kind == "i32" else self.converted(value, "i32")

    def start(self, shape, kind="i32"):
        """Returns the initial value of a reduction: a constant, an argument, or a computed tensor."""
        how = self.draw.random()
        if how < 0.4:
            return self.filled(shape, kind, self.draw.choice([0, 0, 7, -3]))
        given = self.argument(shape, kind)
        return given if how < 0.7 else self.elementwise(given)

    def reduced(self, value):
        value = value if value.kind == "i4" and self.draw.random() < 0.5 else self.widened(value)
        rank, kind, bits = len(value.shape), value.kind, BITS[value.kind]
        gone = [d for d in range(rank) if self.draw.random() < 0.5] or [self.draw.randrange(rank)]
        kept = [d for d in range(rank) if d not in gone]
        shape = [value.shape[d] for d in kept]
        operation = self.draw.choice(["addi", "addi", "maxsi", "minsi", "maxui"])
        start = self.start(shape, kind)
        maps = [identity(rank), map_of(rank, [f"d{d}" for d in kept])]
        iterators = ["reduction" if d in gone else "parallel" for d in range(rank)]
        name = self.generic([value], maps, start.name, shape, kind, iterators,
                            [f"%c = arith.{operation} %i0, %o : {kind}"], "%c")
        elements = dict(start.elements)
        for p in points(value.shape):
            to, e = tuple(p[d] for d in kept), value.elements[p]
            mask = (1 << bits) - 1
            unsigned = max(elements[to] & mask, e & mask)
            elements[to] = {"addi": signed(elements[to] + e, bits), "maxsi": max(elements[to], e),
                            "minsi": min(elements[to], e), "maxui": signed(unsigned, bits)}[operation]
        return Value(name, shape, kind, elements)

    def product(self, value):
        """Multiplies by weights of i4 or i8, as [K, N] or [N, K], where K may be 0."""
        if len(value.shape) != 2:
            return self.elementwise(value)
        value = self.widened(value)
        (m, k), n, turned = value.shape, self.draw.choice(DIMS), self.draw.random() < 0.5
        weights = self.widened(self.argument([n, k] if turned else [k, n], self.draw.choice(["i4", "i8"])))
        if weights.shape != ([n, k] if turned else [k, n]):  # transposed by the conversion
            turned = not turned
        if n == k:
            turned = False
        start = self.start([m, n])
        maps = [map_of(3, ["d0", "d2"]), map_of(3, ["d1", "d2"] if turned else ["d2", "d1"]), map_of(3, ["d0", "d1"])]
        name = self.generic([value, weights], maps, start.name, [m, n], "i32", ["parallel", "parallel", "reduction"],
                            ["%p = arith.muli %i0, %i1 : i32", "%c = arith.addi %o, %p : i32"], "%c")
        elements = {}
        for i, j in points([m, n]):
            terms = (value.elements[i, x] * weights.elements[(j, x) if turned else (x, j)] for x in range(k))
            elements[i, j] = signed(start.elements[i, j] + sum(terms), 32)
        return Value(name, [m, n], "i32", elements)

    def step(self, value):
        makers = [(self.elementwise, 4), (lambda v: self.converted(v, self.draw.choice(["i4", "i4", "i8", "i32"])), 6),
                  (self.inserted, 1)]
        if value.shape and 0 not in value.shape:
            makers.append((self.cut, 2))  # MLIR allows no offset in a dim of size 0
        if value.shape:
            makers += [(self.flattened, 1), (self.packed, 1), (self.reduced, 2), (self.product, 2)]
        return self.draw.choices([m for m, _ in makers], [w for _, w in makers])[0](value)

    def make(self, name):
        """Returns (module, results)."""
        shape = [self.dim() for _ in range(self.draw.choice([1, 2, 2, 2, 3]))]
        while count_of(shape) > MOST_ELEMENTS:
            shape[self.draw.randrange(len(shape))] = 3
        value = self.argument(shape, self.draw.choice(["i4", "i8", "i32"]))
        for _ in range(self.draw.randint(2, 8)):
            value = self.step(value)
            if count_of(value.shape) > MOST_ELEMENTS:
                value = self.cut(value)
            self.values.append(value)
        results = [v for v in self.values if v is value or self.draw.random() < 0.2]
        returned = []
        for result in results:
            if result.kind == "i4":
                if self.draw.random() < 0.6:
                    returned.append(result)
                result = self.converted(result, "i8")
            returned.append(result)
        arguments = ", ".join(f"{a.name}: {a.type}" for a in self.arguments)
        types = ", ".join(r.type for r in returned)
        return (f"func.func @{name}({arguments}) -> ({types}) {{\n" + "\n".join(self.lines) +
                f"\n  return {', '.join(r.name for r in returned)} : {types}\n}}\n"), returned


def npy(path, value):
    code, kind = {"i8": ("b", "|i1"), "i32": ("i", "<i4")}[value.kind]
    shape = value.shape or [1]
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({''.join(f'{d},' for d in shape)}), }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack(f"<{len(value.elements)}{code}", *(value.elements[p] for p in points(value.shape))))


def read(path, value):
    code, size = {"i8": ("b", 1), "i32": ("i", 4)}[value.kind]
    count = count_of(value.shape)
    with open(path, "rb") as file:
        data = file.read()
    return list(struct.unpack(f"<{count}{code}", data[len(data) - count * size:]))


def check(given, folder, number):
    """Returns (failures, refusals), as text."""
    function = Function(given.seed, number)
    text, results = function.make("f")
    path = os.path.join(folder, f"f{number}")
    with open(path + ".mlir", "w", encoding="utf-8") as file:
        file.write(text)
    command = [given.quern, "run", f"--mlir={path}.mlir", "--repeat=1", f"--engine={given.engine}", "--check"]
    for i, argument in enumerate(function.arguments):
        if count_of(argument.shape):
            npy(f"{path}-{i}.npy", argument)
            command.append(f"--arg=arg{i}={path}-{i}.npy")
    shown = [(i, r) for i, r in enumerate(results) if r.kind != "i4" and count_of(r.shape)]
    command += [f"--out=result{i}={path}-r{i}.npy" for i, _ in shown]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    where = f"seed {given.seed} function {number}"
    if ran.returncode == 3:
        return "", f"{where}: {ran.stderr.strip()[:600]}"
    if ran.returncode:
        return f"{where}: exit {ran.returncode}\n{text}{(ran.stderr + ran.stdout)[-600:]}", ""
    for i, result in shown:
        wanted, found = [result.elements[p] for p in points(result.shape)], read(f"{path}-r{i}.npy", result)
        wrong = [n for n in range(len(wanted)) if wanted[n] != found[n]]
        if wrong:
            return (f"{where}: {len(wrong)} of {len(wanted)} elements of result {i} are wrong, at {wrong[0]} "
                    f"{found[wrong[0]]}, expected {wanted[wrong[0]]}\n{text}"), ""
    return "", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quern", default="quern")
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--print", action="store_true")
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.count)
    if given.print:
        for n in numbers:
            print(Function(given.seed, n).make(f"f{n}")[0])
        return
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(lambda n: check(given, folder, n), numbers))
    failures, refused = [f for f, _ in results if f], [r for _, r in results if r]
    for text in failures + refused:
        print(text)
    print(f"seed {given.seed}, functions {numbers[0]} to {numbers[-1]}")
    print(f"apart: {len(refused)}")
    print(f"{given.count - len(failures) - len(refused)} passed, {len(failures)} failed")
    sys.exit(1 if failures or len(refused) * 20 > given.count else 0)


if __name__ == "__main__":
    main()
