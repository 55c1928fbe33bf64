# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests libraries for TVM's FFI, which are called with apache-tvm-ffi."""

import concurrent.futures
import subprocess
import sys

import numpy
import pytest
import references
from references import near
from test_problem import SCALE

import quern

tvm_ffi = pytest.importorskip("tvm_ffi")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    from quern import tvm_ffi as maker
    path = tmp_path_factory.mktemp("tvm") / "kernels.so"
    maker.export({"softmax": "softmax fwd_i src=f32:8x100:ab dst=f32:8x100:ab axis=1",
                  "scale": quern.Problem.from_mlir(SCALE),
                  "older": "softmax fwd_i src=f32:8x101:ab dst=f32:8x101:ab axis=1"}, path, target=None)
    return path


def test_calls(library, draw):
    module = tvm_ffi.load_module(str(library))
    x, y = draw.standard_normal((8, 100)).astype("f"), numpy.empty((8, 100), "f")
    assert module.softmax(x, y) is None
    near(y, references.softmax(x, 1))
    x, by, z = (draw.standard_normal(shape).astype("f") for shape in ((8, 16), 16, (8, 16)))
    module.scale(tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(by), tvm_ffi.from_dlpack(z))
    assert numpy.array_equal(z, x * by)


def test_errors(library):
    module = tvm_ffi.load_module(str(library))
    x, y = numpy.zeros((8, 100), "f"), numpy.zeros((8, 100), "f")
    for arguments, kind, part in [((x,), TypeError, "2 tensors, not 1"), ((x, 3), TypeError, "not a tensor"),
                                  ((x[:4], y), ValueError, "f32:8x100"), ((x, y.T), ValueError, "f32:8x100"),
                                  ((x.astype(float), y), ValueError, "f32:8x100"), ((x, x[:, :]), None, "")]:
        if kind is None:
            module.softmax(*arguments)
            continue
        with pytest.raises(kind, match=part):
            module.softmax(*arguments)


def test_threads_and_another_process(library, draw):
    module = tvm_ffi.load_module(str(library))
    x = draw.standard_normal((8, 101)).astype("f")

    def run(_):
        y = numpy.empty_like(x)
        module.older(x, y)
        return y
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for y in pool.map(run, range(100)):
            near(y, references.softmax(x, 1))
    program = f"""
import numpy, tvm_ffi
x, y = numpy.zeros((8, 100), "f"), numpy.empty((8, 100), "f")
tvm_ffi.load_module({str(library)!r}).softmax(x, y)
assert abs(y - 0.01).max() < 1e-6
assert "libquern-compiler" not in open("/proc/self/maps").read()
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_names():
    from quern import tvm_ffi as maker
    with pytest.raises(quern.Error, match="not the name"):
        maker.source({"a b": "softmax fwd_i src=f32:8x100:ab dst=f32:8x100:ab axis=1"})


def test_the_command(tmp_path, draw):
    path, module = tmp_path / "made.so", tmp_path / "scale.mlir"
    module.write_text(SCALE)
    line = "softmax fwd_i src=f32:4x10{0}:ab dst=f32:4x10{0}:ab axis=1"
    command = [sys.executable, "-m", "quern", "compile", "--emit=tvm-ffi", "-o", str(path)]
    subprocess.run([*command, line.format(0), line.format(1), "--name=first", f"--mlir={module}:scale"], check=True)
    made = tvm_ffi.load_module(str(path))
    for function, size in ((made.first, 100), (made.softmax, 101)):
        x, y = draw.standard_normal((4, size)).astype("f"), numpy.empty((4, size), "f")
        function(x, y)
        near(y, references.softmax(x, 1))
    x, by, z = (draw.standard_normal(shape).astype("f") for shape in ((8, 16), 16, (8, 16)))
    made.scale(x, by, z)
    assert numpy.array_equal(z, x * by)
    for arguments, code, part in [([], 2, "no problem"), (["softmax"], 2, "softmax"),
                                  ([line.format(0), line.format(1)], 2, "one name")]:
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == code and part in done.stderr, done
