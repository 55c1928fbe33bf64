# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates functions of 2 to 12 operations and compares each with its naive lowering, on guarded memory.

  random_functions.py [--quern=PROGRAM] [--seed=N] [--count=N] [--first=N] [--jobs=N] [--print]

Integers are divided by any value, i4 occurs everywhere, sums have any initial value, and some functions have sizes of
0. Function N of a seed does not depend on the others. Refused functions are counted separately; if they are more than a
tenth, the run fails.
"""

import argparse
import concurrent.futures
import os
import random
import struct
import subprocess
import sys
import tempfile

BATCH = 25  # functions per process
DIMS = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 31, 33, 48, 64]
MOST_ELEMENTS = 40000


def type_of(shape, element):
    return "tensor<" + "".join(f"{d}x" for d in shape) + element + ">"


def loops(count):
    return ", ".join(f"d{i}" for i in range(count))


def map_of(count, results):
    return f"affine_map<({loops(count)}) -> ({', '.join(results)})>"


class Function:
    """A function on f32 tensors. Arguments of other types are converted when they are read; some results are narrow."""

    def __init__(self, seed, number):
        self.draw = random.Random(seed * 1000003 + number)
        self.lines, self.arguments, self.values, self.count = [], [], [], 0
        self.places = []  # index arguments, which follow the others
        self.zeroShare = self.draw.choice([0, 0, 0, 0, 0, 0.1])

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, line):
        self.lines.append("  " + line)

    def dim(self):
        return 0 if self.draw.random() < self.zeroShare else self.draw.choice(DIMS)

    def constant(self, number):
        name = self.name()
        self.emit(f"{name} = arith.constant {number:e} : f32")
        return name

    def argument(self, shape, element=None):
        element = element or self.draw.choices(["f32", "f16", "bf16", "i8", "i4"], [6, 1, 1, 1, 1])[0]
        name = f"%a{len(self.arguments)}"
        self.arguments.append((name, shape, element))
        return name, shape, element

    def empty(self, shape, element="f32"):
        name = self.name()
        self.emit(f"{name} = tensor.empty() : {type_of(shape, element)}")
        return name

    def filled(self, shape, number):
        start, empty, name = self.constant(number), self.empty(shape), self.name()
        kind = type_of(shape, "f32")
        self.emit(f"{name} = linalg.fill ins({start} : f32) outs({empty} : {kind}) -> {kind}")
        return name

    def generic(self, inputs, maps, out, shape, kinds, body, element="f32"):
        """Emits a linalg.generic. `body` appends lines on %i0, %i1, … (f32) and %out, and returns the yielded name."""
        name, lines, blocks = self.name(), [], []
        for i, (_, _, kind) in enumerate(inputs):
            blocks.append(f"%i{i}: f32" if kind == "f32" else f"%x{i}: {kind}")
            if kind != "f32":
                lines.append(f"%i{i} = {'arith.sitofp' if kind[0] == 'i' else 'arith.extf'} %x{i} : {kind} to f32")
        yielded = body(lines)
        if element != "f32":
            narrows = "arith.fptosi" if element[0] == "i" else "arith.truncf"
            lines.append(f"%cut = {narrows} {yielded} : f32 to {element}")
            yielded = "%cut"
        names, types = ", ".join(n for n, _, _ in inputs), ", ".join(type_of(s, e) for _, s, e in inputs)
        iterators = ", ".join(f'"{kind}"' for kind in kinds)
        self.emit(f"{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}} "
                  f"ins({names} : {types}) outs({out} : {type_of(shape, element)}) {{")
        self.emit(f"^bb0({', '.join(blocks + [f'%out: {element}'])}):")
        for line in lines + [f"linalg.yield {yielded} : {element}"]:
            self.emit("  " + line)
        self.emit(f"}} -> {type_of(shape, element)}")
        return name, shape, element

    def elementwise(self, value, turns=True):
        """One or two operands; the second may be broadcast, either may be transposed, and results have any order."""
        rank = len(value[1])
        order = list(range(rank))
        if turns and rank > 1 and self.draw.random() < 0.3:
            self.draw.shuffle(order)
        shape = [value[1][d] for d in order]  # loops are in the order of the result's dims
        place = {d: i for i, d in enumerate(order)}
        inputs, maps = [value], [map_of(rank, [f"d{place[d]}" for d in range(rank)])]
        if self.draw.random() < 0.6:
            kept = [d for d in range(rank) if self.draw.random() < 0.6]
            if self.draw.random() < 0.3:
                self.draw.shuffle(kept)
            wanted = [shape[d] for d in kept]
            same = [v for v in self.values if list(v[1]) == wanted]
            inputs.append(self.draw.choice(same) if same and self.draw.random() < 0.5 else self.argument(wanted))
            maps.append(map_of(rank, [f"d{d}" for d in kept]))
        maps.append(map_of(rank, [f"d{d}" for d in range(rank)]))
        unary = self.draw.choice(["tanh", "absf", "negf", "half", "relu", "sigmoid", "none"])
        binary = self.draw.choice(["arith.addf", "arith.subf", "arith.maximumf", "arith.minimumf", "product"])

        def body(text):
            last = "%i0"
            if len(inputs) == 2:
                if binary == "product":
                    text += ["%t = math.tanh %i1 : f32", "%b = arith.mulf %i0, %t : f32"]
                else:
                    text.append(f"%b = {binary} %i0, %i1 : f32")
                last = "%b"
            if unary in ("tanh", "absf"):
                text.append(f"%u = math.{unary} {last} : f32")
            elif unary == "negf":
                text.append(f"%u = arith.negf {last} : f32")
            elif unary == "half":
                text.append(f"%u = arith.mulf {last}, %half : f32")
            elif unary == "relu":
                text.append(f"%u = arith.maximumf {last}, %zero : f32")
            elif unary == "sigmoid":
                text += [f"%n = arith.negf {last} : f32", "%e = math.exp %n : f32", "%d = arith.addf %e, %one : f32",
                         "%u = arith.divf %one, %d : f32"]
            return last if unary == "none" else "%u"

        return self.generic(inputs, maps, self.empty(shape), shape, ["parallel"] * rank, body)

    def integers(self, value):
        """Adds an integer that is computed from two arguments."""
        rank, element = len(value[1]), self.draw.choice(["i4", "i8", "i32"])
        kept = [[d for d in range(rank) if self.draw.random() < 0.7] for _ in range(2)]
        inputs = [value] + [self.argument([value[1][d] for d in ofOne], element) for ofOne in kept]
        operation = self.draw.choice(["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui",
                                      "shli", "shrsi", "shrui", "muli", "subi", "maxui", "andi"])

        def body(text):
            text += [f"%z = arith.{operation} %x1, %x2 : {element}", f"%w = arith.sitofp %z : {element} to f32",
                     "%s = arith.mulf %w, %small : f32", "%b = arith.addf %i0, %s : f32"]
            return "%b"

        whole = map_of(rank, [f"d{d}" for d in range(rank)])
        maps = [whole] + [map_of(rank, [f"d{d}" for d in ofOne]) for ofOne in kept] + [whole]
        return self.generic(inputs, maps, self.empty(value[1]), value[1], ["parallel"] * rank, body)

    def start(self, shape, neutral):
        """Returns the initial value of a reduction: neutral, another number, an argument, or a computed tensor."""
        how = self.draw.random()
        if how < 0.6:
            return self.filled(shape, neutral if how < 0.5 else 0.75)
        given = self.argument(shape, "f32")
        return given[0] if how < 0.8 else self.elementwise(given, turns=False)[0]

    def reduction(self, value):
        rank = len(value[1])
        reduced = [d for d in range(rank) if self.draw.random() < 0.5] or [self.draw.randrange(rank)]
        kept = [d for d in range(rank) if d not in reduced]
        shape = [value[1][d] for d in kept]
        ways = [("arith.addf", 0), ("arith.addf", 0), ("arith.maximumf", -1e30), ("arith.minimumf", 1e30)]
        how, start = self.draw.choice(ways)

        def body(text):
            last = "%i0"
            if how == "arith.addf":  # sums stay small
                text.append("%m = arith.mulf %i0, %small : f32")
                last = "%m"
            text.append(f"%r = {how} {last}, %out : f32")
            return "%r"

        kinds = ["reduction" if d in reduced else "parallel" for d in range(rank)]
        maps = [map_of(rank, [f"d{d}" for d in range(rank)]), map_of(rank, [f"d{d}" for d in kept])]
        return self.generic([value], maps, self.start(shape, start), shape, kinds, body)

    def transpose(self, value):
        order = list(range(len(value[1])))
        self.draw.shuffle(order)
        shape = [value[1][d] for d in order]
        empty, name = self.empty(shape, value[2]), self.name()
        self.emit(f"{name} = linalg.transpose ins({value[0]} : {type_of(value[1], value[2])}) outs({empty} : "
                  f"{type_of(shape, value[2])}) permutation = {order}")
        return name, shape, value[2]

    def place(self, number):
        """Returns an index that is a constant of the module or an argument."""
        if self.draw.random() < 0.8:
            return str(number)
        self.places.append(number)
        return f"%p{len(self.places) - 1}"

    def placed(self, numbers):
        return f"[{', '.join(self.place(n) for n in numbers)}]"

    def cut(self, value):
        step = [self.draw.choice([1, 1, 1, 2]) for _ in value[1]]
        size = [self.draw.randint(1, (d + s - 1) // s) for d, s in zip(value[1], step)]
        first = [self.draw.randint(0, d - 1 - (n - 1) * s) for d, s, n in zip(value[1], step, size)]
        name = self.name()
        self.emit(f"{name} = tensor.extract_slice {value[0]}{self.placed(first)} {size} {step} : "
                  f"{type_of(value[1], value[2])} to {type_of(size, value[2])}")
        return name, size, value[2]

    def inserted(self, value):
        shape = [max(d + self.draw.choice([0, 0, 1, 3]), 1) for d in value[1]]
        first = [self.draw.randint(0, s - max(d, 1)) for d, s in zip(value[1], shape)]
        into, name = self.filled(shape, 0.25), self.name()
        self.emit(f"{name} = tensor.insert_slice {value[0]} into {into}{self.placed(first)} {list(value[1])} "
                  f"{[1] * len(shape)} : {type_of(value[1], 'f32')} into {type_of(shape, 'f32')}")
        return name, shape, "f32"

    def reshaped(self, value):
        rank, name = len(value[1]), self.name()
        if rank > 1 and self.draw.random() < 0.5:
            at = self.draw.randrange(rank - 1)
            groups = [[d] for d in range(at)] + [[at, at + 1]] + [[d] for d in range(at + 2, rank)]
            shape = list(value[1][:at]) + [value[1][at] * value[1][at + 1]] + list(value[1][at + 2:])
            self.emit(f"{name} = tensor.collapse_shape {value[0]} {groups} : {type_of(value[1], value[2])} into "
                      f"{type_of(shape, value[2])}")
            return name, shape, value[2]
        at = self.draw.randrange(rank)
        factor = self.draw.choice([f for f in range(1, value[1][at] + 1) if value[1][at] % f == 0])
        groups = [[d] for d in range(at)] + [[at, at + 1]] + [[d + 1] for d in range(at + 1, rank)]
        shape = list(value[1][:at]) + [factor, value[1][at] // factor] + list(value[1][at + 1:])
        self.emit(f"{name} = tensor.expand_shape {value[0]} {groups} output_shape {shape} : "
                  f"{type_of(value[1], value[2])} into {type_of(shape, value[2])}")
        return name, shape, value[2]

    def product(self, value):
        """Multiplies along the last dim by a matrix, or by one matrix for each entry of a batch."""
        if len(value[1]) < 2 or value[2] != "f32":
            return self.elementwise(value)
        batch, (m, k) = list(value[1][:-2]), value[1][-2:]
        n, rank = self.dim(), len(value[1])
        isShared, isTurned = bool(batch) and self.draw.random() < 0.4, self.draw.random() < 0.5
        other = self.argument(([] if isShared else batch) + ([n, k] if isTurned else [k, n]), "f32")
        ofBatch = [f"d{i}" for i in range(len(batch))]
        row, column, step = f"d{rank - 2}", f"d{rank - 1}", f"d{rank}"
        maps = [map_of(rank + 1, ofBatch + [row, step]),
                map_of(rank + 1, ([] if isShared else ofBatch) + ([column, step] if isTurned else [step, column])),
                map_of(rank + 1, ofBatch + [row, column])]
        shape = batch + [m, n]

        def body(text):
            text += ["%m = arith.mulf %i0, %i1 : f32", "%r = arith.addf %out, %m : f32"]
            return "%r"

        summed = self.generic([value, other], maps, self.start(shape, 0), shape,
                              ["parallel"] * rank + ["reduction"], body)
        whole = map_of(rank, [f"d{i}" for i in range(rank)])
        return self.generic([summed], [whole, whole], self.empty(shape), shape, ["parallel"] * rank,
                            lambda text: text.append("%t = arith.mulf %i0, %small : f32") or "%t")

    def softmax(self, value):
        if value[2] != "f32":
            return self.elementwise(value)
        empty, name = self.empty(value[1]), self.name()
        kind = type_of(value[1], "f32")
        self.emit(f"{name} = linalg.softmax dimension({self.draw.randrange(len(value[1]))}) ins({value[0]} : {kind}) "
                  f"outs({empty} : {kind}) -> {kind}")
        return name, value[1], "f32"

    def step(self, value):
        if not value[1]:
            return self.elementwise(value)
        makers = [(self.elementwise, 8), (self.integers, 2), (self.reduction, 3), (self.product, 2), (self.softmax, 1)]
        if len(value[1]) > 1:
            makers.append((self.transpose, 1))
        if 0 not in value[1]:  # a size of 0 allows no offset
            makers += [(self.cut, 1), (self.reshaped, 1)]
        if value[2] == "f32":
            makers.append((self.inserted, 1))
        make = self.draw.choices([m for m, _ in makers], [w for _, w in makers])[0]
        return make(value)

    def text(self, name):
        for constant, number in (("%zero", 0), ("%one", 1), ("%half", 0.5), ("%small", 0.125)):
            self.lines.append(f"  {constant} = arith.constant {number:e} : f32")
        rank = self.draw.choice([1, 2, 2, 2, 3, 3, 4])
        shape = [self.dim() for _ in range(rank)]
        while self.size(shape) > MOST_ELEMENTS:
            shape[self.draw.randrange(rank)] = self.draw.choice(DIMS)
        value = self.argument(shape)
        for _ in range(self.draw.randint(2, 12)):
            value = self.step(value)
            if self.size(value[1]) > MOST_ELEMENTS:
                value = self.cut(value)
            self.values.append(value)
        if value[2] != "f32" or value[0].startswith("%a"):
            value = self.elementwise(value)
        whole = map_of(len(value[1]), [f"d{i}" for i in range(len(value[1]))])
        if self.draw.random() < 0.2:
            element = self.draw.choice(["f16", "bf16", "i4", "i8", "i32"])
            value = self.generic([value], [whole, whole], self.empty(value[1], element), value[1],
                                 ["parallel"] * len(value[1]), lambda text: "%i0", element)
        results = [value] + [v for v in self.values if v[2] == "f32" and v[0] != value[0] and self.draw.random() < 0.1]
        arguments = ", ".join([f"{n}: {type_of(s, e)}" for n, s, e in self.arguments] +
                              [f"%p{i}: index" for i in range(len(self.places))])
        types = ", ".join(type_of(s, e) for _, s, e in results)
        return (f"func.func @{name}({arguments}) -> ({types}) {{\n" + "\n".join(self.lines) +
                f"\n  return {', '.join(n for n, _, _ in results)} : {types}\n}}\n")

    @staticmethod
    def size(shape):
        count = 1
        for d in shape:
            count *= d
        return count


def number_files(folder, function, name):
    """Returns the options that pass index arguments to a function."""
    for i, number in enumerate(function.places):
        position = len(function.arguments) + i
        path = os.path.join(folder, f"{name}-{position}.npy")
        header = b"{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }"
        header += b" " * (117 - len(header)) + b"\n"
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<i", number))
        yield f"--arg=arg{position}={path}"


def run(program, path, names, options=()):
    command = [program, "run", "--check", "--repeat=1"] + [f"--mlir={path}:{name}" for name in names] + list(options)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(given, folder, numbers):
    """Returns failures and refusals, as text."""
    functions = {f"f{n}": Function(given.seed, n) for n in numbers}
    texts = {name: function.text(name) for name, function in functions.items()}
    placed = [name for name, function in functions.items() if function.places]
    path = os.path.join(folder, f"functions{numbers[0]}.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(texts.values()))
    closed = [name for name in texts if name not in placed]
    engine = [f"--engine={given.engine}"]
    is_right = run(given.quern, path, closed, engine).returncode == 0
    failures, refused = [], []
    for name in placed if is_right else texts:
        text = texts[name]
        ran = run(given.quern, path, [name], engine + list(number_files(folder, functions[name], name)))
        where = f"seed {given.seed} function {name[1:]}"
        if ran.returncode == 3:
            refused.append(f"{where}: {ran.stderr.strip()[:600]}")
        elif ran.returncode:
            failures.append(f"{where}: exit {ran.returncode}\n{text}{ran.stderr[:600]}")
    return failures, refused


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quern", default="quern")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--print", action="store_true")
    given = parser.parse_args()
    last = given.first + given.count
    if given.print:
        for n in range(given.first, last):
            print(Function(given.seed, n).text(f"f{n}"))
        return
    batches = [range(n, min(n + BATCH, last)) for n in range(given.first, last, BATCH)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(lambda numbers: check(given, folder, numbers), batches))
    failures = [text for failed, _ in results for text in failed]
    refused = [text for _, apart in results for text in apart]
    for text in failures + refused:
        print(text)
    print(f"seed {given.seed}, functions {given.first} to {last - 1}")
    print(f"apart: {len(refused)}")
    print(f"{given.count - len(failures) - len(refused)} passed, {len(failures)} failed")
    sys.exit(1 if failures or len(refused) * 10 > given.count else 0)


if __name__ == "__main__":
    main()
