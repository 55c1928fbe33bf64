# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Properties of an RNN problem for Python peers."""

import driver

GATES = {"vanilla_rnn": 1, "vanilla_lstm": 4, "vanilla_gru": 3, "lbr_gru": 3, "vanilla_augru": 3, "lbr_augru": 3}
PASSES = {"fwd_i": "inference", "fwd_t": "training", "bwd": "backward"}
KNOWN = ("src_layer", "src_iter", "src_iter_c", "attention", "weights_layer", "weights_iter", "bias")


class Rnn:
    """Sizes and values of the problem; raises for features that frameworks' layers lack."""

    def __init__(self, problem):
        self.tensors, parameters = problem.tensors, problem.parameters
        for name in self.tensors:
            if name not in KNOWN and not name.startswith(("dst_", "diff_", "workspace")):
                raise ValueError("no " + name)
        if parameters["fpmath"] != "strict":
            raise ValueError("no fpmath")
        self.cell, self.activation = parameters["cell"], parameters["activation"]
        self.timed = driver.pick(PASSES, parameters["prop"])
        self.type = self.tensors["src_layer"]["type"]
        self.steps, self.batch, self.channels = self.tensors["src_layer"]["dims"]
        self.layers, self.directions, _, self.gates, self.hidden = self.tensors["weights_iter"]["dims"]
        self.sums = parameters["direction"] == "bidirectional_sum"
        if parameters["direction"] == "right2left" or (self.layers > 1 and self.directions > 1):
            raise ValueError("layers of the other order, or that read one direction of the layer below")

    def widthOf(self, layer):
        return self.channels if layer == 0 else self.hidden

    def values(self, *dims):
        """Returns random weights, small enough that gates do not saturate."""
        return driver.normalValues(dims) * (0.5 / self.hidden**0.5)
