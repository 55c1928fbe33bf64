//===- ExactTestData.cpp - Test inputs of primitives with exact results ---===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Results of a reorder, a sum and a concat must be exact, so their data may be arbitrary: values of every magnitude,
// halves that must round to even, and the limits of each type, which saturate in other types. Designed data are small
// integers; special data have NaN, infinities and denormals among the dense values.
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

/// Magnitudes around the limits of each narrow type.
constexpr double magnitudes[] = {0.01, 1, 1, 1, 25, 60, 300, 20000, 1e9, 1e18};

double floatOf(DataType type, uint64_t bits) {
  double value = bell(bits) * magnitudes[mix(bits) % std::size(magnitudes)];
  if (bits % 7 == 0 && std::fabs(value) < 1e6)
    value = std::floor(value) + 0.5;
  return std::clamp(value, -largestOf(type), largestOf(type));
}

double valueOf(DataType type, FillKind kind, uint64_t bits) {
  if (kind == FillKind::Designed)
    return static_cast<double>(static_cast<int64_t>(bits >> 32) % 7 - (type == DataType::U8 ? 0 : 3));
  if (!isFloating(type))
    return integerOf(type, bits);
  return kind == FillKind::Special && bits % 3 == 0 ? specialOf(type, mix(bits)) : floatOf(type, bits);
}

double zeroPointOf(FillKind kind, uint64_t bits) {
  int64_t range = kind == FillKind::Designed || bits % 4 ? 7 : 201;
  return static_cast<double>(static_cast<int64_t>(bits >> 16) % range - range / 2);
}

} // namespace

void fillExactInput(int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed, void *buffer) {
  uint64_t base = mix(seed * 0x100000001b3 + static_cast<uint64_t>(argument));
  forEachElement(tensor, [&](int64_t position, int64_t offset) {
    uint64_t bits = mix(base + static_cast<uint64_t>(position));
    double value = argument & arg::scalesFlag       ? scaleOf(kind, bits)
                   : argument & arg::zeroPointsFlag ? zeroPointOf(kind, bits)
                                                    : valueOf(tensor.dataType, kind, bits);
    storeElement(tensor.dataType, buffer, offset, value);
  });
}

} // namespace quern
