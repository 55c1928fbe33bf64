# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime as a contestant of quern-bench: models of one operator (two for a reorder of layout and type; one for
each layer of an RNN), whose buffers are bound once."""

import sys

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import driver

# ONNX's element type, and the NumPy type that holds such elements.
TYPES = {
    "f32": (TensorProto.FLOAT, numpy.float32), "f64": (TensorProto.DOUBLE, numpy.float64),
    "f16": (TensorProto.FLOAT16, numpy.float16), "bf16": (TensorProto.BFLOAT16, numpy.uint16),
    "s32": (TensorProto.INT32, numpy.int32), "s8": (TensorProto.INT8, numpy.int8),
    "u8": (TensorProto.UINT8, numpy.uint8),
}


def softmaxModel(problem):
    driver.requireDense(problem, {"f32": None})
    if problem.parameters["backward"] or problem.scales or problem.postOps:
        raise ValueError("no backward propagation, scales or post-ops in one operator")
    operators = {"softmax_accurate": "Softmax", "softmax_log": "LogSoftmax"}
    operator = driver.pick(operators, problem.parameters["algorithm"])
    return [helper.make_node(operator, ["x"], ["y"], axis=problem.parameters["axis"])], []


def quantizationNode(problem, source):
    """Returns QuantizeLinear or DequantizeLinear, with its vectors."""
    driver.requirePlainQuantization(problem)
    side = "dst" if list(problem.scales) == ["dst"] else "src"
    if list(problem.scales) != [side] or not set(problem.zeroPoints) <= {side}:
        raise ValueError("scales on one side only, and zero points there")
    if problem.tensors["src" if side == "dst" else "dst"]["type"] != "f32":
        raise ValueError("f32 only on the other side")
    scaleDims = driver.vectorDims(problem, problem.scales[side])
    wide = [axis for axis, size in enumerate(scaleDims) if size > 1]
    if len(wide) > 1 or any(params["mask"] != problem.scales[side]["mask"] for params in problem.zeroPoints.values()):
        raise ValueError("vectors along one axis only")
    shape = [scaleDims[wide[0]]] if wide else []
    integer = driver.pick({"s8": numpy.int8, "u8": numpy.uint8}, problem.tensors[side]["type"])
    zeroPoint = driver.ZERO_POINT if problem.zeroPoints else 0
    vectors = [numpy_helper.from_array(numpy.full(shape, driver.SCALE, numpy.float32), "scale"),
               numpy_helper.from_array(numpy.full(shape, zeroPoint, integer), "zero")]
    operator = "QuantizeLinear" if side == "dst" else "DequantizeLinear"
    return helper.make_node(operator, [source, "scale", "zero"], ["y"], axis=wide[0] if wide else 0), vectors


def reorderModel(problem):
    permutation = driver.storedPermutation(problem)
    src, dst = problem.tensors["src"], problem.tensors["dst"]
    isPermuted = permutation != sorted(permutation)
    isConverted = bool(problem.scales or problem.zeroPoints or src["type"] != dst["type"])
    nodes, vectors = [], []
    if isPermuted:
        nodes.append(helper.make_node("Transpose", ["x"], ["t" if isConverted else "y"], perm=permutation))
    source = "t" if isPermuted else "x"
    if problem.scales or problem.zeroPoints or problem.postOps:
        node, vectors = quantizationNode(problem, source)
        nodes.append(node)
    elif isConverted:
        nodes.append(helper.make_node("Cast", [source], ["y"], to=driver.pick(TYPES, dst["type"])[0]))
    elif not isPermuted:
        nodes.append(helper.make_node("Identity", ["x"], ["y"]))
    return nodes, vectors


# Operator, number of gates and attributes of each cell. The order of gates in the random weights does not affect the
# speed.
CELLS = {"vanilla_lstm": ("LSTM", 4, {}), "vanilla_gru": ("GRU", 3, {"linear_before_reset": 0}),
         "lbr_gru": ("GRU", 3, {"linear_before_reset": 1})}
DIRECTIONS = {"left2right": "forward", "right2left": "reverse", "bidirectional_concat": "bidirectional"}


def rnnModel(problem):
    """Returns a model with one operator for each layer: its result [T, D, N, H] becomes the [T, N, D H] of the next
    layer, or of the destination."""
    for name, tensor in problem.tensors.items():
        driver.pick({"f32": None}, tensor["type"])
        if name not in ("src_layer", "weights_layer", "weights_iter", "bias", "dst_layer"):
            raise ValueError("no " + name)
    operator, gates, attributes = driver.pick(CELLS, problem.parameters["cell"])
    direction = driver.pick(DIRECTIONS, problem.parameters["direction"])
    if problem.parameters["fpmath"] != "strict":
        raise ValueError("no fpmath")
    layers, directions, _, _, hidden = problem.tensors["weights_iter"]["dims"]
    if layers > 1 and directions > 1:
        raise ValueError("layers that read one direction of the layer below")
    steps, batch, channels = problem.tensors["src_layer"]["dims"]
    joined = numpy_helper.from_array(numpy.array([steps, batch, directions * hidden]), "shape")
    nodes, weights, source = [], [joined], "x"
    for layer in range(layers):
        names = [f"{name}{layer}" for name in "WRB"]
        shapes = [[gates * hidden, channels], [gates * hidden, hidden], [2 * gates * hidden]]
        for name, shape in zip(names, shapes):
            values = driver.normalValues([directions] + shape) * numpy.float32(0.1 / hidden**0.5)
            weights.append(numpy_helper.from_array(values, name))
        nodes.append(helper.make_node(operator, [source] + names, [f"h{layer}"], hidden_size=hidden,
                                      direction=direction, **attributes))
        source, channels = f"x{layer}" if layer + 1 < layers else "y", directions * hidden
        if directions == 1:
            nodes.append(helper.make_node("Reshape", [f"h{layer}", "shape"], [source]))
        else:
            nodes.append(helper.make_node("Transpose", [f"h{layer}"], [f"t{layer}"], perm=[0, 2, 1, 3]))
            nodes.append(helper.make_node("Reshape", [f"t{layer}", "shape"], [source]))
    return nodes, weights


MODELS = {"softmax": softmaxModel, "reorder": reorderModel, "rnn": rnnModel}
# Names of source and destination if they are not src and dst.
ENDS = {"rnn": ("src_layer", "dst_layer")}


def makeValue(tensor, isInput):
    name, holder = driver.pick(TYPES, tensor["type"])
    values = driver.normalValues(driver.storedDims(tensor)) if isInput else numpy.zeros(driver.storedDims(tensor))
    if tensor["type"] == "bf16":
        values = values.astype(numpy.float32).view(numpy.uint32) >> 16
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(numpy.ascontiguousarray(values.astype(holder)), name)


class OnnxRuntime(driver.Contestant):
    def __init__(self, threads):
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1

    def prepare(self, problem):
        nodes, vectors = driver.pick(MODELS, problem.primitive)(problem)
        ends = ENDS.get(problem.primitive, ("src", "dst"))
        sides = [(problem.tensors[name], side) for name, side in zip(ends, "xy")]
        infos = [helper.make_tensor_value_info(name, driver.pick(TYPES, side["type"])[0], driver.storedDims(side))
                 for side, name in sides]
        graph = helper.make_graph(nodes, problem.primitive, infos[:1], infos[1:], vectors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), self.options,
                                                    providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.source, self.result = makeValue(sides[0][0], True), makeValue(sides[1][0], False)
        self.binding.bind_ortvalue_input("x", self.source)
        self.binding.bind_ortvalue_output("y", self.result)

    def run(self, calls):
        run, binding = self.session.run_with_iobinding, self.binding
        for _ in range(calls):
            run(binding)


driver.serve(OnnxRuntime(int(sys.argv[1])))
