//===- Reference.cpp - Reference of a reorder -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// dst = sat(post-ops(s (src - z) a) / d + w) with scales s and d, zero points z and w, and scale adjustment a. Each
// operation is rounded to f32 (f64 if a side is f64) in this order. Compensation is computed from the stored elements.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Reorder/Compensation.h"
#include "Reference/Attributes/Quantization.h"
#include "Reference/Elements.h"
#include "Reference/Exact.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace quern {
namespace {

using reorder::RnnRole;

/// All inputs of the formula except src.
struct Parameters {
  QuantValues srcScales, srcZeroPoints, dstScales, dstZeroPoints;
  QuantValues rnnScales; ///< scales of RNN weights
  RnnRole rnn = RnnRole::None;
  float dataScale = 1, dataShift = 0;
  bool hasAdjust = false;
  float adjust = 1;
  bool hasPostOps = false;

  bool isIdentity() const {
    return srcScales.empty() && srcZeroPoints.empty() && dstScales.empty() && dstZeroPoints.empty() &&
           rnnScales.empty() && rnn != RnnRole::Data && !hasAdjust && !hasPostOps;
  }
};

Result<void> readVectors(const ReorderDesc &op, const Attributes &attr, const ReferenceInputs &inputs,
                         Parameters &parameters) {
  struct Vector {
    QuantValues &values;
    const std::map<int32_t, QuantParams> &all;
    int32_t of, index;
  };
  const Vector vectors[] = {{parameters.srcScales, attr.scales, arg::src, arg::scalesOf(arg::src)},
                            {parameters.dstScales, attr.scales, arg::dst, arg::scalesOf(arg::dst)},
                            {parameters.srcZeroPoints, attr.zeroPoints, arg::src, arg::zeroPointsOf(arg::src)},
                            {parameters.dstZeroPoints, attr.zeroPoints, arg::dst, arg::zeroPointsOf(arg::dst)}};
  for (const Vector &vector : vectors) {
    Result<QuantValues> read =
        QuantValues::read(vector.all, vector.of, vector.index, vector.of == arg::src ? op.src : op.dst, inputs);
    if (!read)
      return read.takeError();
    vector.values = std::move(*read);
  }
  return {};
}

void readRnn(const ReorderDesc &op, const Attributes &attr, Parameters &parameters) {
  parameters.rnn = reorder::rnnRoleOf(op, attr);
  parameters.dataScale = attr.rnn.dataScale;
  parameters.dataShift = attr.rnn.dataShift;
  if (parameters.rnn != RnnRole::Weights || !isFloating(op.src.dataType))
    return;
  reorder::RnnWeightsScales scales = reorder::rnnWeightsScalesOf(op, attr);
  QuantParams params;
  params.mask = scales.mask;
  parameters.rnnScales = QuantValues(op.dst, params, {scales.values.begin(), scales.values.end()});
}

Result<Parameters> readParameters(const ReorderDesc &op, const Attributes &attr, const ReferenceInputs &inputs) {
  Parameters parameters;
  QUERN_RETURN_IF_ERROR(readVectors(op, attr, inputs, parameters));
  readRnn(op, attr, parameters);
  parameters.hasAdjust = op.dst.extras.flags & ExtraScaleAdjust;
  parameters.adjust = op.dst.extras.scaleAdjust;
  parameters.hasPostOps = !attr.postOps.empty();
  return parameters;
}

/// Computes the part of the formula between the zero point and the post-ops in `Real`, float or double.
template <typename Real> Real scaled(const Parameters &parameters, int64_t position, Real x) {
  if (!parameters.srcScales.empty())
    x *= static_cast<Real>(parameters.srcScales.at(position));
  if (parameters.hasAdjust)
    x *= static_cast<Real>(parameters.adjust);
  if (!parameters.rnnScales.empty())
    x *= static_cast<Real>(parameters.rnnScales.at(position));
  if (parameters.rnn == RnnRole::Data) {
    x *= static_cast<Real>(parameters.dataScale);
    x += static_cast<Real>(parameters.dataShift);
  }
  return x;
}

/// Computes the formula up to the post-ops.
template <typename Real> Real beforePostOps(const Parameters &parameters, int64_t position, double src) {
  Real x = static_cast<Real>(src);
  if (!parameters.srcZeroPoints.empty())
    x -= static_cast<Real>(parameters.srcZeroPoints.at(position));
  return scaled(parameters, position, x);
}

double sizeBeforePostOps(const Parameters &parameters, int64_t position, double src) {
  const double point = parameters.srcZeroPoints.empty() ? 0 : parameters.srcZeroPoints.at(position);
  return std::fabs(scaled(parameters, position, std::fabs(src) + std::fabs(point)));
}

template <typename Real> Real afterPostOps(const Parameters &parameters, int64_t position, Real x) {
  if (!parameters.dstScales.empty())
    x /= static_cast<Real>(parameters.dstScales.at(position));
  if (!parameters.dstZeroPoints.empty())
    x += static_cast<Real>(parameters.dstZeroPoints.at(position));
  return x;
}

bool isCopy(const ReorderDesc &op, const Parameters &parameters) {
  return parameters.isIdentity() && op.src.dataType == op.dst.dataType;
}

void copy(const ReorderDesc &op, const void *src, ReferenceOutput &out) {
  out.criterion = Criterion::Bits;
  out.bits.resize(out.exact.size());
  forEachElement(op.src, [&](int64_t position, int64_t offset) {
    out.bits[static_cast<size_t>(position)] = loadBits(op.src.dataType, src, offset);
    out.exact[static_cast<size_t>(position)] = loadElement(op.src.dataType, src, offset);
  });
}

/// Converts integers to integers directly, with saturation, and not by way of a floating-point type.
void saturate(const ReorderDesc &op, const void *src, ReferenceOutput &out) {
  const std::vector<double> values = gather(op.src, src);
  for (size_t i = 0; i < values.size(); ++i)
    out.exact[i] = roundTo(op.dst.dataType, values[i]);
}

template <typename Real>
Result<void> compute(const PrimitiveDesc &desc, const Parameters &parameters, const ReferenceInputs &inputs,
                     ReferenceOutput &out) {
  const ReorderDesc &op = std::get<ReorderDesc>(desc.op);
  const std::vector<double> src = gather(op.src, inputs.at(arg::src));
  auto owned = std::make_shared<const Parameters>(parameters);
  RoundedFormula<Real> formula;
  formula.before = [&](int64_t position) {
    return beforePostOps<Real>(*owned, position, src[static_cast<size_t>(position)]);
  };
  formula.size = [&](int64_t position) {
    return sizeBeforePostOps(*owned, position, src[static_cast<size_t>(position)]);
  };
  formula.after = [owned](int64_t position, Real x) { return afterPostOps<Real>(*owned, position, x); };
  return computeRounded<Real>(formula, desc.attr, op.dst, inputs, out);
}

/// Returns the elements of a compensation buffer: sums of the elements that are stored in dst.
std::vector<double> sumsOf(const TensorDesc &dst, const reorder::Compensation &compensation,
                           const std::vector<double> &stored) {
  std::vector<uint32_t> sums(static_cast<size_t>(compensation.elements));
  for (size_t i = 0; i < stored.size(); ++i) {
    int64_t index = 0, step = 1, rest = static_cast<int64_t>(i);
    for (int d = dst.ndims - 1; d >= 0; rest /= dst.dims[d--])
      if (compensation.mask >> d & 1) {
        index += rest % dst.dims[d] * step;
        step *= dst.paddedDims[d];
      }
    sums[static_cast<size_t>(index)] += static_cast<uint32_t>(compensation.factor * static_cast<int32_t>(stored[i]));
  }
  std::vector<double> values;
  for (uint32_t sum : sums)
    values.push_back(roundTo(compensation.type, static_cast<int32_t>(sum)));
  return values;
}

/// Returns one output for each compensation buffer.
std::vector<ReferenceOutput> compensationOf(const TensorDesc &dst, const std::vector<double> &expected) {
  std::vector<ReferenceOutput> outputs;
  for (const reorder::Compensation &compensation : reorder::compensationsOf(dst)) {
    TensorDesc desc = *TensorDesc::dense(std::array{compensation.elements}, compensation.type);
    desc.offset0 = compensation.byteOffset / 4;
    ReferenceOutput output{arg::dst, desc, sumsOf(dst, compensation, expected)};
    output.criterion = Criterion::Value;
    output.exactOf = [dst, compensation](const ReferenceInputs &results) {
      return sumsOf(dst, compensation, gather(dst, results.at(arg::dst)));
    };
    outputs.push_back(std::move(output));
  }
  return outputs;
}

} // namespace

