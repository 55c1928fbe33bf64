//===- Reference.cpp - Reference of concat --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// dst[…, start of source i + c, …] = sat(s_i · src_i[…, c, …]), the product rounded to f32 (f64 if a side is f64). The
// reference performs the same operation, so values are exact.
//
//===----------------------------------------------------------------------===//
#include "Reference/Reference.h"
#include "Primitives/Arguments.h"
#include "Reference/Attributes/Quantization.h"
#include "Reference/Elements.h"

#include <algorithm>

namespace quern {
namespace {

/// Conversion of an element. Without a scale, integers are converted to integers without rounding to f32.
class Formula {
public:
  Formula(DataType from, DataType to, std::optional<double> scale) : from(from), to(to), scale(scale) {}

  double operator()(double element) const {
    if (!scale && ((!isFloating(from) && !isFloating(to)) || from == to))
      return roundTo(to, element);
    if (from == DataType::F64 || to == DataType::F64)
      return roundTo(to, scale ? element * *scale : element);
    float value = static_cast<float>(element);
    if (scale)
      value *= static_cast<float>(*scale);
    if (to == DataType::S32) // the largest float that fits an s32
      value = std::min(value, static_cast<float>(0x1p31 - 128));
    return roundTo(to, static_cast<double>(value));
  }

private:
  DataType from, to;
  std::optional<double> scale;
};

Result<std::optional<double>> scaleOf(const Attributes &attr, const ReferenceInputs &inputs, int32_t source) {
  auto params = attr.scales.find(source);
  auto buffer = inputs.find(arg::scalesOf(source));
  if (params == attr.scales.end())
    return std::optional<double>();
  if (buffer == inputs.end())
    return invalidArguments("argument ", arg::scalesOf(source), " (", arg::nameOf(arg::scalesOf(source)),
                            ") is missing");
  return std::optional(loadElement(params->second.dataType, buffer->second, 0));
}

bool isCopy(const ConcatDesc &concat, const Attributes &attr) {
  return attr.scales.empty() && std::all_of(concat.srcs.begin(), concat.srcs.end(),
                                            [&](const TensorDesc &src) { return src.dataType == concat.dst.dataType; });
}

} // namespace

Result<std::vector<ReferenceOutput>> computeConcatReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  const ConcatDesc &concat = std::get<ConcatDesc>(desc.op);
  ReferenceOutput out{arg::dst, concat.dst, {}};
  out.criterion = Criterion::Value;
  if (concat.dst.hasZeroDim())
    return std::vector<ReferenceOutput>{std::move(out)};
  out.exact.resize(static_cast<size_t>(concat.dst.elements()));
  if (isCopy(concat, desc.attr)) {
    out.criterion = Criterion::Bits;
    out.bits.resize(out.exact.size());
  }
  int64_t inner = 1, along = concat.dst.dims[concat.axis], start = 0;
  for (int d = concat.axis + 1; d < concat.dst.ndims; ++d)
    inner *= concat.dst.dims[d];
  for (size_t i = 0; i < concat.srcs.size(); ++i) {
    const TensorDesc &src = concat.srcs[i];
    QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, arg::sourceAt(i), src));
    QUERN_ASSIGN_OR_RETURN(std::optional<double> scale, scaleOf(desc.attr, inputs, arg::sourceAt(i)));
    const Formula formula(src.dataType, concat.dst.dataType, scale);
    const int64_t srcDim = src.dims[concat.axis];
    forEachElement(src, [&](int64_t position, int64_t offset) {
      int64_t outer = position / inner / srcDim, c = start + position / inner % srcDim;
      auto at = static_cast<size_t>((outer * along + c) * inner + position % inner);
      out.exact[at] = formula(loadElement(src.dataType, buffer, offset));
      if (!out.bits.empty())
        out.bits[at] = loadBits(src.dataType, buffer, offset);
    });
    start += srcDim;
  }
  return std::vector<ReferenceOutput>{std::move(out)};
}

} // namespace quern
