//===- Differences.cpp - Known differences of oneDNN's binary -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// docs/primitives/binary.md explains each of these, found by running the same problems in both libraries. A difference
// counts as known only if its cause is present.
//
//===----------------------------------------------------------------------===//
#include "Binary/Generator.h"
#include "PeerDifferences.h"
#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>

namespace quern::cases::binary {
namespace {

bool hasSum(const Attributes &attr) {
  return std::any_of(attr.postOps.begin(), attr.postOps.end(),
                     [](const PostOp &post) { return post.kind == PostOp::Kind::Sum; });
}

/// Returns true if a dim of 1 has another stride than a dense tensor.
bool hasMovedUnit(const TensorDesc &desc) {
  for (int d = 0; d + 1 < desc.ndims; ++d)
    if (desc.dims[d] == 1 && desc.strides[d] != desc.strides[d + 1] * desc.dims[d + 1])
      return true;
  return false;
}

} // namespace

bool isPossible(const PeerComparison &with, size_t element, double value) {
  const ReferenceOutput &exact = with.exact;
  if (!exact.range)
    return false;
  DataType type = exact.desc.dataType;
  Interval image = exact.range(static_cast<int64_t>(element), Interval::around(exact.beforeAttributes[element]));
  if (std::isnan(value))
    return image.mayBeNan;
  return roundTo(type, static_cast<double>(image.low)) <= value &&
         value <= roundTo(type, static_cast<double>(image.high));
}

std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view) {
  const BinaryDesc &op = std::get<BinaryDesc>(desc.op);
  if (op.dst.ndims == 1 && !op.src.samePlaces(op.src1))
    return "crashes if one of the vectors has stride 0, blocks or gaps";
  return {};
}

Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) {
  const BinaryDesc &op = std::get<BinaryDesc>(with.desc.op);
  DataType to = op.dst.dataType;
  if (isF64Misread(with))
    return {"3.2 accepts f64 in a post-op, but misreads it", 0.012};
  for (const TensorDesc *tensor : {&op.src, &op.src1, &op.dst})
    if (isOldPeer(with) && tensor->dataType == DataType::F64)
      return {"3.2 accepts f64, but misreads it", 0.06};
  if (with.implementation.starts_with("jit:uni") && bitsOf(to) == 8 && op.src.isPlain() && op.dst.isPlain() &&
      !op.src.samePlaces(op.dst))
    return {"jit:uni writes 8-bit types in the order of src if only src has channels last", 0.005};
  const bool isUni = isOldPeer(with) && with.implementation.starts_with("jit:uni");
  if (isUni && op.src.isPlain() && op.src.samePlaces(op.dst) && hasMovedUnit(op.src))
    return {"jit:uni of 3.2 omits elements if a dim of 1 has another stride than in a dense tensor", 0.004};
  bool isLimit = theirs == roundTo(to, -0x1p40) || theirs == roundTo(to, 0x1p40);
  if (!isFloating(to) && ours == 0 && isLimit)
    return {"NaN and, for u8, values below the range of s32 become a limit of the integer type instead of 0", 0.02};
  if (isRoundedTwice(to, ours, theirs))
    return {"f8 is rounded twice, first to f16", 0.02};
  if (isLogisticOfNan(with, ours, theirs))
    return {"logistic of NaN is 0", 0.005};
  if (isExpOfNan(with, ours, theirs))
    return {"exp of NaN is infinity", 0.002};
  if (isReluOfInfinity(with, ours, theirs))
    return {"a relu returns NaN for -infinity", 0.002};
  if ((!with.desc.attr.scales.empty() || hasSum(with.desc.attr)) && isOfOtherOrder(with.exact, element, theirs))
    return {"rounded differently: scales and sum are fused", 0.02};
  return {};
}

} // namespace quern::cases::binary
