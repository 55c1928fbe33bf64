//===- PostOps.cpp - Reference of scales and post-ops ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The image of an interval is the hull of the function's values at its ends and at each extremum or jump within it, on
// both sides of a jump.
//
//===----------------------------------------------------------------------===//
#include "Reference/Attributes/PostOps.h"

#include "Primitives/Arguments.h"
#include "Reference/Attributes/Quantization.h"
#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace quern {
namespace {

using Real = long double;
constexpr Real infinity = std::numeric_limits<Real>::infinity();

Real clamp(Real x, Real low, Real high) { return std::isnan(x) ? x : std::min(std::max(x, low), high); }

/// Returns points between which the function is monotone.
std::vector<Real> extremaOf(Alg alg, Real alpha, Real beta) {
  switch (alg) {
  case Alg::EltwiseHardswish:
    return alpha == 0 ? std::vector<Real>{0}
                      : std::vector<Real>{0, -beta / (2 * alpha), -beta / alpha, (1 - beta) / alpha};
  case Alg::EltwiseHardsigmoid:
    return alpha == 0 ? std::vector<Real>{0} : std::vector<Real>{-beta / alpha, (1 - beta) / alpha};
  case Alg::EltwiseSwish: // derivative 0 where a x + 1 + e^(a x) = 0
    return alpha == 0 ? std::vector<Real>{0} : std::vector<Real>{0, -1.278464542761073795109L / alpha};
  case Alg::EltwiseMish:
    return {0, -1.192463320L};
  case Alg::EltwiseGeluTanh:
    return {0, -0.752462L};
  case Alg::EltwiseGeluErf:
    return {0, -0.751791524693564L};
  default:
    // For relu, elu, square, abs and pow, and as the end of the domain of sqrt and log. The other functions are
    // monotone; an additional point is harmless.
    return {0};
  }
}

/// Returns the hull of the values of `f` at the ends of an interval, and at and next to each extremum within it.
template <typename Function> Interval imageOf(const Interval &x, const std::vector<Real> &extrema, const Function &f) {
  Interval image;
  if (x.mayBeNan)
    image.include(f(std::numeric_limits<Real>::quiet_NaN()));
  if (x.isEmpty())
    return image;
  image.include(f(x.low));
  image.include(f(x.high));
  for (Real extremum : extrema) {
    for (Real point : {std::nextafter(extremum, -infinity), extremum, std::nextafter(extremum, infinity)})
      if (x.low <= point && point <= x.high)
        image.include(f(point));
  }
  return image;
}

/// Returns true for functions that multiply x by a factor that approaches 0 as x approaches an infinity. At the
/// infinity, the formula is NaN, but a careful evaluation returns the limit.
bool isProduct(Alg alg) {
  return alg == Alg::EltwiseGeluTanh || alg == Alg::EltwiseGeluErf || alg == Alg::EltwiseSwish ||
         alg == Alg::EltwiseMish || alg == Alg::EltwiseHardswish;
}

} // namespace

long double eltwise(Alg alg, float alpha, float beta, long double x) {
  const Real a = alpha, b = beta;
  switch (alg) {
  case Alg::EltwiseRelu:
  case Alg::EltwiseReluDst:
    return x > 0 ? x : a == 0 && !std::isnan(x) ? 0 : a * x; // max(x, 0), even for -inf
  case Alg::EltwiseTanh:
  case Alg::EltwiseTanhDst:
    return std::tanh(x);
  case Alg::EltwiseElu:
  case Alg::EltwiseEluDst:
    return x > 0 ? x : a * std::expm1(x);
  case Alg::EltwiseSquare:
    return x * x;
  case Alg::EltwiseAbs:
    return std::fabs(x);
  case Alg::EltwiseSqrt:
  case Alg::EltwiseSqrtDst:
    return std::sqrt(x);
  case Alg::EltwiseLinear:
    return a * x + b;
  case Alg::EltwiseSoftRelu: // ln(1 + e^(a x)) / a, without overflow
    return (std::max<Real>(a * x, 0) + std::log1p(std::exp(-std::fabs(a * x)))) / a + (std::isnan(x) ? x : 0);
  case Alg::EltwiseHardsigmoid:
    return clamp(a * x + b, 0, 1);
  case Alg::EltwiseLogistic:
  case Alg::EltwiseLogisticDst:
    return 1 / (1 + std::exp(-x));
  case Alg::EltwiseExp:
  case Alg::EltwiseExpDst:
    return std::exp(x);
  case Alg::EltwiseGeluTanh:
    // Like softrelu, (1 + tanh y) / 2 is computed without overflow.
    return x / (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi_v<Real>) * x * (1 + 0.044715L * x * x)));
  case Alg::EltwiseSwish:
    return a == 0 ? x / 2 : x / (1 + std::exp(-a * x));
  case Alg::EltwiseLog:
    return std::log(x);
  case Alg::EltwiseClip:
  case Alg::EltwiseClipV2:
  case Alg::EltwiseClipV2Dst:
    return std::isnan(x) ? x : std::min(std::max(x, a), b);
  case Alg::EltwisePow:
    return a * std::pow(x, b);
  case Alg::EltwiseGeluErf:
    return x * std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2; // 1 + erf would cancel for negative x
  case Alg::EltwiseRound:
    return std::nearbyint(x);
  case Alg::EltwiseMish:
    return x * std::tanh(eltwise(Alg::EltwiseSoftRelu, 1, 0, x));
  case Alg::EltwiseHardswish:
    return x * clamp(a * x + b, 0, 1);
  default:
    return std::numeric_limits<Real>::quiet_NaN();
  }
}

