# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command and succeeds if it exits with the given code: `exits.py CODE COMMAND...`. Output passes through."""

import subprocess
import sys

code = subprocess.run(sys.argv[2:], check=False).returncode
if code != int(sys.argv[1]):
    sys.exit("exit code %d instead of %s" % (code, sys.argv[1]))
