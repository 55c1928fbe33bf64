//===- Body.cpp - The body of a map --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Body.h"

#include "Schedule/Build/Bodies.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

Value maps::emitBody(KernelBuilder &builder, const MapProblem &problem, ArrayRef<Value> elements, int64_t lanes) {
  IRMapping map;
  Block *body = linalg::LinalgOp(problem.op).getBlock();
  auto captured = [&](Value scalar) { return builder.captured(scalar, lanes); };
  for (auto [operand, element] : llvm::zip_equal(problem.operands, elements))
    if (element)
      map.map(operand.isIndex() ? operand.base : Value(body->getArgument(operand.blockArgument)), element);
  for (auto [argument, scalar] : problem.scalars)
    map.map(body->getArgument(argument), captured(scalar));
  auto widen = [&](Operation *clone) {
    clone->getResult(0).setType(VectorType::get({lanes}, clone->getResult(0).getType()));
  };
  return cloneBody(builder.b, *body, map, captured, lanes ? llvm::function_ref<void(Operation *)>(widen) : nullptr)[0];
}
