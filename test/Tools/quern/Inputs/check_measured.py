# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the data which --measure added to the trace on standard input, or to each of several, is consistent; the
speed itself is not checked."""

import json
import sys


def check(trace):
    measured = trace["measured"]
    stages = {stage["name"]: stage for stage in trace["stages"]}
    loops = {loop["line"] for loop in stages["schedule"]["loops"]}
    assert 0 < measured["minNs"] <= measured["medianNs"], measured
    assert measured["peakGflops"] > 0 and measured["copyGbPerS"] > 0 and measured["memoryGbPerS"] > 0, measured
    assert measured["flops"] > 0 and measured["sweeps"], measured
    assert measured["flops"] == sum(sweep["flops"] for sweep in measured["sweeps"]), measured
    assert {sweep["line"] for sweep in measured["sweeps"]} <= loops
    samples = measured["samples"]
    if "whyNot" in samples:
        assert samples["whyNot"].startswith("no samples: "), samples
        return
    assert samples["inside"] <= samples["all"], samples
    assert sum(count for _, count in samples["lines"]) == samples["inside"]
    for line, _ in samples["lines"]:  # each belongs to an instruction
        assert stages["assembly"]["offsets"][line - 1] >= 0, line
    assert sum(sweep["ns"] for sweep in measured["sweeps"]) <= measured["minNs"] * 1.001


def main():
    data = json.load(sys.stdin)
    for trace in data if isinstance(data, list) else [data]:
        check(trace)


if __name__ == "__main__":
    main()
