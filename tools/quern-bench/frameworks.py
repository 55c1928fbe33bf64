# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures overhead and speed of Quern within Python, JAX and PyTorch, and compares it with the frameworks' functions.

  frameworks.py [--only=numpy,jax,torch] [--threads=N] [--seconds=N] [--quick] [--busy]

Times are minima: calls of Quern and of the framework alternate. The packages are found by PYTHONPATH; docs/python.md
has the command. `numpy` compares with the same calls from C; the measured cost of ctypes is subtracted.
"""

import argparse
import math
import os
import sys
import time


clock = time.perf_counter


def measure(functions, seconds):
    """Returns the minimum seconds of a call of each function; they alternate every few milliseconds."""
    counts = []
    for function in functions:
        function()
        begin = time.perf_counter()
        function()
        counts.append(max(1, int(0.004 / max(time.perf_counter() - begin, 1e-7))))
    best = [math.inf] * len(functions)
    end = time.perf_counter() + seconds * len(functions)
    while time.perf_counter() < end:
        for i, function in enumerate(functions):
            begin = clock()
            for _ in range(counts[i]):
                function()
            best[i] = min(best[i], (clock() - begin) / counts[i])
    return best


def show(seconds):
    return f"{seconds * 1e6:.2f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def row(what, ours, theirs, note=""):
    print(f"| {what} | {show(ours)} | {show(theirs)} | {theirs / ours:.2f} | {note} |", flush=True)


def head(title):
    print(f"\n{title}\n\n| | Quern | the other | ratio | |\n|---|---|---|---|---|")


def geometric(title, ratios):
    print(f"| geometric mean: {title} | | | {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} | |")


def numpy_calls(options):
    import ctypes

    import numpy

    import quern
    x = numpy.zeros((1, 16), numpy.float32)
    out = numpy.empty_like(x)
    # The same execution through the C interface: one call of quern_primitive_execute().
    library = ctypes.CDLL(os.path.join(os.path.dirname(quern.__file__), "lib", "libquern.so.0"))
    handles = {name: ctypes.c_void_p() for name in ("engine", "stream", "problem", "primitive", "src", "dst")}

    def call(name, *arguments):
        if getattr(library, "quern_" + name)(*arguments):
            raise RuntimeError(name)
    line = b"softmax fwd_i src=f32:1x16:ab dst=f32:1x16:ab axis=1"
    call("engine_create", ctypes.byref(handles["engine"]), 1, ctypes.c_size_t(0))
    call("stream_create", ctypes.byref(handles["stream"]), handles["engine"], 1)
    call("primitive_desc_create_from_text", ctypes.byref(handles["problem"]), handles["engine"], line)
    call("primitive_create", ctypes.byref(handles["primitive"]), handles["problem"])
    desc = library.quern_primitive_desc_query_md
    desc.restype = ctypes.c_void_p
    for name, query, array in (("src", 129, x), ("dst", 133, out)):
        call("memory_create", ctypes.byref(handles[name]), ctypes.c_void_p(desc(handles["problem"], query, 0)),
             handles["engine"], ctypes.c_void_p(array.ctypes.data))

    class Argument(ctypes.Structure):
        _fields_ = [("arg", ctypes.c_int), ("memory", ctypes.c_void_p)]
    arguments = (Argument * 2)(Argument(1, handles["src"]), Argument(17, handles["dst"]))
    execute, reference = library.quern_primitive_execute, library.quern_status_name
    reference.restype = ctypes.c_void_p  # returns at once: measures the cost of ctypes for the same number of arguments
    given = (handles["primitive"], handles["stream"], 2, arguments)
    into_out, fresh, whole, bare = measure(
        [lambda: quern.softmax(x, out=out), lambda: quern.softmax(x), lambda: execute(*given),
         lambda: reference(0, *given[:3])], options.seconds)
    c = max(whole - bare, 0)
    head("Calls from Python: softmax 1x16 of f32")
    print(f"| quern.softmax(x, out=out) | {show(into_out)} | {show(c)} (C) | | {show(into_out - c)} above C |")
    print(f"| quern.softmax(x) | {show(fresh)} | {show(c)} (C) | | {show(fresh - c)} above C |")
    fresh_process = "import time, numpy; t = time.perf_counter(); import quern; print(time.perf_counter() - t)"
    import subprocess
    seconds = min(float(subprocess.run([sys.executable, "-c", fresh_process], check=True, capture_output=True,
                                       text=True).stdout) for _ in range(5))
    print(f"| import quern, with NumPy already imported | {show(seconds)} | | | |")
    # A shape that is new to a process whose package has packs of families.
    program = """
