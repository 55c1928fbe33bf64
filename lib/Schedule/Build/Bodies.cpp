//===- Bodies.cpp - Bodies of linalg ops that become vector code ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operation counts rank alternatives, limit unrolled code, and help to choose the number of threads for a kernel. They
// need not be exact.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Bodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

LogicalResult quern::checkBody(Block &body, std::string &whyNot, bool takesIndices) {
  auto fail = [&](Operation &op, const char *why) {
    whyNot = ("'" + op.getName().getStringRef() + "' " + why).str();
    return failure();
  };
  for (Operation &op : body.without_terminator()) {
    if (matchPattern(&op, m_Constant()) || (takesIndices && isa<linalg::IndexOp>(op)))
      continue;
    if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumRegions() || op.getNumResults() != 1)
      return fail(op, "in a body is not elementwise");
    Type type = op.getResult(0).getType();
    bool converts = isa<arith::TruncFOp, arith::BitcastOp, arith::SelectOp>(op);
    if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32 && !converts)
      return fail(op, "computes in a type narrower than 32 bits");
  }
  return success();
}

static int64_t opsOf(Operation &op) {
  auto bitsOf = [](Value v) { return isa<FloatType>(v.getType()) ? v.getType().getIntOrFloatBitWidth() : 32; };
  if (isa<math::MathDialect>(op.getDialect()) && !isa<math::SqrtOp, math::AbsFOp, math::FmaOp, math::RoundEvenOp,
                                                      math::FloorOp, math::CeilOp, math::TruncOp, math::CopySignOp>(op))
    return 18;
  if (isa<Float8E8M0FNUType>(op.getResult(0).getType()))
    return 2;
  if (isa<arith::TruncFOp>(op))
    return bitsOf(op.getResult(0)) <= 8 ? 18 : bitsOf(op.getResult(0)) == 16 ? 4 : 1;
  if (isa<arith::ExtFOp>(op))
    return bitsOf(op.getOperand(0)) <= 8 ? 8 : bitsOf(op.getOperand(0)) == 16 ? 3 : 1;
  return 1;
}

int64_t quern::opsOf(linalg::LinalgOp op) {
  int64_t ops = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    ops += ::opsOf(inner);
  return ops;
}

SmallVector<Value> quern::cloneBody(OpBuilder &builder, Block &body, IRMapping &map,
                                    llvm::function_ref<Value(Value)> captured,
                                    llvm::function_ref<void(Operation *)> adapt, ValueRange wanted) {
  Operation *yield = body.getTerminator();
  if (wanted.empty())
    wanted = yield->getOperands();
  for (Operation &op : body.without_terminator()) {
    if (matchPattern(&op, m_Constant()) || isa<linalg::IndexOp>(op))
      continue; // constants are captured where they are used; the caller has mapped indices
    if (op.getNumResults() && map.contains(op.getResult(0)))
      continue;
    if (op.hasOneUse() && *op.user_begin() == yield && !llvm::is_contained(wanted, op.getResult(0)))
      continue;
    for (Value v : op.getOperands())
      if (!map.contains(v))
        map.map(v, captured(v));
    Operation *clone = builder.clone(op, map);
    if (adapt)
      adapt(clone);
  }
  auto valueOf = [&](Value v) { return map.contains(v) ? map.lookup(v) : captured(v); };
  return llvm::map_to_vector(wanted, valueOf);
}
