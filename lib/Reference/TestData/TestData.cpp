//===- TestData.cpp - Test inputs from a seed -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every value is a hash of seed, argument and position, so there is no generator state to share or to order.
//
//===----------------------------------------------------------------------===//
#include "Reference/TestData/TestData.h"

#include "Primitives/Arguments.h"
#include "Primitives/Integers.h"
#include "Reference/Elements.h"
#include "Reference/TestData/TestValues.h"

#include <cmath>
#include <limits>

namespace quern {
namespace {

using namespace testdata;

/// Returns a value of a special row; the hash of the row selects its kind.
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

/// Returns an integer from -3 to 3. The first two of a row are the largest, so that no logarithm is near 0, where a
/// relative threshold would need more digits of the sum than f32 has.
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

std::string_view nameOf(FillKind kind) {
  return kind == FillKind::Dense ? "dense" : kind == FillKind::Designed ? "designed" : "special";
}

std::optional<FillKind> fillFromName(std::string_view name) {
  for (FillKind kind : {FillKind::Dense, FillKind::Designed, FillKind::Special})
    if (nameOf(kind) == name)
      return kind;
  return std::nullopt;
}

namespace {

bool isInteger(DataType type) { return !isFloating(type); }

bool isForPositive(Alg alg) {
  return alg == Alg::EltwiseLog || alg == Alg::EltwisePow || alg == Alg::EltwiseSqrt || alg == Alg::EltwiseSqrtDst;
}

/// Computes the values of one input by position.
class InputFiller {
public:
  InputFiller(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed)
      : softmax(std::get_if<SoftmaxDesc>(&desc.op)), argument(argument), tensor(tensor), kind(kind),
        base(mix(seed * 0x100000001b3 + static_cast<uint64_t>(argument))) {
    int axis = softmax && softmax->axis < tensor.ndims ? softmax->axis : tensor.ndims - 1;
    inner = innerElements(tensor, axis);
    length = tensor.ndims ? tensor.dims[axis] : 1;
    if (const auto *eltwise = std::get_if<EltwiseDesc>(&desc.op))
      isOfPositive = (argument == arg::src || argument == arg::dst) && isForPositive(eltwise->alg);
    isExact = computesOnIntegers(desc);
  }

  void fill(void *buffer) {
    isResult = softmax && !isForward(softmax->prop) && argument == arg::dst;
    if (isResult && kind != FillKind::Designed)
      sumRows();
    forEachElement(tensor, [&](int64_t position, int64_t offset) {
      storeElement(tensor.dataType, buffer, offset, valueAt(position));
    });
  }

private:
  uint64_t bitsAt(int64_t position) const { return mix(base + static_cast<uint64_t>(position)); }
  int64_t rowOf(int64_t position) const { return position / (inner * length) * inner + position % inner; }
  int64_t inRow(int64_t position) const { return position / inner % length; }
  uint64_t rowBits(int64_t position) const { return mix(base ^ mix(static_cast<uint64_t>(rowOf(position)))); }

  void sumRows() {
    rowSums.assign(static_cast<size_t>(tensor.elements() / std::max<int64_t>(length, 1)), 0);
    for (int64_t position = 0; position < tensor.elements(); ++position)
      rowSums[static_cast<size_t>(rowOf(position))] += std::exp(bell(bitsAt(position)));
  }

  double valueAt(int64_t position) const {
    if (argument & arg::scalesFlag)
      return scaleAt(position);
    if (argument & arg::zeroPointsFlag) // odd, and integer operands are even, so the difference is never 0
      return bitsAt(position) % 2 ? 1 : 3;
    if (argument >= arg::postOpBase)
      return operandAt(position);
    if (isResult)
      return resultAt(position);
    if (softmax && !isForward(softmax->prop))
      return gradientAt(position);
    return sourceAt(position);
  }

  double sourceAt(int64_t position) const {
    uint64_t bits = bitsAt(position);
    bool isUnsigned = tensor.dataType == DataType::U8;
    if (kind == FillKind::Designed)
      return designedValue(bits, inRow(position)) + (isUnsigned ? 3 : 0);
    double dense = isOfPositive ? std::fabs(bell(bits)) : bell(bits);
    if (isExact && bits % 2)
      return integerOf(tensor.dataType, mix(bits));
    if (isInteger(tensor.dataType))
      dense = std::floor(dense * (rowBits(position) % 3 ? 2 : 30)) + (isUnsigned ? 128 : 0);
    return kind == FillKind::Special ? specialValue(tensor.dataType, rowBits(position), bits, dense) : dense;
  }

