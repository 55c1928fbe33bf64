# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples.py PAGE: prints the problems on the page of the primitive that has the page's name, with open sizes set to
37."""
import pathlib
import sys

page = pathlib.Path(sys.argv[1])
lines = page.read_text(encoding="utf-8").split("## Examples")[1].splitlines()
print("\n".join(line.replace("?", "37") for line in lines if line.startswith(page.stem + " ")))
