//===- TestValues.cpp - Random values for test data -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reference/TestData/TestValues.h"

#include "Primitives/Arguments.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace quern {

uint64_t testdata::mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double testdata::largestOf(DataType type) {
  switch (type) {
  case DataType::F64:
    return std::numeric_limits<double>::max();
  case DataType::F32:
    return std::numeric_limits<float>::max();
  case DataType::BF16:
    return 0x1.fep127;
  case DataType::F16:
    return 65504;
  case DataType::F8E5M2:
    return 57344;
  case DataType::F8E4M3:
    return 448;
  default:
    return std::numeric_limits<double>::max(); // saturates when stored
  }
}

double testdata::denormalOf(DataType type, uint64_t bits) {
  auto minOf = [](DataType of) {
    switch (of) {
    case DataType::F64:
      return 0x1p-1074;
    case DataType::BF16:
      return 0x1p-133;
    case DataType::F16:
      return 0x1p-24;
    case DataType::F8E5M2:
      return 0x1p-16;
    case DataType::F8E4M3:
      return 0x1p-9;
    default:
      return 0x1p-149;
    }
  };
  return minOf(type) * static_cast<double>(1 + bits % 7);
}

double testdata::bell(uint64_t bits) {
  constexpr uint64_t mask = (1 << 21) - 1;
  double sum = static_cast<double>(bits & mask) + static_cast<double>(bits >> 21 & mask) +
               static_cast<double>(bits >> 42 & mask);
  return (sum / (mask + 1.0) - 1.5) * 4;
}

double testdata::integerOf(DataType type, uint64_t bits) {
  constexpr double ends[] = {-0x1p31, 0x1p31 - 1, -129,       -128,        -127,  -9,         -8,
                             -1,      0,          1,          7,           8,     15,         16,
                             127,     128,        254,        255,         256,   0x1p24 + 1, -0x1p24 - 1,
                             0x1p24,  0x1p25 + 1, 0x1p31 - 2, -0x1p31 + 1, 46341, -46341,     65536};
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

double testdata::specialOf(DataType type, uint64_t bits) {
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

double testdata::scaleOf(FillKind kind, uint64_t bits) {
  double scale = std::ldexp(1.0, static_cast<int>(bits % 7) - 3);
  return kind == FillKind::Designed || bits % 3 == 0
             ? scale
             : scale * (1 + static_cast<double>(bits >> 8 & 0xfffff) / 0x100000);
}

namespace {

float probabilityOf(FillKind kind, uint64_t bits) {
  using Limits = std::numeric_limits<float>;
  constexpr float special[] = {0, 1, -1, 2, -0.0f, Limits::quiet_NaN(), Limits::denorm_min(), 0.75f};
  if (kind == FillKind::Designed)
    return bits % 4 == 0 ? 0 : 0.5f;
  if (kind == FillKind::Special)
    return special[bits % std::size(special)];
  return bits % 8 == 0 ? 0 : 0.1f + static_cast<float>(bits >> 8 & 0xfffff) * (0.7f / 0x100000);
}

} // namespace

void fillDropoutInput(int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed, void *buffer) {
  const uint64_t bits = testdata::mix(seed * 0x100000001b3 + static_cast<uint64_t>(argument)),
                 whole = testdata::mix(bits);
  const auto put = [&](auto value) { std::memcpy(buffer, &value, sizeof(value)); };
  if (argument == arg::dropoutProbability)
    return put(probabilityOf(kind, bits));
  if (tensor.dataType == DataType::S32)
    return put(static_cast<int32_t>(whole));
  if (argument == arg::dropoutOffset && bits % 4 == 0) // for offset 0, the generator uses a different counter
    return put(int64_t(0));
  put(static_cast<int64_t>(bits % 2 ? whole : whole >> 40));
}

} // namespace quern
