# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Serving side of quern-bench's protocol (Contestant.h) for contestants written in Python."""

import json
import os
import sys
import time

import numpy


class Problem:
    """A problem from `problem <json>`, which Problem.cpp writes."""

    def __init__(self, text):
        fields = json.loads(text.split(" ", 1)[1])
        self.primitive, self.parameters = fields["primitive"], fields["parameters"]
        self.dims, self.tensors = fields["dims"], fields["tensors"]
        self.scales, self.zeroPoints, self.postOps = fields["scales"], fields["zero_points"], fields["post_ops"]


class Contestant:
    """prepare(problem) prepares it or raises with a reason; run(calls) returns when the last result is available."""


def pick(choices, name):
    if name not in choices:
        raise ValueError("no " + name)
    return choices[name]


def requireDense(problem, types):
    """Raises for tensors that a library of dense arrays cannot express."""
    for name, tensor in problem.tensors.items():
        if not tensor["dense"]:
            raise ValueError("dense row-major tensors only, not " + name)
        pick(types, tensor["type"])


def orderOf(tensor):
    """Returns the dims from the outermost in memory to the innermost; raises for tensors that are not dense arrays."""
    tag = tensor["tag"]
    if not tag.islower() or not tag.isalpha():
        raise ValueError("no blocks and no gaps")
    return [ord(letter) - ord("a") for letter in tag]


def storedDims(tensor):
    return [tensor["dims"][dim] for dim in orderOf(tensor)]


def storedPermutation(problem):
    """For a reorder: returns the source's stored dims in the order of the destination's."""
    src = orderOf(problem.tensors["src"])
    return [src.index(dim) for dim in orderOf(problem.tensors["dst"])]


def requirePlainQuantization(problem):
    """Raises for quantization that the frameworks' operators cannot express: groups, post-ops."""
    if problem.postOps or any(params["groups"] for params in (problem.scales | problem.zeroPoints).values()):
        raise ValueError("no groups and no post-ops")


def vectorDims(problem, params):
    """Returns the shape that broadcasts scales or zero points over the destination as it is stored."""
    dst = problem.tensors["dst"]
    return [dst["dims"][dim] if params["mask"] >> dim & 1 else 1 for dim in orderOf(dst)]


# Zero point and scale of every contestant in Python. Their values do not affect the time.
ZERO_POINT = 3
SCALE = 1.25


def normalValues(dims):
    return numpy.random.default_rng(1).normal(0, 2, dims).astype(numpy.float32)


# Long enough that the scheduler gives each thread a separate CPU and the caches hold this contestant's data.
WARM_UP_NS = 20_000_000


def timeRuns(contestant, samples, calls):
    warm = time.perf_counter_ns() + WARM_UP_NS
    contestant.run(calls)
    while time.perf_counter_ns() < warm:
        contestant.run(calls)
    times = []
    for _ in range(samples):
        start = time.perf_counter_ns()
        contestant.run(calls)
        times.append((time.perf_counter_ns() - start) / calls)
    return "ns " + " ".join(map(str, times))


def answer(contestant, request):
    words = request.split()
    if words[0] == "problem":
        contestant.prepare(Problem(request))
        contestant.run(1)
        return "ok " + type(contestant).__name__
    if words[0] == "run":
        return timeRuns(contestant, int(words[1]), int(words[2]))
    return "no unknown request"


def serve(contestant):
    # Output of a library must not be mixed with the answers.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for request in sys.stdin:
        request = request.strip()
        if request == "quit":
            return
        try:
            reply = answer(contestant, request)
        except Exception as error:  # the reason is whatever a library raises
            reply = "no " + " ".join(str(error).split())[:200]
        print(reply, file=out, flush=True)
