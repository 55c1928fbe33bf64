//===- Verify.cpp - Verification of eltwise problems ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every error names its constraint. Invalid (an error of the caller):
//   C1  Each tensor and the attributes are well-formed (checked in Registry.cpp, for every primitive).
//   C2  prop is a propagation kind of eltwise: fwd_t, fwd_i, bwd or bwd_d; round has no backward.
//   C3  alg is an eltwise algorithm.
//   C4  alpha <= beta for clip and clip_v2; alpha >= 0 for relu and elu that use dst for backward.
//   C5  Forward has src and dst; backward has diff_dst, diff_src and src, or dst if alg uses it;
//       there is no other tensor.
//   C6  Layout `any` is possible for dst (resolved from src; in backward, src and dst from the hint's), diff_dst (from
//       src or dst) and diff_src (from diff_dst), but not from strides or an offset that are known only at execution.
//   C7  All tensors have the same dims; a dim that is open (known only at execution) in one is open in all.
//   C8  Outputs do not broadcast: no stride 0 over more than one element or block.
//   C9  The hint of a backward problem is a forward eltwise of the same dims.
//   C10 A binary post-op's tensor has dst's rank, and each of its dims is dst's or 1.
//   C11 Scales and zero points are for arguments that the problem has; their masks do not exceed the tensor's rank.
// Invalid at execution (checked by the runtime):
//   C12 Every argument is given.
//   C13 The output shares no byte with another argument, unless the other is a tensor at the same address with the same
//       layout and element size; never scales or zero points.
//   C14 Sizes known only at execution match each other.
// Unimplemented:
//   C15 Forward: src and dst are of f64, f32, bf16, f16, f8_e5m2, f8_e4m3, s32, s8 or u8.
//   C16 Backward: all tensors are of f64, f32, bf16, f16, f8_e5m2 or f8_e4m3.
//   C17 A tensor with an open dim, stride or offset is plain: it has no inner blocks and no padding.
//   C18 No tensor has compensation.
//   C19 No tensor has padded offsets.
//   C20 src and dst have no scales and no zero points.
//   C21 Scales and zero points have no groups; scales are of f32, bf16 or f16, zero points of s32, s8, u8 or f32.
//   C22 Post-ops are eltwise or binary.
//   C23 Tensors of binary post-ops are of the types of C15.
//   C24 Scales and zero points of a post-op are for its src_1, and not along an open dim.
//   C25 Backward has no scales, zero points, post-ops or dropout.
//   C26 There are no RNN quantization parameters.
// Dropout, invalid and unimplemented:
//   C27 The mask has the dims of dst.
//   C28 The mask is dense and row-major, and dst has no open sizes.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Eltwise/Verify.h"

#include "Primitives/Arguments.h"
#include "Primitives/Registry.h"
#include "Primitives/TensorChecks.h"
#include "Primitives/TypeSets.h"

#include <array>

