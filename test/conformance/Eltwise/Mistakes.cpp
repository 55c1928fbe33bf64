//===- Mistakes.cpp - Eltwise problems that must be refused ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each kind of mistake is a template, so that the mistake is visible in the source; the numbers in it are drawn.
//
//===----------------------------------------------------------------------===//
#include "Eltwise/Generator.h"

namespace quern::cases::eltwise {
namespace {

constexpr Mistake all[] = {
    {"propagation of weights", "eltwise bwd_w alg=relu src=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab",
     "C2"},
    {"round backward", "eltwise bwd_d alg=round src=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab", "C2"},
    {"no algorithm", "eltwise fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab", "C3"},
    {"an algorithm of another primitive", "eltwise fwd_i alg=softmax_log src=f32:@nx@m:ab dst=f32:@nx@m:ab", "C3"},
    {"unknown algorithm", "eltwise fwd_i alg=relu6 src=f32:@nx@m:ab dst=f32:@nx@m:ab"},
    {"a clip to nothing", "eltwise fwd_i alg=clip alpha=@b beta=1 src=f32:@nx@m:ab dst=f32:@nx@m:ab", "C4"},
    {"a clip_v2 to NaN", "eltwise fwd_i alg=clip_v2 beta=nan src=f32:@nx@m:ab dst=f32:@nx@m:ab", "C4"},
    {"a slope that loses the sign",
     "eltwise bwd_d alg=relu_use_dst_for_bwd alpha=-@b dst=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab",
     "C4"},
    {"no src", "eltwise fwd_i alg=abs dst=f32:@nx@m:ab", "C5"},
    {"no dst", "eltwise fwd_t alg=abs src=f32:@nx@m:ab", "C5"},
    {"a gradient in forward", "eltwise fwd_i alg=exp src=f32:@nx@m:ab dst=f32:@nx@m:ab diff_dst=f32:@nx@m:ab", "C5"},
    {"dst where backward reads src",
     "eltwise bwd_d alg=exp dst=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab", "C5"},
    {"src where backward reads dst",
     "eltwise bwd_d alg=exp_use_dst_for_bwd src=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab", "C5"},
    {"no diff_src", "eltwise bwd_d alg=exp src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab", "C5"},
    {"src any", "eltwise fwd_i alg=tanh src=f32:@nx@m:any dst=f32:@nx@m:ab", "C6"},
    {"data any without a hint", "eltwise bwd_d alg=tanh src=f32:@nx@m:any diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab",
     "C6"},
    {"any from open strides", "eltwise fwd_i alg=tanh src=f32:@nx@m:s?x1 dst=f32:@nx@m:any", "C6"},
    {"shapes differ", "eltwise fwd_i alg=elu src=f32:@nx@m:ab dst=f32:@nx1@m:ab", "C7"},
    {"ranks differ", "eltwise fwd_i alg=elu src=f32:@nx@m:ab dst=f32:@nx@mx1:abc", "C7"},
    {"a dim open on one side", "eltwise fwd_i alg=elu src=f32:?x@m:ab dst=f32:@nx@m:ab", "C7"},
    {"gradients of another shape",
     "eltwise bwd_d alg=elu src=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:1@nx@m:ab", "C7"},
    {"dst with stride 0", "eltwise fwd_i alg=log src=f32:1@nx@m:ab dst=f32:1@nx@m:s0x1", "C8"},
    {"diff_src with stride 0", "eltwise bwd_d alg=log src=f32:9x@m:ab diff_src=f32:9x@m:s0x1 diff_dst=f32:9x@m:ab",
     "C8"},
    {"an operand that does not broadcast",
     "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=binary(alg=add,src1=f32:@nx1@m:ab)",
     "C10"},
    {"an operand of another rank",
     "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=binary(alg=mul,src1=f32:@m:a)", "C10"},
    {"scales of an absent operand", "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=post0.src_1",
     "C11"},
    {"scales of weights", "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=weights", "C11"},
    {"unsupported type", "eltwise fwd_i alg=relu src=@t:@nx@m:ab dst=f32:@nx@m:ab", "C15"},
    {"unsupported type of dst", "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=@t:@nx@m:ab", "C15"},
    {"integer gradients", "eltwise bwd_d alg=relu src=f32:@nx@m:ab diff_src=s8:@nx@m:ab diff_dst=f32:@nx@m:ab", "C16"},
    {"blocks with open sizes", "eltwise fwd_i alg=relu src=f32:?x@m:aB16b dst=f32:?x@m:ab", "C17"},
    {"compensation", "eltwise fwd_i alg=relu src=s8:@nx@m:ab:s8s8 dst=f32:@nx@m:ab", "C18"},
    {"padded offsets", "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:s64x1:pad@nx64:at0x1", "C19"},
    {"scales of src", "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=src", "C20"},
    {"zero points of dst", "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=s8:@nx@m:ab attr.zero_points=dst(type=s32)",
     "C20"},
    {"groups of an operand",
     "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=post0.src_1(mask=3,groups=1x@m) "
     "attr.post_ops=binary(alg=add,src1=f32:@nx@m:ab)",
     "C21"},
    {"post-op sum", "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=sum", "C22"},
    {"post-op prelu", "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=prelu(mask=2)", "C22"},
    {"an operand of a type without numbers",
     "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=binary(alg=add,src1=@t:@nx@m:ab)", "C23"},
    {"scales of a condition",
     "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=post0.src_2 "
     "attr.post_ops=binary(alg=select,src1=f32:1x1:ab,src2=u8:1x1:ab)",
     "C24"},
    {"post-ops in backward",
     "eltwise bwd_d alg=relu src=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab "
     "attr.post_ops=eltwise(alg=relu)",
     "C25"},
    {"RNN quantization", "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.rnn.data_scale=2", "C26"},
    {"dropout backward",
     "eltwise bwd_d alg=relu src=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab attr.dropout.seed=s32",
     "C25"},
    {"a mask of another shape",
     "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.dropout.seed=s32 attr.dropout.mask=u8:@nx1@m:ab",
     "C27"},
    {"a mask with gaps",
     "eltwise fwd_i alg=relu src=f32:9x@m:ab dst=f32:9x@m:ab attr.dropout.seed=s64 attr.dropout.mask=u8:9x@m:s1@mx1",
     "C28"},
    {"dropout of open sizes", "eltwise fwd_i alg=relu src=f32:?x@m:ab dst=f32:?x@m:ab attr.dropout.seed=s32", "C28"},
    {"an axis", "eltwise fwd_i alg=relu src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
};

} // namespace

std::span<const Mistake> mistakes() { return all; }

} // namespace quern::cases::eltwise