long double binary(Alg alg, long double x, long double y) {
  const bool isMinMax = alg == Alg::BinaryMax || alg == Alg::BinaryMin;
  return isMinMax && (std::isnan(x) || std::isnan(y)) ? x + y : binaryOf(alg, x, y);
}

Interval eltwiseRange(Alg alg, float alpha, float beta, const Interval &x) {
  Interval image =
      imageOf(x, extremaOf(alg, alpha, beta), [&](Real point) { return eltwise(alg, alpha, beta, point); });
  // A minimum or maximum with NaN is NaN or the other operand, depending on the instruction set.
  if (x.mayBeNan && alg == Alg::EltwiseHardsigmoid)
    image.include(0), image.include(1);
  if (x.mayBeNan && (alg == Alg::EltwiseClip || alg == Alg::EltwiseClipV2 || alg == Alg::EltwiseClipV2Dst))
    image.include(alpha), image.include(beta);
  for (Real end : {x.low, x.high})
    if (isProduct(alg) && !x.isEmpty() && std::isinf(end) && std::isnan(eltwise(alg, alpha, beta, end)))
      image.include(0);
  return image;
}

Interval binaryRange(Alg alg, const Interval &x, const Interval &y) {
  Interval image;
  auto addImageAt = [&](Real operand) {
    image.include(imageOf(x, {0, y.low, y.high, operand}, [&](Real point) { return binary(alg, point, operand); }));
  };
  if (!y.isEmpty())
    addImageAt(y.low), addImageAt(y.high);
  if (const Real common = std::max(x.low, y.low); common <= std::min(x.high, y.high))
    addImageAt(common); // a comparison changes where both are equal
  if (y.mayBeNan)
    addImageAt(std::numeric_limits<Real>::quiet_NaN());
  bool isMinMax = alg == Alg::BinaryMax || alg == Alg::BinaryMin;
  if (isMinMax && x.mayBeNan)
    image.include(y);
  if (isMinMax && y.mayBeNan)
    image.include(x);
  return image;
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

namespace {

/// Widens an interval by the error of a post-op, if it is the result of one. An end that may overflow becomes infinite.
Interval widened(Interval value, bool isWide, bool isPostOp) {
  if (value.isEmpty())
    return value;
  auto toleranceAt = [&](Real end) -> Real {
    return isPostOp && std::isfinite(end) ? std::max(8e-6L * std::fabs(end), 2e-5L) : 0;
  };
  value.low -= toleranceAt(value.low);
  value.high += toleranceAt(value.high);
  const Real largest =
      isWide ? static_cast<Real>(std::numeric_limits<double>::max()) : std::numeric_limits<float>::max();
  if (value.high > largest)
    value.low = std::min(value.low, largest), value.high = infinity;
  if (value.low < -largest)
    value.high = std::max(value.high, -largest), value.low = -infinity;
  return value;
}

} // namespace

long double AttributeChain::Operand::at(const TensorDesc &dst, int64_t position) const {
  int64_t index = 0, step = 1;
  for (int dim = dst.ndims - 1; dim >= 0; --dim) {
    index += desc.dims[dim] == 1 ? 0 : position % dst.dims[dim] * step;
    step *= desc.dims[dim];
    position /= dst.dims[dim];
  }
  return values[static_cast<size_t>(index)];
}

Interval AttributeChain::Operand::around(const TensorDesc &dst, int64_t position) const {
  Real value = at(dst, position);
  return Interval::around(value, std::fabs(value) * error);
}

Result<AttributeChain::Operand> AttributeChain::readOperand(const Attributes &attr, int32_t argument,
                                                            const TensorDesc &desc,
                                                            const ReferenceInputs &inputs) const {
  QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, argument, desc));
  Operand operand{desc, gather(desc, buffer), 0};
  QUERN_ASSIGN_OR_RETURN(QuantValues scales,
                         QuantValues::read(attr.scales, argument, arg::scalesOf(argument), desc, inputs));
  Result<QuantValues> zeroPoints =
      QuantValues::read(attr.zeroPoints, argument, arg::zeroPointsOf(argument), desc, inputs);
  if (!zeroPoints)
    return zeroPoints.takeError();
  for (size_t i = 0; i < operand.values.size(); ++i) {
    double &value = operand.values[i];
    // An s32 or f64 is rounded to the type of the computation.
    value = isWide ? value : static_cast<double>(static_cast<float>(value));
    if (!zeroPoints->empty())
      value -= zeroPoints->at(static_cast<int64_t>(i));
    if (!scales.empty())
      value *= scales.at(static_cast<int64_t>(i));
  }
  if (!scales.empty() || !zeroPoints->empty())
    operand.error = 2 * epsilonOf(isWide ? DataType::F64 : DataType::F32);
  return operand;
}

