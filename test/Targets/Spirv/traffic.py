#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the memory traffic of a device kernel by executing its address computations for every work-item.

  quern dump --stage=schedule --target=spirv64… LINE | traffic.py

For each argument: how often an element is read (work-items that read it together count once) and written, and how many
cache lines of 64 bytes the accesses touch. An access is one instruction of all work-items of a sub-group (of 16 unless
the kernel sets another size); "least" is the number of cache lines if the elements of each access were contiguous and
aligned to a cache line. For group memory: the largest number of words of one bank that an access needs (32 banks of 4
bytes). Numbers that depend on data are unknown, and a condition on such a number is an error.
"""
import re
import sys
from collections import Counter, defaultdict

LINE_BYTES, BANKS, BANK_BYTES = 64, 32, 4
OPERATORS = {"addi": "+", "subi": "-", "muli": "*", "divui": "//", "remui": "%", "andi": "&", "ori": "|", "xori": "^",
             "shrui": ">>", "shli": "<<"}
PREDICATES = {"ult": "<", "slt": "<", "ule": "<=", "sle": "<=", "ugt": ">", "sgt": ">", "uge": ">=", "sge": ">=",
              "eq": "==", "ne": "!="}


def name(value):
    return "v" + value.strip()[1:].replace("#", "__")


class Translator:
    """Translates the text of a schedule to a Python function `kernel(block, thread, lane, sub_group, access)`."""

    def __init__(self, text):
        self.code, self.unknown, self.memories, self.blocks, self.depth = [], set(), {}, [], 1
        header = re.search(r"func\.func @\w+_kernel\w*\((.*)\) attributes \{(.*)\} \{$", text, re.M)
        if not header or len(re.findall(r"func\.func @\w+_kernel", text)) != 1:
            sys.exit("traffic.py: the schedule does not have exactly one kernel")
        self.group, self.space, self.sub_group = (self.attribute(header[2], key, value) for key, value in
                                                  (("group_size", None), ("space", None), ("sub_group_size", 16)))
        if "factors = [" in header[2]:
            sys.exit("traffic.py: the sizes are open")
        for value, shape, label in re.findall(r"(%\w+): memref<([^>]*)> \{quern.arg = \"([^\"]*)\"\}", header[1]):
            self.memories[value] = (label, self.element_bytes(shape))
        for line in text[header.end():].splitlines():
            if line.strip() == "return":
                break
            self.translate(line.strip())

    @staticmethod
    def attribute(attributes, key, value):
        found = re.search(rf"\b{key} = (\d+)", attributes)
        return int(found[1]) if found else value

    @staticmethod
    def element_bytes(shape):
        return max(1, int(re.search(r"(?:f|bf|i)(\d+)", shape.split("x")[-1])[1]) // 8)

    def emit(self, text):
        self.code.append("  " * self.depth + text)

    def assign(self, results, expression, operands):
        """Emits one assignment; results of unknown operands are unknown."""
        isUnknown = expression is None or any(operand in self.unknown for operand in operands)
        for result in results:
            (self.unknown.add if isUnknown else self.unknown.discard)(result)
            self.emit(f"{result} = {'None' if isUnknown else expression}")

    def translate(self, line):
        if not line or line.startswith("//") or line.startswith("gpu.barrier"):
            return
        if line.startswith("}"):
            return self.close(line)
        results, operation = [], line
        if match := re.match(r"(%[\w:, %]+) = (.*)", line):
            operation = match[2]
            for result in match[1].split(","):
                stem, _, count = result.strip().partition(":")
                results += [name(stem)] if not count else [name(f"{stem}#{i}") for i in range(int(count))]
        kind, _, rest = operation.partition(" ")
        values = [name(value) for value in re.findall(r"%[\w#]+", rest)]
        if kind == "scf.if":
            return self.open_if(values[0], results)
        if kind == "scf.for":
            return self.open_for(rest, results)
        if kind == "scf.yield":
            return self.yield_(values)
        if kind in ("memref.load", "memref.store", "vector.load", "vector.store"):
            return self.access(kind, rest, results)
        if kind == "memref.get_global":
            element = re.search(r"memref<(\w+)", rest)[1]
            self.memories[line.split(" = ")[0]] = ("group memory", self.element_bytes(element))
            return None
        return self.assign(results, self.expression(kind, rest, values), values)

    @staticmethod
    def expression(kind, rest, values):
        stem = kind.removeprefix("arith.")
        if kind == "arith.constant":
            found = re.match(r"(-?\d+) : (?:index|i\d+)", rest)
            return found[1] if found else {"true": "True", "false": "False"}.get(rest)
        if stem in OPERATORS:
            return f"{values[0]} {OPERATORS[stem]} {values[1]}"
        if stem in ("minui", "maxui"):
            return f"{stem[:3]}({values[0]}, {values[1]})"
        if stem == "cmpi":
            return f"{values[0]} {PREDICATES[rest.split(',')[0]]} {values[1]}"
        if stem == "select":
            return f"{values[1]} if {values[0]} else {values[2]}"
        if stem in ("index_cast", "index_castui", "extui", "trunci"):
            return values[0]
        if kind == "memref.extract_aligned_pointer_as_index":
            return "0"
        return {"gpu.thread_id": "thread", "gpu.block_id": "block", "gpu.lane_id": "lane",
                "gpu.subgroup_id": "sub_group"}.get(kind)

    def access(self, kind, rest, results):
        memory, index = re.search(r"(%\w+)\[(%?\w*)\]", rest).groups()
        label, size = self.memories[memory]
        at = name(index) if index else "0"
        if at in self.unknown:
            sys.exit(f"traffic.py: an address depends on data: {rest}")
        count = int(re.search(r"vector<(\d+)x", rest)[1]) if kind.startswith("vector") else 1
        self.emit(f"access({len(self.code)}, {label!r}, {size}, {kind.endswith('store')}, {at}, {count})")
        self.assign(results, None, [])

    def open_if(self, condition, results):
        if condition in self.unknown:
            sys.exit(f"traffic.py: a condition depends on data: {condition}")
        self.emit(f"if {condition}:")
        self.blocks.append(("if", results, []))
        self.depth += 1
        self.emit("pass")

    def open_for(self, rest, results):
        variable, begin, end, step = re.match(r"(?:unsigned )?(%\w+) = (%\w+) to (%\w+) step (%\w+)", rest).groups()
        carried = [(name(a), name(c)) for a, c in re.findall(r"(%\w+) = (%[\w#]+)", rest.partition("iter_args")[2])]
        for inner, start in carried: # an accumulator of data
            self.unknown.add(inner)
            self.emit(f"{inner} = None")
        self.unknown.discard(name(variable))
        self.emit(f"for {name(variable)} in range({name(begin)}, {name(end)}, {name(step)}):")
        self.blocks.append(("for", results, carried))
        self.depth += 1
        self.emit("pass")

    def yield_(self, values):
        kind, results, _ = self.blocks[-1]
        if kind == "if":
            for result, value in zip(results, values):
                self.unknown.add(result)
                self.emit(f"{result} = None")

    def close(self, line):
        if line == "}" and not self.blocks:
            return
        kind, results, carried = self.blocks[-1]
        self.depth -= 1
        if "else" in line:
            self.emit("else:")
            self.depth += 1
            self.emit("pass")
            return
        self.blocks.pop()
        if kind == "for":
            for result in results:
                self.assign([result], None, [])

    def function(self):
        scope = {}
        exec("def kernel(block, thread, lane, sub_group, access):\n" + "\n".join(self.code), scope)
        return scope["kernel"]


def main():
    kernel = Translator(sys.stdin.read())
    run = kernel.function()
    counts = defaultdict(Counter)
    touched, least, conflict, sizes = Counter(), Counter(), Counter(), {}
    for block in range(kernel.space):
        for first in range(0, kernel.group, kernel.sub_group):
            together = defaultdict(list)
            for thread in range(first, min(first + kernel.sub_group, kernel.group)):
                turns = Counter()

                def access(site, label, size, isStore, at, count):
                    sizes[label] = size
                    together[site, turns[site], label, isStore] += range(at, at + count)
                    turns[site] += 1

                run(block, thread, thread - first, first // kernel.sub_group, access)
            for (_, _, label, isStore), places in together.items():
                distinct = set(places)
                counts[label, isStore].update(places if isStore else distinct)
                if label == "group memory":
                    words = {at * sizes[label] // BANK_BYTES for at in distinct}
                    conflict[label] = max(conflict[label], max(Counter(word % BANKS for word in words).values()))
                else:
                    touched[label, isStore] += len({at * sizes[label] // LINE_BYTES for at in distinct})
                    least[label, isStore] += -(-len(distinct) * sizes[label] // LINE_BYTES)
    for (label, isStore), places in sorted(counts.items()):
        if label == "group memory":
            continue
        times = sorted(set(places.values()))
        often = f"{times[0]}" if len(times) == 1 else f"{times[0]} to {times[-1]}"
        done, word = "written" if isStore else "read", "time" if often == "1" else "times"
        print(f"{label}: {len(places)} elements {done} {often} {word}, "
              f"{touched[label, isStore]} lines, least {least[label, isStore]}")
    for label, words in conflict.items():
        print(f"{label}: at most {words} word{'' if words == 1 else 's'} of a bank")


if __name__ == "__main__":
    main()
