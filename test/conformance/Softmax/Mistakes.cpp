//===- Mistakes.cpp - Softmax problems that must be refused ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each kind of mistake is a template, so that the mistake is visible in the source; the numbers in it are drawn.
//
//===----------------------------------------------------------------------===//
#include "Softmax/Generator.h"

namespace quern::cases::softmax {
namespace {

constexpr Mistake all[] = {
    {"axis beyond the rank", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=@b", "C7"},
    {"negative axis", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=-1", "C7"},
    {"axis is no number", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=x"},
    {"shapes differ", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx1@m:ab axis=1", "C6"},
    {"ranks differ", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@mx1:abc axis=1", "C6"},
    {"src any", "softmax fwd_i alg=accurate src=f32:@nx@m:any dst=f32:@nx@m:ab axis=1", "C5"},
    {"no src", "softmax fwd_i alg=accurate dst=f32:@nx@m:ab axis=1", "C4"},
    {"unsupported type", "softmax fwd_i alg=accurate src=@t:@nx@m:ab dst=f32:@nx@m:ab axis=1", "C13"},
    {"unknown type", "softmax fwd_i alg=accurate src=f31:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"unknown algorithm", "softmax fwd_i alg=approximate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"an algorithm of another primitive", "softmax fwd_i alg=vanilla_lstm src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1",
     "C3"},
    {"unknown primitive", "hardmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"unknown propagation", "softmax sideways alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"unknown field", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 colour=3"},
    {"a field twice", "softmax fwd_i alg=accurate src=f32:@nx@m:ab src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"dst with stride 0", "softmax fwd_i alg=accurate src=f32:1@nx@m:ab dst=f32:1@nx@m:s0x1 axis=1", "C8"},
    {"overlapping strides", "softmax fwd_i alg=accurate src=f32:9@nx9@m:ab dst=f32:9@nx9@m:s2x1 axis=1"},
    {"negative stride", "softmax fwd_i alg=accurate src=f32:@nx@m:s-@mx1 dst=f32:@nx@m:ab axis=1"},
    {"negative extent", "softmax fwd_i alg=accurate src=f32:-@nx@m:ab dst=f32:-@nx@m:ab axis=1"},
    {"extents that overflow",
     "softmax fwd_i alg=accurate src=f32:4611686018427387904x@m4:ab dst=f32:4611686018427387904x@m4:ab axis=1"},
    {"an extent over 2^63",
     "softmax fwd_i alg=accurate src=f32:9223372036854775808:a dst=f32:9223372036854775808:a axis=0"},
    {"rank 13", "softmax fwd_i alg=accurate src=f32:1x1x1x1x1x1x1x1x1x1x1x1x@m:abcdefghijklm "
                "dst=f32:1x1x1x1x1x1x1x1x1x1x1x1x@m:abcdefghijklm axis=1"},
    {"a tag of another rank", "softmax fwd_i alg=accurate src=f32:@nx@m:abc dst=f32:@nx@m:ab axis=1"},
    {"a letter twice in a tag", "softmax fwd_i alg=accurate src=f32:@nx@m:aa dst=f32:@nx@m:ab axis=1"},
    {"runtime extent with any", "softmax fwd_i alg=accurate src=f32:?x@m:any dst=f32:?x@m:any axis=1"},
    {"half a backward", "softmax bwd_d alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1", "C4"},
    {"diff_dst in forward", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab diff_dst=f32:@nx@m:ab axis=1",
     "C4"},
    {"a propagation of weights", "softmax bwd_w src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1", "C2"},
    {"dst any in backward", "softmax bwd_d dst=f32:@nx@m:any diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab axis=1", "C5"},
    {"src in backward",
     "softmax bwd_d dst=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab axis=1 src=f32:@nx@m:ab", "C4"},
    {"no diff_src", "softmax bwd_d dst=f32:@nx@m:ab diff_dst=f32:@nx@m:ab axis=1", "C4"},
    {"gradients of another shape", "softmax bwd_d dst=f32:@nx@m:ab diff_src=f32:@nx1@m:ab diff_dst=f32:@nx@m:ab axis=1",
     "C6"},
    {"a dim open on one side", "softmax fwd_i src=f32:?x@m:ab dst=f32:@nx@m:ab axis=1", "C6"},
    {"diff_src with stride 0", "softmax bwd_d dst=f32:9x@m:ab diff_src=f32:9x@m:s0x1 diff_dst=f32:9x@m:ab axis=1",
     "C8"},
    {"any from open strides", "softmax fwd_i src=f32:@nx@m:s?x1 dst=f32:@nx@m:any axis=1", "C10"},
    {"integer gradients", "softmax bwd_d dst=f32:@nx@m:ab diff_src=s8:@nx@m:ab diff_dst=f32:@nx@m:ab axis=1", "C14"},
    {"f8 in backward", "softmax bwd_d dst=f8_e5m2:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab axis=1", "C14"},
    {"blocks with open sizes", "softmax fwd_i src=f32:?x@m:aB16b dst=f32:?x@m:ab axis=1", "C15"},
    {"compensation", "softmax fwd_i src=s8:@nx@m:ab:s8s8 dst=f32:@nx@m:ab axis=1", "C16"},
    {"padded offsets", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:s64x1:pad@nx64:at0x1 axis=1", "C17"},
    {"an operand that does not broadcast",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.post_ops=binary(alg=add,src1=f32:@nx1@m:ab)", "C11"},
    {"an operand of another rank",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.post_ops=binary(alg=mul,src1=f32:@m:a)", "C11"},
    {"a condition that does not broadcast",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 "
     "attr.post_ops=binary(alg=select,src1=f32:1x1:ab,src2=u8:1@nx1:ab)",
     "C11"},
    {"an operand of 4 bits",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.post_ops=binary(alg=add,src1=s4:@nx@m:ab)", "C23"},
    {"scales of an absent operand", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.scales=post0.src_1",
     "C12"},
    {"scales of weights", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.scales=weights", "C12"},
    {"a mask beyond the rank", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.scales=dst(mask=4)", "C12"},
    {"a scale for each column", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.scales=src(mask=2)",
     "C18"},
    {"scales in groups", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.scales=src(groups=1x1)", "C19"},
    {"scales of integers", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.scales=src(type=s32)", "C20"},
    {"zero points of bf16",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.zero_points=post0.src_1(type=bf16) "
     "attr.post_ops=binary(alg=add,src1=s8:1x1:ab)",
     "C20"},
    {"zero points of src", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.zero_points=src(type=s32)",
     "C21"},
    {"post-op sum", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.post_ops=sum(scale=0.5)", "C22"},
    {"post-op prelu",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.post_ops=eltwise(alg=relu),prelu(mask=2)", "C22"},
    {"scales along an open dim",
     "softmax fwd_i src=f32:?x@m:ab dst=f32:?x@m:ab axis=1 attr.scales=post0.src_1(mask=1) "
     "attr.post_ops=binary(alg=add,src1=f32:?x1:ab)",
     "C24"},
    {"scales of a condition",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.scales=post0.src_2 "
     "attr.post_ops=binary(alg=select,src1=f32:1x1:ab,src2=u8:1x1:ab)",
     "C24"},
    {"scales in backward",
     "softmax bwd_d dst=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab axis=1 attr.scales=dst", "C25"},
    {"post-ops in backward",
     "softmax bwd_d dst=f32:@nx@m:ab diff_src=f32:@nx@m:ab diff_dst=f32:@nx@m:ab axis=1 "
     "attr.post_ops=eltwise(alg=relu)",
     "C25"},
    {"RNN quantization", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.rnn.data_scale=2", "C26"},
    {"a post-op without its operand",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.post_ops=binary(alg=add)"},
    {"an unknown post-op", "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.post_ops=ternary(alg=add)"},
    {"post-op of another kind of algorithm",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.post_ops=eltwise(alg=add)"},
    {"33 post-ops",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 "
     "attr.post_ops="
     "eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),"
     "eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),"
     "eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),"
     "eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),"
     "eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs),"
     "eltwise(alg=abs),eltwise(alg=abs),eltwise(alg=abs)"},
    {"unknown attribute", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.speed=high"},
    {"unknown fpmath mode", "softmax fwd_i alg=accurate src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.fpmath=f7"},
    {"a mask of another shape",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.dropout.seed=s32 attr.dropout.mask=u8:@nx1@m:ab",
     "C30"},
    {"dropout of open sizes", "softmax fwd_i src=f32:?x@m:ab dst=f32:?x@m:ab axis=1 attr.dropout.seed=s32", "C31"},
    {"dropout without a type of seeds",
     "softmax fwd_i src=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1 attr.dropout.offset=true", "C1"},
    {"empty line", ""},
    {"only the primitive", "softmax"},
};

} // namespace

std::span<const Mistake> mistakes() { return all; }

} // namespace quern::cases::softmax
