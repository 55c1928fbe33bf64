//===- Reference.cpp - Reference of sum -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// dst = sat(((s_0 · src_0) + s_1 · src_1) + …), each operation rounded to f32 (f64 if a tensor is f64) in the order
// written. The reference performs the same operations, so values are exact. Sums without floats are exact and saturate
// once.
//
//===----------------------------------------------------------------------===//
#include "Reference/Reference.h"
#include "Primitives/Arguments.h"
#include "Primitives/Integers.h"
#include "Reference/Attributes/Quantization.h"
#include "Reference/Elements.h"
#include "Reference/Exact.h"
#include "Reference/Integers.h"

#include <cmath>

namespace quern {
namespace {

template <typename Real>
Result<void> compute(const PrimitiveDesc &desc, const ReferenceInputs &inputs, const std::vector<const void *> &buffers,
                     ReferenceOutput &out) {
  const SumDesc &sum = std::get<SumDesc>(desc.op);
  std::vector<Real> all(out.exact.size());
  out.magnitude.assign(out.exact.size(), 0);
  for (size_t i = 0; i < sum.srcs.size(); ++i)
    forEachElement(sum.srcs[i], [&](int64_t position, int64_t offset) {
      Real term = static_cast<Real>(loadElement(sum.srcs[i].dataType, buffers[i], offset));
      term *= static_cast<Real>(sum.scales[i]);
      out.magnitude[static_cast<size_t>(position)] += std::fabs(static_cast<double>(term));
      Real &value = all[static_cast<size_t>(position)];
      if (i == 0)
        value = term;
      else
        value += term;
    });
  auto of = [&](int64_t position) { return all[static_cast<size_t>(position)]; };
  return computeRounded<Real>({of, nullptr}, desc.attr, sum.dst, inputs, out);
}

void computeOnIntegers(const SumDesc &sum, const std::vector<const void *> &buffers, ReferenceOutput &out) {
  std::vector<int64_t> all(out.exact.size());
  for (size_t i = 0; i < sum.srcs.size(); ++i) {
    const std::vector<int64_t> values = gatherIntegers(sum.srcs[i], buffers[i]);
    for (size_t element = 0; element < all.size(); ++element)
      all[element] += static_cast<int64_t>(sum.scales[i]) * values[element];
  }
  setIntegers(all, out);
}

} // namespace

Result<std::vector<ReferenceOutput>> computeSumReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  const SumDesc &sum = std::get<SumDesc>(desc.op);
  bool isWide = sum.dst.dataType == DataType::F64;
  std::vector<const void *> buffers;
  for (size_t i = 0; i < sum.srcs.size(); ++i) {
    QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, arg::sourceAt(i), sum.srcs[i]));
    buffers.push_back(buffer);
    isWide |= sum.srcs[i].dataType == DataType::F64;
  }
  ReferenceOutput out{arg::dst, sum.dst, {}};
  out.criterion = Criterion::Value;
  if (!sum.dst.hasZeroDim()) {
    out.exact.resize(static_cast<size_t>(sum.dst.elements()));
    if (computesOnIntegers(desc)) {
      computeOnIntegers(sum, buffers, out);
      return std::vector<ReferenceOutput>{std::move(out)};
    }
    Result<void> done =
        isWide ? compute<double>(desc, inputs, buffers, out) : compute<float>(desc, inputs, buffers, out);
    if (!done)
      return done.takeError();
  }
  return std::vector<ReferenceOutput>{std::move(out)};
}

} // namespace quern
