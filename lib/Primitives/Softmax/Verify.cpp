//===- Verify.cpp - Verification of softmax problems ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every error names its constraint. Invalid (an error of the caller):
//   C1  Each tensor and the attributes are well-formed (checked in Registry.cpp, for every primitive).
//   C2  prop is a propagation kind of softmax: fwd_t, fwd_i, bwd or bwd_d.
//   C3  alg is accurate, log or accurate_inf_as_zero.
//   C4  Forward has src and dst; backward has dst, diff_dst and diff_src; there is no other tensor.
//   C5  Layout `any` is possible for dst (resolved from src; in backward from the hint's dst), diff_dst (from dst) and
//       diff_src (from diff_dst).
//   C6  All tensors have the same dims; a dim that is open (known only at execution) in one is open in all.
//   C7  0 <= axis < rank.
//   C8  Outputs do not broadcast: no stride 0 over more than one element or block.
//   C9  The hint of a backward problem is a forward softmax of the same dims, axis and kind (logarithm or not).
//   C10 A layout `any` is not resolved from open strides or an open offset.
//   C11 A binary post-op's tensor has dst's rank, and each of its dims is dst's or 1.
//   C12 Scales and zero points are for arguments that the problem has; their masks do not exceed the tensor's rank.
// Unimplemented:
//   C13 Forward: src and dst are of f64, f32, bf16, f16, f8_e5m2, f8_e4m3, s8 or u8.
//   C14 Backward: dst, diff_dst and diff_src are of f64, f32, bf16 or f16.
//   C15 A tensor with an open dim, stride or offset is plain: it has no inner blocks and no padding.
//   C16 No tensor has compensation.
//   C17 No tensor has padded offsets.
//   C18 Scales of src and dst have mask 0.
//   C19 Scales and zero points have no groups.
//   C20 Scales are of f32, bf16 or f16; zero points of s32, s8, u8 or f32.
//   C21 src and dst have no zero points.
//   C22 Post-ops are eltwise or binary.
//   C23 Tensors of binary post-ops are of f64, f32, bf16, f16, f8_e5m2, f8_e4m3, s32, s8 or u8.
//   C24 Scales and zero points of a post-op are for its src_1, and not along an open dim.
//   C25 Backward has no scales, zero points, post-ops or dropout.
//   C26 There are no RNN quantization parameters.
// Invalid at execution (checked by the runtime):
//   C27 Every argument is given.
//   C28 The output shares no byte with another argument, unless the other is a tensor at the same address with the same
//       layout and type; never scales or zero points.
//   C29 Sizes known only at execution match each other.
// Dropout, invalid and unimplemented:
//   C30 The mask has the dims of dst.
//   C31 The mask is dense and row-major, and dst has no open sizes.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Softmax/Verify.h"
#include "Primitives/Arguments.h"
#include "Primitives/Registry.h"
#include "Primitives/TensorChecks.h"
#include "Primitives/TypeSets.h"

