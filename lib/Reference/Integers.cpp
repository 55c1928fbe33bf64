//===- Integers.cpp - References that compute on integers -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reference/Integers.h"

#include "Reference/Elements.h"

#include <algorithm>

namespace quern {
namespace {

/// Rounds a bound of a clip to nearest, halves to even. Bounds outside of s32 become the nearest s32.
int64_t boundOf(float value) { return static_cast<int64_t>(roundTo(DataType::S32, static_cast<double>(value))); }

} // namespace

std::vector<int64_t> gatherIntegers(const TensorDesc &desc, const void *buffer) {
  const std::vector<double> values = gather(desc, buffer); // exact in double
  return {values.begin(), values.end()};
}

int64_t integerBinary(Alg alg, int64_t x, int64_t y, bool isSet) {
  switch (alg) {
  case Alg::BinaryAdd:
    return x + y;
  case Alg::BinarySub:
    return x - y;
  case Alg::BinaryMul:
    return x * y;
  case Alg::BinaryMax:
    return std::max(x, y);
  case Alg::BinaryMin:
    return std::min(x, y);
  case Alg::BinaryGe:
    return x >= y;
  case Alg::BinaryGt:
    return x > y;
  case Alg::BinaryLe:
    return x <= y;
  case Alg::BinaryLt:
    return x < y;
  case Alg::BinaryEq:
    return x == y;
  case Alg::BinaryNe:
    return x != y;
  default:
    return isSet ? x : y;
  }
}

int64_t integerEltwise(Alg alg, float alpha, float beta, int64_t x) {
  switch (alg) {
  case Alg::EltwiseAbs:
    return x < 0 ? -x : x;
  case Alg::EltwiseSquare:
    return x * x;
  case Alg::EltwiseRelu:
  case Alg::EltwiseReluDst:
    return x > 0 ? x : static_cast<int64_t>(alpha) * x;
  case Alg::EltwiseLinear:
    return static_cast<int64_t>(alpha) * x + static_cast<int64_t>(beta);
  case Alg::EltwiseRound:
    return x;
  default:
    return std::min(std::max(x, boundOf(alpha)), boundOf(beta));
  }
}

void setIntegers(const std::vector<int64_t> &values, ReferenceOutput &out) {
  out.criterion = Criterion::Value;
  out.exact.resize(values.size());
  std::transform(values.begin(), values.end(), out.exact.begin(), [&](int64_t value) {
    constexpr int64_t beyond = int64_t(1) << 40; // beyond any type, and exact in double
    return roundTo(out.desc.dataType, static_cast<double>(std::clamp(value, -beyond, beyond)));
  });
}

} // namespace quern
