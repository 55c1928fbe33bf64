# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices of execution arguments (quern/quern_query.h), and their names in the text form and in messages."""

SRC, SRC_1, SRC_2 = 1, 2, 3
DST, DST_1, DST_2 = 17, 18, 19
WEIGHTS = 33
BIAS = 41
WORKSPACE, SCRATCHPAD, SEQ_LENGTHS = 64, 80, 96
DIFF_SRC = 129
DIFF_DST = 145
MULTIPLE_SRC, MULTIPLE_DST = 1024, 2048
SCALES, ZERO_POINTS, POST_OP = 4096, 8192, 32768

PLAIN = {
    SRC: "src", SRC_1: "src_1", SRC_2: "src_2", DST: "dst", DST_1: "dst_1", DST_2: "dst_2", WEIGHTS: "weights",
    34: "weights_1", 35: "weights_2", 36: "weights_3", BIAS: "bias", DIFF_SRC: "diff_src", 130: "diff_src_1",
    DIFF_DST: "diff_dst", 146: "diff_dst_1", 161: "diff_weights", 162: "diff_weights_1", 169: "diff_bias",
    WORKSPACE: "workspace", SCRATCHPAD: "scratchpad", 97: "alpha", 98: "beta", 99: "src_offset",
    100: "weights_offset", 101: "dst_offset", 507: "dropout.offset", 509: "dropout.mask", 510: "dropout.probability",
    511: "dropout.seed",
}
RNN = {
    1: "src_layer", 2: "src_iter", 3: "src_iter_c", 4: "attention", SEQ_LENGTHS: "seq_lengths", 33: "weights_layer",
    34: "weights_iter", 35: "weights_peephole", 36: "weights_projection", BIAS: "bias", 17: "dst_layer",
    18: "dst_iter", 19: "dst_iter_c", WORKSPACE: "workspace", SCRATCHPAD: "scratchpad", 129: "diff_src_layer",
    130: "diff_src_iter", 131: "diff_src_iter_c", 132: "diff_attention", 161: "diff_weights_layer",
    162: "diff_weights_iter", 163: "diff_weights_peephole", 164: "diff_weights_projection", 169: "diff_bias",
    145: "diff_dst_layer", 146: "diff_dst_iter", 147: "diff_dst_iter_c",
}
RNN_INDEX = {name: index for index, name in RNN.items()}


def name_of(index, primitive):
    """Returns the name of an argument of a primitive, such as "softmax"."""
    if primitive == "rnn":
        return RNN.get(index, str(index))
    if primitive == "mlir":
        return f"result{index - MULTIPLE_DST}" if index >= MULTIPLE_DST else f"arg{index - MULTIPLE_SRC}"
    if index & SCALES:
        return "scales." + name_of(index & ~SCALES, primitive)
    if index & ZERO_POINTS:
        return "zero_points." + name_of(index & ~ZERO_POINTS, primitive)
    if index >= POST_OP:
        return f"post{index // POST_OP - 1}." + name_of(index % POST_OP, primitive)
    if index >= MULTIPLE_SRC:
        return f"srcs.{index - MULTIPLE_SRC}"
    return PLAIN.get(index, str(index))
