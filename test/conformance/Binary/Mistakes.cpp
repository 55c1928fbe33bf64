//===- Mistakes.cpp - Binary problems that must be refused ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each kind of mistake is a template, so that the mistake is visible in the source; the numbers in it are drawn.
//
//===----------------------------------------------------------------------===//
#include "Binary/Generator.h"

namespace quern::cases::binary {
namespace {

constexpr Mistake all[] = {
    {"overlapping strides", "binary alg=add src=f32:9@nx9@m:s2x1 src1=f32:9@nx9@m:ab dst=f32:9@nx9@m:s2x1"},
    {"a propagation", "binary fwd_i alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab"},
    {"unknown field", "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab axis=1"},
    {"an eltwise", "binary alg=relu src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab"},
    {"no algorithm", "binary src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab", "C2"},
    {"only the primitive", "binary", "C2"},
    {"no src", "binary alg=mul src1=f32:@nx@m:ab dst=f32:@nx@m:ab", "C3"},
    {"no src_1", "binary alg=mul src=f32:@nx@m:ab dst=f32:@nx@m:ab", "C3"},
    {"no dst", "binary alg=mul src=f32:@nx@m:ab src1=f32:@nx@m:ab", "C3"},
    {"a select without a condition", "binary alg=select src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab", "C3"},
    {"a condition that nothing selects by",
     "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab src2=s8:@nx@m:ab dst=f32:@nx@m:ab", "C3"},
    {"src any", "binary alg=add src=f32:@nx@m:any src1=f32:@nx@m:ab dst=f32:@nx@m:ab", "C4"},
    {"shapes differ", "binary alg=add src=f32:@nx@m:ab src1=f32:@nx1@m:ab dst=f32:@nx@m:ab", "C5"},
    {"ranks differ", "binary alg=add src=f32:@nx@m:ab src1=f32:@m:a dst=f32:@nx@m:ab", "C5"},
    {"dst of the wrong size", "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx1@m:ab", "C5"},
    {"dst that neither source fills", "binary alg=add src=f32:@nx1:ab src1=f32:1x1:ab dst=f32:@nx@m:ab", "C5"},
    {"a condition of another size",
     "binary alg=select src=f32:@nx@m:ab src1=f32:@nx@m:ab src2=s8:@nx1@m:ab dst=f32:@nx@m:ab", "C5"},
    {"a dim open in dst alone", "binary alg=add src=f32:1x@m:ab src1=f32:?x@m:ab dst=f32:?x@m:ab", "C6"},
    {"dst with stride 0", "binary alg=add src=f32:1@nx@m:ab src1=f32:1@nx@m:ab dst=f32:1@nx@m:s0x1", "C7"},
    {"any beside open sizes", "binary alg=add src=f32:@nx@m:s?x1 src1=f32:@nx@m:ab dst=f32:@nx@m:any", "C8"},
    {"scales of weights", "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=weights",
     "C9"},
    {"a mask beyond the rank",
     "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=src_1(mask=4)", "C9"},
    {"scales of a condition that is not there",
     "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=src_2", "C9"},
    {"an operand that does not broadcast",
     "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab "
     "attr.post_ops=binary(alg=add,src1=f32:@nx1@m:ab)",
     "C10"},
    {"a sum of wider values",
     "binary alg=add src=s8:@nx@m:ab src1=s8:@nx@m:ab dst=s8:@nx@m:ab attr.post_ops=sum(type=f32)", "C11"},
    {"unsupported type", "binary alg=add src=@t:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab", "C15"},
    {"unsupported type of src_1", "binary alg=add src=f32:@nx@m:ab src1=@t:@nx@m:ab dst=f32:@nx@m:ab", "C15"},
    {"unsupported type of dst", "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=@t:@nx@m:ab", "C15"},
    {"unsupported type of an operand",
     "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab "
     "attr.post_ops=binary(alg=add,src1=@t:@nx@m:ab)",
     "C15"},
    {"blocks with open sizes", "binary alg=add src=f32:?x@m:aB16b src1=f32:?x@m:ab dst=f32:?x@m:ab", "C16"},
    {"compensation", "binary alg=add src=s8:@nx@m:ab:s8s8 src1=s8:@nx@m:ab dst=s8:@nx@m:ab", "C17"},
    {"padded offsets", "binary alg=add src=f32:@nx@m:s64x1:pad@nx64:at0x1 src1=f32:@nx@m:ab dst=f32:@nx@m:ab", "C18"},
    {"scales of dst", "binary alg=add src=s8:@nx@m:ab src1=s8:@nx@m:ab dst=s8:@nx@m:ab attr.scales=dst", "C19"},
    {"scales of the condition",
     "binary alg=select src=f32:@nx@m:ab src1=f32:@nx@m:ab src2=s8:@nx@m:ab dst=f32:@nx@m:ab attr.scales=src_2", "C19"},
    {"groups", "binary alg=add src=s8:@nx@m:ab src1=s8:@nx@m:ab dst=s8:@nx@m:ab attr.scales=src(mask=3,groups=1x@m)",
     "C19"},
    {"scales along an open dim", "binary alg=add src=s8:?x@m:ab src1=s8:?x@m:ab dst=s8:?x@m:ab attr.scales=src(mask=1)",
     "C19"},
    {"scales of integers", "binary alg=add src=s8:@nx@m:ab src1=s8:@nx@m:ab dst=s8:@nx@m:ab attr.scales=src(type=s32)",
     "C20"},
    {"zero points", "binary alg=add src=s8:@nx@m:ab src1=s8:@nx@m:ab dst=s8:@nx@m:ab attr.zero_points=src(type=s32)",
     "C21"},
    {"two sums", "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=sum,sum", "C22"},
    {"post-op prelu",
     "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=eltwise(alg=relu),prelu(mask=2)",
     "C22"},
    {"groups of an operand",
     "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=post0.src_1(mask=3,groups=1x@m) "
     "attr.post_ops=binary(alg=add,src1=f32:@nx@m:ab)",
     "C23"},
    {"RNN quantization", "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=u8:@nx@m:ab attr.rnn.data_scale=2",
     "C24"},
    {"a mask of another shape",
     "binary alg=add src=f32:@nx@m:ab src1=f32:@nx@m:ab dst=f32:@nx@m:ab attr.dropout.seed=s32 "
     "attr.dropout.mask=u8:@nx1@m:ab",
     "C25"},
    {"dropout of open sizes", "binary alg=add src=f32:?x@m:ab src1=f32:?x@m:ab dst=f32:?x@m:ab attr.dropout.seed=s32",
     "C26"},
};

} // namespace

std::span<const Mistake> mistakes() { return all; }

} // namespace quern::cases::binary
