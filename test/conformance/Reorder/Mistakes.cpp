//===- Mistakes.cpp - Reorder problems that must be refused ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each kind of mistake is a template, so that the mistake is visible in the source; the numbers in it are drawn.
//
//===----------------------------------------------------------------------===//
#include "Reorder/Generator.h"

namespace quern::cases::reorder {
namespace {

constexpr Mistake all[] = {
    {"overlapping strides", "reorder src=f32:9@nx9@m:ab dst=f32:9@nx9@m:s2x1"},
    {"negative stride", "reorder src=f32:@nx@m:s-@mx1 dst=f32:@nx@m:ab"},
    {"extents that overflow", "reorder src=f32:4611686018427387904x@m4:ab dst=f32:4611686018427387904x@m4:ab"},
    {"a tag of another rank", "reorder src=f32:@nx@m:abc dst=f32:@nx@m:ab"},
    {"a propagation", "reorder fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab"},
    {"unknown field", "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"no dst", "reorder src=f32:@nx@m:ab", "C2"},
    {"no src", "reorder dst=f32:@nx@m:ab", "C2"},
    {"only the primitive", "reorder", "C2"},
    {"src any", "reorder src=f32:@nx@m:any dst=f32:@nx@m:ab", "C3"},
    {"dst any", "reorder src=f32:@nx@m:ab dst=f32:@nx@m:any", "C3"},
    {"shapes differ", "reorder src=f32:@nx@m:ab dst=f32:@nx1@m:ab", "C4"},
    {"ranks differ", "reorder src=f32:@nx@m:ab dst=f32:@nx@mx1:abc", "C4"},
    {"a dim open on one side", "reorder src=f32:?x@m:ab dst=f32:@nx@m:ab", "C4"},
    {"dst with stride 0", "reorder src=f32:1@nx@m:ab dst=f32:1@nx@m:s0x1", "C5"},
    {"dst with stride 0 over blocks", "reorder src=f32:1@nx6@m:ab dst=f32:1@nx6@m:s16x0:blk16b", "C5"},
    {"compensation of f32", "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab:s8s8", "C6"},
    {"scale adjust of u8", "reorder src=f32:@nx@m:ab dst=u8:@nx@m:ab:scale_adjust@0.5", "C6"},
    {"scales of weights", "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=weights", "C7"},
    {"a mask beyond the rank", "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=dst(mask=4)", "C7"},
    {"zero points with a mask beyond the rank",
     "reorder src=s8:@nx@m:ab dst=f32:@nx@m:ab attr.zero_points=src(mask=@b5,type=s32)", "C7"},
    {"groups that do not divide", "reorder src=f32:@nx1@m:ab dst=f32:@nx1@m:ab attr.scales=src(mask=3,groups=1x11@m)",
     "C8"},
    {"groups beyond the mask", "reorder src=f32:4@mx4@m:ab dst=f32:4@mx4@m:ab attr.scales=dst(mask=1,groups=2x2)",
     "C8"},
    {"groups of a vector", "reorder src=f32:1@n:a dst=f32:1@n:a attr.scales=src(mask=1,groups=1x1)", "C8"},
    {"zero points of f32", "reorder src=f32:@nx@m:ab dst=s8:@nx@m:ab attr.zero_points=src(type=s32)", "C9"},
    {"zero points of a bf16 dst", "reorder src=s8:@nx@m:ab dst=bf16:@nx@m:ab attr.zero_points=dst(type=s32)", "C9"},
    {"an operand that does not broadcast",
     "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=binary(alg=add,src1=f32:@nx1@m:ab)", "C10"},
    {"an operand of another rank",
     "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=binary(alg=mul,src1=f32:@m:a)", "C10"},
    {"a sum of wider values", "reorder src=f32:@nx@m:ab dst=s8:@nx@m:ab attr.post_ops=sum(type=f32)", "C11"},
    {"too few scales of RNN weights",
     "reorder src=f32:1x1x@mx4x1@m:abcde dst=s8:1x1x@mx4x1@m:abcde attr.rnn.weights_mask=24 "
     "attr.rnn.weights_scales=1,2",
     "C12"},
    {"unsupported type", "reorder src=@t:@nx@m:ab dst=f32:@nx@m:ab", "C16"},
    {"unsupported type of dst", "reorder src=f32:@nx@m:ab dst=@t:@nx@m:ab", "C16"},
    {"no device", "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab dst_engine=any", "C17"},
    {"blocks with open sizes", "reorder src=f32:?x@m:aB16b dst=f32:?x@m:ab", "C18"},
    {"padded offsets", "reorder src=f32:@nx@m:ab dst=f32:@nx@m:s64x1:pad@nx64:at0x1", "C19"},
    {"compensation for RNN and convolution",
     "reorder src=f32:1x1x@nx4x@m:abcde dst=s8:1x1x@nx4x@m:abcde:rnn_u8s8@27:s8s8@27", "C20"},
    {"scales of integers", "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=src(type=s32)", "C21"},
    {"zero points of bf16", "reorder src=s8:@nx@m:ab dst=f32:@nx@m:ab attr.zero_points=src(type=bf16)", "C21"},
    {"groups along an open dim", "reorder src=f32:?x?:ab dst=f32:?x?:ba attr.scales=src(mask=3,groups=1x4)", "C22"},
    {"two sums", "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=sum,sum", "C23"},
    {"post-op prelu", "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=eltwise(alg=relu),prelu(mask=2)", "C23"},
    {"an operand of a type without numbers",
     "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=binary(alg=add,src1=@t:@nx@m:ab)", "C24"},
    {"groups of an operand",
     "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=post0.src_1(mask=3,groups=1x@m) "
     "attr.post_ops=binary(alg=add,src1=f32:@nx@m:ab)",
     "C25"},
    {"scales of a condition",
     "reorder src=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=post0.src_2 "
     "attr.post_ops=binary(alg=select,src1=f32:1x1:ab,src2=u8:1x1:ab)",
     "C25"},
    {"RNN data of f32", "reorder src=f32:@nx@mx@m:abc dst=f32:@nx@mx@m:abc attr.rnn.data_scale=2", "C26"},
    {"RNN data of rank 2", "reorder src=f32:@nx@m:ab dst=u8:@nx@m:ab attr.rnn.data_scale=2", "C26"},
    {"RNN data with scales", "reorder src=f32:@nx@mx@m:abc dst=u8:@nx@mx@m:abc attr.rnn.data_scale=2 attr.scales=src",
     "C27"},
};

} // namespace

std::span<const Mistake> mistakes() { return all; }

} // namespace quern::cases::reorder
