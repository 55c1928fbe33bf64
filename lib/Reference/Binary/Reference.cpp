//===- Reference.cpp - Reference of binary --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// dst = sat(post-ops((s_0 src) alg (s_1 src_1))), each operation rounded to f32 (f64 if a tensor is f64) in the order
// written. Problems without floats are exact and saturate once.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Integers.h"
#include "Reference/Attributes/PostOps.h"
#include "Reference/Attributes/Quantization.h"
#include "Reference/Elements.h"
#include "Reference/Exact.h"
#include "Reference/Integers.h"

#include <cmath>

namespace quern {
namespace {

/// Values of one source, row-major over its dims, and its scales.
struct Source {
  TensorDesc desc;
  std::vector<double> values;
  QuantValues scales;

  static Result<Source> read(const TensorDesc &desc, int32_t argument, const Attributes &attr,
                             const ReferenceInputs &inputs) {
    Source source{desc, {}, {}};
    if (desc.isZero())
      return source;
    QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, argument, desc));
    QUERN_ASSIGN_OR_RETURN(QuantValues scales,
                           QuantValues::read(attr.scales, argument, arg::scalesOf(argument), desc, inputs));
    source.values = gather(desc, buffer);
    source.scales = std::move(scales);
    return source;
  }

  /// Returns the position of the element that corresponds to dst's at `position`; dims of 1 are broadcast.
  int64_t broadcastPosition(const TensorDesc &dst, int64_t position) const {
    int64_t result = 0, step = 1;
    for (int d = dst.ndims - 1; d >= 0; --d) {
      result += desc.dims[d] == 1 ? 0 : position % dst.dims[d] * step;
      step *= desc.dims[d];
      position /= dst.dims[d];
    }
    return result;
  }
  template <typename Real> Real at(const TensorDesc &dst, int64_t position) const {
    const int64_t index = broadcastPosition(dst, position);
    Real value = static_cast<Real>(values[static_cast<size_t>(index)]);
    return scales.empty() ? value : value * static_cast<Real>(scales.at(index));
  }
  /// Returns an element of an integer type; 0 if the tensor is absent.
  int64_t integerAt(const TensorDesc &dst, int64_t position) const {
    return desc.isZero() ? 0 : static_cast<int64_t>(values[static_cast<size_t>(broadcastPosition(dst, position))]);
  }
};

void computeOnIntegers(const BinaryDesc &op, const Source (&sources)[3], ReferenceOutput &out) {
  std::vector<int64_t> values(out.exact.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = [&](const Source &source) { return source.integerAt(op.dst, static_cast<int64_t>(i)); };
    values[i] = integerBinary(op.alg, at(sources[0]), at(sources[1]), at(sources[2]) != 0);
  }
  setIntegers(values, out);
}

template <typename Real>
Result<void> compute(const PrimitiveDesc &desc, const Source (&sources)[3], const ReferenceInputs &inputs,
                     ReferenceOutput &out) {
  const BinaryDesc &op = std::get<BinaryDesc>(desc.op);
  RoundedFormula<Real> formula;
  formula.before = [&](int64_t position) {
    Real x = sources[0].at<Real>(op.dst, position), y = sources[1].at<Real>(op.dst, position);
    if (op.alg == Alg::BinarySelect)
      return sources[2].at<Real>(op.dst, position) != 0 ? x : y;
    return binaryOf(op.alg, x, y);
  };
  if (op.alg == Alg::BinaryAdd || op.alg == Alg::BinarySub)
    formula.size = [&](int64_t position) {
      return std::fabs(sources[0].at<double>(op.dst, position)) + std::fabs(sources[1].at<double>(op.dst, position));
    };
  return computeRounded<Real>(formula, desc.attr, op.dst, inputs, out);
}

} // namespace

Result<std::vector<ReferenceOutput>> computeBinaryReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  const BinaryDesc &op = std::get<BinaryDesc>(desc.op);
  ReferenceOutput out{arg::dst, op.dst, {}};
  out.criterion = Criterion::Value;
  Source sources[3];
  const TensorDesc *tensors[] = {&op.src, &op.src1, &op.src2};
  bool isWide = op.dst.dataType == DataType::F64;
  for (int i = 0; i < 3; ++i) {
    QUERN_ASSIGN_OR_RETURN(sources[i], Source::read(*tensors[i], arg::src + i, desc.attr, inputs));
    isWide |= tensors[i]->dataType == DataType::F64;
  }
  if (op.dst.hasZeroDim())
    return std::vector<ReferenceOutput>{std::move(out)};
  out.exact.resize(static_cast<size_t>(op.dst.elements()));
  if (computesOnIntegers(desc)) {
    computeOnIntegers(op, sources, out);
    return std::vector<ReferenceOutput>{std::move(out)};
  }
  QUERN_RETURN_IF_ERROR(isWide ? compute<double>(desc, sources, inputs, out)
                               : compute<float>(desc, sources, inputs, out));
  return std::vector<ReferenceOutput>{std::move(out)};
}

} // namespace quern
