# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the operators of libquern-onnxruntime, in sessions of ONNX Runtime, with NumPy in double precision.

Models for bfloat16 cast float inputs and outputs, because ONNX Runtime accepts no NumPy arrays of bfloat16.
"""

import math
import os
import re
import threading
import unittest

import numpy
import onnxruntime
from onnx import TensorProto, helper

LIBRARY = os.environ["QUERN_ONNXRUNTIME_LIBRARY"]
DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "onnxruntime.md")
FLOAT, HALF, BRAIN, DOUBLE = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE
# (NumPy type, tolerated relative error): one rounding; for float and double more, because exp of a rounded argument and
# the sum have errors, too.
TYPES = {FLOAT: (numpy.float32, 2.0**-19), HALF: (numpy.float16, 2.0**-10), BRAIN: (None, 2.0**-7),
         DOUBLE: (numpy.float64, 2.0**-48)}


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def session(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "graph", inputs, outputs)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("quern", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=9)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.register_custom_ops_library(LIBRARY)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def unary(operator, kind, shape, **attributes):
    """Returns a session with one node that computes y from x. If `kind` is bfloat16, x and y are float arrays."""
    node = helper.make_node(operator, ["a"], ["b"], domain="quern", **attributes)
    outside = FLOAT if kind == BRAIN else kind
    nodes = [helper.make_node("Cast", ["x"], ["a"], to=kind), node, helper.make_node("Cast", ["b"], ["y"], to=outside)]
    return session(nodes, [value("x", outside, shape)], [value("y", outside, shape)])


def run(made, array):
    return made.run(None, {"x": array})[0]


def draw(generator, kind, shape):
    array = generator.standard_normal(shape) * 2
    if kind == BRAIN:  # floats whose lower 16 bits are 0
        return (array.astype(numpy.float32).view(numpy.uint32) & 0xFFFF0000).view(numpy.float32)
    return array.astype(TYPES[kind][0])


def softmax(x, axis):
    x = x.astype(numpy.float64)
    e = numpy.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


erf = numpy.vectorize(math.erf, otypes=[float])
# name: (alpha, beta, reference function)
ALGORITHMS = {
    "abs": (0, 0, abs),
    "clip": (-1, 1.5, lambda x: numpy.clip(x, -1, 1.5)),
    "clip_v2": (-1, 1.5, lambda x: numpy.clip(x, -1, 1.5)),
    "elu": (0.5, 0, lambda x: numpy.where(x > 0, x, 0.5 * numpy.expm1(x))),
    "exp": (0, 0, numpy.exp),
    "gelu_erf": (0, 0, lambda x: x / 2 * (1 + erf(x / math.sqrt(2)))),
    "gelu_tanh": (0, 0, lambda x: x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "hardsigmoid": (0.25, 0.5, lambda x: numpy.clip(0.25 * x + 0.5, 0, 1)),
    "hardswish": (0.25, 0.5, lambda x: x * numpy.clip(0.25 * x + 0.5, 0, 1)),
    "linear": (2, -0.5, lambda x: 2 * x - 0.5),
    "log": (0, 0, lambda x: numpy.log(x)),
    "logistic": (0, 0, sigmoid),
    "mish": (0, 0, lambda x: x * numpy.tanh(numpy.log1p(numpy.exp(x)))),
    "pow": (2, 3, lambda x: 2 * x**3),
    "relu": (0.25, 0, lambda x: numpy.where(x > 0, x, 0.25 * x)),
    "round": (0, 0, numpy.rint),
    "soft_relu": (2, 0, lambda x: numpy.log1p(numpy.exp(2 * x)) / 2),
    "sqrt": (0, 0, numpy.sqrt),
    "square": (0, 0, numpy.square),
    "swish": (1.5, 0, lambda x: x * sigmoid(1.5 * x)),
    "tanh": (0, 0, numpy.tanh),
}

# Sums the rows of %x, each multiplied by %by, and adds 1 to %step. Inputs and results have two types.
ROWS = """
func.func @rows(%x: tensor<?x8xf32>, %by: tensor<8xf32>, %step: tensor<4xi32>) -> (tensor<4xi32>, tensor<8xf32>) {
  %none = tensor.empty() : tensor<8xf32>
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<8xf32>) -> tensor<8xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>,
                                           affine_map<(r, c) -> (c)>],
                          iterator_types = ["reduction", "parallel"]}
      ins(%x, %by : tensor<?x8xf32>, tensor<8xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %more = arith.addf %sum, %product : f32
    linalg.yield %more : f32
  } -> tensor<8xf32>
  %four = tensor.empty() : tensor<4xi32>
  %next = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                          iterator_types = ["parallel"]}
      ins(%step : tensor<4xi32>) outs(%four : tensor<4xi32>) {
  ^bb0(%a: i32, %old: i32):
    %one = arith.constant 1 : i32
    %b = arith.addi %a, %one : i32
    linalg.yield %b : i32
  } -> tensor<4xi32>
  return %next, %sums : tensor<4xi32>, tensor<8xf32>
}
"""
INT = TensorProto.INT32


def rows(inputs=None, outputs=None, **attributes):
    inputs = inputs or [value("x", FLOAT, [None, 8]), value("by", FLOAT, [8]), value("step", INT, [4])]
    outputs = outputs or [value("next", INT, [4]), value("sums", FLOAT, [8])]
    node = helper.make_node("Function", [i.name for i in inputs], [o.name for o in outputs], domain="quern",
                            **attributes)
    return session([node], inputs, outputs)


class OperatorsTest(unittest.TestCase):
    def assertClose(self, result, expected, kind, scale=1.0):
        limit = TYPES[kind][1] * (abs(expected) + scale)
        self.assertEqual(result.shape, expected.shape)
        self.assertFalse((~(abs(result.astype(numpy.float64) - expected) <= limit)).any())

    def test_softmax(self):
        generator = numpy.random.default_rng(1)
        for kind in TYPES:
            for shape, axes in (((7,), (0, -1)), ((3, 1000), (0, 1, -1)), ((2, 5, 33), (-3, 1, 2)),
                                ((1, 3, 2, 17, 4), (2, -1))):
                for axis in axes:
                    with self.subTest(kind=kind, shape=shape, axis=axis):
                        x = draw(generator, kind, shape)
                        y = run(unary("Softmax", kind, shape, axis=axis), x)
                        self.assertClose(y, softmax(x, axis), kind, 0.0 if kind != HALF else 2.0**-10)
                        y = run(unary("LogSoftmax", kind, [None] * len(shape), axis=axis), x)
                        self.assertClose(y, numpy.log(softmax(x, axis)), kind)

    def test_axis_is_the_last_by_default(self):
        x = draw(numpy.random.default_rng(2), FLOAT, (4, 6))
        self.assertClose(run(unary("Softmax", FLOAT, [None, 6]), x), softmax(x, 1), FLOAT)

    def test_eltwise(self):
        generator = numpy.random.default_rng(3)
        for kind in TYPES:
            for name, (alpha, beta, function) in ALGORITHMS.items():
                with self.subTest(kind=kind, name=name):
                    made = unary("Eltwise", kind, ["a", "b"], alg=name, alpha=float(alpha), beta=float(beta))
                    for shape in ((5, 77), (64, 3)):
                        x = draw(generator, kind, shape)
                        x = abs(x) + x.dtype.type(0.125) if name in ("log", "sqrt") else x
                        if kind == BRAIN:
                            x = (x.view(numpy.uint32) & 0xFFFF0000).view(numpy.float32)
                        self.assertClose(run(made, x), function(x.astype(numpy.float64)), kind)

    def test_shapes_without_elements_or_dims(self):
        made = unary("Eltwise", FLOAT, ["a", "b"], alg="relu")
        self.assertEqual(run(made, numpy.zeros((0, 3), numpy.float32)).shape, (0, 3))
        y = run(unary("Eltwise", FLOAT, [], alg="square"), numpy.array(3, numpy.float32))
        self.assertEqual((y.shape, float(y)), ((), 9.0))

    def test_within_a_graph(self):
        """ONNX Runtime infers the types of the results of operators."""
        nodes = [helper.make_node("MatMul", ["x", "x"], ["p"]),
                 helper.make_node("Softmax", ["p"], ["q"], domain="quern"),
                 helper.make_node("ReduceSum", ["q"], ["y"], keepdims=0)]
        made = session(nodes, [value("x", FLOAT, [8, 8])], [value("y", FLOAT, [])])
        self.assertAlmostEqual(float(run(made, draw(numpy.random.default_rng(4), FLOAT, (8, 8)))), 8.0, places=4)

    def test_function(self):
        generator = numpy.random.default_rng(5)
        made = rows(module=ROWS, function="rows")
        for count in (1, 5, 300):
            x, by = draw(generator, FLOAT, (count, 8)), draw(generator, FLOAT, (8,))
            step = numpy.arange(4, dtype=numpy.int32)
            following, sums = made.run(None, {"x": x, "by": by, "step": step})
            numpy.testing.assert_array_equal(following, step + 1)
            self.assertClose(sums, (x.astype(numpy.float64) * by).sum(axis=0), FLOAT, float(count) * 8)

    def test_function_with_an_argument_that_nothing_reads(self):
        module = """func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
          %empty = tensor.empty() : tensor<4xf32>
          %a = linalg.abs ins(%y : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
          %b = linalg.negf ins(%y : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
          return %b, %a : tensor<4xf32>, tensor<4xf32>
        }"""
        inputs, outputs = ([value(name, FLOAT, [4]) for name in names] for names in ("xy", "ba"))
        y = numpy.array([-1, 2, -3, 4], numpy.float32)
        b, a = rows(module=module, inputs=inputs, outputs=outputs).run(None, {"x": y * 10, "y": y})
        numpy.testing.assert_array_equal(b, -y)
        numpy.testing.assert_array_equal(a, abs(y))

    def test_function_of_numbers(self):
        """A number is a tensor with one element and rank 0 or 1; here one selects a slice and the other scales it."""
        module = """func.func @f(%x: tensor<100xf16>, %by: f32, %at: index) -> tensor<8xf16> {
          %part = tensor.extract_slice %x[%at] [8] [1] : tensor<100xf16> to tensor<8xf16>
          %empty = tensor.empty() : tensor<8xf16>
          %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
                               iterator_types = ["parallel"]}
              ins(%part, %by : tensor<8xf16>, f32) outs(%empty : tensor<8xf16>) {
          ^bb0(%a: f16, %b: f32, %old: f16):
            %wide = arith.extf %a : f16 to f32
            %product = arith.mulf %wide, %b : f32
            %c = arith.truncf %product : f32 to f16
            linalg.yield %c : f16
          } -> tensor<8xf16>
          return %y : tensor<8xf16>
        }"""
        x = draw(numpy.random.default_rng(6), HALF, (100,))
        for shape in ([], [1]):
            made = rows(module=module, inputs=[value("x", HALF, [100]), value("by", FLOAT, shape),
                                               value("at", INT, shape)], outputs=[value("y", HALF, [8])])
            by, at = numpy.full(shape, 0.5, numpy.float32), numpy.full(shape, 17, numpy.int32)
            numpy.testing.assert_array_equal(made.run(None, {"x": x, "by": by, "at": at})[0],
                                             (x[17:25].astype(numpy.float32) * 0.5).astype(numpy.float16))
            with self.assertRaisesRegex(Exception, "quern: .*93"):
                made.run(None, {"x": x, "by": by, "at": numpy.full(shape, 93, numpy.int32)})

    def test_threads(self):
        """Eight threads use one session with more shapes than a node caches, and create and destroy other sessions."""
        made = unary("Softmax", FLOAT, [None, None])
        failures = []

        def work(seed):
            try:
                generator = numpy.random.default_rng(seed)
                for i in range(120):
                    shape = (1 + (seed * 7 + i) % 60, 1 + i % 12)
                    x = draw(generator, FLOAT, shape)
                    self.assertClose(run(made, x), softmax(x, 1), FLOAT)
                    if i % 40 == seed:
                        x = draw(generator, FLOAT, (4, 9))
                        self.assertClose(run(unary("Softmax", FLOAT, [4, 9], axis=0), x), softmax(x, 0), FLOAT)
            except Exception as exception:  # checked below, in the main thread
                failures.append(exception)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class ErrorsTest(unittest.TestCase):
    def refused(self, text, make, *arguments, **attributes):
        with self.assertRaises(Exception) as caught:
            make(*arguments, **attributes)
        self.assertIn("quern: " + text, str(caught.exception))

    def test_attributes(self):
        self.refused("axis is 2; a tensor of rank 2 allows -2 to 1", unary, "Softmax", FLOAT, [3, 5], axis=2)
        self.refused("the attribute axis is not an integer", unary, "Softmax", FLOAT, [3, 5], axis=1.0)
        self.refused("the attribute axis is not an integer", unary, "LogSoftmax", FLOAT, [3, 5], axis=[1])
        self.refused("Eltwise needs the attribute alg", unary, "Eltwise", FLOAT, [3])
        self.refused("the attribute alg is not a string", unary, "Eltwise", FLOAT, [3], alg=1)
        self.refused("the attribute alpha is not a float", unary, "Eltwise", FLOAT, [3], alg="elu", alpha=1)
        self.refused("alg is 'relu dst=none', which is no name", unary, "Eltwise", FLOAT, [3], alg="relu dst=none")
        with self.assertRaisesRegex(Exception, "quern: .*alg is 'rulu'; known are relu, "):
            unary("Eltwise", FLOAT, [None], alg="rulu")

    def test_types(self):
        takes = " supports float, float16, bfloat16 and double; the input is "
        self.refused("Softmax" + takes + "int32", unary, "Softmax", INT, [3])
        self.refused("Eltwise" + takes + "uint64", unary, "Eltwise", TensorProto.UINT64, [3], alg="abs")

    def test_at_execution(self):
        made = unary("Softmax", FLOAT, None, axis=1)
        self.refused("axis is 1; a tensor of rank 1 allows -1 to 0", run, made, numpy.zeros(3, numpy.float32))
        self.refused("axis is 1; a tensor of rank 0 allows none", run, made, numpy.zeros((), numpy.float32))
        with self.assertRaisesRegex(Exception, "quern: .*13"):
            run(made, numpy.zeros([1] * 13, numpy.float32))
        x = numpy.zeros((2, 3), numpy.float32)  # the session is still usable
        self.assertAlmostEqual(float(run(made, x)[1, 2]), 1 / 3, places=6)

    def test_function(self):
        self.refused("Function needs the attribute module", rows)
        with self.assertRaisesRegex(Exception, "quern: .*"):
            rows(module="func.func @f(")
        with self.assertRaisesRegex(Exception, "quern: .*other"):
            rows(module=ROWS, function="other")
        self.refused("Function: the node has 1 inputs and 2 outputs; the function has 3 arguments and 2 results", rows,
                     inputs=[value("x", FLOAT, [None, 8])], module=ROWS)
        self.refused("Function: input 1 of the node is double", rows, module=ROWS, inputs=[
            value("x", FLOAT, [None, 8]), value("by", DOUBLE, [8]), value("step", INT, [4])])
        self.refused("Function: output 1 of the node is float16", rows, module=ROWS,
                     outputs=[value("next", INT, [4]), value("sums", HALF, [8])])
        open_result = """func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
          %y = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
          return %y : tensor<?xf32>
        }"""
        self.refused("Function: result 0 has sizes that are open", rows, module=open_result,
                     inputs=[value("x", FLOAT, [None])], outputs=[value("y", FLOAT, [None])])
        written = """func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
          linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
          return
        }"""
        self.refused("Function: argument 1 is written", rows, module=written,
                     inputs=[value("x", FLOAT, [8]), value("y", FLOAT, [8])], outputs=[value("z", FLOAT, [8])])

    def test_function_of_another_shape(self):
        made = rows(module=ROWS, inputs=[value("x", FLOAT, [None, None]), value("by", FLOAT, None),
                                         value("step", INT, None)])
        step, by = numpy.zeros(4, numpy.int32), numpy.zeros(8, numpy.float32)
        for x, row, counts in ((numpy.zeros((2, 9), numpy.float32), by, step), (by.reshape(1, 8), by[:4], step),
                               (by.reshape(1, 8), by, step[:3]), (numpy.zeros((0, 8), numpy.float32), by, step)):
            with self.assertRaisesRegex(Exception, "quern: "):
                made.run(None, {"x": x, "by": row, "step": counts})


class DocsTest(unittest.TestCase):
    def test_example(self):
        with open(DOCS, encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
        names = {}
        for block in blocks:
            exec(block.replace("PREFIX/lib/libquern-onnxruntime.so", LIBRARY), names)
        numpy.testing.assert_allclose(names["y"], softmax(names["x"], 1), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
