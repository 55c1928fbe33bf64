#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the layering of the tree, with the #include lines, and the formal limits of source files.

  check_layering.py ROOT

Each file belongs to the first layer whose pattern matches its path. A layer lists what its files may include: other
layers, single headers, and the external libraries `mlir` (mlir/ and llvm/), `tbb`, `ze` (Level Zero) and `net`
(hiredis, libcurl, libsodium). The folders of lib/ and runtime/ must not include each other in a circle. A source file
must also begin with the license, and have at most 600 lines of at most 120 columns. Prints one line for each violation;
then the exit status is 1. docs/architecture.md explains the layers.
"""

import fnmatch
import graphlib
import os
import re
import sys

MAX_LINES = 600
MAX_COLUMNS = 120
CODE_SUFFIXES = (".c", ".cpp", ".h", ".hpp")
SOURCE_SUFFIXES = CODE_SUFFIXES + (".td", ".py", ".sh", ".cmake")
LICENSE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"

# (layer, path patterns, what it may include). A file may always include its own layer.
DESC = ["tensors", "operations", "desc"]
FREE = DESC + ["support", "artifact", "registry"]
COMMON = ["support", "ir", "transforms", "schedule-problem", "schedule-build", "lib/Desc/Target.h", "mlir"]
RECIPES = ["schedule-problem", "schedule-build", "schedule-device"] + [
    recipe + half for recipe in ("rows", "map", "contraction") for half in ("", "-cpu", "-device")
]
RUNTIME = ["launch", "elf", "compilation", "events", "engine", "family", "cache", "debug", "cpu", "levelzero",
           "kernels", "core", "calls", "api"]
LAYERS = [
    ("public", ["include/quern/*"], []),
    ("bridge", ["include/quern-compiler/Bridge.h"], []),
    ("embedder", ["include/quern-compiler/*"], ["public", "mlir"]),
    ("support", ["lib/Support/*"], []),
    # The fields of an operation are in the folder of its primitive and use only tensors and types. PrimitiveDesc, the
    # descriptor of any problem, contains one of them.
    ("tensors", ["lib/Desc/Tensor/*", "lib/Desc/Types.*", "lib/Desc/Primitives.def", "lib/Desc/FieldVisitor.h"],
     ["support"]),
    ("operations", ["lib/Primitives/*/Desc.h"], ["support", "tensors"]),
    ("desc", ["lib/Desc/*"], DESC + ["support"]),
    ("artifact", ["lib/Artifact/*"], ["support"]),
    ("reference", ["lib/Reference/*"],
     DESC + ["support", "lib/Primitives/Arguments.h", "lib/Primitives/Integers.h",
      "lib/Primitives/Reorder/Compensation.h", "lib/Primitives/Rnn/Shape.h", "lib/Primitives/Rnn/Workspace.h"]),
    ("emit", ["lib/Primitives/Emit*", "lib/Primitives/Emission/*", "lib/Primitives/*/Emit*"],
     DESC + ["support", "ir", "registry", "mlir"]),
    ("registry", ["lib/Primitives/*"], DESC + ["support"]),
    ("ir", ["lib/IR/*"], ["support", "artifact", "mlir"]),
    ("transforms", ["lib/Transforms/*"], ["support", "ir", "lib/Desc/Target.h", "mlir"]),
    # Two layers are shared by all recipes, and one by all recipes for devices; each recipe also has three layers.
    ("schedule-problem", ["lib/Schedule/Problem/*"], ["support", "ir", "transforms", "mlir"]),
    ("schedule-build", ["lib/Schedule/Batch/*", "lib/Schedule/Build/*"],
     ["support", "ir", "transforms", "schedule-problem", "mlir"]),
    ("schedule-device", ["lib/Schedule/Device/*"], COMMON),
    ("rows-device", ["lib/Schedule/Rows/Device/*"], COMMON + ["schedule-device", "rows"]),
    ("map-device", ["lib/Schedule/Map/Device/*"], COMMON + ["schedule-device", "map"]),
    ("contraction-device", ["lib/Schedule/Contraction/Device/*"], COMMON + ["schedule-device", "contraction"]),
    ("rows-cpu", ["lib/Schedule/Rows/Cpu/*", "lib/Schedule/Rows/Rows.cpp"], COMMON + ["rows"]),
    ("map-cpu", ["lib/Schedule/Map/Cpu/*", "lib/Schedule/Map/Map.cpp"], COMMON + ["map"]),
    ("contraction-cpu", ["lib/Schedule/Contraction/Cpu/*", "lib/Schedule/Contraction/Contraction.cpp"],
     COMMON + ["contraction"]),
    ("rows", ["lib/Schedule/Rows/*"], COMMON),
    ("map", ["lib/Schedule/Map/*"], COMMON),
    ("contraction", ["lib/Schedule/Contraction/*"], COMMON),
    ("targets", ["lib/Targets/*"],
     RECIPES + ["support", "ir", "transforms", "artifact", "lib/Desc/CpuTile.h", "lib/Desc/Target.h",
                "include/quern/kernel_abi.h", "mlir"]),
    # Converts modules of users to problems.
    ("functions", ["lib/Functions/*"], DESC + ["support", "ir", "mlir"]),
    ("compiler", ["lib/Compiler/*", "lib/StaticLlvm/*"],
     FREE + RECIPES + ["functions", "ir", "emit", "transforms", "targets", "bridge", "embedder", "public", "mlir"]),
    # The plugin for mlir-opt uses only the API for embedders.
    ("plugin", ["lib/Plugin/*"], ["embedder", "public", "mlir"]),
    # libquern: each folder of runtime/ is a layer.
    ("launch", ["runtime/Launch/*"], FREE + ["public"]),
    ("elf", ["runtime/Elf/*"], ["support"]),
    ("compilation", ["runtime/Compilation/*"], DESC + ["support", "bridge"]),
    ("events", ["runtime/Events/*"], FREE + ["public"]),
    ("engine", ["runtime/Engine/*"], FREE + ["launch", "public"]),
    ("family", ["runtime/Family/*"], FREE + ["engine"]),
    ("cache", ["runtime/Cache/*"], FREE + ["engine", "remote-interface"]),
    ("debug", ["runtime/Debug/*"], FREE + ["cache", "compilation", "elf", "events", "bridge"]),
    ("cpu", ["runtime/Cpu/*"], FREE + ["launch", "engine", "compilation", "elf", "public", "tbb"]),
    ("levelzero", ["runtime/LevelZero/*"], FREE + ["launch", "engine", "public", "ze"]),
    ("kernels", ["runtime/Kernels/*"],
     FREE + ["launch", "engine", "family", "events", "cache", "compilation", "debug", "cpu", "bridge", "public"]),
    ("core", ["runtime/Core/*"],
     FREE + ["launch", "engine", "events", "compilation", "cpu", "kernels", "public"]),
    ("calls", ["runtime/Mlir/*"], FREE + ["engine", "cpu", "core", "public"]),
    ("api-levelzero", ["runtime/API/LevelZero.cpp"], FREE + ["api", "engine", "levelzero", "public"]),
    ("api", ["runtime/API/*"],
     FREE + ["launch", "engine", "events", "compilation", "cpu", "kernels", "core", "calls", "bridge", "public"]),
    # Libraries on top of libquern. They use its public headers and, from libquern's sources, only those listed here.
    ("dnnl", ["runtime/Dnnl/*"], DESC + ["support", "runtime/Debug/JitDump.h", "public"]),
    ("python", ["runtime/Python/*"], ["public"]),
    ("onnxruntime", ["runtime/OnnxRuntime/*"], ["public"]),
    # libquern-remote is opened at run time and shares only this header with libquern.
    ("remote-interface", ["runtime/Remote/Interface.h"], []),
    ("remote", ["runtime/Remote/*"], ["support", "artifact", "remote-interface", "net"]),
    ("guards", ["tools/guards/*"], []),
    ("plots", ["tools/plots/*"], ["support", "lib/Desc/Target.h"]),
    ("tool-opt", ["tools/quern-opt/*"],
     FREE + RECIPES + ["guards", "ir", "emit", "transforms", "targets", "compiler", "embedder", "public", "mlir"]),
    ("peers", ["tools/peers/*"], FREE + ["guards", "public", "lib/Reference/Elements.h"]),
    ("tool-bench", ["tools/quern-bench/*"],
     FREE + ["guards", "plots", "reference", "peers", "public", "runtime/Cache/Pack.h", "runtime/Family/Family.h",
             "tools/support/FamilyPack.h"]),
    ("tool-support", ["tools/support/*"],
     FREE + ["guards", "reference", "public", "runtime/Cache/Pack.h", "runtime/Family/Family.h"]),
    ("tool-quern", ["tools/quern/*"],
     FREE + ["guards", "plots", "reference", "public", "tool-support", "runtime/Cache/Disk.h", "runtime/Cache/Pack.h",
             "runtime/Family/Family.h", "runtime/Cache/RemoteLibrary.h"]),
    ("test-consumer", ["test/consumer/*"], ["public", "embedder"]),
    ("test-compiler",
     ["test/unit/IR/*", "test/unit/Emission/*", "test/unit/Schedule/*", "test/unit/Transforms/*", "test/unit/Targets/*",
      "test/unit/Compiler/*", "test/fuzz/ModuleFuzzer.cpp"],
     FREE + RECIPES + ["guards", "reference", "functions", "ir", "emit", "transforms", "targets", "compiler", "bridge",
                       "embedder", "public", "mlir"]),
    ("test-driver", ["test/support/ze-over-opencl/*"], ["ze"]),
    ("test-levelzero", ["test/unit/LevelZero/*"],
     FREE + RUNTIME + ["guards", "reference", "public", "test", "tool-support", "ze"]),
    ("test", ["test/*"],
     FREE + RUNTIME + ["guards", "reference", "bridge", "public", "plots", "tool-support", "tool-bench", "peers",
                       "remote", "remote-interface", "net"]),
]
ALLOWED = {layer: set(allowed) for layer, _, allowed in LAYERS}
# The folders in which an #include is searched, after the folder of the including file.
SEARCH = ["lib", "include", "runtime", "tools/guards", "tools/plots", "tools/support", "tools/quern-bench",
          "tools/peers", "test/conformance", "test", ""]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layerOf(path):
    """Returns the layer of a path relative to the root, or None outside the layered folders."""
    for layer, patterns, _ in LAYERS:
        if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns):
            return layer
    return None


def externalOf(name):
    """Returns the restricted external library that a header belongs to, or None."""
    if name.startswith(("mlir/", "mlir-c/", "llvm/", "llvm-c/", "clang/")):
        return "mlir"
    if name.startswith(("tbb/", "oneapi/tbb")):
        return "tbb"
    if os.path.basename(name).startswith(("ze_api", "ze_ddi", "zes_api", "zes_ddi", "zet_api", "zet_ddi")):
        return "ze"
    if name.startswith(("hiredis/", "curl/")) or name == "sodium.h":
        return "net"
    return None


def resolve(root, path, name):
    """Returns the file of this tree that `name` refers to in `path`, relative to the root, or None."""
    for folder in [os.path.dirname(path)] + SEARCH:
        candidate = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def primitiveOf(path):
    """Returns e.g. "Softmax" for lib/Primitives/Softmax/X.cpp, or None. Emission is shared by all emitters."""
    parts = path.split("/")
    return parts[2] if len(parts) > 3 and parts[:2] == ["lib", "Primitives"] and parts[2] != "Emission" else None


def checkInclude(root, path, quote, name):
    """Returns the message for a forbidden #include, or None."""
    layer = layerOf(path)
    external = externalOf(name)
    if external:
        return None if external in ALLOWED[layer] else f"{layer} may not include {external} headers: {name}"
    target = resolve(root, path, name)
    if target is None:
        if layer == "public" and (quote == '"' or "/" in name):
            return f"a public header may include only the standard library and public headers: {name}"
        return None
    there, here = primitiveOf(target), primitiveOf(path)
    if there and here and there != here:
        return f"primitive {here} may not include primitive {there}: {name}"
    targetLayer = layerOf(target)
    if targetLayer is None or targetLayer == layer or targetLayer in ALLOWED[layer] or target in ALLOWED[layer]:
        return None
    return f"{layer} may not include {targetLayer}: {name}"


