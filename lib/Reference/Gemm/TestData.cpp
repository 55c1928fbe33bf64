//===- TestData.cpp - Test inputs of a product of two matrices ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Like all test data, every value is a hash of seed, argument and position.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Reference/Elements.h"
#include "Reference/TestData/TestValues.h"

#include <limits>

namespace quern {
namespace {

using namespace testdata;

/// Returns an alpha or beta, including the special cases 1 and 0.
double factorOf(uint64_t bits) {
  constexpr double all[] = {1, 0, 0.5, -1, 2, -0.25};
  return all[bits % std::size(all)];
}

double floatOf(FillKind kind, uint64_t bits) {
  if (kind == FillKind::Designed)
    return static_cast<double>(bits >> 32 & 7) - 3;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (kind == FillKind::Special && bits % 61 == 0)
    return bits % 3 == 0 ? std::numeric_limits<double>::quiet_NaN() : bits % 3 == 1 ? infinity : -infinity;
  return bell(bits);
}

} // namespace

void fillGemmInput(const PrimitiveDesc &, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
                   void *buffer) {
  const uint64_t base = mix(seed * 0x100000001b3 + static_cast<uint64_t>(argument));
  forEachElement(tensor, [&](int64_t position, int64_t offset) {
    const uint64_t bits = mix(base + static_cast<uint64_t>(position));
    const bool isScale = argument == arg::gemmAlpha || argument == arg::gemmBeta;
    double value = isScale                            ? factorOf(bits)
                   : tensor.dataType == DataType::F32 ? floatOf(kind, bits)
                                                      : integerOf(tensor.dataType, bits);
    storeElement(tensor.dataType, buffer, offset, value);
  });
}

} // namespace quern
