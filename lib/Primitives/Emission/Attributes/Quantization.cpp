//===- Quantization.cpp - Emission of scales and zero points --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Attributes/Quantization.h"

#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Tensors.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

Quantization::Quantization(FunctionEmitter &function, const std::map<int32_t, QuantParams> &params, int32_t tensor,
                           int32_t vector, ArrayRef<int64_t> space, FloatType compute, SmallVectorImpl<Operand> &inputs)
    : compute(compute) {
  auto found = params.find(tensor);
  if (found == params.end())
    return;
  const QuantParams &quantParams = found->second;
  type = quantParams.dataType;
  if (quantParams.mask == 0) {
    scalar = function.loadScalar(vector, compute);
    return;
  }
  input = static_cast<int>(inputs.size());
  inputs.push_back(
      {function.find(vector), quantMapOf(quantParams, function.descOf(tensor), space, function.builder.getContext())});
}

Value Quantization::read(OpBuilder &builder, Location loc, ValueRange elements) const {
  return input < 0 ? scalar : widened(builder, loc, elements[input], type, compute);
}
