# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `quern` of the package, which runs reference implementations and manages caches and packs."""

import os
import subprocess
import sys

from quern._errors import Error

PATH = os.path.join(os.path.dirname(__file__), "bin", "quern")


def run(arguments, may_fail=False):
    """Returns the standard output of the command. If it fails, raises quern.Error with its message, unless `may_fail`
    and there is output."""
    if not os.path.exists(PATH):
        raise Error(f"this package was built without the command quern: there is no {PATH}", 5)
    done = subprocess.run([PATH, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0 and not (may_fail and done.stdout):
        raise Error(done.stderr.strip() or f"quern ended with {done.returncode}", {2: 2, 3: 3}.get(done.returncode, 5))
    return done.stdout


def main():
    """Runs the command. Only `compile --emit=tvm-ffi` is implemented in Python, because it needs a C compiler."""
    if sys.argv[1:2] == ["compile"] and "--emit=tvm-ffi" in sys.argv:
        from quern import tvm_ffi
        sys.exit(tvm_ffi.main(sys.argv[2:]))
    if not os.path.exists(PATH):
        sys.exit(f"this package was built without the command quern: there is no {PATH}")
    os.execv(PATH, ["quern", *sys.argv[1:]])
