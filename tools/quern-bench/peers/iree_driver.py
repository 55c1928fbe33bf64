# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IREE on the CPU as a contestant of quern-bench: a permutation, with f32 quantized on the way if there is one scale
for all elements; and functions in MLIR, which it compiles unchanged."""

import sys

import iree.compiler
import iree.runtime
import numpy

import driver
import functions

TYPES = {"f32": ("f32", numpy.float32), "f16": ("f16", numpy.float16), "f64": ("f64", numpy.float64),
         "s32": ("i32", numpy.int32), "s8": ("i8", numpy.int8), "u8": ("i8", numpy.uint8)}


def bodyOf(problem):
    """Returns lines that compute an element of the destination from %v, and the name of the result."""
    src, dst = problem.tensors["src"]["type"], problem.tensors["dst"]["type"]
    if src == dst and not problem.scales and not problem.zeroPoints and not problem.postOps:
        return [], "%v"
    isScaled = list(problem.scales) == ["dst"] and not problem.zeroPoints and not problem.postOps
    if (src, dst) == ("f32", "s8") and isScaled:
        if problem.scales["dst"]["mask"] == 0:
            return [f"%scale = arith.constant {driver.SCALE} : f32", "%low = arith.constant -128.0 : f32",
                    "%high = arith.constant 127.0 : f32", "%q = arith.divf %v, %scale : f32",
                    "%a = arith.maximumf %q, %low : f32", "%b = arith.minimumf %a, %high : f32",
                    "%c = math.roundeven %b : f32", "%r = arith.fptosi %c : f32 to i8"], "%r"
    raise ValueError("permutations, and f32 to s8 with one scale, only")


def moduleOf(problem):
    src, dst = problem.tensors["src"], problem.tensors["dst"]
    permutation = driver.storedPermutation(problem)
    srcType, dstType = driver.pick(TYPES, src["type"])[0], driver.pick(TYPES, dst["type"])[0]
    source = "tensor<" + "".join(f"{size}x" for size in driver.storedDims(src)) + srcType + ">"
    result = "tensor<" + "".join(f"{size}x" for size in driver.storedDims(dst)) + dstType + ">"
    loops = [f"d{i}" for i in range(len(permutation))]
    # Loops are over the destination: loop i is dim permutation[i] of the source.
    read = ", ".join(loops[permutation.index(dim)] for dim in range(len(loops)))
    maps = [f"affine_map<({', '.join(loops)}) -> ({dims})>" for dims in (read, ", ".join(loops))]
    iterators = ", ".join(['"parallel"'] * len(loops))
    body, value = bodyOf(problem)
    lines = [f"func.func @main(%x: {source}) -> {result} {{", f"%e = tensor.empty() : {result}",
             f"%y = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}}",
             f"ins(%x : {source}) outs(%e : {result}) {{", f"^bb0(%v: {srcType}, %o: {dstType}):", *body,
             f"linalg.yield {value} : {dstType}", f"}} -> {result}", f"return %y : {result}", "}"]
    return "\n".join(lines)


class Iree(driver.Contestant):
    def __init__(self, threads):
        iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        self.device = iree.runtime.get_device("local-sync" if threads == 1 else "local-task")

    def load(self, text):
        code = iree.compiler.compile_str(text, target_backends=["llvm-cpu"],
                                         extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])
        config = iree.runtime.Config(device=self.device)
        return iree.runtime.load_vm_module(iree.runtime.VmModule.copy_buffer(config.vm_instance, code), config)

    def prepare(self, problem):
        if problem.primitive == "mlir":
            with open(problem.parameters["module"], encoding="utf-8") as file:
                module = self.load(file.read())
            self.function = module[problem.parameters["function"]]
            given = functions.inputsOf(problem)
        elif problem.primitive == "reorder":
            src = problem.tensors["src"]
            self.function = self.load(moduleOf(problem)).main
            given = [(src["type"], driver.normalValues(driver.storedDims(src)))]
        else:
            raise ValueError("reorders and functions only")
        self.inputs = [iree.runtime.asdevicearray(self.device, values.astype(driver.pick(TYPES, name)[1]))
                       for name, values in given]

    def run(self, calls):
        for _ in range(calls):
            self.function(*self.inputs)


driver.serve(Iree(int(sys.argv[1])))
