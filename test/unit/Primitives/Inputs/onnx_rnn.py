# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""onnx_rnn.py: writes the results of ONNX Runtime for small RNNs to onnx-<model>/<tensor>.npy next to
this file, for RnnModelsTest.cpp.

Tensors have the shapes of ONNX: x [T, N, I], w [D, G H, I], r [D, G H, H], b [D, 2 G H], p [D, 3 H], sequence_lens [N],
initial_h and initial_c [D, N, H]; y [T, D, N, H], y_h and y_c [D, N, H].
"""
import pathlib

import numpy
import onnxruntime
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent
RANDOM = numpy.random.default_rng(11)


def write(model, op, gates, directions=1, steps=5, batch=3, inputs=6, hidden=4, peepholes=False, lengths=None,
          **attributes):
    def values(*shape):
        return RANDOM.uniform(-0.5, 0.5, shape).astype(numpy.float32)

    tensors = {"x": values(steps, batch, inputs), "w": values(directions, gates * hidden, inputs),
               "r": values(directions, gates * hidden, hidden), "b": values(directions, 2 * gates * hidden)}
    names = ["x", "w", "r", "b", "", "initial_h"]
    tensors["initial_h"] = values(directions, batch, hidden)
    if lengths:
        tensors["sequence_lens"] = numpy.array(lengths, numpy.int32)
        names[4] = "sequence_lens"
    outputs = ["y", "y_h"]
    if op == "LSTM":
        tensors["initial_c"] = values(directions, batch, hidden)
        names.append("initial_c")
        outputs.append("y_c")
        if peepholes:
            tensors["p"] = values(directions, 3 * hidden)
            names.append("p")
    direction = "bidirectional" if directions == 2 else "forward"
    node = helper.make_node(op, names, outputs, hidden_size=hidden, direction=direction, **attributes)
    types = {name: TensorProto.INT32 if name == "sequence_lens" else TensorProto.FLOAT for name in tensors}
    shapes = {name: ([steps] if name == "y" else []) + [directions, batch, hidden] for name in outputs}
    graph = helper.make_graph(
        [node], model, [helper.make_tensor_value_info(name, types[name], tensors[name].shape) for name in tensors],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name]) for name in outputs])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    tensors |= dict(zip(outputs, session.run(outputs, tensors)))
    folder = HERE / f"onnx-{model}"
    folder.mkdir(exist_ok=True)
    for name, tensor in tensors.items():
        numpy.save(folder / f"{name}.npy", tensor)


write("rnn", "RNN", 1, activations=["Tanh"])
write("lstm-peepholes", "LSTM", 4, directions=2, peepholes=True)
write("gru", "GRU", 3, linear_before_reset=0)
write("gru-linear-before-reset", "GRU", 3, linear_before_reset=1)
write("lstm-lengths", "LSTM", 4, directions=2, lengths=[3, 5, 1])
