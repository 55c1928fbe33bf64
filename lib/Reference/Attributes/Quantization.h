//===- Quantization.h - Reference of scales and zero points ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Selects the scale or zero point of an element, for the references of all primitives.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_ATTRIBUTES_QUANTIZATION_H
#define QUERN_REFERENCE_ATTRIBUTES_QUANTIZATION_H

#include "Reference/Reference.h"

#include <span>

namespace quern {

/// Returns the buffer of an argument. Fails with `invalid_arguments` if it is missing or its layout is not resolved.
Result<const void *> bufferOf(const ReferenceInputs &inputs, int32_t argument, const TensorDesc &desc);

/// Scales or zero points of one tensor, as passed to an execution.
class QuantValues {
public:
  /// Reads the values that `all` specifies for the tensor of argument `of` from the buffer of argument `vector`; empty
  /// if there are none.
  static Result<QuantValues> read(const std::map<int32_t, QuantParams> &all, int32_t of, int32_t vector,
                                  const TensorDesc &tensor, const ReferenceInputs &inputs);
  /// Wraps values that are not an argument, row-major over the masked dims of the tensor.
  QuantValues(const TensorDesc &tensor, QuantParams params, std::vector<double> values);
  QuantValues() = default;

  bool empty() const { return values.empty(); }
  /// Returns the value for the element at `position`, row-major over the tensor's dims.
  double at(int64_t position) const;

private:
  TensorDesc tensor;
  QuantParams params;
  std::vector<double> values;
};

} // namespace quern

#endif // QUERN_REFERENCE_ATTRIBUTES_QUANTIZATION_H
