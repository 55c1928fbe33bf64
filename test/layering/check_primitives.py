#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the list of docs/adding-a-primitive.md: the files that must name a primitive name every primitive of
lib/Desc/Primitives.def.

  check_primitives.py ROOT [FOLDER]    FOLDER contains a Primitives.def that replaces the one of ROOT
"""
import pathlib
import re
import sys

# In oneDNN these are functions, not primitives, so they have no class.
FUNCTIONS = {"gemm"}


def primitives(definition):
    return re.findall(r"^QUERN_PRIMITIVE\((\w+), (\w+), (\w+),", definition.read_text(), re.MULTILINE)


def violations(root, name, word, value):
    for path in (f"lib/Primitives/{name}/Desc.h", f"lib/Primitives/{name}/Verify.cpp",
                 f"lib/Primitives/{name}/Emit.cpp", f"lib/Reference/{name}/Reference.cpp",
                 f"test/unit/Primitives/{name}VerifyTest.cpp", f"docs/primitives/{word}.md"):
        if not (root / path).is_file():
            yield f"{path} is missing"
    for path in (f"test/Primitives/{name}", f"test/conformance/{name}"):
        if not (root / path).is_dir():
            yield f"{path} is missing"
    naming = [("lib/Desc/PrimitiveDesc.h", f"Primitives/{name}/Desc.h"),
              ("test/unit/Desc/FieldsTest.cpp", f"<{name}Desc>"),
              ("test/unit/Desc/FieldsTest.cpp", f"sizeof({name}Desc)"),
              ("test/conformance/Cases.h", f"make{name}Cases"),
              ("docs/text-form.md", f"\n## {word}\n"), ("docs/README.md", f"primitives/{word}.md"),
              ("docs/errors.md", f"primitives/{word}.md")]
    if word not in FUNCTIONS:
        header = "quern_rnn" if word == "rnn" else "quern_primitive"
        naming += [("include/quern/quern_types.h", f"quern_{word} = {value}"),
                   ("include/quern/quern_attr.hpp", f" {word} = quern_{word}"),
                   (f"include/quern/{header}.h", f" quern_{word}_"), (f"include/quern/{header}.hpp", f"(quern_{word}_"),
                   ("runtime/Dnnl/VerboseLines.cpp", f"case {value}: // {word}\n")]
    for path, text in naming:
        if text not in (root / path).read_text():
            yield f"{path} does not name {text.strip()}"


def main():
    root = pathlib.Path(sys.argv[1])
    definition = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root / "lib/Desc"
    known = primitives(definition / "Primitives.def")
    found = [f"{word}: {what}" for name, word, value in known
             for what in violations(root, name, word, value)]
    print("\n".join(found + [f"{len(known)} primitives, {len(found)} violations"]))
    return 1 if found or not known else 0


sys.exit(main())
