//===- Mistakes.cpp - RNN problems that must be refused -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each kind of mistake is a template, so that the mistake is visible in the source; the numbers in it are drawn.
//
//===----------------------------------------------------------------------===//
#include "Rnn/Generator.h"

namespace quern::cases::rnn {
namespace {

#define LSTM "rnn fwd_i cell=lstm direction=left2right "
#define GRU "rnn fwd_i cell=gru direction=left2right "
#define INT8                                                                                                           \
  "src_layer=u8:2x3x@n:abc weights_layer=s8:1x1x@nx4x8:any weights_iter=s8:1x1x8x4x8:any dst_layer=u8:2x3x8:abc "
#define LAYERS "src_layer=f32:2x3x@n:abc dst_layer=f32:2x3x8:abc "
#define WEIGHTS "weights_layer=f32:1x1x@nx4x8:any weights_iter=f32:1x1x8x4x8:any "
#define GRU_WEIGHTS "weights_layer=f32:1x1x@nx3x8:any weights_iter=f32:1x1x8x3x8:any "

constexpr Mistake all[] = {
    {"a negative dim", LSTM "src_layer=f32:2x3x-@n:abc dst_layer=f32:2x3x8:abc " WEIGHTS},
    {"an unknown field", LSTM LAYERS WEIGHTS "weights=f32:1:a"},
    {"backward of weights", "rnn bwd_w cell=lstm direction=left2right " LAYERS WEIGHTS, "C2"},
    {"no cell", "rnn fwd_i direction=left2right " LAYERS WEIGHTS, "C3"},
    {"a cell that is a softmax", "rnn fwd_i cell=softmax_log direction=left2right " LAYERS WEIGHTS, "C3"},
    {"no direction", "rnn fwd_i cell=lstm " LAYERS WEIGHTS, "C4"},
    {"activation exp", "rnn fwd_i cell=rnn activation=exp direction=left2right " LAYERS WEIGHTS, "C5"},
    {"an activation of lstm", LSTM "activation=tanh " LAYERS WEIGHTS, "C5"},
    {"unknown flags", LSTM "flags=@n2 " LAYERS WEIGHTS, "C6"},
    {"no weights", LSTM LAYERS, "C7"},
    {"no dst_layer", LSTM "src_layer=f32:2x3x@n:abc " WEIGHTS, "C7"},
    {"a gradient", LSTM LAYERS WEIGHTS "diff_bias=f32:1x1x4x8:abcd", "C7"},
    {"peepholes of gru", GRU LAYERS GRU_WEIGHTS "weights_peephole=f32:1x1x3x8:abcd", "C8"},
    {"src_iter without src_iter_c", LSTM LAYERS WEIGHTS "src_iter=f32:1x1x3x8:abcd", "C8"},
    {"dst_iter_c without dst_iter", LSTM LAYERS WEIGHTS "dst_iter_c=f32:1x1x3x8:abcd", "C8"},
    {"augru without attention", "rnn fwd_i cell=augru direction=left2right " LAYERS GRU_WEIGHTS, "C9"},
    {"gru with attention", GRU LAYERS GRU_WEIGHTS "attention=f32:2x3x1:abc", "C9"},
    {"a bias of rank 3", LSTM LAYERS WEIGHTS "bias=f32:1x4x8:abc", "C10"},
    {"lengths of rank 2", LSTM LAYERS WEIGHTS "seq_lengths=s32:3x1:ab", "C10"},
    {"layers differ", LSTM LAYERS WEIGHTS "bias=f32:@nx1x4x8:abcd", "C11"},
    {"two directions of one", LSTM LAYERS WEIGHTS "bias=f32:1x2x4x8:abcd", "C12"},
    {"one direction of two", "rnn fwd_i cell=lstm direction=bidirectional_sum " LAYERS WEIGHTS, "C12"},
    {"three gates of lstm", LSTM LAYERS GRU_WEIGHTS, "C13"},
    {"three biases of lbr_gru",
     "rnn fwd_i cell=lbr_gru direction=left2right " LAYERS GRU_WEIGHTS "bias=f32:1x1x3x8:abcd", "C13"},
    {"channels of src_layer", LSTM "src_layer=f32:2x3x1@n:abc dst_layer=f32:2x3x8:abc " WEIGHTS, "C14"},
    {"channels of src_iter", GRU LAYERS GRU_WEIGHTS "src_iter=f32:1x1x3x1@n:abcd", "C15"},
    {"channels of a bias", LSTM LAYERS WEIGHTS "bias=f32:1x1x4x1@n:abcd", "C16"},
    {"channels of dst_iter", LSTM LAYERS WEIGHTS "dst_iter=f32:1x1x3x1@n:abcd dst_iter_c=f32:1x1x3x8:abcd", "C17"},
    {"channels of dst_layer", LSTM "src_layer=f32:2x3x@n:abc dst_layer=f32:2x3x16:abc " WEIGHTS, "C18"},
    {"steps differ", LSTM "src_layer=f32:2x3x@n:abc dst_layer=f32:1@mx3x8:abc " WEIGHTS, "C19"},
    {"batches differ", LSTM LAYERS WEIGHTS "seq_lengths=s32:1@n:a", "C20"},
    {"attention of two channels",
     "rnn fwd_i cell=augru direction=left2right " LAYERS GRU_WEIGHTS "attention=f32:2x3x2:abc", "C21"},
    {"a stack of another width",
     LSTM "src_layer=f32:2x3x1@n:abc dst_layer=f32:2x3x8:abc weights_layer=f32:2x1x1@nx4x8:any "
          "weights_iter=f32:2x1x8x4x8:any",
     "C22"},
    {"states of another width", LSTM LAYERS "weights_layer=f32:1x1x@nx4x8:any weights_iter=f32:1x1x1@mx4x8:any", "C23"},
    {"states of a gru of another width",
     "rnn fwd_i cell=gru direction=left2right src_layer=f32:1x3x4:abc dst_layer=f32:1x3x8:abc "
     "weights_layer=f32:1x1x4x3x8:any weights_iter=f32:1x1x1@nx3x8:any",
     "C24"},
    {"an output that repeats", LSTM "src_layer=f32:2x3x@n:abc dst_layer=f32:2x3x8:s8x0x1 " WEIGHTS, "C25"},
    {"scales for input channels", LSTM INT8 "attr.rnn.weights_mask=4 attr.rnn.weights_scales=1", "C26"},
    {"too few scales", LSTM INT8 "attr.rnn.weights_mask=24 attr.rnn.weights_scales=1,2", "C27"},
    {"a scale of 0", LSTM INT8 "attr.rnn.weights_scales=0", "C28"},
    {"a scale of NaN", LSTM INT8 "attr.rnn.data_scale=nan", "C28"},
    {"augru from right to left",
     "rnn fwd_i cell=augru direction=right2left " LAYERS GRU_WEIGHTS "attention=f32:2x3x1:abc", "C33"},
    {"another type", LSTM "src_layer=@t:2x3x@n:abc dst_layer=f32:2x3x8:abc " WEIGHTS, "C34"},
    {"weights of another type", LSTM "src_layer=bf16:2x3x@n:abc dst_layer=bf16:2x3x8:abc " WEIGHTS, "C35"},
    {"a bf16 bias of f32", LSTM LAYERS WEIGHTS "bias=bf16:1x1x4x8:abcd", "C35"},
    {"training of integers", "rnn fwd_t cell=lstm direction=left2right " INT8, "C36"},
    {"lengths of s8", LSTM LAYERS WEIGHTS "seq_lengths=s8:3:a", "C37"},
    {"training with channels any distance apart",
     "rnn fwd_t cell=lstm direction=left2right src_layer=f32:2x3x@n:s90x30x? dst_layer=f32:2x3x8:abc " WEIGHTS, "C38"},
    {"open channels", LSTM "src_layer=f32:2x3x?:abc dst_layer=f32:2x3x8:abc " WEIGHTS, "C39"},
    {"blocked activations", LSTM "src_layer=f32:2x3x@n:abC16c dst_layer=f32:2x3x8:abc " WEIGHTS, "C40"},
    {"weights packed otherwise", LSTM LAYERS "weights_layer=f32:1x1x@nx4x8:abdEc5e weights_iter=f32:1x1x8x4x8:abdEc5e",
     "C40"},
    {"sums of f32",
     LSTM "src_layer=u8:2x3x@n:abc dst_layer=u8:2x3x8:abc weights_layer=s8:1x1x@nx4x8:abcde:s8s8@27 "
          "weights_iter=s8:1x1x8x4x8:any",
     "C41"},
    {"post-ops", LSTM LAYERS WEIGHTS "attr.post_ops=eltwise(alg=relu)", "C42"},
    {"scales as arguments", LSTM LAYERS WEIGHTS "attr.scales=src", "C42"},
    {"quantization of f32", LSTM LAYERS WEIGHTS "attr.rnn.data_scale=@b", "C43"},
};

#define BACKWARD "rnn bwd cell=lstm direction=left2right "
#define DIFF_DST "diff_dst_layer=f32:2x3x8:abc "
#define DIFF_SRC "diff_src_layer=f32:2x3x@n:abc "

constexpr Mistake allOfBackward[] = {
    {"no diff_dst_layer", BACKWARD LAYERS WEIGHTS DIFF_SRC, "C46"},
    {"no gradient to write", BACKWARD LAYERS WEIGHTS DIFF_DST, "C46"},
    {"no src_layer", BACKWARD "dst_layer=f32:2x3x8:abc " WEIGHTS DIFF_DST "diff_bias=f32:1x1x4x8:abcd", "C46"},
    {"a gradient of a bias that is absent", BACKWARD LAYERS WEIGHTS DIFF_DST "diff_bias=f32:1x1x4x8:abcd", "C47"},
    {"a gradient of states that are absent", BACKWARD LAYERS WEIGHTS DIFF_DST DIFF_SRC "diff_dst_iter=f32:1x1x3x8:abcd",
     "C47"},
    {"a gradient of another width", BACKWARD LAYERS WEIGHTS DIFF_DST "diff_src_layer=f32:2x3x1@n:abc", "C48"},
    {"a gradient of other weights", BACKWARD LAYERS WEIGHTS DIFF_DST "diff_weights_iter=f32:1x1x8x3x8:abcde", "C48"},
    {"a gradient of another type", BACKWARD LAYERS WEIGHTS DIFF_DST "diff_src_layer=@t:2x3x@n:abc", "C51"},
    {"a gradient that repeats", BACKWARD LAYERS WEIGHTS DIFF_DST "diff_src_layer=f32:2x3x@n:s0x@nx1", "C25"},
    {"unknown flags", BACKWARD "flags=@n2 " LAYERS WEIGHTS DIFF_DST DIFF_SRC, "C6"},
    {"of integers", BACKWARD INT8 DIFF_DST DIFF_SRC, "C36"},
    {"with channels any distance apart", BACKWARD LAYERS WEIGHTS DIFF_DST "diff_src_layer=f32:2x3x@n:s90x30x?", "C38"},
    {"weights packed for forward",
     BACKWARD LAYERS "weights_layer=f32:1x1x@nx4x8:abdEc5e weights_iter=f32:1x1x8x4x8:any " DIFF_DST DIFF_SRC, "C40"},
};

#undef BACKWARD
#undef DIFF_DST
#undef DIFF_SRC
#undef LSTM
#undef GRU
#undef INT8
#undef LAYERS
#undef WEIGHTS
#undef GRU_WEIGHTS

} // namespace

std::span<const Mistake> mistakes() { return all; }
std::span<const Mistake> mistakesOfBackward() { return allOfBackward; }

} // namespace quern::cases::rnn
