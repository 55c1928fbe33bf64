# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch on the CPU as a contestant of quern-bench. Uses torch.compile for reorders, as permutations of the stored
dims with quantization in f32, and for functions in MLIR by their descriptions; uses torch.nn's layers for RNNs."""

import sys

import torch

import driver
import functions
import torch_functions
import torch_rnn

TYPES = {
    "f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "s32": torch.int32,
    "s8": torch.int8, "u8": torch.uint8, "f8_e5m2": torch.float8_e5m2, "f8_e4m3": torch.float8_e4m3fn,
}


def store(value, dtype):
    if dtype.is_floating_point:
        return value.to(dtype)
    limits = torch.iinfo(dtype)
    return value.clamp(limits.min, limits.max).round().to(dtype)


def vectors(problem, quantization, value, dtype):
    return {name: torch.full(driver.vectorDims(problem, params), value, dtype=dtype)
            for name, params in quantization.items()}


def reorderFunction(problem):
    driver.requirePlainQuantization(problem)
    permutation = driver.storedPermutation(problem)
    dtype = driver.pick(TYPES, problem.tensors["dst"]["type"])

    def function(x, scales, zeroPoints):
        x = x.permute(permutation)
        if scales or zeroPoints or x.dtype != dtype:
            x = x.to(torch.float64 if torch.float64 in (x.dtype, dtype) else torch.float32)
            if "src" in zeroPoints:
                x = x - zeroPoints["src"]
            if "src" in scales:
                x = x * scales["src"]
            if "dst" in scales:
                x = x / scales["dst"]
            if "dst" in zeroPoints:
                x = x + zeroPoints["dst"]
            x = store(x, dtype)
        return x.clone(memory_format=torch.contiguous_format)

    return function


def prepareReorder(problem):
    src = problem.tensors["src"]
    source = store(torch.from_numpy(driver.normalValues(driver.storedDims(src))), driver.pick(TYPES, src["type"]))
    return reorderFunction(problem), (source, vectors(problem, problem.scales, driver.SCALE, torch.float32),
                                      vectors(problem, problem.zeroPoints, driver.ZERO_POINT, torch.int32))


def prepareFunction(problem):
    inputs = [store(torch.from_numpy(values), driver.pick(TYPES, name))
              for name, values in functions.inputsOf(problem)]
    return functions.describe(problem, torch_functions.Operations), inputs


PRIMITIVES = {"reorder": prepareReorder, "mlir": prepareFunction}


class Torch(driver.Contestant):
    def prepare(self, problem):
        self.isLayer = problem.primitive == "rnn"
        if self.isLayer:
            self.function, self.inputs = torch_rnn.prepare(problem, TYPES), ()
            return
        function, self.inputs = driver.pick(PRIMITIVES, problem.primitive)(problem)
        torch.compiler.reset()
        self.function = torch.compile(function, dynamic=False)

    def run(self, calls):
        with torch.inference_mode(not self.isLayer):
            for _ in range(calls):
                self.function(*self.inputs)


torch.set_num_threads(int(sys.argv[1]))
driver.serve(Torch())
