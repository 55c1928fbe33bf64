#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds docs/adding-a-primitive.md against the tree: what has to name a primitive names each
of lib/Desc/Primitives.def.

check_primitives.py ROOT [FOLDER]    FOLDER: of a Primitives.def that stands in place of ROOT's
"""
import pathlib
import re
import sys

# Of a function and no primitive of oneDNN's: it has no class, and the benchmark does not measure it.
FUNCTIONS = {"gemm"}


def primitives(definition):
    return re.findall(r"^QUERN_PRIMITIVE\((\w+), (\w+),", definition.read_text(), re.MULTILINE)


def violations(root, name, word):
    for path in (f"lib/Primitives/{name}/Desc.h", f"lib/Primitives/{name}/Verify.cpp",
                 f"lib/Primitives/{name}/Emit.cpp", f"lib/Reference/{name}/Reference.cpp",
                 f"test/unit/Primitives/{name}VerifyTest.cpp", f"docs/primitives/{word}.md"):
        if not (root / path).is_file():
            yield f"{path} is missing"
    for path in (f"test/Primitives/{name}", f"test/conformance/{name}"):
        if not (root / path).is_dir():
            yield f"{path} is missing"
    naming = [("test/unit/Desc/FieldsTest.cpp", f"<{name}Desc>"), ("test/conformance/Cases.h", f"make{name}Cases"),
              ("docs/text-form.md", word)]
    if word not in FUNCTIONS:
        naming.append(("tools/quern-bench/Problems/ProblemKind.cpp", f"{word}Kind()"))
    for path, text in naming:
        if text not in (root / path).read_text():
            yield f"{path} does not name {text}"


def main():
    root = pathlib.Path(sys.argv[1])
    definition = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root / "lib/Desc"
    known = primitives(definition / "Primitives.def")
    found = [f"{word}: {what}" for name, word in known for what in violations(root, name, word)]
    print("\n".join(found + [f"{len(known)} primitives, {len(found)} violations"]))
    return 1 if found or not known else 0


sys.exit(main())
