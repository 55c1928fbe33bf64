//===- Binary.cpp - Binary algorithms on scalars --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Arithmetic/Binary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;
using arith::CmpFPredicate;

namespace {

/// Emits one operation on two operands and, for a select, the condition.
class BinaryEmitter {
public:
  BinaryEmitter(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value emit(Alg alg, Value x, Value y, Value condition) {
    switch (alg) {
    case Alg::BinaryAdd:
      return arith::AddFOp::create(builder, loc, x, y);
    case Alg::BinaryMul:
      return arith::MulFOp::create(builder, loc, x, y);
    case Alg::BinaryMax:
      return select(compare(CmpFPredicate::OGT, x, y), x, y);
    case Alg::BinaryMin:
      return select(compare(CmpFPredicate::OLT, x, y), x, y);
    case Alg::BinaryDiv:
      return arith::DivFOp::create(builder, loc, x, y);
    case Alg::BinarySub:
      return arith::SubFOp::create(builder, loc, x, y);
    case Alg::BinarySelect:
      return select(compare(CmpFPredicate::UNE, condition, constant(x, 0)), x, y);
    default:
      return select(compare(predicateOf(alg), x, y), constant(x, 1), constant(x, 0));
    }
  }

private:
  static CmpFPredicate predicateOf(Alg alg) {
    switch (alg) {
    case Alg::BinaryGe:
      return CmpFPredicate::OGE;
    case Alg::BinaryGt:
      return CmpFPredicate::OGT;
    case Alg::BinaryLe:
      return CmpFPredicate::OLE;
    case Alg::BinaryLt:
      return CmpFPredicate::OLT;
    case Alg::BinaryEq:
      return CmpFPredicate::OEQ;
    default:
      return CmpFPredicate::UNE;
    }
  }
  Value compare(CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(builder, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(builder, loc, condition, x, y); }
  Value constant(Value like, double value) {
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(like.getType(), value));
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace

Value emission::emitBinary(OpBuilder &builder, Location loc, Alg alg, Value x, Value y, Value condition) {
  return BinaryEmitter(builder, loc).emit(alg, x, y, condition);
}
