# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests quern.Problem, the caches, packs and devices."""

import os
import subprocess
import sys

import numpy
import pytest
import references
from references import near

import quern

SOFTMAX = "softmax fwd_i src=f32:64x100:ab dst=f32:64x100:ab axis=1"
SCALE = """
func.func @scale(%x: tensor<8x16xf32>, %by: tensor<16xf32>) -> tensor<8x16xf32> {
  %empty = tensor.empty() : tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>,
                                        affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %by : tensor<8x16xf32>, tensor<16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
"""


def test_what_it_says():
    problem = quern.Problem(SOFTMAX)
    assert problem.text == SOFTMAX and problem == quern.Problem(SOFTMAX) and len({problem, quern.Problem(SOFTMAX)}) == 1
    assert problem.primitive == "softmax" and SOFTMAX in repr(problem)
    assert "rows" in problem.explain() and "avx2" in problem.explain("avx2")
    assert [(a.name, a.is_output, a.dims) for a in problem.arguments] == [("src", False, (64, 100)),
                                                                          ("dst", True, (64, 100))]
    info = problem.info
    assert info["origin"] in ("compiled", "disk", "memory") and info["code_bytes"] > 0 and "rows" in info["plan"]


@pytest.mark.parametrize("stage, part", [("emit", "linalg.generic"), ("schedule", "vector."), ("lower", "llvm.func"),
                                         ("llvm", "define"), ("asm", ".text")])
def test_dump(stage, part):
    dump = quern.Problem(SOFTMAX).dump(stage, "avx2")
    assert part in dump and isinstance(dump, str)
    assert dump._repr_html_().startswith("<pre") and "span" in dump._repr_html_()


def test_compile_for_another_machine():
    problem = quern.Problem(SOFTMAX)
    assert problem.compile("sse42", "object")[:4] == b"\x7fELF"
    assert problem.compile(form="artifact")
    with pytest.raises(quern.Error, match="target"):
        problem.compile("z80")
    with pytest.raises(quern.Error, match="form"):
        problem.compile(form="tape")


def test_run(draw):
    x = draw.standard_normal((64, 100)).astype("f")
    problem = quern.Problem(SOFTMAX)
    near(problem.run(x), references.softmax(x, 1))
    near(problem.run(src=numpy.asfortranarray(x)), references.softmax(x, 1))
    out = numpy.zeros((64, 200), numpy.float32)[:, ::2]
    assert problem.run(x, dst=out) is out
    near(out, references.softmax(x, 1))
    for call, part in [(lambda: problem.run(), "src is missing"), (lambda: problem.run(x, x), "too many"),
                       (lambda: problem.run(x, bias=x), "no bias"), (lambda: problem.run(x[:3]), "64")]:
        with pytest.raises(quern.Error, match=part):
            call()


def test_blocked_layouts(draw):
    x = draw.standard_normal((2, 17, 3, 3)).astype("f")
    problem = quern.Problem("softmax fwd_i src=f32:2x17x3x3:aBcd16b dst=f32:2x17x3x3:aBcd16b axis=1")
    assert problem.arguments[0].layout == "blocked"
    near(problem.run(x), references.softmax(x, 1))


def test_open_sizes(draw):
    problem = quern.Problem("softmax fwd_i src=f32:?x?:ab dst=f32:?x?:ab axis=1")
    for shape in [(3, 5), (1, 64)]:
        x, y = draw.standard_normal(shape).astype("f"), numpy.empty(shape, "f")
        near(problem.run(x, dst=y), references.softmax(x, 1))
    with pytest.raises(quern.Error, match="open"):
        problem.run(x)


def test_post_ops_and_scales(draw):
    problem = quern.Problem("softmax fwd_i src=f32:4x8:ab dst=f32:4x8:ab axis=1 attr.scales=src "
                            "attr.post_ops=binary(alg=add,src1=f32:1x8:ab)")
    assert {a.name for a in problem.arguments} == {"src", "dst", "scales.src", "post0.src_1"}
    x, more = draw.standard_normal((4, 8)).astype("f"), draw.standard_normal((1, 8)).astype("f")
    got = problem.run(src=x, scales_src=numpy.full(1, 2, "f"), post0_src_1=more)
    near(got, 2 * references.softmax(x, 1) + more)


def test_check_and_time():
    problem = quern.Problem(SOFTMAX)
    check = problem.check()
    assert check.ok and check.worst <= 1
    timing = problem.time(repeat=10)
    assert 0 < timing.minimum <= timing.median < 1 and timing.runs == 10
    with pytest.raises(quern.Error, match="not implemented") as caught:
        quern.Problem("softmax fwd_i src=s32:4x8:ab dst=s32:4x8:ab axis=1")
    assert caught.value.status == "unimplemented" and "softmax C" in str(caught.value)


def test_notebook():
    page = quern.Problem(SOFTMAX)._repr_html_()
    assert "<table>" in page and "64 × 100" in page and "rows" in page


