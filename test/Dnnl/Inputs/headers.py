# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads functions, enumerations and macros from C headers in oneDNN's style."""

import os
import re

GENUINE = ["dnnl.h", "dnnl_common.h", "dnnl_debug.h", "dnnl_threadpool.h", "dnnl_ze.h"]
GENUINE_TYPES = ["dnnl_common_types.h", "dnnl_types.h"]


def readPlain(path):
    """Returns the text of a header without comments and preprocessor lines."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    text = text.replace("\\\n", " ")
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


def normalize(declaration):
    """Leaves one space between words and none around punctuation, and removes words that are not part of the type."""
    declaration = re.sub(r"\b(DNNL_API|QUERN_API|DNNL_DEPRECATED|QUERN_NOEXCEPT|noexcept)\b", " ", declaration)
    return re.sub(r"\s*([*(),])\s*", r"\1", " ".join(declaration.split())).strip()


def readFunctions(paths, macro):
    """Returns name -> normalized declaration for every function marked with `macro`."""
    found = {}
    for path in paths:
        for statement in re.split(r"[;{}]", readPlain(path)):
            if re.search(rf"\b{macro}\b", statement):
                declaration = normalize(statement)
                match = re.search(r"(\w+)\(", declaration)
                assert match, declaration
                found[match.group(1)] = declaration
    return found


def parameterTypes(declaration):
    """Returns a declaration without the names of its parameters."""
    head, parameters = declaration[:-1].split("(", 1)
    types = (re.sub(r"(?<=[\s*])\w+$", "", p).strip() if p != "void" else p for p in parameters.split(","))
    return head + "(" + ",".join(types) + ")"


def readEnumerators(paths):
    """Returns name of the enumeration -> its enumerators."""
    found = {}
    for path in paths:
        for match in re.finditer(r"typedef\s+enum\b[^{]*\{(.*?)\}\s*(\w+)\s*;", readPlain(path), flags=re.S):
            found[match.group(2)] = [item.split("=")[0].strip() for item in match.group(1).split(",") if item.strip()]
    return found


def readMacros(paths, prefix):
    """Returns the macros with this prefix that have a value and no parameters."""
    found = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            found += re.findall(rf"^#define ({prefix}\w+) +\S", file.read(), flags=re.M)
    return found


def pathsOf(folder, names):
    return [os.path.join(folder, name) for name in names]