Result<std::vector<ReferenceOutput>> computeReorderReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  const ReorderDesc &op = std::get<ReorderDesc>(desc.op);
  QUERN_ASSIGN_OR_RETURN(const void *src, bufferOf(inputs, arg::src, op.src));
  ReferenceOutput out{arg::dst, op.dst, {}};
  out.criterion = Criterion::Value;
  if (op.dst.hasZeroDim())
    return std::vector<ReferenceOutput>{std::move(out)};
  out.exact.resize(static_cast<size_t>(op.dst.elements()));
  QUERN_ASSIGN_OR_RETURN(Parameters parameters, readParameters(op, desc.attr, inputs));
  bool isWide = op.src.dataType == DataType::F64 || op.dst.dataType == DataType::F64;
  Result<void> done;
  if (isCopy(op, parameters))
    copy(op, src, out);
  else if (parameters.isIdentity() && !isFloating(op.src.dataType) && !isFloating(op.dst.dataType))
    saturate(op, src, out);
  else
    done = isWide ? compute<double>(desc, parameters, inputs, out) : compute<float>(desc, parameters, inputs, out);
  if (!done)
    return done.takeError();
  std::vector<ReferenceOutput> outputs = compensationOf(op.dst, out.exact);
  outputs.insert(outputs.begin(), std::move(out));
  return outputs;
}

} // namespace quern
