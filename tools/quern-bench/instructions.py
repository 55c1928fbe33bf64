#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the instructions that kernels execute per element of dst, for AArch64 and for x86 of equal vector width.

  instructions.py QUERN [--problems FILE] [--pairs neon/sse42,sve:vl=256/avx2] [--most 1.2]

QUERN is the command `quern`. Each kernel is linked with a program that calls it on zeros. For AArch64 the program runs
in QEMU's user mode, which logs each instruction; for x86 it is single-stepped on this machine. Only instructions of the
kernel's code are counted. A target that this machine cannot run is left out. Needs clang, lld and qemu-user-static. The
exit status is 1 if a pair has no ratio at all.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIRS = "neon/sse42,sve:vl=256/avx2,sve:vl=512/avx512_core"
TRIPLES = {"arm": "aarch64-linux-gnu", "x86": "x86_64-linux-gnu"}
EXITS = {
    "arm": 'register long call __asm__("x8") = 93, status __asm__("x0") = 0;'
    ' __asm__ volatile("svc 0" : : "r"(call), "r"(status));',
    "x86": '__asm__ volatile("syscall" : : "a"(60), "D"(0));',
}
LINE = re.compile(rb"Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/")


def architecture(target):
    return "arm" if target.startswith(("neon", "sve")) else "x86"


def elements(line):
    """Returns the number of elements of the first tensor whose name ends in dst."""
    dims = re.search(r"dst=[^:]*:([\dx]+)", line).group(1)
    product = 1
    for dim in dims.split("x"):
        product *= int(dim)
    return product


def driver(program, arch):
    """Returns the source of a program without libraries that calls the kernel of each step once."""
    if program["loops"]:
        raise ValueError("its program has loops")
    text = ["typedef struct { void *const *buffers; void *scratch, *shared; const long *sizes; } Args;"]
    for index, buffer in enumerate(program["buffers"]):
        text.append(f"static char buffer{index}[{int(buffer['bytes']) + 64}] __attribute__((aligned(64)));")
    text.append("static char scratch[1 << 22] __attribute__((aligned(64)));")
    calls = []
    for step in program["steps"]:
        text.append(f"extern void {step['kernel']}(const Args *, long, long);")
        places = ", ".join(f"buffer{index} + {offset}" for index, offset in step["buffers"])
        calls.append(
            f"{{ void *const b[] = {{{places}}}; const Args a = {{b, scratch, scratch + (1 << 21), 0}};"
            f" {step['kernel']}(&a, 0, {step['iterations']}); }}"
        )
    text.append("void _start(void) {")
    if arch == "x86":
        text.append('__asm__ volatile("and $-64, %rsp");')
    return "\n".join([*text, *calls, EXITS[arch], "}"])


def build(quern, line, target, folder):
    """Returns the path of the program and the address range of the kernels' code in it."""
    arch = architecture(target)
    trace = subprocess.run(
        [quern, "dump", "--json", "--target=" + target, line], capture_output=True, text=True, check=True
    )
    program = json.loads(trace.stdout)["program"]
    subprocess.run(
        [quern, "compile", "--target=" + target, "--emit=obj", "-o", folder / "kernel.o", line],
        check=True,
        capture_output=True,
    )
    (folder / "main.c").write_text(driver(program, arch), encoding="utf-8")
    clang = ["clang-22", "--target=" + TRIPLES[arch], "-O1", "-ffreestanding", "-fno-stack-protector"]
    subprocess.run(clang + ["-c", "-o", folder / "main.o", folder / "main.c"], check=True)
    link = ["-nostdlib", "-static", "-fuse-ld=lld", "-Wl,-Map=" + str(folder / "map")]
    subprocess.run(clang + link + ["-o", folder / "run", folder / "main.o", folder / "kernel.o"], check=True)
    for place in (folder / "map").read_text(encoding="utf-8").splitlines():
        words = place.split()
        if len(words) == 5 and words[4].endswith("kernel.o:(.text)"):
            return folder / "run", int(words[0], 16), int(words[0], 16) + int(words[2], 16)
    raise ValueError("the linker's map does not have the kernels' code")


def countInQemu(path, begin, end, target):
    """Counts in QEMU, which translates each instruction separately and logs it when it is executed."""
    cpu = "max"
    if "vl=" in target:
        length = int(target.split("vl=")[1])
        cpu += f",sve{length}=on,sve-default-vector-length={length // 8}"
    command = ["qemu-aarch64-static", "-cpu", cpu, "-singlestep", "-d", "exec,nochain", path]
    log = subprocess.run(command, stderr=subprocess.PIPE, check=True).stderr
    return sum(begin <= int(address, 16) < end for address in LINE.findall(log))


class Registers(ctypes.Structure):
    """user_regs_struct of x86-64; rip is its seventeenth member."""

    _fields_ = [("others", ctypes.c_ulonglong * 16), ("rip", ctypes.c_ulonglong), ("more", ctypes.c_ulonglong * 10)]


def countByStepping(path, begin, end):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    traceMe, getRegisters, singleStep = 0, 12, 9
    child = os.fork()
    if child == 0:
        libc.ptrace(traceMe, 0, None, None)
        os.execv(path, [str(path)])
    count, registers = 0, Registers()
    _, status = os.waitpid(child, 0)
    while os.WIFSTOPPED(status):
        if os.WSTOPSIG(status) != signal.SIGTRAP:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise OSError("the kernel stopped by signal %d" % os.WSTOPSIG(status))
        libc.ptrace(getRegisters, child, None, ctypes.byref(registers))
        count += begin <= registers.rip < end
        libc.ptrace(singleStep, child, None, None)
        _, status = os.waitpid(child, 0)
    return count


def count(quern, line, target):
    """Returns the executed instructions per element, or None if this machine lacks the target."""
    with tempfile.TemporaryDirectory() as name:
        path, begin, end = build(quern, line, target, pathlib.Path(name))
        if architecture(target) == "arm":
            return countInQemu(path, begin, end, target) / elements(line)
        try:
            return countByStepping(path, begin, end) / elements(line)
        except OSError:
            return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("quern")
    parser.add_argument("--problems", default=ROOT / "test/problems/instructions.desc", type=pathlib.Path)
    parser.add_argument("--pairs", default=PAIRS)
    parser.add_argument("--most", default=1.2, type=float)
    options = parser.parse_args()
    lines = [line.split("#")[0].strip() for line in options.problems.read_text(encoding="utf-8").splitlines()]
    pairs = [pair.split("/") for pair in options.pairs.split(",")]
    print("| problem | " + " | ".join(f"{arm} | {x86} | ratio" for arm, x86 in pairs) + " |")
    print("|---" * (1 + 3 * len(pairs)) + "|")
    above, known = 0, [False] * len(pairs)
    for line in filter(None, lines):
        cells = []
        for index, (arm, x86) in enumerate(pairs):
            ours, theirs = count(options.quern, line, arm), count(options.quern, line, x86)
            if theirs:
                known[index] = True
                above += ours / theirs > options.most
            cells += [f"{ours:.3f}", f"{theirs:.3f}" if theirs else "–", f"{ours / theirs:.2f}" if theirs else "–"]
        print(f"| {line} | " + " | ".join(cells) + " |", flush=True)
    print(f"\n{above} above {options.most}.")
    return 0 if all(known) else 1


if __name__ == "__main__":
    sys.exit(main())