import time, numpy, quern
quern.softmax(numpy.zeros((3, 5), numpy.float32))
x, t = numpy.zeros((123, 457), numpy.float32), time.perf_counter()
quern.softmax(x)
print(time.perf_counter() - t, quern.Problem("softmax fwd_i src=f32:9x11:ab dst=f32:9x11:ab axis=1").info["origin"])
"""
    output = [subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True,
                             env={**os.environ, "QUERN_CACHE_DIR": "off"}).stdout.split() for _ in range(5)]
    print(f"| first call of a new shape, from {output[0][1]} | {show(min(float(line[0]) for line in output))} | | | |")


def jax_calls(options):
    import jax
    import jax.numpy as jnp
    import numpy

    import quern.jax
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "test", "Python"))
    from test_jax import ours, scan

    head("Within jit in JAX")

    def compile(function, *arrays):
        jax.clear_caches()
        begin = time.perf_counter()
        compiled = jax.jit(lambda *a: function(*a)).lower(*arrays).compile()
        return compiled, time.perf_counter() - begin

    def pair(what, function, theirs, *arrays):
        """Returns (ratio of times, ratio of compile times: kernels in no cache, kernels in one)."""
        quern.cache.clear()
        (ours, cold), (_, first), (_, second) = (compile(function, *arrays) for _ in range(3))
        others = [compile(theirs, *arrays) for _ in range(2)]
        warm, scanned = min(first, second), min(cost for _, cost in others)
        best = measure([lambda f=f: jax.block_until_ready(f(*arrays)) for f in (ours, others[0][0])], options.seconds)
        row(what, *best, f"{show(cold)}, {show(warm)}; {show(scanned)}")
        return best[1] / best[0], (scanned / cold, scanned / warm)
    _, shortest = min((compile(quern.jax.softmax, jnp.zeros((1, 4))) for _ in range(3)), key=lambda made: made[1])
    print(f"Compiled in: kernels in no cache, kernels in one; the other. A program of one call whose kernel is in "
          f"a cache is compiled in {show(shortest)}.\n")
    x = jnp.zeros((1, 4))
    identity = jax.jit(lambda x: x + 1)
    best = measure([lambda f=f: f(x).block_until_ready() for f in (jax.jit(quern.jax.softmax), identity)],
                   options.seconds)
    row("a call: softmax 1x4; the other: x + 1", *best, f"{show(best[0] - best[1])} more than x + 1")
    draw = numpy.random.default_rng(1)
    for shape in [(1024, 1000), (8, 12, 128, 128), (16, 50257)]:
        x = jnp.asarray(draw.standard_normal(shape).astype("f"))
        pair(f"softmax {'x'.join(map(str, shape))}", quern.jax.softmax, jax.nn.softmax, x)
    forward, backward, compiling = [], [], []
    sizes = [(50, 1, 128), (50, 16, 128), (50, 1, 512), (50, 16, 512)] if options.quick else \
        [(50, n, h) for h in (64, 128, 512, 1024) for n in (1, 16, 64)]
    for cell in ("lstm", "lbr_gru"):
        gates = 4 if cell == "lstm" else 3
        for steps, batch, hidden in sizes:
            def array(*dims):
                return jnp.asarray((draw.standard_normal(dims) * 0.05).astype("f"))
            arrays = [array(steps, batch, hidden), array(1, 1, hidden, gates, hidden),
                      array(1, 1, hidden, gates, hidden), array(1, 1, 4, hidden), array(1, 1, batch, hidden)]
            arrays += [array(1, 1, batch, hidden)] if cell == "lstm" else []
            name = f"{cell} T{steps} N{batch} H{hidden}"
            rnn, theirs = ((lambda *a, f=f: f(cell, *a)[0]) for f in (ours, scan))
            ratio, costs = pair(name, rnn, theirs, *arrays)
            forward.append(ratio)
            compiling.append(costs)
            rnn, theirs = (jax.grad(lambda *a, f=f: (f(*a) ** 2).sum(), (0, 1, 2, 3)) for f in (rnn, theirs))
            ratio, costs = pair(name + ", gradient", rnn, theirs, *arrays)
            backward.append(ratio)
            compiling.append(costs)
    geometric("forward against lax.scan", forward)
    geometric("gradient against lax.scan", backward)
    for title, i in (("no cache", 0), ("a cache", 1)):
        geometric(f"time to compile forward, kernels in {title}", [costs[i] for costs in compiling[::2]])
        geometric(f"time to compile the gradient, kernels in {title}", [costs[i] for costs in compiling[1::2]])


def torch_calls(options):
    import torch
    from torch.nn.utils.rnn import pack_padded_sequence

    import quern.torch
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    head("Within PyTorch")
    x = torch.randn(1, 16)
    with torch.no_grad():
        row("softmax 1x16", *measure([lambda: quern.torch.softmax(x, 1), lambda: torch.softmax(x, 1)],
                                     options.seconds))
    recorded = x.clone().requires_grad_()
    row("softmax 1x16, recorded", *measure([lambda: quern.torch.softmax(recorded, 1),
                                            lambda: torch.softmax(recorded, 1)], options.seconds))
    forward, training, packed = [], [], []
    sizes = [(1, 128), (16, 128), (1, 512), (16, 512)] if options.quick else \
        [(n, h) for h in (64, 128, 256, 512, 1024) for n in (1, 16, 64)]
    for kind in ("LSTM", "GRU"):
        for batch, hidden in sizes:
            theirs = getattr(torch.nn, kind)(hidden, hidden)
            layer, frozen = (getattr(quern.torch, kind)(hidden, hidden) for _ in range(2))
            layer.load_state_dict(theirs.state_dict())
            frozen.load_state_dict(theirs.state_dict())
            frozen.freeze()
            x = torch.randn(50, batch, hidden)

            def infer(module, x=x):
                with torch.no_grad():
                    module(x)

            def step(module, x=x):
                module.zero_grad()
                y = module(x)[0]
                (y.data if isinstance(y, tuple) else y).sum().backward()
            name = f"{kind} T50 N{batch} H{hidden}"

            def compare(what, run, ratios, *given):
                """Adds (the ratio, the ratio of the frozen layer) to `ratios`."""
                modules = (layer, theirs, frozen) if run is infer else (layer, theirs)
                best = measure([lambda m=m: run(m, *given) for m in modules], options.seconds)
                row(what, *best[:2], f"{show(best[2])} frozen, {best[1] / best[2]:.2f}" if run is infer else "")
                ratios.append((best[1] / best[0], best[1] / best[-1] if run is infer else best[1] / best[0]))
            compare(name, infer, forward)
            compare(name + ", training step", step, training)
            if batch > 1 and hidden <= 512:
                lengths = torch.linspace(50, 5, batch).long()
                ragged = pack_padded_sequence(x, lengths)
                compare(name + ", lengths 5 to 50", infer, packed, ragged)
                compare(name + ", lengths 5 to 50, training step", step, packed, ragged)
    for title, ratios in (("forward", forward), ("training step", training), ("variable lengths", packed)):
        geometric(f"{title} against torch.nn", [ratio for ratio, _ in ratios])
        geometric(f"{title} against torch.nn, frozen", [ratio for _, ratio in ratios])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="numpy,jax")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.3, help="time for each function, in s")
    parser.add_argument("--quick", action="store_true", help="fewer shapes")
    parser.add_argument("--busy", action="store_true",
                        help="for a machine with other load: measure the CPU time of one thread")
    options = parser.parse_args()
    if options.busy:
        global clock  # pylint: disable=global-statement
        clock = time.thread_time
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-options.threads:])
    os.environ["QUERN_CACHE_DIR"] = "off"
    for name in ("QUERN_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    for part in options.only.split(","):
        {"numpy": numpy_calls, "jax": jax_calls, "torch": torch_calls}[part](options)


if __name__ == "__main__":
    main()
