# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `quern` that is in the package: for what only it has, the references and the care of caches and packs."""

import os
import subprocess
import sys

from quern._errors import Error

PATH = os.path.join(os.path.dirname(__file__), "bin", "quern")


def run(arguments, may_fail=False):
    """Its standard output; quern.Error with what it says where it fails, unless that is expected."""
    if not os.path.exists(PATH):
        raise Error(f"this package was built without the command quern: there is no {PATH}", 5)
    done = subprocess.run([PATH, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0 and not (may_fail and done.stdout):
        raise Error(done.stderr.strip() or f"quern ended with {done.returncode}", {2: 2, 3: 3}.get(done.returncode, 5))
    return done.stdout


def main():
    """`python -m quern` is the command; `--emit=tvm-ffi` of its `compile`, which needs a C compiler, is here."""
    if sys.argv[1:2] == ["compile"] and "--emit=tvm-ffi" in sys.argv:
        from quern import tvm_ffi
        sys.exit(tvm_ffi.main(sys.argv[2:]))
    if not os.path.exists(PATH):
        sys.exit(f"this package was built without the command quern: there is no {PATH}")
    os.execv(PATH, ["quern", *sys.argv[1:]])
