# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Any problem, in text form or as a function in MLIR: its properties, its compilation and its kernel."""

import collections
import html
import itertools
import json
import re
import statistics
import time

import numpy

from quern import _command, _quern
from quern._arguments import MULTIPLE_SRC, PLAIN, RNN, SCRATCHPAD, WORKSPACE, name_of
from quern._errors import Error
from quern._frameworks import NUMPY, numpy_dtype

FORMS = {"emit": 1, "schedule": 2, "lower": 3, "llvm": 4, "asm": 5, "object": 6, "spirv": 7, "artifact": 8}
STAGES = ("emit", "schedule", "lower", "llvm", "asm")

Argument = collections.namedtuple("Argument", "name index is_output type dims layout")
Argument.__doc__ = "A tensor of a problem: its name, QUERN_ARG_ number, direction, type, dims (-1: open) and layout."
Timing = collections.namedtuple("Timing", "minimum median runs")
Timing.__doc__ = "Minimum and median seconds of an execution, and the number of timed executions."
Check = collections.namedtuple("Check", "ok worst threshold max_abs_error text")
Check.__doc__ = "A comparison with the reference: `worst` is in units of the threshold; at most 1 passes."

_COLORS = [
    ("comment", r"//[^\n]*|;[^\n]*", "#6a737d"), ("string", r'"[^"\n]*"', "#22863a"),
    ("value", r"[%^@#$][\w.$-]+", "#005cc5"),
    ("type", r"\b(?:memref|vector|tensor|index|bf16|f16|f32|f64|i\d+|ptr|x?mm\d+|[yz]mm\d+)\b", "#6f42c1"),
    ("op", r"\b[a-z_]+\.[a-z_.0-9]+\b|\b(?:define|call|br|ret|load|store|func|return)\b", "#d73a49"),
]
_TOKENS = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern, _ in _COLORS))


class Dump(str):
    """Text of a stage, which notebooks show in color."""

    def _repr_html_(self):
        colors = {name: color for name, _, color in _COLORS}
        parts, end = [], 0
        for match in _TOKENS.finditer(self):
            parts.append(html.escape(self[end:match.start()]))
            parts.append(f'<span style="color:{colors[match.lastgroup]}">{html.escape(match[0])}</span>')
            end = match.end()
        parts.append(html.escape(self[end:]))
        return f'<pre style="line-height:1.2">{"".join(parts)}</pre>'


