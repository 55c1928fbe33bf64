# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the properties of a SPIR-V module's kernels: names, group sizes, group memory, barriers, arguments, imports."""

import struct
from dataclasses import dataclass, field

_WORKGROUP = 4
_MODE_LOCAL_SIZE, _MODE_SUB_GROUP_SIZE = 17, 35
_OP_EXTENDED, _OP_ENTRY, _OP_MODE, _OP_CAPABILITY = 11, 15, 16, 17
_OP_INT, _OP_FLOAT, _OP_VECTOR, _OP_ARRAY, _OP_STRUCT, _OP_POINTER = 21, 22, 23, 28, 30, 32
_OP_CONSTANT, _OP_CONSTANT_NULL, _OP_FUNCTION, _OP_PARAMETER, _OP_FUNCTION_END, _OP_CALL = 43, 46, 54, 55, 56, 57
_OP_VARIABLE, _OP_LOAD, _OP_STORE, _OP_EXTRACT, _OP_DECORATE, _OP_BARRIER, _OP_SWITCH = 59, 61, 62, 81, 71, 224, 251
_CAPABILITY_FLOAT64, _CAPABILITY_DEVICE_ENQUEUE = 10, 19
# Capabilities that use sub-groups: Groups, GroupNonUniform* and Intel's, without the one that only fixes sizes.
_SUB_GROUP_CAPABILITIES = {18, 4423, 5568, 5569} | set(range(61, 69))
_SUB_GROUP_BUILTINS = set(range(36, 42))  # SubgroupSize to SubgroupLocalInvocationId
# Operands that are ids in instructions with literals; in all other instructions every word counts.
_IDS = {_OP_LOAD: slice(3, 4), _OP_STORE: slice(1, 3), _OP_EXTRACT: slice(3, 4), _OP_SWITCH: slice(1, 2)}


@dataclass
class Kernel:
    name: str
    group: tuple = None  # work-items along x, y and z if the module fixes them
    sub_group: int = 0  # required size; 0: any
    memory_bytes: int = 0  # shared by a group
    memories: int = 0  # number of variables in `memory_bytes`
    barriers: bool = False
    arguments: list = field(default_factory=list)  # size of a value in bytes; 0 for a pointer


@dataclass
class Module:
    kernels: list
    imports: list  # functions that the module calls and does not define
    has_f64: bool
    uses_sub_groups: bool


def _words(data):
    if len(data) % 4 or len(data) < 20:
        raise ValueError(f"{len(data)} bytes are not a SPIR-V module")
    words = struct.unpack(f"<{len(data) // 4}I", data)
    if words[0] != 0x07230203:
        raise ValueError("not a SPIR-V module")
    return words


def instructions(data):
    """Yields opcode and words of each instruction; raises ValueError if the stream is truncated."""
    words, at = _words(data), 5
    while at < len(words):
        length = words[at] >> 16
        if not length or at + length > len(words):
            raise ValueError(f"the module is cut in the instruction at word {at}")
        yield words[at] & 0xFFFF, words[at : at + length]
        at += length


def _string(words):
    return struct.pack(f"<{len(words)}I", *words).split(b"\0")[0].decode()


def _bytes_of(types, constants, id):
    kind, operands = types[id]
    if kind in (_OP_INT, _OP_FLOAT):
        return operands[0] // 8
    if kind == _OP_VECTOR:
        return operands[1] * _bytes_of(types, constants, operands[0])
    if kind == _OP_ARRAY:
        return constants[operands[1]] * _bytes_of(types, constants, operands[0])
    if kind == _OP_STRUCT:
        return sum(_bytes_of(types, constants, member) for member in operands)
    return 8


