# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The serving side of quern-bench's protocol (Contestant.h) for contestants written in Python."""

import os
import sys
import time

import numpy


class Problem:
    """`problem <algorithm> <axis> <dims> <type> <strides> <type> <strides> <line>`."""

    def __init__(self, text):
        words = text.split(" ", 8)
        self.algorithm, self.axis = words[1], int(words[2])
        self.dims = [int(dim) for dim in words[3].split("x")]
        self.srcType, self.srcStrides = words[4], [int(stride) for stride in words[5].split("x")]
        self.dstType, self.dstStrides = words[6], [int(stride) for stride in words[7].split("x")]


class Contestant:
    """prepare(problem) makes it ready or raises with a reason; run(calls) returns when the last result is there."""


def pick(problem, **choices):
    if problem.algorithm not in choices:
        raise ValueError("no " + problem.algorithm)
    return choices[problem.algorithm]


def requireDense(problem, types):
    """Refuses what a library of dense arrays has no name for."""
    dense = [1] * len(problem.dims)
    for d in range(len(dense) - 1, 0, -1):
        dense[d - 1] = dense[d] * problem.dims[d]
    if problem.srcStrides != dense or problem.dstStrides != dense:
        raise ValueError("dense row-major tensors only")
    for name in (problem.srcType, problem.dstType):
        if name not in types:
            raise ValueError("no type " + name)


def normalValues(problem):
    return numpy.random.default_rng(1).normal(0, 2, problem.dims).astype(numpy.float32)


# Long enough for the scheduler to give each thread a CPU of its own, and for the caches to be this contestant's.
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
        return "ok"
    if words[0] == "run":
        return timeRuns(contestant, int(words[1]), int(words[2]))
    return "no unknown request"


def serve(contestant):
    # What a library prints must not end up between the answers.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for request in sys.stdin:
        request = request.strip()
        if request == "quit":
            return
        try:
            reply = answer(contestant, request)
        except Exception as error:  # whatever a library raises is its reason
            reply = "no " + " ".join(str(error).split())[:200]
        print(reply, file=out, flush=True)
