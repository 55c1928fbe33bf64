//===- Reference.h - What a primitive must compute, readably --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The oracle of tests and of `quern run --check`: written to be read beside the specification, not to be fast. It computes in double
// (long double if f64 is involved) on logical values, so that layouts are somebody else's matter (Elements.h).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_REFERENCE_H
#define QUERN_PRIMITIVES_REFERENCE_H

#include "Desc/PrimitiveDesc.h"

#include <map>
#include <vector>

namespace quern {

/// Input buffers by execution argument (QUERN_ARG_*), laid out as the problem's descriptors say. Not owned.
using ReferenceInputs = std::map<int32_t, const void *>;

/// One output: exact values, before they are rounded to the tensor's type.
struct ReferenceOutput {
  int32_t argument = 0;
  TensorDesc desc;
  std::vector<double> exact; ///< logical, row-major
  /// The size of the terms behind each element, which an absolute error is measured by (the S of docs/primitives/*.md): same positions.
  std::vector<double> magnitude;
};

/// `unimplemented` where the references do not reach, `invalid_arguments` for a missing input or a layout that is not resolved.
Result<std::vector<ReferenceOutput>> computeReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs);

// One function for each primitive, in Primitives/<Name>/Reference.cpp.
Result<std::vector<ReferenceOutput>> computeSoftmaxReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs);

} // namespace quern

#endif // QUERN_PRIMITIVES_REFERENCE_H
