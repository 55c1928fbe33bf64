//===- Integers.cpp - Problems that are computed exactly on integers ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Integers.h"

#include <algorithm>
#include <cmath>

namespace quern {
namespace {

/// Upper bound of the sum of the factors' magnitudes, so that each sum of products with s32 elements fits an i64.
constexpr double maxFactors = 0x1p31;

bool isInteger(DataType type) { return type == DataType::S32 || type == DataType::S8 || type == DataType::U8; }
bool isInteger(const TensorDesc &tensor) { return tensor.isZero() || isInteger(tensor.dataType); }
bool isFactor(float value) { return std::fabs(value) <= maxFactors && std::trunc(value) == value; }

bool hasIntegers(const BinaryDesc &binary) {
  return binary.alg != Alg::BinaryDiv && isInteger(binary.src) && isInteger(binary.src1) && isInteger(binary.src2) &&
         isInteger(binary.dst);
}

bool hasIntegers(const SumDesc &sum) {
  double factors = 0;
  for (float scale : sum.scales)
    factors += std::fabs(scale);
  return factors <= maxFactors && std::all_of(sum.scales.begin(), sum.scales.end(), isFactor) && isInteger(sum.dst) &&
         std::all_of(sum.srcs.begin(), sum.srcs.end(), [](const TensorDesc &src) { return isInteger(src); });
}

bool hasIntegers(const EltwiseDesc &eltwise) {
  if (!isForward(eltwise.prop) || !isInteger(eltwise.src) || !isInteger(eltwise.dst))
    return false;
  switch (eltwise.alg) {
  case Alg::EltwiseAbs:
  case Alg::EltwiseClip:
  case Alg::EltwiseClipV2:
  case Alg::EltwiseClipV2Dst:
  case Alg::EltwiseRound:
  case Alg::EltwiseSquare:
    return true;
  case Alg::EltwiseRelu:
  case Alg::EltwiseReluDst:
    return isFactor(eltwise.alpha);
  case Alg::EltwiseLinear:
    return isFactor(eltwise.alpha) && isFactor(eltwise.beta);
  default:
    return false;
  }
}

} // namespace

bool mayComputeOnIntegers(const PrimitiveDesc &verified) {
  const Attributes &attr = verified.attr;
  if (!attr.scales.empty() || !attr.zeroPoints.empty() || !attr.postOps.empty() || attr.dropout.isSet())
    return false;
  return std::visit(
      []<typename Op>(const Op &op) {
        if constexpr (requires { hasIntegers(op); })
          return hasIntegers(op);
        return false;
      },
      verified.op);
}

bool computesOnIntegers(const PrimitiveDesc &verified) {
  return verified.attr.accumulationMode != AccumulationMode::F32 && mayComputeOnIntegers(verified);
}

} // namespace quern