class Problem:
    """A verified problem on the CPU.

    Args:
        line: its text form (docs/text-form.md), such as "softmax fwd_i src=f32:256x1000:ab dst=f32:256x1000:ab axis=1".

    Raises:
        quern.Error: the line is invalid (with the position), or the problem is rejected (with the constraint).

    >>> problem = quern.Problem("softmax fwd_i src=f32:2x4:ab dst=f32:2x4:ab axis=1")
    >>> problem.run(numpy.zeros((2, 4), numpy.float32))
    array([[0.25, 0.25, 0.25, 0.25],
           [0.25, 0.25, 0.25, 0.25]], dtype=float32)
    """

    def __init__(self, line):
        self._open(_quern.Descriptor.from_text(line))

    @classmethod
    def from_mlir(cls, module, function=None, *, naive=False):
        """Returns the problem of a function in MLIR (docs/embedding.md lists the supported functions).

        Args:
            module: text, or bytes of text or bytecode.
            function: its name; None if the module has one public function.
            naive: operations that no recipe supports become scalar loops instead of an error.
        """
        problem = cls.__new__(cls)
        module = module.encode() if isinstance(module, str) else bytes(module)
        problem._open(_quern.Descriptor.from_mlir(module, function, naive))
        return problem

    def _open(self, descriptor):
        self._descriptor = descriptor
        self._kernel = None

    @property
    def text(self):
        """The text form, with the chosen layouts in place of `any`."""
        return self._descriptor.text

    @property
    def primitive(self):
        """The kind of primitive, such as "softmax", "rnn" or "mlir"."""
        return self.text.partition(" ")[0]

    def __repr__(self):
        return f"quern.Problem({_short(self.text)!r})"

    def __eq__(self, other):
        return isinstance(other, Problem) and self.text == other.text

    def __hash__(self):
        return hash(self.text)

    def __reduce__(self):
        return Problem, (self.text,)

    # --- How it is compiled ---

    def explain(self, target=None):
        """Returns one line: how the problem is scheduled and why. See `compile` for `target`."""
        return _quern.explain(self.text, target).decode()

    def dump(self, stage="schedule", target=None):
        """Returns the problem after a stage: "emit", "schedule", "lower", "llvm" or "asm". See `compile` for
        `target`."""
        if stage not in STAGES:
            raise Error(f"'{stage}' is not a stage; {', '.join(STAGES)} are supported")
        return Dump(_quern.compile(self.text, target, FORMS[stage]).decode())

    def compile(self, target=None, form="artifact"):
        """Compiles the problem for any machine.

        Args:
            target: an instruction set, optionally with caches ("avx2", "avx512_core_bf16:l2=2048"); None: this machine.
            form: "object", "artifact" (the contents of caches), "spirv", or a stage of `dump`.

        Returns:
            bytes.
        """
        if form not in FORMS:
            raise Error(f"'{form}' is not a form; {', '.join(FORMS)} are supported")
        return _quern.compile(self.text, target, FORMS[form])

    @property
    def kernel(self):
        """The kernel, which is fetched from a cache or compiled on first use."""
        if self._kernel is None:
            self._kernel = _quern.Kernel(self._descriptor)
        return self._kernel

    @property
    def info(self):
        """Properties of the kernel as a dict: origin, times, sizes, implementation, plan, target."""
        return self.kernel.info

    @property
    def arguments(self):
        """The arguments of the kernel: a list of Argument, inputs first."""
        primitive, found = self.primitive, []
        for index, is_output in self._argument_indices():
            layout = self._descriptor.layout(index)
            plain = layout.plain
            found.append(Argument(name_of(index, primitive), index, is_output, layout.type, layout.dims,
                                  plain.text.rpartition(":")[2] if plain else "blocked"))
        return found

    def _argument_indices(self):
        """Returns (index, whether it is written) of each argument.

        For forward problems without attributes, these are the tensors of the problem. Other problems query the kernel,
        which compiles the specialized kernel if the present one is of a family.
        """
        head = self.text.split(" ", 2)
        if head[0] == "mlir" or head[1].startswith("bwd") or " attr." in self.text:
            return self.kernel.arguments
        known = RNN if head[0] == "rnn" else PLAIN
        several = range(MULTIPLE_SRC, MULTIPLE_SRC + 1024) if head[0] in ("sum", "concat") else ()
        there = [*itertools.takewhile(self._descriptor.layout, several),
                 *(index for index in known if index != SCRATCHPAD and self._descriptor.layout(index))]
        arguments = [(index, known.get(index, "src").startswith("dst") or index == WORKSPACE) for index in there]
        return sorted(arguments, key=lambda argument: argument[1])

    # --- Its executions ---

    def run(self, *arrays, **named):
        """Executes the kernel.

        Args:
            *arrays: inputs, in the order of `arguments`.
            **named: inputs by name, and outputs to be written. Names have a "_" in place of a ".".

        Inputs must have the problem's types and dims; one with other strides is converted to the problem's layout. If
        sizes are open, outputs are required, and strides are those of the arrays.

        Returns:
            The output, or a tuple of outputs in the order of `arguments`: the given arrays, or new dense ones.
        """
        outputs, bindings, after = [], [], []
        given = list(arrays)
        for argument in self.arguments:
            key = argument.name.replace(".", "_")
            array = named.pop(key, None)
            if array is None and not argument.is_output:
                if not given:
                    raise Error(f"{argument.name} is missing")
                array = given.pop(0)
            binding, array = self._bind(argument, array, after)
            bindings.append(binding)
            if argument.is_output:
                outputs.append(array)
        if given or named:
            raise Error(f"there are {len(given)} arrays too many" if given else f"there is no {', '.join(named)}")
        self.kernel.execute(bindings)
        for unpack, buffer, array in after:
            unpack.execute([(1, buffer, False, True), (17, array, True, False)])
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _bind(self, argument, array, after):
        """Returns (the tuple to pass to execute(), the caller's array)."""
        layout = self._descriptor.layout(argument.index)
        if array is None:
            if layout.is_open:
                raise Error(f"{argument.name} has open sizes: give an array to write to")
            array = numpy.zeros(layout.dims, numpy_dtype(layout.type))  # a kernel without work writes nothing
        elif not argument.is_output and not hasattr(array, "__dlpack__") and not hasattr(array, "__array_interface__"):
            array = numpy.asarray(array, numpy_dtype(layout.type))
        tensor = _quern.describe(array)
        if layout.is_open or layout.plain == tensor:
            return (argument.index, array, argument.is_output, False), array
        if (tensor.type, tensor.dims) != (layout.type, layout.dims):
            raise Error(f"{argument.name} is {tensor.text}; the problem takes {layout.type} of {layout.dims}")
        buffer = numpy.zeros(layout.bytes, numpy.uint8)
        if argument.is_output:
            after.append((_quern.Kernel(_quern.Descriptor.unpack(layout, tensor)), buffer, array))
        else:
            _quern.Kernel(_quern.Descriptor.pack(tensor, layout)).execute(
                [(1, array, False, False), (17, buffer, True, True)])
        return (argument.index, buffer, argument.is_output, True), array

    def time(self, *arrays, repeat=100, **named):
        """Measures the time of an execution, including the call from Python.

        Args:
            *arrays, **named: see `run`; by default inputs of zeros.
            repeat: number of timed executions, which follow one that is not timed.

        Returns:
            Timing.
        """
        if not arrays and not named:
            arrays = [numpy.zeros(argument.dims, numpy_dtype(argument.type))
                      for argument in self.arguments if not argument.is_output and argument.type in NUMPY]
        given, bindings = list(arrays), []
        for argument in self.arguments:
            array = named.get(argument.name.replace(".", "_"))
            if array is None and not argument.is_output and given:
                array = given.pop(0)
            bindings.append(self._bind(argument, array, [])[0])
        execute, seconds = self.kernel.execute, []
        execute(bindings)
        for _ in range(repeat):
            start = time.perf_counter()
            execute(bindings)
            seconds.append(time.perf_counter() - start)
        return Timing(min(seconds), statistics.median(seconds), repeat)

    def check(self, *, data="dense", seed=1, sizes=None):
        """Compares the kernel with the primitive's reference, on guarded memory, in a separate process.

        Runs `quern run --check`, because the reference is in the command, not in the library.

        Args:
            data: "dense", "designed" or "special" (docs/command.md).
            seed: seed of the data; equal seeds give equal values on every machine.
            sizes: a value for each open size.

        Returns:
            Check.
        """
        options = ["--check", "--json", "--repeat=1", f"--data={data}", f"--seed={seed}"]
        if sizes is not None:
            options.append("--sizes=" + ",".join(map(str, sizes)))
        output = _command.run(["run", self.text, *options], may_fail=True)
        report = json.loads(output)["problems"][0]
        if "check" not in report:
            raise Error(report.get("error", "the problem was not run"), _code(report.get("status")))
        check = report["check"]
        return Check(check["ok"], check["worst_in_thresholds"], check["threshold"], check["max_abs_error"],
                     check["text"])

    # --- In a notebook ---

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{html.escape(a.name)}</td><td>{'out' if a.is_output else 'in'}</td><td>{a.type}</td>"
            f"<td>{' × '.join('?' if size < 0 else str(size) for size in a.dims)}</td><td>{a.layout}</td></tr>"
            for a in self.arguments)
        info = self.info
        return (f"<code>{html.escape(_short(self.text))}</code>"
                "<table><tr><th>argument</th><th></th><th>type</th><th>dims</th><th>layout</th></tr>"
                f"{rows}</table><p>{html.escape(info['implementation'])}: {html.escape(info['plan'])}<br>"
                f"from {info['origin']} in {info['create_ns'] / 1e6:.3f} ms, {info['code_bytes']} bytes</p>")


def _code(status):
    codes = {"out_of_memory": 1, "invalid_arguments": 2, "unimplemented": 3, "runtime_error": 5}
    return codes.get(status, 100)


def _short(text):
    return text if len(text) <= 300 else text[:300] + "…"