  /// Returns an element of a softmax's dst. Designed: quarters, so that all sums are exact; logarithms are -1, -2, -3.
  double resultAt(int64_t position) const {
    uint64_t bits = bitsAt(position);
    bool isLog = softmax->alg == Alg::SoftmaxLog;
    if (kind == FillKind::Designed)
      return isLog ? -1 - static_cast<double>(bits % 3) : static_cast<double>(bits % 4) / 4;
    double sum = rowSums[static_cast<size_t>(rowOf(position))];
    double dense = isLog ? bell(bits) - std::log(sum) : std::exp(bell(bits)) / sum;
    if (kind != FillKind::Special || bits % 5 != 0)
      return dense;
    switch (rowBits(position) % 6) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return isLog ? -std::numeric_limits<double>::infinity() : 0;
    case 2:
      return isLog ? -100 : denormalOf(tensor.dataType, bits);
    default:
      return dense;
    }
  }

  /// Returns the gradient of a softmax's dst. Designed: small integers; for the logarithm only one nonzero element in
  /// each row, because ds = dy - e^y sum dy would cancel otherwise. Special: values are limited, so that overflow does
  /// not depend on the order of a sum.
  double gradientAt(int64_t position) const {
    uint64_t bits = bitsAt(position);
    if (kind == FillKind::Designed && softmax->alg == Alg::SoftmaxLog)
      return inRow(position) == static_cast<int64_t>(rowBits(position) % static_cast<uint64_t>(length))
                 ? static_cast<double>(1 + bits % 3)
                 : 0;
    if (kind == FillKind::Designed)
      return static_cast<double>(static_cast<int64_t>(bits >> 32) % 7 - 3);
    double dense = bell(bits);
    if (kind != FillKind::Special)
      return dense;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (rowBits(position) % 6) {
    case 0:
      return bits % 5 ? dense : std::numeric_limits<double>::quiet_NaN();
    case 1:
      return bits % 5 ? dense : infinity;
    case 2:
      return bits % 5 ? dense : -infinity;
    case 3:
      return dense * std::min(std::sqrt(largestOf(tensor.dataType)), 1e15);
    case 4:
      return denormalOf(tensor.dataType, bits) * (bits & 64 ? -1 : 1);
    default:
      return dense;
    }
  }

  /// Designed scales are powers of two. Scales of an integer destination spread the results over its type.
  double scaleAt(int64_t position) const {
    uint64_t bits = bitsAt(position);
    double scale = std::ldexp(1.0, static_cast<int>(bits % 3) - 1);
    if (kind != FillKind::Designed && bits % 4)
      scale *= 1 + static_cast<double>(bits >> 8 & 255) / 256;
    if (argument != arg::scalesOf(arg::dst) || !softmax || !isInteger(softmax->dst.dataType))
      return scale;
    return scale * (softmax->alg == Alg::SoftmaxLog ? 8 : 1) / 128;
  }

  double operandAt(int64_t position) const {
    uint64_t bits = bitsAt(position);
    if (argument % arg::postOpBase == arg::src2)
      return static_cast<double>(bits % 2);
    double sign = bits & 128 && tensor.dataType != DataType::U8 ? -1 : 1;
    if (isInteger(tensor.dataType))
      return sign * 2 * static_cast<double>(1 + (bits >> 16) % 8);
    if (kind == FillKind::Designed)
      return sign * static_cast<double>(1 + (bits >> 16) % 3);
    return sign * (0.25 + std::fabs(bell(bits)) / 2);
  }

  const SoftmaxDesc *softmax;
  int32_t argument;
  const TensorDesc &tensor;
  FillKind kind;
  uint64_t base;
  int64_t inner = 1, length = 1;
  bool isResult = false;     ///< true for the dst of a backward softmax
  bool isOfPositive = false; ///< true for src or dst of a function of positive numbers
  bool isExact = false;      ///< true if results are computed on integers, so inputs may have any size
  std::vector<double> rowSums;
};

} // namespace

void fillInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
               void *buffer) {
  if (arg::isOfDropout(argument))
    return fillDropoutInput(argument, tensor, kind, seed, buffer);
  if (desc.kind() == PrimitiveKind::Binary && argument < arg::postOpBase)
    return fillBinaryInput(desc, argument, tensor, kind, seed, buffer);
  if (hasExactResults(desc.kind()) && argument < arg::postOpBase)
    return fillExactInput(argument, tensor, kind, seed, buffer);
  if (desc.kind() == PrimitiveKind::Gemm)
    return fillGemmInput(desc, argument, tensor, kind, seed, buffer);
  if (desc.kind() == PrimitiveKind::Rnn)
    return fillRnnInput(desc, argument, tensor, kind, seed, buffer);
  InputFiller(desc, argument, tensor, kind, seed).fill(buffer);
}

} // namespace quern
