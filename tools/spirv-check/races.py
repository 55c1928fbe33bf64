# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a kernel in oclgrind, which reports data races and accesses outside of buffers but lacks sub-groups."""

import os
import re
import subprocess

import module

_SIZES = {"i1": 1, "i8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8, "index": 8}
_SLOW = 40000  # number of work-items above which only the first and the last group run


class Launch:
    """Launch data of a scheduled kernel: work-groups, and the size in bytes of each buffer."""

    def __init__(self, name, groups, buffers):
        self.name, self.groups, self.buffers = name, groups, buffers


def _bytes_of(memref):
    *extents, element = memref.split(",")[0].split("x")
    size = _SIZES.get(element) or (1 if element.startswith("f8") else None)
    if size is None or not all(e.isdigit() for e in extents):
        return None
    for e in extents:
        size *= int(e)
    return size


def launches(scheduled):
    """Returns the launches of all kernels in the text of a schedule, except those with open sizes."""
    found = {}
    for match in re.finditer(r"func\.func @(\w+)\((.*)\)\s+attributes \{(.*)\}", scheduled):
        name, arguments, attributes = match.groups()
        space = re.search(r"\bspace = (\d+)", attributes)
        if not space or "factors = [" in attributes:
            continue
        shared = re.search(r"\bshared_bytes = (\d+)", attributes)
        memrefs = re.findall(r"memref<([^<>]*(?:<[^<>]*>[^<>]*)*)>( \{quern\.shared\})?", arguments)
        buffers = [int(shared.group(1)) if is_shared and shared else _bytes_of(m) for m, is_shared in memrefs]
        if None not in buffers:
            found[name] = Launch(name, int(space.group(1)), buffers)
    return found


def check(spirv, kernel, launch, directory):
    """Returns the error of a run over zeros, or None."""
    bitcode = os.path.join(directory, "kernel.bc")
    plain = os.path.join(directory, "plain.spv")
    with open(plain, "wb") as out:
        out.write(module.without_null_constants(spirv))
    done = subprocess.run(["llvm-spirv-14", "-r", plain, "-o", bitcode], capture_output=True, text=True)
    if done.returncode:
        return "llvm-spirv-14: " + (done.stderr.strip().splitlines() or ["failed"])[0]
    pointers = [size for size in kernel.arguments if size == 0]
    if len(pointers) != len(launch.buffers) or len(kernel.arguments) != len(pointers):
        return f"the kernel takes {len(kernel.arguments)} arguments, its schedule has {len(launch.buffers)} buffers"
    simulation = os.path.join(directory, "kernel.sim")
    items = launch.groups * kernel.group[0]
    with open(simulation, "w") as out:
        out.write(f"{bitcode}\n{kernel.name}\n{items} 1 1\n{kernel.group[0]} 1 1\n")
        out.writelines(f"<size={size} char fill=0>\n" for size in launch.buffers)
    quick = ["--quick"] if items > _SLOW else []
    command = ["oclgrind-kernel", "--data-races", "--max-errors", "3", "--max-wgsize", "1024", *quick, simulation]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "oclgrind took more than two minutes"
    said = (done.stdout + done.stderr).strip()
    return None if done.returncode == 0 and not said else "oclgrind: " + " ".join((said or "failed").split())[:300]
