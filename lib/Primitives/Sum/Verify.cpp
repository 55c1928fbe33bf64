//===- Verify.cpp - Verification of sums ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every error names its constraint. Invalid (an error of the caller):
//   C1  Each tensor and the attributes are well-formed (checked in Registry.cpp, for every primitive).
//   C2  There is at least one source, and one scale for each.
//   C3  Every source is given and has a layout other than `any`.
//   C4  All tensors have the same dims; a dim that is open (known only at execution) in one is open in all.
//   C5  dst does not broadcast: no stride 0 over more than one element or block.
//   C6  A dst with layout `any` gets the layout of a source, which must be known when the problem is created.
// Invalid at execution (checked by the runtime):
//   C7  Every argument is given.
//   C8  dst shares no byte with another argument, unless the other is a tensor at the same address with the same layout
//       and element size.
//   C9  Sizes known only at execution match each other.
// Unimplemented:
//   C10 Tensors are of f64, f32, bf16, f16, f8_e5m2, f8_e4m3, e8m0, s32, s8 or u8.
//   C11 A tensor with an open dim, stride or offset is plain, without padding.
//   C12 No tensor has compensation.
//   C13 No tensor has padded offsets.
//   C14 If there are more than 16 sources, all sizes are known when the problem is created.
//   C15 There are no scales, zero points, post-ops or RNN parameters among the attributes.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Registry.h"
#include "Primitives/SourceChecks.h"
#include "Primitives/Sum/Sum.h"

namespace quern {
namespace {

constexpr SourceRules rules = {{"a sum", " (sum C11)", " (sum C12)", " (sum C13)"}, " (sum C3)", " (sum C10)"};

/// Checks C2 to C4.
Result<void> checkSources(const SumDesc &sum) {
  if (sum.srcs.empty() || sum.scales.size() != sum.srcs.size())
    return invalidArguments("a sum has ", sum.srcs.size(), " sources and ", sum.scales.size(),
                            " scales; it needs at least one source, and a scale for each (sum C2)");
  for (size_t i = 0; i < sum.srcs.size(); ++i) {
    QUERN_RETURN_IF_ERROR(checkSource(sum.srcs[i], i, rules));
    QUERN_RETURN_IF_ERROR(checkSameDims(arg::nameOf(arg::sourceAt(i)), sum.srcs[i], sum.srcs[0], -1, " (sum C4)"));
  }
  return {};
}

/// Checks C4 to C6 and C10 to C13.
Result<void> resolveDestination(SumDesc &sum) {
  TensorDesc &dst = sum.dst;
  if (dst.isZero())
    dst = *TensorDesc::fromTag(sum.srcs[0].shape(), sum.srcs[0].dataType, "any");
  QUERN_RETURN_IF_ERROR(checkSameDims("dst", dst, sum.srcs[0], -1, " (sum C4)"));
  size_t like = firstBlocked(sum.srcs) % sum.srcs.size(); // the first source if none has blocks
  QUERN_RETURN_IF_ERROR(resolveLike("dst", dst, arg::nameOf(arg::sourceAt(like)), sum.srcs[like], " (sum C6)"));
  QUERN_RETURN_IF_ERROR(checkOutput("dst", dst, " (sum C5)"));
  return checkElements("dst", dst, rules);
}

/// Checks C14.
Result<void> checkCount(const SumDesc &sum) {
  if (sum.srcs.size() <= sum::maxSourcesPerKernel)
    return {};
  for (size_t i = 0; i <= sum.srcs.size(); ++i) {
    bool isDst = i == sum.srcs.size();
    if ((isDst ? sum.dst : sum.srcs[i]).hasRuntimeDims())
      return unimplemented("a sum of ", sum.srcs.size(),
                           " sources is not implemented for sizes that are known only at execution, which ",
                           isDst ? "dst" : arg::nameOf(arg::sourceAt(i)), " has; it is for at most ",
                           sum::maxSourcesPerKernel, " (sum C14)");
  }
  return {};
}

/// Checks C15.
Result<void> checkAttributes(const Attributes &attr) {
  const char *found = !attr.scales.empty()       ? "scales; its sources have scales in the descriptor"
                      : !attr.zeroPoints.empty() ? "zero points"
                      : !attr.postOps.empty()    ? "post-ops"
                      : attr.rnn.isIdentity()    ? nullptr
                                                 : "RNN quantization parameters";
  if (found)
    return unimplemented("a sum does not support ", found, " (sum C15)");
  return {};
}

} // namespace

Result<VerifiedProblem> verifySum(const PrimitiveDesc &desc, const Target &, const PrimitiveDesc *) {
  VerifiedProblem problem;
  problem.desc = desc;
  SumDesc &sum = std::get<SumDesc>(problem.desc.op);
  QUERN_RETURN_IF_ERROR(checkSources(sum));
  QUERN_RETURN_IF_ERROR(resolveDestination(sum));
  QUERN_RETURN_IF_ERROR(checkCount(sum));
  QUERN_RETURN_IF_ERROR(checkAttributes(desc.attr));
  listSources(sum.srcs, problem.arguments);
  problem.arguments.push_back({arg::dst, "dst", sum.dst, true});
  arg::allowInPlace(arg::dst, InPlace::ElementSize, problem.arguments);
  problem.isNoop = sum.dst.hasZeroDim();
  problem.citations = {" (sum C7)", " (sum C8)", " (sum C9)"};
  return problem;
}

} // namespace quern