Result<AttributeChain::Operand> AttributeChain::readOld(const PostOp &sum, const ReferenceInputs &inputs) const {
  TensorDesc old = dst;
  old.dataType = sum.dataType == DataType::Undef ? dst.dataType : sum.dataType;
  QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, arg::dst, old));
  Operand operand{old, gather(old, buffer), 0};
  for (double &value : operand.values)
    value = isWide ? sumTerm<double>(sum, value) : sumTerm<float>(sum, value);
  return operand;
}

Result<AttributeChain> AttributeChain::make(const Attributes &attr, const TensorDesc &dst,
                                            const ReferenceInputs &inputs, bool isWide) {
  AttributeChain chain;
  chain.dst = dst;
  chain.isWide = isWide;
  for (auto [argument, scale] : {std::pair(arg::src, &chain.sourceScale), std::pair(arg::dst, &chain.dstScale)}) {
    QUERN_ASSIGN_OR_RETURN(QuantValues values,
                           QuantValues::read(attr.scales, argument, arg::scalesOf(argument), dst, inputs));
    if (!values.empty())
      *scale = values.at(0);
  }
  QUERN_ASSIGN_OR_RETURN(chain.dropped, readDropout(attr.dropout, dst, inputs));
  for (size_t i = 0; i < attr.postOps.size(); ++i) {
    Step step{attr.postOps[i], {}, {}};
    if (step.op.kind == PostOp::Kind::Prelu)
      return unimplemented("reference: a post-op ", nameOf(step.op.kind), " is not implemented");
    if (step.op.kind == PostOp::Kind::Sum) {
      QUERN_ASSIGN_OR_RETURN(step.first, chain.readOld(step.op, inputs));
      step.op.alg = Alg::BinaryAdd; // adds the scaled old values
    }
    for (auto [operand, desc, argument] :
         {std::tuple(&step.first, &step.op.src1, arg::src1), std::tuple(&step.second, &step.op.src2, arg::src2)}) {
      if (desc->isZero())
        continue;
      QUERN_ASSIGN_OR_RETURN(*operand, chain.readOperand(attr, arg::ofPostOp(i, argument), *desc, inputs));
    }
    chain.steps.push_back(std::move(step));
  }
  return chain;
}

long double AttributeChain::apply(int64_t position, long double value) const {
  value *= sourceScale;
  if (!dropped.kept.empty())
    value = dropped.at(position, value);
  for (const Step &step : steps) {
    if (step.op.kind == PostOp::Kind::Eltwise)
      value = eltwise(step.op.alg, step.op.alpha, step.op.beta, value);
    else if (step.op.alg != Alg::BinarySelect)
      value = binary(step.op.alg, value, step.first.at(dst, position));
    else if (step.second.at(dst, position) == 0)
      value = step.first.at(dst, position);
  }
  return value / dstScale;
}

Interval AttributeChain::range(int64_t position, Interval value) const {
  value = widened(imageOf(value, {0}, [&](Real x) { return x * sourceScale; }), isWide, /*isPostOp=*/false);
  if (!dropped.kept.empty()) {
    const Real rounding = 1 + static_cast<Real>(epsilonOf(isWide ? DataType::F64 : DataType::F32));
    Interval kept = imageOf(value, {0}, [&](Real x) { return dropped.at(position, x * rounding); });
    kept.include(imageOf(value, {0}, [&](Real x) { return dropped.at(position, x / rounding); }));
    value = widened(kept, isWide, /*isPostOp=*/false);
  }
  for (const Step &step : steps) {
    if (step.op.kind == PostOp::Kind::Eltwise)
      value = eltwiseRange(step.op.alg, step.op.alpha, step.op.beta, value);
    else if (step.op.alg != Alg::BinarySelect)
      value = binaryRange(step.op.alg, value, step.first.around(dst, position));
    else if (step.second.at(dst, position) == 0)
      value = step.first.around(dst, position);
    value = widened(value, isWide, /*isPostOp=*/true);
  }
  return widened(imageOf(value, {0}, [&](Real x) { return x / dstScale; }), isWide, /*isPostOp=*/false);
}

} // namespace quern
