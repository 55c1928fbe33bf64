//===- Differences.cpp - Known differences of oneDNN's concat -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// docs/primitives/concat.md explains each of these, found by running the same problems in both libraries. A difference
// counts as known only if its cause is present.
//
//===----------------------------------------------------------------------===//
#include "PeerDifferences.h"
#include "SourceCases.h"

#include <cmath>

namespace quern::cases::concat {
namespace {

/// Returns the source of an element of dst.
const TensorDesc &sourceOf(const ConcatDesc &op, size_t element) {
  auto place = static_cast<int64_t>(element);
  for (int d = op.dst.ndims - 1; d > op.axis; --d)
    place /= op.dst.dims[d];
  place %= op.dst.dims[op.axis];
  auto source = op.srcs.begin();
  for (; place >= source->dims[op.axis]; ++source)
    place -= source->dims[op.axis];
  return *source;
}

} // namespace

std::string unsafeForPeer(const ConcatDesc &op) {
  if (op.dst.hasZeroDim())
    return "crashes if dst has no elements";
  return {};
}

Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) {
  const ConcatDesc &op = std::get<ConcatDesc>(with.desc.op);
  const TensorDesc &src = sourceOf(op, element);
  const DataType to = op.dst.dataType;
  if (Difference difference = differenceOfConversion(src.dataType, to, ours, theirs))
    return difference;
  if (to == DataType::E8M0 && std::isnan(theirs)) // the old value
    return {"its reorder does not write e8m0", 0.035};
  if (!isOldPeer(with) && src.isPlain() && src.hasPadding())
    return {"3.13 writes a plain source with padding to other places", 0.015};
  if (isRoundedOtherwise(to, ours, theirs))
    return {"rounded differently: s32 is converted through f32 or another type", 0.005};
  return {};
}

} // namespace quern::cases::concat
