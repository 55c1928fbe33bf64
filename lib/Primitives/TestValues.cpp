//===- TestValues.cpp - What test data is drawn from ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See TestValues.h.
//
//===----------------------------------------------------------------------===//
#include "Primitives/TestValues.h"

#include <limits>

namespace quern {

/// SplitMix64's output function.
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
  auto leastOf = [](DataType of) {
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
  return leastOf(type) * static_cast<double>(1 + bits % 7);
}

/// A sum of three uniform values: mean 0, standard deviation 2.
double testdata::bell(uint64_t bits) {
  constexpr uint64_t mask = (1 << 21) - 1;
  double sum = static_cast<double>(bits & mask) + static_cast<double>(bits >> 21 & mask) + static_cast<double>(bits >> 42 & mask);
  return (sum / (mask + 1.0) - 1.5) * 4;
}

} // namespace quern
