#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the command with closed and full streams, huge and damaged files, deep nesting and impossible numbers.

Each case must end within 20 seconds, with the exit status that docs/command.md states and a message if it is not 0.
"""
# FAULTS: command-line limit=240:

import os
import subprocess
import sys

QUERN = os.environ["QUERN"]
LINE = "softmax fwd_i src=f32:8x16:ab dst=f32:8x16:ab axis=1"
OPEN = "softmax fwd_i src=f32:?x16:ab dst=f32:?x16:ab axis=1"
OK, USAGE, FAILED = 0, 2, 4
DEEP, MANY = 20000, 100000


def written(name, content):
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return name


def shell(text):
    return ["bash", "-c", text.replace("QUERN", QUERN)]


def quern(*words):
    return [QUERN, *words]


def streams():
    """Output that cannot be written, and readers that close their pipe early."""
    yield "closed output", shell(f"QUERN run '{LINE}' >&-"), FAILED
    yield "closed output and errors", shell(f"QUERN run '{LINE}' >&- 2>&-"), FAILED
    yield "closed input", shell(f"QUERN run '{LINE}' <&-"), OK
    yield "full device, run", shell(f"QUERN run '{LINE}' >/dev/full"), FAILED
    yield "full device, assembly", shell(f"QUERN compile '{LINE}' --emit=asm >/dev/full"), FAILED
    yield "full device, JSON", shell("QUERN cache list --json >/dev/full"), FAILED
    yield "full device, explain", shell(f"QUERN explain '{LINE}' >/dev/full"), FAILED
    yield "a reader that goes away", shell(f"QUERN dump '{LINE}' | head -1 >/dev/null"), OK
    yield "the same without a signal", shell(f"trap '' PIPE; QUERN dump '{LINE}' 2>/dev/null | head -1 >/dev/null"), OK


def files():
    """Files with wrong contents instead of problems, packs and modules."""
    tensor = "f32:1x1:ab"
    post = ",".join(["eltwise(alg=relu)"] * MANY)
    for name, content in (("10 MB without a blank", "a" * (10 << 20)), 
                          ("200,000 dims", "softmax src=f32:" + "8x" * 200000 + "8:ab"),
                          ("100,000 sources", f"concat axis=0 srcs={','.join([tensor] * MANY)}"),
                          ("100,000 post-ops", f"{LINE} attr.post_ops={post}"),
                          ("a NUL", LINE.replace(" dst", "\0dst")), ("random bytes", os.urandom(1000000))):
        yield f"lines: {name}", quern("run", "-f", written("lines", content)), USAGE
    yield "lines: a folder", quern("run", "-f", "/tmp"), FAILED
    yield "a pack of random bytes", quern("pack", "list", written("random", os.urandom(1000000))), FAILED
    yield "MLIR of random bytes", quern("run", "--mlir=random"), USAGE


def modules():
    """Deeply nested and large MLIR modules."""
    nested = {
        "modules": "module {\n" * DEEP + "}" * DEEP,
        "tuples": "func.func @f(%a: " + "tuple<" * DEEP + "f32" + ">" * DEEP + ") { return }",
        "arrays": "func.func @f(%a: f32) attributes {x = " + "[" * DEEP + "]" * DEEP + "} { return }",
        "dialect types": "func.func @f(%a: tensor<4xf32, #x.y<" + "<" * DEEP + ">" * DEEP + ">>) { return }",
        "parentheses": "#m = affine_map<(d0) -> (" + "(" * DEEP + "d0" + ")" * DEEP + ")>\nfunc.func @f() { return }",
        "locations": "func.func @f() { return } loc(" + "fused[" * DEEP + '"a"' + "]" * DEEP + ")",
        "elements": "func.func @f() attributes {a = dense<" + "[" * DEEP + "1" + "]" * DEEP + "> : tensor<1xf32>}"
                    " { return }",
        "digits": "func.func @f(%a: tensor<" + "9" * 200000 + "xf32>) { return }",
    }
    for name, text in nested.items():
        yield f"MLIR: {name}", quern("run", "--mlir=" + written("nested.mlir", text)), USAGE


def numbers():
    """Options with values that are out of range."""
    yield "unknown option", quern("run", "--nonsense"), USAGE
    yield "negative threads", quern("run", LINE, "--threads=-1"), USAGE
    yield "too many threads", quern("run", LINE, "--threads=100000000000"), USAGE
    yield "repeats beyond int64", quern("run", LINE, "--repeat=99999999999999999999"), USAGE
    yield "negative size", quern("run", OPEN, "--sizes=-1"), USAGE
    yield "huge sizes", quern("run", OPEN, "--sizes=9223372036854775807"), USAGE
    yield "too much memory", quern("run", "softmax fwd_i src=f32:1000000000x1000000:ab dst=any axis=1"), USAGE
    yield "output to a missing folder", quern("compile", LINE, "--emit=artifact", "-o", "/nowhere/x"), FAILED
    yield "output to a read-only folder", quern("compile", LINE, "--emit=artifact", "-o", "/proc/x"), FAILED


def check(name, words, status):
    """Runs a case; prints its failure, if any, and returns whether it passed."""
    try:
        done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        print(f"FAILED: {name}: it did not end")
        return False
    message = done.stderr.decode(errors="replace").strip()
    isSilent = ">&-" in words[-1] and "2>&-" in words[-1]
    if done.returncode == status and (status == OK or message or isSilent):
        return True
    print(f"FAILED: {name}: exit status {done.returncode}, not {status}: {message[:300]}")
    return False


def main():
    results = [check(*case) for cases in (streams, files, modules, numbers) for case in cases()]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