class _Reader:
    def __init__(self):
        self.types, self.constants, self.memories, self.entries = {}, {}, {}, {}
        self.imports, self.capabilities, self.builtins = [], set(), set()
        self.functions, self.function = {}, None  # id -> (parameter types, words seen, callees, has a barrier)

    def take(self, op, words):
        if op == _OP_CAPABILITY:
            self.capabilities.add(words[1])
        elif op == _OP_ENTRY:
            self.entries[words[2]] = Kernel(_string(words[3:]))
        elif op == _OP_MODE and words[2] == _MODE_LOCAL_SIZE:
            self.entries[words[1]].group = tuple(words[3:6])
        elif op == _OP_MODE and words[2] == _MODE_SUB_GROUP_SIZE:
            self.entries[words[1]].sub_group = words[3]
        elif op == _OP_DECORATE and words[2] == 41 and words[-1] == 1:
            self.imports.append((words[1], _string(words[3:-1])))
        elif op == _OP_DECORATE and words[2] == 11:
            self.builtins.add(words[3])
        elif op in (_OP_INT, _OP_FLOAT, _OP_VECTOR, _OP_ARRAY, _OP_STRUCT, _OP_POINTER):
            self.types[words[1]] = (op, words[2:])
        elif op == _OP_CONSTANT:
            self.constants[words[2]] = words[3]
        elif op == _OP_VARIABLE and words[3] == _WORKGROUP:
            self.memories[words[2]] = self.types[words[1]][1][1]
        self.take_in_function(op, words)

    def take_in_function(self, op, words):
        if op == _OP_FUNCTION:
            self.function = self.functions[words[2]] = ([], set(), set(), [])
        elif op == _OP_FUNCTION_END:
            self.function = None
        elif self.function and op == _OP_PARAMETER:
            self.function[0].append(words[1])
        elif self.function:
            self.function[1].update(words[_IDS.get(op, slice(1, None))])
            if op == _OP_CALL:
                self.function[2].add(words[3])
            if op == _OP_BARRIER:
                self.function[3].append(words[1])

    def reached(self, id):
        seen, todo = set(), [id]
        while todo:
            id = todo.pop()
            if id not in seen and id in self.functions:
                seen.add(id)
                todo += self.functions[id][2]
        return [self.functions[id] for id in seen]

    def finish(self):
        for id, kernel in self.entries.items():
            bodies = self.reached(id)
            used = [m for m in self.memories if any(m in body[1] for body in bodies)]
            kernel.memories = len(used)
            kernel.memory_bytes = sum(_bytes_of(self.types, self.constants, self.memories[m]) for m in used)
            kernel.barriers = any(body[3] for body in bodies)
            kernel.arguments = [
                0 if self.types[t][0] == _OP_POINTER else _bytes_of(self.types, self.constants, t)
                for t in self.functions[id][0]
            ]
        uses_sub_groups = bool(self.capabilities & _SUB_GROUP_CAPABILITIES or self.builtins & _SUB_GROUP_BUILTINS)
        imports = [name for id, name in self.imports if id in self.functions]  # variables are built-ins
        return Module(list(self.entries.values()), imports, _CAPABILITY_FLOAT64 in self.capabilities, uses_sub_groups)


def read(data):
    """Returns the Module of these bytes; raises ValueError if they are not a module."""
    reader = _Reader()
    for op, words in instructions(data):
        reader.take(op, words)
    return reader.finish()


def without_null_constants(data):
    """Returns the same module with numbers instead of scalar nulls, and without a capability that others imply, as
    llvm-spirv-14 requires it."""
    out, scalars = list(_words(data)[:5]), {}
    for op, words in instructions(data):
        if op in (_OP_INT, _OP_FLOAT):
            scalars[words[1]] = words[2]
        if op == _OP_CONSTANT_NULL and words[1] in scalars:
            zeros = [0] * (2 if scalars[words[1]] == 64 else 1)
            words = [(3 + len(zeros)) << 16 | _OP_CONSTANT, words[1], words[2], *zeros]
        if op != _OP_CAPABILITY or words[1] != _CAPABILITY_DEVICE_ENQUEUE:
            out += words
    return struct.pack(f"<{len(out)}I", *out)
