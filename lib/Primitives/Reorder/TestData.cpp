//===- TestData.cpp - Inputs of reorders from a seed ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A reorder is judged exactly, so its data may be as wild as it likes: values of every magnitude, halves that must round to even, and the
// ends of each type, which saturate on the way to another. Designed data are small integers, special data have NaN, infinities and
// denormals among the dense.
//
//===----------------------------------------------------------------------===//
#include "Primitives/TestValues.h"

#include "Primitives/Arguments.h"
#include "Primitives/Elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quern {
namespace {

using namespace testdata;

/// Magnitudes around those at which each narrow type ends.
constexpr double magnitudes[] = {0.01, 1, 1, 1, 25, 60, 300, 20000, 1e9, 1e18};

double floatOf(DataType type, uint64_t bits) {
  double value = bell(bits) * magnitudes[mix(bits) % std::size(magnitudes)];
  if (bits % 7 == 0 && std::fabs(value) < 1e6)
    value = std::floor(value) + 0.5;
  return std::clamp(value, -largestOf(type), largestOf(type));
}

/// Of the whole type, small ones and its ends more often than others.
double integerOf(DataType type, uint64_t bits) {
  constexpr double ends[] = {-0x1p31, 0x1p31 - 1, -129, -128, -127, -9, -8, -1, 0, 1, 7, 8, 15, 16, 127, 128, 254, 255, 256, 0x1p24 + 1};
  if (bits % 5 == 0)
    return ends[mix(bits) % std::size(ends)];
  double whole = static_cast<double>(static_cast<int32_t>(mix(bits) >> 32));
  switch (bits % 5) {
  case 1:
    return std::floor(whole * 0x1p-24);
  case 2:
    return std::floor(whole * 0x1p-28);
  default:
    return type == DataType::S32 ? whole : std::floor(whole * 0x1p-23);
  }
}

double specialOf(DataType type, uint64_t bits) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (mix(bits) % 8) {
  case 0:
    return std::numeric_limits<double>::quiet_NaN();
  case 1:
    return infinity;
  case 2:
    return -infinity;
  case 3:
    return largestOf(type);
  case 4:
    return -largestOf(type);
  case 5:
    return -0.0;
  default:
    return denormalOf(type, bits) * (bits & 64 ? -1 : 1);
  }
}

double valueOf(DataType type, FillKind kind, uint64_t bits) {
  if (kind == FillKind::Designed)
    return static_cast<double>(static_cast<int64_t>(bits >> 32) % 7 - (type == DataType::U8 ? 0 : 3));
  if (!isFloating(type))
    return integerOf(type, bits);
  return kind == FillKind::Special && bits % 3 == 0 ? specialOf(type, mix(bits)) : floatOf(type, bits);
}

/// From 1/8 to 16, never 0. Designed: powers of two.
double scaleOf(FillKind kind, uint64_t bits) {
  double scale = std::ldexp(1.0, static_cast<int>(bits % 7) - 3);
  return kind == FillKind::Designed || bits % 3 == 0 ? scale : scale * (1 + static_cast<double>(bits >> 8 & 0xfffff) / 0x100000);
}

double zeroPointOf(FillKind kind, uint64_t bits) {
  int64_t range = kind == FillKind::Designed || bits % 4 ? 7 : 201;
  return static_cast<double>(static_cast<int64_t>(bits >> 16) % range - range / 2);
}

} // namespace

void fillReorderInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed, void *buffer) {
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
