# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime as a contestant of quern-bench: one-node Softmax and LogSoftmax models, inputs and outputs bound once."""

import sys

import numpy
import onnxruntime
from onnx import TensorProto, helper

import driver


class OnnxRuntime(driver.Contestant):
    def __init__(self, threads):
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1

    def prepare(self, problem):
        driver.requireDense(problem, {"f32": None})
        if problem.backward or problem.scales or problem.postOps:
            raise ValueError("no backward propagation, scales or post-ops in one operator")
        operator = driver.pick({"softmax_accurate": "Softmax", "softmax_log": "LogSoftmax"}, problem.algorithm)
        tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, problem.dims) for name in ("x", "y")]
        node = helper.make_node(operator, ["x"], ["y"], axis=problem.axis)
        graph = helper.make_graph([node], "softmax", tensors[:1], tensors[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), self.options, providers=["CPUExecutionProvider"])
        source = driver.normalValues(problem.dims)
        self.binding = self.session.io_binding()
        self.source = onnxruntime.OrtValue.ortvalue_from_numpy(source)
        self.result = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.zeros_like(source))
        self.binding.bind_ortvalue_input("x", self.source)
        self.binding.bind_ortvalue_output("y", self.result)

    def run(self, calls):
        run, binding = self.session.run_with_iobinding, self.binding
        for _ in range(calls):
            run(binding)


driver.serve(OnnxRuntime(int(sys.argv[1])))