def test_mlir(draw):
    problem = quern.Problem.from_mlir(SCALE)
    x, by = draw.standard_normal((8, 16)).astype("f"), draw.standard_normal(16).astype("f")
    assert [a.name for a in problem.arguments] == ["arg0", "arg1", "result0"]
    assert numpy.array_equal(problem.run(x, by), x * by)
    assert "map" in problem.explain() and "arith.mulf" in problem.dump("emit")
    assert numpy.array_equal(quern.Problem(problem.text).run(x, by), x * by)
    assert quern.Problem.from_mlir(SCALE, "scale") == problem
    with pytest.raises(quern.Error) as caught:
        quern.Problem.from_mlir("func.func @f(")
    assert caught.value.status == "invalid_arguments"


def test_a_wrong_line_shows_the_place():
    with pytest.raises(quern.Error) as caught:
        quern.Problem("softmax fwd_i src=f32:2x3:ab dst=f32:2x3:ab axis=7")
    assert "axis is 7" in str(caught.value) and "softmax C7" in str(caught.value)
    with pytest.raises(quern.Error) as caught:
        quern.Problem("softmax fwd_i source=f32:2x3:ab")
    assert "^" in str(caught.value)


def test_caches_and_packs(tmp_path):
    """Runs in a separate process, because it changes settings of the process."""
    program = f"""
import quern
quern.cache.set_directory({str(tmp_path / 'cache')!r})
assert quern.cache.directory() == {str(tmp_path / 'cache')!r}
lines = [{SOFTMAX!r}, {SOFTMAX.replace('100', '101')!r}]
quern.cache.prewarm(lines)
assert quern.cache.statistics()["compilations"] == 2 and quern.cache.statistics()["disk_stores"] == 2
assert quern.Problem(lines[0]).info["origin"] == "memory"
quern.cache.clear()
assert quern.Problem(lines[0]).info["origin"] == "disk"
assert "softmax" in quern.cache.listing()
quern.packs.build(lines, {str(tmp_path / 'two.qpk')!r})
assert "softmax" in quern.packs.listing({str(tmp_path / 'two.qpk')!r})
quern.packs.add({str(tmp_path / 'two.qpk')!r})
quern.cache.set_directory("")
quern.cache.clear()
assert quern.Problem(lines[1]).info["origin"] == "pack"
quern.cache.set_capacity(kernels=7, memory_bytes=1 << 20, disk_bytes=1 << 30)
quern.set_num_threads(1)
assert quern.num_threads() == 1 and quern.devices()[0].kind == "cpu"
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_family_needs_no_compiler(tmp_path):
    """Calls with new shapes use the kernel of the family and compile nothing."""
    pack = str(tmp_path / "families.qpk")
    quern.packs.build([SOFTMAX], pack, families=True)
    program = """
import numpy, quern
for shape in [(3, 45), (123, 457)]:
    quern.softmax(numpy.zeros(shape, numpy.float32))
assert quern.cache.statistics()["compilations"] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True,
                   env={**os.environ, "QUERN_PACKS": pack, "QUERN_CACHE_DIR": "off", "QUERN_TIERS": "family",
                        "QUERN_COMPILER_LIBRARY": str(tmp_path / "none")})


def test_command():
    done = subprocess.run([sys.executable, "-m", "quern", "devices"], capture_output=True, text=True, check=True)
    assert "cpu" in done.stdout
    assert os.path.exists(os.path.join(quern.get_include(), "quern", "quern.h"))


def test_arguments_compile_nothing():
    """Problem.arguments needs no kernel and has the same order as the arguments of the kernel."""
    lines = [
        "softmax fwd_i src=f32:6x7:ab dst=f32:6x7:ab axis=1", "softmax fwd_t src=f32:6x7:ab dst=f32:6x7:ab axis=1",
        "reorder src=f32:6x7:ab dst=s8:6x7:ba", "binary alg=add src=f32:6x7:ab src1=f32:1x7:ab dst=f32:6x7:ab",
        "sum scales=1,2 srcs=f32:6x7:ab,f32:6x7:ab dst=f32:6x7:ab",
        "concat axis=0 srcs=f32:6x7:ab,f32:1x7:ab dst=f32:7x7:ab",
        "gemm src=f32:6x7:ab weights=f32:7x5:ab dst=f32:6x5:ab",
        "binary alg=select src=f32:6x7:ab src1=f32:6x7:ab src2=s8:6x7:ab dst=f32:6x7:ab",
        "rnn fwd_t cell=lstm direction=left2right src_layer=f32:5x2x8:abc src_iter=f32:1x1x2x8:abcd "
        "src_iter_c=f32:1x1x2x8:abcd seq_lengths=s32:2:a weights_layer=f32:1x1x8x4x8:any "
        "weights_iter=f32:1x1x8x4x8:any bias=f32:1x1x4x8:abcd dst_layer=f32:5x2x8:abc dst_iter=f32:1x1x2x8:abcd "
        "dst_iter_c=f32:1x1x2x8:abcd"]
    for line in lines:
        problem = quern.Problem(line)
        before = quern.cache.statistics()
        taken = [(argument.index, argument.is_output) for argument in problem.arguments]
        assert quern.cache.statistics() == before
        assert taken == [(index, bool(out)) for index, out in problem.kernel.arguments], line
