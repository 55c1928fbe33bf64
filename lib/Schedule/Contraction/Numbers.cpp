//===- Numbers.cpp - Loops and addresses ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Numbers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

void NumberEmitter::forCount(int64_t begin, int64_t end, function_ref<void(Value)> body) {
  if (end - begin == 1)
    body(index(begin));
  else if (end > begin)
    forRange(index(begin), index(end), body);
}

/// The constant is added last, so that adjacent addresses share the sum before it.
Value NumberEmitter::linear(int64_t offset, ArrayRef<Term> terms) {
  Value sum;
  for (auto [value, stride] : terms) {
    std::optional<int64_t> known = getConstantIntValue(value);
    bool isNumber = known && (!*known || !stride.isOpen());
    if (isNumber && *known)
      offset += *known * stride.known();
    if (isNumber || stride == 0)
      continue;
    Value scaled = stride == 1 ? value : shared<arith::MulIOp>(value, index(stride));
    sum = sum ? shared<arith::AddIOp>(sum, scaled) : scaled;
  }
  if (!sum)
    return index(offset);
  return offset ? shared<arith::AddIOp>(sum, index(offset)) : sum;
}
