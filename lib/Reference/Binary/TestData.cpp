//===- TestData.cpp - Test inputs of binaries -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Results of a binary must be exact, so its data may have any magnitude. Part of the values are small integers, so that
// comparisons encounter equal values and divisions encounter 0. Designed data are only small integers; special data
// also have NaN, infinities and the limits of types. About half of the conditions of a select are 0.
//
//===----------------------------------------------------------------------===//
#include "Reference/TestData/TestValues.h"

#include "Primitives/Arguments.h"
#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>

namespace quern {
namespace {

using namespace testdata;

constexpr double magnitudes[] = {0.01, 1, 1, 1, 25, 300, 1e6, 1e18};

double smallInteger(DataType type, uint64_t bits) {
  return static_cast<double>(static_cast<int64_t>(bits >> 32) % 7 - (type == DataType::U8 ? 0 : 3));
}

double valueOf(DataType type, FillKind kind, uint64_t bits) {
  if (kind == FillKind::Designed || bits % 4 == 0)
    return smallInteger(type, bits);
  if (!isFloating(type))
    return integerOf(type, bits >> 3);
  if (kind == FillKind::Special && bits % 3 == 0)
    return specialOf(type, mix(bits));
  return std::clamp(bell(bits) * magnitudes[mix(bits) % std::size(magnitudes)], -largestOf(type), largestOf(type));
}

/// Returns an integer that differs by at most 1 from the integer of `shared`. About a third of the positions use it for
/// both sources, so that comparisons and differences depend on the last digit.
double integerNear(DataType type, uint64_t shared, uint64_t bits) {
  return integerOf(type, shared) + static_cast<double>(bits % 3) - 1;
}

double conditionOf(DataType type, FillKind kind, uint64_t bits) {
  return bits % 2 ? 0 : kind == FillKind::Designed ? 1 : valueOf(type, kind, mix(bits));
}

} // namespace

void fillBinaryInput(const PrimitiveDesc &, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
                     void *buffer) {
  uint64_t base = mix(seed * 0x100000001b3 + static_cast<uint64_t>(argument));
  const bool isSource = argument == arg::src || argument == arg::src1;
  forEachElement(tensor, [&](int64_t position, int64_t offset) {
    uint64_t bits = mix(base + static_cast<uint64_t>(position));
    const uint64_t shared = mix(seed + static_cast<uint64_t>(position));
    const bool isNear = isSource && kind != FillKind::Designed && !isFloating(tensor.dataType) && shared % 3 == 0;
    double value = argument & arg::scalesFlag ? scaleOf(kind, bits)
                   : argument == arg::src2    ? conditionOf(tensor.dataType, kind, bits)
                   : isNear                   ? integerNear(tensor.dataType, mix(shared), bits)
                                              : valueOf(tensor.dataType, kind, bits);
    storeElement(tensor.dataType, buffer, offset, value);
  });
}

} // namespace quern
