//===- Attributes.cpp - Equality and validation of attributes -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks rules that hold for every primitive. The verifier of a primitive checks whether it supports an attribute.
//
//===----------------------------------------------------------------------===//
#include "Desc/FieldVisitor.h"

#include "Desc/Attributes.h"

#include <algorithm>

namespace quern {

bool QuantParams::operator==(const QuantParams &other) const { return sameFields(*this, other); }
bool PostOp::operator==(const PostOp &other) const { return sameFields(*this, other); }
bool RnnQuantization::operator==(const RnnQuantization &other) const { return sameFields(*this, other); }
bool RnnQuantization::isIdentity() const {
  const auto isOne = [](int32_t mask, const std::vector<float> &scales) {
    return (mask == 0 || !scales.empty()) &&
           std::all_of(scales.begin(), scales.end(), [](float scale) { return scale == 1; });
  };
  return dataScale == 1 && dataShift == 0 && isOne(weightsMask, weightsScales) &&
         isOne(projectionMask, projectionScales);
}

bool Attributes::operator==(const Attributes &other) const { return sameFields(*this, other); }

template <> std::string_view nameOf<PostOp::Kind>(PostOp::Kind value) {
  constexpr std::string_view names[] = {"eltwise", "binary", "sum", "prelu"};
  auto index = static_cast<size_t>(value);
  return index < std::size(names) ? names[index] : "undef";
}

template <> std::optional<PostOp::Kind> fromName<PostOp::Kind>(std::string_view name) {
  for (auto kind : {PostOp::Kind::Eltwise, PostOp::Kind::Binary, PostOp::Kind::Sum, PostOp::Kind::Prelu})
    if (nameOf(kind) == name)
      return kind;
  return std::nullopt;
}
template <> std::string namesOf<PostOp::Kind>(std::string_view) { return "eltwise, binary, sum, prelu"; }

namespace {

Result<void> checkMask(const char *what, int32_t mask) {
  constexpr int32_t limit = (1 << maxDims) - 1;
  if (mask < 0 || mask > limit)
    return invalidArguments(what, " mask is ", mask, "; between 0 and ", limit, " is possible");
  return {};
}

Result<void> checkQuantParams(const char *what, const std::map<int32_t, QuantParams> &all) {
  for (const auto &[argument, params] : all) {
    if (argument <= 0)
      return invalidArguments(what, " are given for argument ", argument, "; it must be at least 1");
    QUERN_RETURN_IF_ERROR(checkMask(what, params.mask));
    if (params.dataType == DataType::Undef)
      return invalidArguments(what, " of argument ", argument, " have no data type");
    if (params.isOnHost && (params.mask != 0 || !params.groups.empty()))
      return invalidArguments(what, " of argument ", argument, " are on the host with mask ", params.mask, " and ",
                              params.groups.size(), " group sizes; a host scalar has mask 0 and no groups");
    if (!params.groups.empty() && params.groups.size() != 2)
      return invalidArguments(what, " of argument ", argument, " have ", params.groups.size(),
                              " group sizes; 0 or 2 are possible");
    for (int64_t group : params.groups)
      if (group < 1)
        return invalidArguments(what, " of argument ", argument, " have a group of size ", group,
                                "; it must be at least 1");
  }
  return {};
}

bool isBetween(Alg alg, Alg first, Alg last) { return alg >= first && alg <= last; }

bool isEltwise(Alg alg) {
  return isBetween(alg, Alg::EltwiseRelu, Alg::EltwiseHardswish) ||
         isBetween(alg, Alg::EltwiseReluDst, Alg::EltwiseClipV2Dst);
}

/// Returns the post-op with only the fields that its kind uses.
PostOp withMeaningfulFields(const PostOp &op) {
  PostOp kept;
  kept.kind = op.kind;
  switch (op.kind) {
  case PostOp::Kind::Eltwise:
    kept.alg = op.alg, kept.alpha = op.alpha, kept.beta = op.beta;
    break;
  case PostOp::Kind::Binary:
    kept.alg = op.alg, kept.src1 = op.src1;
    if (op.alg == Alg::BinarySelect)
      kept.src2 = op.src2;
    break;
  case PostOp::Kind::Sum:
    kept.scale = op.scale, kept.zeroPoint = op.zeroPoint, kept.dataType = op.dataType;
    break;
  case PostOp::Kind::Prelu:
    kept.mask = op.mask;
    break;
  case PostOp::Kind::Depthwise:
    break;
  }
  return kept;
}

Result<void> checkBinary(const PostOp &op) {
  if (!isBetween(op.alg, Alg::BinaryAdd, Alg::BinarySelect))
    return invalidArguments("post-op binary has algorithm '", nameOf(op.alg), "'; it must be one of add to select");
  if (op.src1.isZero())
    return invalidArguments("post-op binary needs src1");
  if (op.alg == Alg::BinarySelect && op.src2.isZero())
    return invalidArguments("post-op binary select needs src2");
  for (const TensorDesc *src : {&op.src1, &op.src2})
    QUERN_RETURN_IF_ERROR(src->validate());
  return {};
}

Result<void> refuseUncomputed(const UncomputedAttributes &attr) {
  if (!attr.quantizationModes.empty())
    return unimplemented("scales of argument ", attr.quantizationModes.begin()->first,
                         " are dynamic; only static ones are implemented");
  if (!attr.roundingModes.empty())
    return unimplemented("rounding of argument ", attr.roundingModes.begin()->first,
                         " is stochastic, which is not implemented");
  if (!attr.precomputedReductions.empty())
    return unimplemented("precomputed reductions are not implemented");
  return {};
}

} // namespace

Result<void> PostOp::validate() const {
  if (kind == Kind::Depthwise)
    return unimplemented("post-op depthwise convolution is not implemented");
  if (!isKnown(kind))
    return invalidArguments("post-op kind ", static_cast<int32_t>(kind), " is unknown");
  if (kind == Kind::Eltwise && !isEltwise(alg))
    return invalidArguments("post-op eltwise has algorithm '", nameOf(alg),
                            "'; it must be one of relu to clip_v2_use_dst_for_bwd");
  if (kind == Kind::Binary)
    QUERN_RETURN_IF_ERROR(checkBinary(*this));
  if (!isKnown(dataType))
    return invalidArguments("data type ", static_cast<int32_t>(dataType), " of post-op ", nameOf(kind), " is unknown");
  QUERN_RETURN_IF_ERROR(checkMask("post-op", mask));
  if (!(withMeaningfulFields(*this) == *this))
    return invalidArguments("post-op ", nameOf(kind), " sets a field of another kind of post-op");
  return {};
}

Result<void> Dropout::validate() const {
  if (isSet() && seedType != DataType::S32 && seedType != DataType::S64)
    return invalidArguments("seeds of dropout are of type ", nameOf(seedType), "; they must be of type s32 or s64");
  if (!mask.isZero() && mask.dataType != DataType::U8)
    return invalidArguments("the mask of dropout is of type ", nameOf(mask.dataType),
                            "; it must be u8, or the zero descriptor for none");
  return mask.validate();
}

UncomputedAttributes &Attributes::changeUncomputed() {
  auto copy =
      uncomputed ? std::make_shared<UncomputedAttributes>(*uncomputed) : std::make_shared<UncomputedAttributes>();
  uncomputed = copy;
  return *copy;
}

Result<void> Attributes::validate() const {
  if (uncomputed)
    QUERN_RETURN_IF_ERROR(refuseUncomputed(*uncomputed));
  QUERN_RETURN_IF_ERROR(checkQuantParams("scales", scales));
  QUERN_RETURN_IF_ERROR(checkQuantParams("zero points", zeroPoints));
  if (postOps.size() > maxPostOps)
    return invalidArguments(postOps.size(), " post-ops are given; at most ", maxPostOps, " are possible");
  for (const PostOp &op : postOps)
    QUERN_RETURN_IF_ERROR(op.validate());
  QUERN_RETURN_IF_ERROR(checkMask("RNN weights", rnn.weightsMask));
  QUERN_RETURN_IF_ERROR(checkMask("RNN projection weights", rnn.projectionMask));
  return dropout.validate();
}

} // namespace quern