namespace quern {
namespace {

bool isEltwise(Alg alg) { return (alg >= Alg::EltwiseRelu && alg <= Alg::EltwiseHardswish) || usesDst(alg); }

/// Returns the tensor that backward reads in addition to the gradient.
const TensorDesc &dataOf(const EltwiseDesc &eltwise) { return usesDst(eltwise.alg) ? eltwise.dst : eltwise.src; }
const char *nameOfData(const EltwiseDesc &eltwise) { return usesDst(eltwise.alg) ? "dst" : "src"; }

/// Returns the tensor that determines the shape of the problem.
NamedTensor firstOf(const EltwiseDesc &eltwise) {
  if (isForward(eltwise.prop))
    return {"src", eltwise.src};
  return {nameOfData(eltwise), dataOf(eltwise)};
}

NamedTensor outputOf(const EltwiseDesc &eltwise) {
  return isForward(eltwise.prop) ? NamedTensor{"dst", eltwise.dst} : NamedTensor{"diff_src", eltwise.diffSrc};
}

std::array<NamedTensor, 4> tensorsOf(const EltwiseDesc &eltwise) {
  return {{{"src", eltwise.src}, {"dst", eltwise.dst}, {"diff_dst", eltwise.diffDst}, {"diff_src", eltwise.diffSrc}}};
}

/// Checks C2 and C3.
Result<void> checkKind(const EltwiseDesc &eltwise) {
  bool forward = isForward(eltwise.prop);
  if (!forward && eltwise.prop != PropKind::Backward && eltwise.prop != PropKind::BackwardData)
    return invalidArguments("propagation kind '", nameOf(eltwise.prop), "' (", static_cast<int32_t>(eltwise.prop),
                            ") is not one of eltwise: fwd_t, fwd_i, bwd, bwd_d (eltwise C2)");
  if (!isEltwise(eltwise.alg))
    return invalidArguments("algorithm '", nameOf(eltwise.alg), "' (", static_cast<int32_t>(eltwise.alg),
                            ") is not an eltwise algorithm (eltwise C3)");
  if (!forward && eltwise.alg == Alg::EltwiseRound)
    return invalidArguments("algorithm eltwise_round has no derivative; it is for fwd_t and fwd_i (eltwise C2)");
  return {};
}

/// Checks C4.
Result<void> checkParameters(const EltwiseDesc &eltwise) {
  Alg alg = eltwise.alg;
  bool isClip = alg == Alg::EltwiseClip || alg == Alg::EltwiseClipV2 || alg == Alg::EltwiseClipV2Dst;
  if (isClip && !(eltwise.alpha <= eltwise.beta))
    return invalidArguments("alpha is ", eltwise.alpha, ", beta ", eltwise.beta, "; ", nameOf(alg),
                            " needs alpha <= beta (eltwise C4)");
  if ((alg == Alg::EltwiseReluDst || alg == Alg::EltwiseEluDst) && !(eltwise.alpha >= 0))
    return invalidArguments("alpha is ", eltwise.alpha, "; ", nameOf(alg), " needs alpha >= 0 (eltwise C4)");
  return {};
}

/// Checks C5, and C6 except for layouts that a hint determines.
Result<void> checkPresence(const EltwiseDesc &eltwise) {
  bool forward = isForward(eltwise.prop);
  const char *direction = forward ? "forward" : "backward";
  for (const auto &[name, desc] : tensorsOf(eltwise)) {
    bool isData = &desc == &eltwise.src || &desc == &eltwise.dst;
    bool wanted = forward ? isData : !isData || &desc == &dataOf(eltwise);
    if (wanted && desc.isZero())
      return invalidArguments(direction, " ", nameOf(eltwise.alg), " needs ", name, ", which is absent (eltwise C5)");
    if (!wanted && !desc.isZero())
      return invalidArguments(direction, " ", nameOf(eltwise.alg), " does not use ", name, " (eltwise C5)");
  }
  if (forward && eltwise.src.isAny())
    return invalidArguments("src has layout `any`; src of forward eltwise needs a known layout (eltwise C6)");
  return {};
}

/// Checks C7 for one tensor.
Result<void> checkSameDims(const NamedTensor &tensor, const NamedTensor &like) {
  if (tensor.desc.ndims != like.desc.ndims)
    return invalidArguments(tensor.name, " is of rank ", tensor.desc.ndims, ", ", like.name, " of rank ",
                            like.desc.ndims, " (eltwise C7)");
  for (int d = 0; d < like.desc.ndims; ++d)
    if (tensor.desc.dims[d] != like.desc.dims[d])
      return invalidArguments("dim ", d, " of ", tensor.name, " is ", textOfDim(tensor.desc.dims[d]), "; in ",
                              like.name, " it is ", textOfDim(like.desc.dims[d]), " (eltwise C7)");
  return {};
}

/// Checks C7.
Result<void> checkDims(const EltwiseDesc &eltwise) {
  NamedTensor first = firstOf(eltwise);
  for (const NamedTensor &tensor : tensorsOf(eltwise))
    if (!tensor.desc.isZero())
      QUERN_RETURN_IF_ERROR(checkSameDims(tensor, first));
  return {};
}

/// Checks C9.
Result<void> checkHint(const EltwiseDesc &eltwise, const PrimitiveDesc *hint) {
  if (!hint || isForward(eltwise.prop))
    return {};
  const auto *forward = std::get_if<EltwiseDesc>(&hint->op);
  if (!forward || !isForward(forward->prop))
    return invalidArguments("the hint is ", forward ? "a backward " : "of kind ", nameOf(hint->kind()),
                            "; it must be a forward eltwise (eltwise C9)");
  if (!forward->src.sameShape(dataOf(eltwise)))
    return invalidArguments("the hint's src does not have the dims of ", nameOfData(eltwise), " (eltwise C9)");
  return {};
}

/// Checks C6 and resolves layouts.
Result<void> resolveLayouts(EltwiseDesc &eltwise, const PrimitiveDesc *hint) {
  constexpr std::string_view citation = " (eltwise C6)";
  if (isForward(eltwise.prop))
    return resolveLike("dst", eltwise.dst, "src", eltwise.src, citation);
  TensorDesc &data = usesDst(eltwise.alg) ? eltwise.dst : eltwise.src;
  const char *name = nameOfData(eltwise);
  if (data.isAny()) {
    if (!hint)
      return invalidArguments(name, " has layout `any`; backward eltwise takes it from a hint, which is absent",
                              citation);
    // This is the tensor that forward has read or written, so the layout is copied with its gaps and offset.
    const auto &forward = std::get<EltwiseDesc>(hint->op);
    DataType type = data.dataType;
    data = usesDst(eltwise.alg) ? forward.dst : forward.src;
    data.dataType = type;
  }
  QUERN_RETURN_IF_ERROR(resolveLike("diff_dst", eltwise.diffDst, name, data, citation));
  return resolveLike("diff_src", eltwise.diffSrc, "diff_dst", eltwise.diffDst, citation);
}

/// Checks C8 and C15 to C19.
Result<void> checkTensors(const EltwiseDesc &eltwise) {
  NamedTensor output = outputOf(eltwise);
  QUERN_RETURN_IF_ERROR(checkOutput(output.name, output.desc, " (eltwise C8)"));
  bool forward = isForward(eltwise.prop);
  for (const auto &[name, desc] : tensorsOf(eltwise)) {
    if (desc.isZero())
      continue;
    if (!elementTypes.contains(desc.dataType) || (!forward && !isFloating(desc.dataType)))
      return forward
                 ? unimplemented("eltwise is not implemented for ", name, " of type ", nameOf(desc.dataType),
                                 "; it is for ", elementTypes.names(), " (eltwise C15)")
                 : unimplemented("backward eltwise is not implemented for ", name, " of type ", nameOf(desc.dataType),
                                 "; it is for f64, f32, bf16, f16, f8_e5m2, f8_e4m3 (eltwise C16)");
    QUERN_RETURN_IF_ERROR(eltwise::checkLayout(name, desc));
  }
  return {};
}

void listArguments(VerifiedProblem &problem) {
  const EltwiseDesc &eltwise = std::get<EltwiseDesc>(problem.desc.op);
  std::vector<ArgumentInfo> &arguments = problem.arguments;
  arguments.reserve(4);
  if (isForward(eltwise.prop)) {
    arguments.push_back({arg::src, "src", eltwise.src, false});
    arguments.push_back({arg::dst, "dst", eltwise.dst, true});
  } else {
    arguments.push_back({usesDst(eltwise.alg) ? arg::dst : arg::src, nameOfData(eltwise), dataOf(eltwise), false});
    arguments.push_back({arg::diffDst, "diff_dst", eltwise.diffDst, false});
    arguments.push_back({arg::diffSrc, "diff_src", eltwise.diffSrc, true});
  }
  arg::appendAttributeArguments(problem.desc.attr, arguments, arguments);
  arg::allowInPlace(isForward(eltwise.prop) ? arg::dst : arg::diffSrc, InPlace::ElementSize, arguments);
}

} // namespace

Result<void> eltwise::checkLayout(std::string_view name, const TensorDesc &tensor) {
  return quern::checkLayout(name, tensor, {"eltwise", " (eltwise C17)", " (eltwise C18)", " (eltwise C19)"});
}

Result<VerifiedProblem> verifyEltwise(const PrimitiveDesc &desc, const Target &, const PrimitiveDesc *forwardHint) {
  VerifiedProblem problem;
  problem.desc = desc;
  auto &eltwise = std::get<EltwiseDesc>(problem.desc.op);
  for (auto check : {checkKind, checkParameters, checkPresence, checkDims})
    QUERN_RETURN_IF_ERROR(check(eltwise));
  QUERN_RETURN_IF_ERROR(checkHint(eltwise, forwardHint));
  QUERN_RETURN_IF_ERROR(resolveLayouts(eltwise, forwardHint));
  QUERN_RETURN_IF_ERROR(checkTensors(eltwise));
  QUERN_RETURN_IF_ERROR(eltwise::checkAttributes(eltwise, problem.desc.attr));
  listArguments(problem);
  problem.isNoop = firstOf(eltwise).desc.hasZeroDim();
  problem.citations = {" (eltwise C12)", " (eltwise C13)", " (eltwise C14)"};
  return problem;
}

} // namespace quern
