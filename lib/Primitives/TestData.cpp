//===- TestData.cpp - Inputs from a seed ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See TestData.h. Every value is a hash of seed, argument and position: there is no generator state to share or to order.
//
//===----------------------------------------------------------------------===//
#include "Primitives/TestData.h"

#include "Primitives/Elements.h"

#include <cmath>
#include <limits>

namespace quern {
namespace {

/// SplitMix64's output function.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double largestOf(DataType type) {
  switch (type) {
  case DataType::F64:
    return std::numeric_limits<double>::max();
  case DataType::F16:
    return 65504;
  case DataType::BF16:
    return 0x1.fep127;
  default:
    return std::numeric_limits<float>::max();
  }
}

double denormalOf(DataType type, uint64_t bits) {
  double least = type == DataType::F64 ? 0x1p-1074 : type == DataType::F16 ? 0x1p-24 : type == DataType::BF16 ? 0x1p-133 : 0x1p-149;
  return least * static_cast<double>(1 + bits % 7);
}

/// A sum of three uniform values: mean 0, standard deviation 2.
double bell(uint64_t bits) {
  constexpr uint64_t mask = (1 << 21) - 1;
  double sum = static_cast<double>(bits & mask) + static_cast<double>(bits >> 21 & mask) + static_cast<double>(bits >> 42 & mask);
  return (sum / (mask + 1.0) - 1.5) * 4;
}

/// What a row of special data holds besides dense values, by the row's hash.
double specialValue(DataType type, uint64_t rowBits, uint64_t bits, double dense) {
  bool rare = bits % 5 == 0;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (rowBits % 10) {
  case 0:
    return rare ? std::numeric_limits<double>::quiet_NaN() : dense;
  case 1:
    return rare ? infinity : dense;
  case 2:
    return rare ? -infinity : dense;
  case 3:
    return -infinity;
  case 4:
    return rare ? dense : -infinity;
  case 5:
    return rare ? largestOf(type) : bits % 5 == 1 ? -largestOf(type) : dense;
  case 6:
    return -largestOf(type);
  case 7:
    return denormalOf(type, bits) * (bits & 64 ? -1 : 1);
  case 8:
    return dense * 40;
  default:
    return dense;
  }
}

/// Integers from -3 to 3. The first two of a row are the largest, so that no logarithm comes near 0: there a relative threshold would ask
/// for more digits of the sum than f32 has.
double designedValue(uint64_t bits, int64_t positionInRow) {
  return positionInRow < 2 ? 3 : static_cast<double>(static_cast<int64_t>(bits >> 32) % 7 - 3);
}

int64_t innerElements(const TensorDesc &tensor, int axis) {
  int64_t inner = 1;
  for (int dim = axis + 1; dim < tensor.ndims; ++dim)
    inner *= tensor.dims[dim];
  return inner;
}

} // namespace

std::string_view nameOf(FillKind kind) { return kind == FillKind::Dense ? "dense" : kind == FillKind::Designed ? "designed" : "special"; }

std::optional<FillKind> fillFromName(std::string_view name) {
  for (FillKind kind : {FillKind::Dense, FillKind::Designed, FillKind::Special})
    if (nameOf(kind) == name)
      return kind;
  return std::nullopt;
}

void fillInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed, void *buffer) {
  const SoftmaxDesc *softmax = std::get_if<SoftmaxDesc>(&desc.op);
  int axis = softmax ? softmax->axis : tensor.ndims - 1;
  int64_t inner = innerElements(tensor, axis), length = tensor.ndims ? tensor.dims[axis] : 1;
  uint64_t base = mix(seed * 0x100000001b3 + static_cast<uint64_t>(argument));
  forEachElement(tensor, [&](int64_t position, int64_t offset) {
    uint64_t bits = mix(base + static_cast<uint64_t>(position));
    double value = bell(bits);
    if (kind == FillKind::Designed)
      value = designedValue(bits, position / inner % length);
    if (kind == FillKind::Special) {
      uint64_t row = static_cast<uint64_t>(position / (inner * length) * inner + position % inner);
      value = specialValue(tensor.dataType, mix(base ^ mix(row)), bits, value);
    }
    storeElement(tensor.dataType, buffer, offset, value);
  });
}

} // namespace quern
