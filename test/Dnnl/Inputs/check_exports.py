# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares runtime/Dnnl/Exports.def and the drop-in's symbols with oneDNN's headers.

  check_exports.py ROOT GENUINE_INCLUDE LIBRARY

Every function that the headers declare must be in the list once and be exported, and an alias must have the types of
the quern_ function, except for the prefix. Prints all mistakes; the exit status is 1 if there are any.
"""

import glob
import os
import re
import subprocess
import sys

from headers import GENUINE, parameterTypes, pathsOf, readFunctions

# Exported by oneDNN's builds without a declaration; test tools call them.
UNDOCUMENTED = {"memory_desc_create_with_string_tag", "memory_desc_set_data_type"}


def main():
    root, include, library = sys.argv[1:]
    genuine = readFunctions(pathsOf(os.path.join(include, "oneapi/dnnl"), GENUINE), "DNNL_API")
    ours = readFunctions(glob.glob(os.path.join(root, "include/quern/*.h")), "QUERN_API")
    with open(os.path.join(root, "runtime/Dnnl/Exports.def"), encoding="utf-8") as file:
        entries = re.findall(r"^(ALIAS|OWN|PRIMITIVE|UNIMPLEMENTED)\((\w+)", file.read(), flags=re.M)
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in symbols.splitlines()}

    names = [name for _, name in entries]
    wrong = [f"{name} occurs {names.count(name)} times in Exports.def"
             for name in sorted(set(names)) if names.count(name) > 1]
    declared = {name.removeprefix("dnnl_") for name in genuine}
    wrong += [f"dnnl_{name} is declared but not in Exports.def" for name in sorted(declared - set(names))]
    wrong += [f"dnnl_{name} is in Exports.def but not declared"
              for name in sorted(set(names) - declared - UNDOCUMENTED)]
    wrong += [f"dnnl_{name} is not exported" for name in names if f"dnnl_{name}" not in exported]
    wrong += [f"{name} is exported, but not in Exports.def"
              for name in sorted(exported) if name.removeprefix("dnnl_") not in names]
    aliases = 0
    for kind, name in entries:
        if kind != "ALIAS" or name in UNDOCUMENTED:
            continue
        aliases += 1
        if f"quern_{name}" not in ours:
            wrong.append(f"quern_{name} is not declared")
            continue
        theirs = parameterTypes(genuine[f"dnnl_{name}"]).replace("dnnl_", "quern_")
        mine = parameterTypes(ours[f"quern_{name}"])
        if theirs != mine:
            wrong.append(f"{name} is not an alias: {mine} differs from {theirs}")
    for line in wrong:
        print(line)
    print(f"{len(genuine)} functions declared, {aliases} of them aliases, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


main()
