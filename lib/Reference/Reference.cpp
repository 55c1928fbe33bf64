//===- Reference.cpp - Dispatch to the reference of a primitive -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reference/Reference.h"

#include "Reference/Attributes/Dropout.h"

#include <algorithm>
#include <cmath>

namespace quern {

Interval Interval::around(long double value, long double tolerance) {
  Interval interval;
  interval.include(value);
  if (std::isfinite(value) && tolerance > 0) {
    interval.include(value - tolerance);
    interval.include(value + tolerance);
  }
  return interval;
}

void Interval::include(long double value) {
  if (std::isnan(value)) {
    mayBeNan = true;
    return;
  }
  low = std::min(low, value);
  high = std::max(high, value);
}

void Interval::include(const Interval &other) {
  mayBeNan |= other.mayBeNan;
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

namespace {

struct Oracle {
  PrimitiveKind kind;
  Result<std::vector<ReferenceOutput>> (*compute)(const PrimitiveDesc &, const ReferenceInputs &);
};

constexpr Oracle oracles[] = {
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) {PrimitiveKind::NAME, compute##NAME##Reference},
#include "Desc/Primitives.def"
};

} // namespace

Result<std::vector<ReferenceOutput>> computeReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  for (const Oracle &oracle : oracles) {
    if (oracle.kind != desc.kind())
      continue;
    QUERN_ASSIGN_OR_RETURN(std::vector<ReferenceOutput> outputs, oracle.compute(desc, inputs));
    QUERN_RETURN_IF_ERROR(appendDropoutMask(desc.attr.dropout, inputs, outputs));
    return outputs;
  }
  return unimplemented(nameOf(desc.kind()), ": there is no reference");
}

} // namespace quern
