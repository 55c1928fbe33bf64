# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled problems as a library of functions that any user of TVM's FFI can call: TVM, PyTorch, JAX, C++, Rust."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from quern._errors import Error
from quern.problem import Problem

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_FUNCTION = """
static const unsigned char {name}_kernel[] = {{{bytes}}};
static const int {name}_arguments[] = {{{arguments}}};
static Function {name}_function = {{"{name}", {line}, {name}_kernel, sizeof {name}_kernel, {name}_arguments, {count},
                                    PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0}};
TVM_FFI_DLL_EXPORT int __tvm_ffi_{name}(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result) {{
  (void)self;
  (void)result;
  return call(&{name}_function, args, count);
}}
"""


def _string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def source(problems, target=None):
    """Returns the C source of the library that `export` builds."""
    parts = ['#include "tvm_ffi.c"\n']
    for name, problem in problems.items():
        if not name.isidentifier() or not name.isascii():
            raise Error(f"'{name}' is not the name of a C function")
        problem = problem if isinstance(problem, Problem) else Problem(problem)
        arguments = problem.arguments
        if len(arguments) > 64:
            raise Error(f"{name} has {len(arguments)} tensors; at most 64 are possible", 3)
        parts.append(_FUNCTION.format(name=name, line=_string(problem.text), count=len(arguments),
                                      bytes=",".join(map(str, problem.compile(target))),
                                      arguments=",".join(str(argument.index) for argument in arguments)))
    return "".join(parts)


def export(problems, path, *, target=None, include=None, compiler=None):
    """Builds a library of functions.

    Args:
        problems: a line of text or a quern.Problem by the name of its function.
        path: the library (.so). It needs this package's libquern at its present path, and no compiler.
        target: the target of the kernels, see `Problem.compile`; other machines compile their own kernels.
        include: the folder of tvm/ffi/c_api.h and dlpack/dlpack.h; by default that of the package apache-tvm-ffi.
        compiler: the C compiler, by default $CC or cc.

    A function takes its tensors, inputs and outputs, in the order of `Problem.arguments`, and returns nothing. They
    must have the problem's types, dims and layouts; the message of a ValueError names the first that does not.
    """
    if include is None:
        import tvm_ffi.libinfo
        includes = [tvm_ffi.libinfo.find_include_path(), tvm_ffi.libinfo.find_dlpack_include_path()]
    else:
        includes = [include]
    compiler = compiler or os.environ.get("CC") or shutil.which("cc") or shutil.which("clang-22")
    if not compiler:
        raise Error("there is no C compiler: install one, or name it", 5)
    library = os.path.join(_FOLDER, "lib")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "functions.c")
        with open(file, "w", encoding="utf-8") as out:
            out.write(source(problems, target))
        command = [compiler, "-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", file, "-o",
                   os.fspath(path), *(f"-I{path}" for path in [*includes, os.path.join(_FOLDER, "include"), _FOLDER]),
                   os.path.join(library, "libquern.so.0"), f"-Wl,-rpath,{library}", "-lpthread"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Error(f"{compiler} failed: {done.stderr[-2000:]}", 5)


def main(arguments):
    """Runs `quern compile 'LINE'… --emit=tvm-ffi --name=N… -o FILE.so`; returns the exit code."""
    parser = argparse.ArgumentParser(prog="quern compile", description="Builds a library of functions for TVM's FFI.")
    parser.add_argument("line", nargs="*", help="Problems in text form")
    parser.add_argument("--emit", choices=["tvm-ffi"])
    parser.add_argument("--name", action="append", default=[],
                        help="Names of the functions, in the order of the lines (default: their primitives)")
    parser.add_argument("--mlir", metavar="FILE[:function]", action="append", default=[],
                        help="Functions in MLIR, which follow the lines and keep their names")
    parser.add_argument("--target", help="Target of the kernels (default: this machine)")
    parser.add_argument("--include", help="Folder of tvm/ffi/c_api.h (default: that of apache-tvm-ffi)")
    parser.add_argument("--compiler", help="C compiler (default: $CC or cc)")
    parser.add_argument("-o", dest="output", required=True)
    options = parser.parse_args(arguments)
    try:
        problems = [Problem(line) for line in options.line]
        names = options.name + [problem.primitive for problem in problems[len(options.name):]]
        for given in options.mlir:
            path, _, function = given.partition(":")
            with open(path, "rb") as file:
                problems.append(Problem.from_mlir(file.read(), function or None))
            names.append(function or os.path.basename(path).partition(".")[0])
        if not problems or len(set(names)) != len(names):
            raise Error("no problem is given" if not problems else f"two functions have one name: {', '.join(names)}")
        export(dict(zip(names, problems)), options.output, target=options.target, include=options.include,
               compiler=options.compiler)
    except (Error, OSError) as error:
        print(f"quern: {error}", file=sys.stderr)
        return {"invalid_arguments": 2, "unimplemented": 3}.get(getattr(error, "status", ""), 4)
    return 0
