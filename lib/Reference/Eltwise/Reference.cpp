//===- Reference.cpp - Reference of eltwise -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Forward is d = f(s) with post-ops; backward is ds = dd · f'(s), or f' in terms of dst. The functions are in
// Attributes/PostOps.h, their derivatives in EltwiseFunctions.h. An s32 is rounded to the compute type, unless the
// problem has no floats: its results are then exact and saturate.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Integers.h"
#include "Reference/Attributes/PostOps.h"
#include "Reference/Attributes/Quantization.h"
#include "Reference/Elements.h"
#include "Reference/EltwiseFunctions.h"
#include "Reference/Integers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace quern {
namespace {

using Real = long double;

/// Returns permitted results other than the exact one. At a jump of the derivative: the result of the other side. If
/// the derivative is below or above the normal numbers of the arithmetic, the smallest of which is `minNormal`: the
/// result with 0 or infinity instead. Just beyond the largest double: the largest double.
Interval otherResults(const Derivative &derivative, Real gradient, Real minNormal, Real epsilon) {
  Interval others;
  const Real size = std::fabs(derivative.value), result = gradient * derivative.value,
             maxDouble = std::numeric_limits<double>::max();
  if (std::isfinite(result) && std::fabs(result) > maxDouble && std::fabs(result) * (1 - 10 * epsilon) <= maxDouble)
    others.include(std::copysign(maxDouble, result)); // with a smaller error it is not infinite
  if (derivative.isJump && derivative.other == 0 && derivative.value == 0)
    others.include(0); // blocked on one side, a factor of 0 on the other
  if (derivative.other != derivative.value && !std::isnan(derivative.value)) {
    others.include(gradient * derivative.other);
    if (derivative.value == 0 || derivative.other == 0) // the gradient is blocked there, even if it is NaN
      others.include(0);
  }
  if (!derivative.isBlocked && size < 2 * minNormal)
    others.include(gradient * 0);
  if (size > 1 / (8 * minNormal))
    others.include(gradient * std::copysign(std::numeric_limits<Real>::infinity(), derivative.value));
  return others;
}

class EltwiseReference {
public:
  EltwiseReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs)
      : attr(desc.attr), op(std::get<EltwiseDesc>(desc.op)), inputs(inputs), onIntegers(computesOnIntegers(desc)) {
    for (const TensorDesc *tensor : {&op.src, &op.dst, &op.diffSrc, &op.diffDst})
      isWide = isWide || tensor->dataType == DataType::F64;
  }
  Result<ReferenceOutput> forward() const;
  Result<ReferenceOutput> backward() const;

private:
  Result<std::vector<double>> read(int32_t argument, const TensorDesc &desc) const {
    QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, argument, desc));
    std::vector<double> values = gather(desc, buffer);
    if (!isWide)
      for (double &value : values)
        value = static_cast<double>(static_cast<float>(value));
    return values;
  }
  Result<ReferenceOutput> forwardOnIntegers() const;
  Result<void> applyPostOps(ReferenceOutput &out) const;
  /// Returns the value at which results saturate before they are rounded: the largest f32 within s32; otherwise
  /// infinity.
  Real largest() const {
    return op.dst.dataType == DataType::S32 && !isWide ? 0x1p31L - 128 : std::numeric_limits<Real>::infinity();
  }
  double result(Real value) const { return static_cast<double>(value > largest() ? largest() : value); }

  const Attributes &attr;
  const EltwiseDesc &op;
  const ReferenceInputs &inputs;
  bool onIntegers;
  bool isWide = false;
};

Result<void> EltwiseReference::applyPostOps(ReferenceOutput &out) const {
  QUERN_ASSIGN_OR_RETURN(AttributeChain made, AttributeChain::make(attr, out.desc, inputs, isWide));
  auto chain = std::make_shared<const AttributeChain>(std::move(made));
  out.beforeAttributes = out.exact;
  for (size_t i = 0; i < out.exact.size(); ++i)
    out.exact[i] = result(chain->apply(static_cast<int64_t>(i), out.exact[i]));
  out.range = [chain, max = largest()](int64_t position, const Interval &start) {
    Interval range = chain->range(position, start);
    range.low = std::min(range.low, max), range.high = std::min(range.high, max);
    return range;
  };
  return {};
}

Result<ReferenceOutput> EltwiseReference::forwardOnIntegers() const {
  ReferenceOutput out{arg::dst, op.dst, {}};
  QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, arg::src, op.src));
  std::vector<int64_t> values = gatherIntegers(op.src, buffer);
  for (int64_t &value : values)
    value = integerEltwise(op.alg, op.alpha, op.beta, value);
  setIntegers(values, out);
  return out;
}

Result<ReferenceOutput> EltwiseReference::forward() const {
  if (onIntegers)
    return forwardOnIntegers();
  ReferenceOutput out{arg::dst, op.dst, {}};
  QUERN_ASSIGN_OR_RETURN(std::vector<double> src, read(arg::src, op.src));
  for (double x : src)
    out.exact.push_back(static_cast<double>(eltwise(op.alg, op.alpha, op.beta, x)));
  if (attr.postOps.empty() && !attr.dropout.isSet())
    std::transform(out.exact.begin(), out.exact.end(), out.exact.begin(), [&](double value) { return result(value); });
  else if (Result<void> applied = applyPostOps(out); !applied)
    return applied.takeError();
  return out;
}

Result<ReferenceOutput> EltwiseReference::backward() const {
  ReferenceOutput out{arg::diffSrc, op.diffSrc, {}};
  const bool fromDst = usesDst(op.alg);
  QUERN_ASSIGN_OR_RETURN(std::vector<double> data, read(fromDst ? arg::dst : arg::src, fromDst ? op.dst : op.src));
  QUERN_ASSIGN_OR_RETURN(std::vector<double> gradient, read(arg::diffDst, op.diffDst));
  const Real epsilon = epsilonOf(isWide ? DataType::F64 : DataType::F32), minNormal = isWide ? 0x1p-1022L : 0x1p-126L;
  auto others = std::make_shared<std::vector<Interval>>();
  for (size_t i = 0; i < data.size(); ++i) {
    const Derivative derivative = eltwiseDerivative(op.alg, op.alpha, op.beta, data[i], epsilon);
    const Real dd = gradient[i];
    out.exact.push_back(derivative.isBlocked ? 0 : static_cast<double>(dd * derivative.value));
    // The factor of a small term may be denormal, and is multiplied by the argument or a power of it.
    out.magnitude.push_back(static_cast<double>(std::fabs(dd) * std::max(derivative.magnitude, 512 * minNormal)));
    others->push_back(otherResults(derivative, dd, minNormal, epsilon));
  }
  if (std::all_of(others->begin(), others->end(),
                  [](const Interval &other) { return other.isEmpty() && !other.mayBeNan; }))
    return out;
  out.beforeAttributes = out.exact;
  out.range = [others](int64_t position, const Interval &start) {
    Interval range = start;
    range.include((*others)[static_cast<size_t>(position)]);
    return range;
  };
  return out;
}

} // namespace

Result<std::vector<ReferenceOutput>> computeEltwiseReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  const EltwiseReference reference(desc, inputs);
  Result<ReferenceOutput> output =
      isForward(std::get<EltwiseDesc>(desc.op).prop) ? reference.forward() : reference.backward();
  if (!output)
    return output.takeError();
  return std::vector<ReferenceOutput>{std::move(*output)};
}

} // namespace quern
