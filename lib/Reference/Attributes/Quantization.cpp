//===- Quantization.cpp - Reference of scales and zero points -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reference/Attributes/Quantization.h"

#include "Primitives/Arguments.h"
#include "Reference/Elements.h"

namespace quern {

Result<const void *> bufferOf(const ReferenceInputs &inputs, int32_t argument, const TensorDesc &desc) {
  auto found = inputs.find(argument);
  if (!(desc.isBlockedFormat() || desc.isHostScalar()) || desc.hasRuntimeDims())
    return invalidArguments("reference: the layout of ", arg::nameOf(argument), " is not resolved");
  if (found == inputs.end() || (!found->second && !desc.hasZeroDim()))
    return invalidArguments("reference: no buffer for ", arg::nameOf(argument), " (argument ", argument, ")");
  return found->second;
}

QuantValues::QuantValues(const TensorDesc &tensor, QuantParams params, std::vector<double> values)
    : tensor(tensor), params(std::move(params)), values(std::move(values)) {}

Result<QuantValues> QuantValues::read(const std::map<int32_t, QuantParams> &all, int32_t of, int32_t vector,
                                      const TensorDesc &tensor, const ReferenceInputs &inputs) {
  auto found = all.find(of);
  if (found == all.end())
    return QuantValues();
  TensorDesc desc = arg::vectorOf(found->second, tensor);
  QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, vector, desc));
  return QuantValues(tensor, found->second, gather(desc, buffer));
}

double QuantValues::at(int64_t position) const {
  if (!params.mask) // also for an empty tensor
    return values[0];
  int64_t index = 0, step = 1;
  for (int dim = tensor.ndims - 1; dim >= 0; --dim) {
    if (params.mask >> dim & 1) {
      int64_t group = arg::groupAlong(params, tensor.ndims, dim);
      index += position % tensor.dims[dim] / group * step;
      step *= tensor.dims[dim] / group;
    }
    position /= tensor.dims[dim];
  }
  return values[static_cast<size_t>(index)];
}

} // namespace quern
