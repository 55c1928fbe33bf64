//===- Quantization.h - Scales and zero points by element ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Which value of a vector an element of its tensor has, for the references of all primitives.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_ATTRIBUTES_QUANTIZATION_H
#define QUERN_REFERENCE_ATTRIBUTES_QUANTIZATION_H

#include "Reference/Reference.h"

#include <span>

namespace quern {

/// The buffer of an argument whose layout is known; `invalid_arguments` if either is missing.
Result<const void *> bufferOf(const ReferenceInputs &inputs, int32_t argument, const TensorDesc &desc);

/// Scales or zero points of one tensor as an execution gives them.
class QuantValues {
public:
  /// Those that `all` has for the tensor of argument `of`, from the buffer of argument `vector`; none if it has none.
  static Result<QuantValues> read(const std::map<int32_t, QuantParams> &all, int32_t of, int32_t vector,
                                  const TensorDesc &tensor, const ReferenceInputs &inputs);
  /// Values that are no argument: row-major over the dims of the tensor in the mask.
  QuantValues(const TensorDesc &tensor, QuantParams params, std::vector<double> values);
  QuantValues() = default;

  bool empty() const { return values.empty(); }
  /// Of the element at that position, row-major over the tensor's dims.
  double at(int64_t position) const;

private:
  TensorDesc tensor;
  QuantParams params;
  std::vector<double> values;
};

} // namespace quern

#endif // QUERN_REFERENCE_ATTRIBUTES_QUANTIZATION_H