namespace quern {
namespace {

/// Checks C2 and C3.
Result<void> checkKind(const SoftmaxDesc &softmax) {
  if (!isForward(softmax.prop) && softmax.prop != PropKind::Backward && softmax.prop != PropKind::BackwardData)
    return invalidArguments("propagation kind '", nameOf(softmax.prop), "' (", static_cast<int32_t>(softmax.prop),
                            ") is not one of softmax: fwd_t, fwd_i, bwd, bwd_d (softmax C2)");
  if (softmax.alg < Alg::SoftmaxAccurate || softmax.alg > Alg::SoftmaxAccurateInfAsZero)
    return invalidArguments("algorithm '", nameOf(softmax.alg), "' (", static_cast<int32_t>(softmax.alg),
                            ") is not one of softmax: accurate, log, accurate_inf_as_zero (softmax C3)");
  return {};
}

/// Checks C4, and C5 except for layouts that a hint determines.
Result<void> checkPresence(const SoftmaxDesc &softmax) {
  bool forward = isForward(softmax.prop);
  const char *direction = forward ? "forward" : "backward";
  const NamedTensor all[] = {
      {"src", softmax.src}, {"dst", softmax.dst}, {"diff_dst", softmax.diffDst}, {"diff_src", softmax.diffSrc}};
  for (const auto &[name, desc] : all) {
    bool wanted = &desc == &softmax.dst || forward == (&desc == &softmax.src);
    if (wanted && desc.isZero())
      return invalidArguments(direction, " softmax needs ", name, ", which is absent (softmax C4)");
    if (!wanted && !desc.isZero())
      return invalidArguments(direction, " softmax does not use ", name, " (softmax C4)");
  }
  if (softmax.src.isAny())
    return invalidArguments("src has layout `any`; src of forward softmax needs a known layout (softmax C5)");
  return {};
}

/// Checks C6 and C7.
Result<void> checkDims(const SoftmaxDesc &softmax) {
  const char *firstName = isForward(softmax.prop) ? "src" : "dst";
  const TensorDesc &first = isForward(softmax.prop) ? softmax.src : softmax.dst;
  const NamedTensor all[] = {{"dst", softmax.dst}, {"diff_dst", softmax.diffDst}, {"diff_src", softmax.diffSrc}};
  for (const auto &[name, desc] : all) {
    if (desc.isZero())
      continue;
    if (desc.ndims != first.ndims)
      return invalidArguments(name, " is of rank ", desc.ndims, ", ", firstName, " of rank ", first.ndims,
                              " (softmax C6)");
    for (int d = 0; d < first.ndims; ++d)
      if (desc.dims[d] != first.dims[d])
        return invalidArguments("dim ", d, " of ", name, " is ", textOfDim(desc.dims[d]), "; in ", firstName, " it is ",
                                textOfDim(first.dims[d]), " (softmax C6)");
  }
  if (softmax.axis < 0 || softmax.axis >= first.ndims)
    return invalidArguments("axis is ", softmax.axis, "; a tensor of rank ", first.ndims, " allows 0 to ",
                            first.ndims - 1, " (softmax C7)");
  return {};
}

/// Checks C8.
Result<void> checkOutputs(const SoftmaxDesc &softmax) {
  bool forward = isForward(softmax.prop);
  return checkOutput(forward ? "dst" : "diff_src", forward ? softmax.dst : softmax.diffSrc, " (softmax C8)");
}

/// Checks C9.
Result<void> checkHint(const SoftmaxDesc &softmax, const PrimitiveDesc *hint) {
  if (!hint || isForward(softmax.prop))
    return {};
  const auto *forward = std::get_if<SoftmaxDesc>(&hint->op);
  if (!forward || !isForward(forward->prop))
    return invalidArguments("the hint is ", forward ? "a backward " : "of kind ", nameOf(hint->kind()),
                            "; it must be a forward softmax (softmax C9)");
  if (!forward->dst.sameShape(softmax.dst))
    return invalidArguments("the hint's dst does not have the dims of dst (softmax C9)");
  if (forward->axis != softmax.axis)
    return invalidArguments("the hint's axis is ", forward->axis, "; that of the backward problem is ", softmax.axis,
                            " (softmax C9)");
  if ((forward->alg == Alg::SoftmaxLog) != (softmax.alg == Alg::SoftmaxLog))
    return invalidArguments("the hint's algorithm is ", nameOf(forward->alg), "; that of the backward problem is ",
                            nameOf(softmax.alg), " (softmax C9)");
  return {};
}

/// Checks C5 and C10 and resolves layouts.
Result<void> resolveLayouts(SoftmaxDesc &softmax, const PrimitiveDesc *hint) {
  if (isForward(softmax.prop))
    return resolveLike("dst", softmax.dst, "src", softmax.src, " (softmax C10)");
  if (softmax.dst.isAny()) {
    if (!hint)
      return invalidArguments(
          "dst has layout `any`; backward softmax takes it from a hint, which is absent (softmax C5)");
    // This is the tensor that forward has written, so the layout is copied with its gaps and offset.
    DataType type = softmax.dst.dataType;
    softmax.dst = std::get<SoftmaxDesc>(hint->op).dst;
    softmax.dst.dataType = type;
  }
  QUERN_RETURN_IF_ERROR(resolveLike("diff_dst", softmax.diffDst, "dst", softmax.dst, " (softmax C10)"));
  return resolveLike("diff_src", softmax.diffSrc, "diff_dst", softmax.diffDst, " (softmax C10)");
}

/// Checks C13 and C14.
Result<void> checkType(const SoftmaxDesc &softmax, const char *name, DataType type) {
  constexpr TypeSet ofForward = {DataType::F64,    DataType::F32,    DataType::BF16, DataType::F16,
                                 DataType::F8E5M2, DataType::F8E4M3, DataType::S8,   DataType::U8};
  constexpr TypeSet ofBackward = {DataType::F64, DataType::F32, DataType::BF16, DataType::F16};
  const bool forward = isForward(softmax.prop);
  const TypeSet &types = forward ? ofForward : ofBackward;
  if (types.contains(type))
    return {};
  return unimplemented(forward ? "" : "backward ", "softmax is not implemented for ", name, " of type ", nameOf(type),
                       "; it is for ", types.names(), forward ? " (softmax C13)" : " (softmax C14)");
}

/// Checks C13 to C17.
Result<void> checkSupported(const SoftmaxDesc &softmax) {
  const NamedTensor all[] = {
      {"src", softmax.src}, {"dst", softmax.dst}, {"diff_dst", softmax.diffDst}, {"diff_src", softmax.diffSrc}};
  for (const auto &[name, desc] : all) {
    if (desc.isZero())
      continue;
    QUERN_RETURN_IF_ERROR(checkType(softmax, name, desc.dataType));
    QUERN_RETURN_IF_ERROR(softmax::checkLayout(name, desc));
  }
  return {};
}

void listArguments(VerifiedProblem &problem) {
  const SoftmaxDesc &softmax = std::get<SoftmaxDesc>(problem.desc.op);
  std::vector<ArgumentInfo> &arguments = problem.arguments;
  arguments.reserve(4);
  if (isForward(softmax.prop)) {
    arguments.push_back({arg::src, "src", softmax.src, false});
    arguments.push_back({arg::dst, "dst", softmax.dst, true});
  } else {
    arguments.push_back({arg::dst, "dst", softmax.dst, false});
    arguments.push_back({arg::diffDst, "diff_dst", softmax.diffDst, false});
    arguments.push_back({arg::diffSrc, "diff_src", softmax.diffSrc, true});
  }
  arg::appendAttributeArguments(problem.desc.attr, arguments, arguments);
  arg::allowInPlace(isForward(softmax.prop) ? arg::dst : arg::diffSrc, InPlace::Type, arguments);
}

} // namespace

Result<void> softmax::checkLayout(std::string_view name, const TensorDesc &tensor) {
  return quern::checkLayout(name, tensor, {"softmax", " (softmax C15)", " (softmax C16)", " (softmax C17)"});
}

Result<VerifiedProblem> verifySoftmax(const PrimitiveDesc &desc, const Target &, const PrimitiveDesc *forwardHint) {
  VerifiedProblem problem{desc, {}, {}, false};
  auto &softmax = std::get<SoftmaxDesc>(problem.desc.op);
  for (auto check : {checkKind, checkPresence, checkDims})
    QUERN_RETURN_IF_ERROR(check(softmax));
  QUERN_RETURN_IF_ERROR(checkHint(softmax, forwardHint));
  QUERN_RETURN_IF_ERROR(resolveLayouts(softmax, forwardHint));
  for (auto check : {checkOutputs, checkSupported})
    QUERN_RETURN_IF_ERROR(check(softmax));
  QUERN_RETURN_IF_ERROR(softmax::checkAttributes(softmax, problem.desc.attr));
  listArguments(problem);
  problem.isNoop = softmax.dst.hasZeroDim();
  problem.citations = {" (softmax C27)", " (softmax C28)", " (softmax C29)"};
  return problem;
}

} // namespace quern
