# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explains each module of a folder and compares status and message with its first line, `// STATUS TEXT`.

  refusals.py FOLDER    a file `NAME.mlir:FUNCTION`, as split-file names it, tests that function
"""

import os
import subprocess
import sys
import tempfile

EXIT = {"invalid_arguments": 2, "unimplemented": 3}


def main():
    folder = sys.argv[1]
    wrong = 0
    names = sorted(os.listdir(folder))
    with tempfile.TemporaryDirectory() as copies:
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                module = file.read()
            status, wanted = module.split(b"\n", 1)[0].decode()[3:].split(" ", 1)
            file, _, function = name.partition(":")
            path = os.path.join(copies, file)
            with open(path, "wb") as copy:
                copy.write(module)
            ran = subprocess.run(["quern", "explain", "--mlir=" + path + (":" + function if function else "")],
                                 capture_output=True, text=True, errors="replace", timeout=120, check=False)
            if ran.returncode != EXIT[status] or wanted not in ran.stderr:
                print(f"{name}: exit {ran.returncode}, expected {EXIT[status]} and '{wanted}':\n{ran.stderr}")
                wrong += 1
    print(f"{len(names)} modules, {wrong} wrong")
    sys.exit(1 if wrong or len(names) < 20 else 0)


if __name__ == "__main__":
    main()