def checkFile(root, path):
    """Yields (line number, message) for each violation in one file."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        lines = file.read().splitlines()
    if not any(LICENSE in line for line in lines[:6]):
        yield 1, "no license header: its first lines must have '" + LICENSE + "'"
    if len(lines) > MAX_LINES:
        yield len(lines), f"{len(lines)} lines; the limit is {MAX_LINES}"
    if path.startswith(("lib/", "runtime/")) and path.endswith(CODE_SUFFIXES) and layerOf(path) is None:
        yield 1, "the file belongs to no layer"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns; the limit is {MAX_COLUMNS}"
        match = INCLUDE.match(line) if path.endswith(CODE_SUFFIXES) else None
        message = match and layerOf(path) and checkInclude(root, path, match.group(1), match.group(2))
        if message:
            yield number, message


def folderOf(path):
    """Returns e.g. "runtime/Cache" for a file below this folder, or None outside lib/ and runtime/."""
    if layerOf(path) == "operations": # part of the descriptor of any problem
        return "lib/Desc"
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 and parts[0] in ("lib", "runtime") else None


def findCircle(root, sources):
    """Returns a message for a circle of folders that include each other, or None."""
    graph = {}
    for path in sources:
        folder = path.endswith(CODE_SUFFIXES) and folderOf(path)
        if not folder:
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            names = [match.group(2) for match in map(INCLUDE.match, file) if match]
        targets = (resolve(root, path, name) for name in names if not externalOf(name))
        folders = (folderOf(target) for target in targets if target)
        graph.setdefault(folder, set()).update(other for other in folders if other and other != folder)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return "folders include each other: " + " -> ".join(reversed(error.args[1]))
    return None


def sourcesOf(root):
    """Returns all source files in the folders of the product, sorted."""
    found = []
    for top in ("include", "lib", "runtime", "tools", "test"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            found += [os.path.relpath(os.path.join(folder, name), root)
                      for name in names if name.endswith(SOURCE_SUFFIXES)]
    return sorted(found)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_layering.py ROOT")
    root = sys.argv[1]
    sources = sourcesOf(root)
    violations = [f"{path}:{number}: {message}" for path in sources for number, message in checkFile(root, path)]
    circle = findCircle(root, sources)
    violations += [circle] if circle else []
    for violation in violations:
        print(violation)
    print(f"{len(sources)} files, {len(violations)} violations")
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
