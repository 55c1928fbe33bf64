//===- ExpandSaturation.cpp - Saturating conversion of floats -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// x86 converts to the nearest integer in one instruction, which returns INT32_MIN for values out of range and NaN. A
// lower bound of INT32_MIN therefore needs no clamp, NaN is masked out of the result, and bounds of a byte are left to
// the packing that follows: signed saturation turns INT32_MIN into -128, unsigned saturation into 255. NEON's
// conversion saturates and returns 0 for NaN.
//
//===----------------------------------------------------------------------===//
#include "Transforms/AArch64/Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using arith::CmpFPredicate;

namespace quern {
namespace {

/// Matches a clamp: `x` if it compares like this to a bound, otherwise the bound. Returns the bound and replaces `x`.
std::optional<double> matchClamp(Value &x, CmpFPredicate predicate) {
  auto pick = x.getDefiningOp<arith::SelectOp>();
  auto compare = pick ? pick.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  APFloat bound(0.0);
  if (!compare || compare.getPredicate() != predicate || compare.getLhs() != pick.getTrueValue() ||
      compare.getRhs() != pick.getFalseValue() || !matchPattern(compare.getRhs(), m_ConstantFloat(&bound)))
    return std::nullopt;
  x = pick.getTrueValue();
  return bound.convertToDouble();
}

/// Matches `x` if it is a number, otherwise 0. Replaces `x`.
bool matchZeroForNan(Value &x) {
  auto pick = x.getDefiningOp<arith::SelectOp>();
  auto compare = pick ? pick.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  if (!compare || compare.getPredicate() != CmpFPredicate::ORD || compare.getLhs() != compare.getRhs() ||
      compare.getLhs() != pick.getTrueValue() || !matchPattern(pick.getFalseValue(), m_PosZeroFloat()))
    return false;
  x = pick.getTrueValue();
  return true;
}

/// fptosi(roundeven(clamp(x))), with NaN becoming 0.
struct Saturation {
  Value x;
  double low = 0, high = 0;
};

std::optional<Saturation> matchSaturation(arith::FPToSIOp conversion) {
  auto rounded = conversion.getIn().getDefiningOp<math::RoundEvenOp>();
  if (!rounded)
    return std::nullopt;
  Saturation found{rounded.getOperand()};
  std::optional<double> high = matchClamp(found.x, CmpFPredicate::OLT),
                        low = high ? matchClamp(found.x, CmpFPredicate::OGT) : high;
  if (!low || (*low != 0 && !matchZeroForNan(found.x)))
    return std::nullopt;
  found.low = *low;
  found.high = *high;
  return found;
}

/// Returns the instruction for this number of lanes; empty if there is none.
StringRef conversionOf(VectorType type, const Target &target) {
  int64_t lanes = type.getNumElements();
  bool isDouble = type.getElementType().isF64();
  if (target.has(CpuIsa::Avx512) && lanes * (isDouble ? 8 : 4) == 64)
    return isDouble ? "llvm.x86.avx512.mask.cvtpd2dq.512" : "llvm.x86.avx512.mask.cvtps2dq.512";
  if (target.has(CpuIsa::Avx2) && lanes * (isDouble ? 8 : 4) == 32)
    return isDouble ? "llvm.x86.avx.cvt.pd2dq.256" : "llvm.x86.avx.cvt.ps2dq.256";
  return target.has(CpuIsa::Sse42) && !isDouble && lanes == 4 ? "llvm.x86.sse2.cvtps2dq" : "";
}

class Expansion {
public:
  Expansion(arith::FPToSIOp conversion, StringRef name)
      : conversion(conversion), b(conversion), loc(conversion.getLoc()), name(name),
        floats(cast<VectorType>(conversion.getIn().getType())), integers(cast<VectorType>(conversion.getType())) {}

  void expand(const Saturation &saturation) {
    auto users = conversion->getUsers();
    auto narrowing = llvm::hasSingleElement(users) ? dyn_cast<arith::TruncIOp>(*users.begin()) : nullptr;
    bool isSigned = saturation.low < 0;
    bool isByte = narrowing && cast<VectorType>(narrowing.getType()).getElementType().isInteger(8) &&
                  saturation.low == (isSigned ? -128 : 0) && saturation.high == (isSigned ? 127 : 255);
    Value x = saturation.x;
    if (!isSigned || !(isByte || saturation.low == -0x1p31))
      x = clamp(x, CmpFPredicate::OGT, saturation.low);
    if (isSigned || !isByte)
      x = clamp(x, CmpFPredicate::OLT, saturation.high);
    Value whole = convert(x);
    if (isSigned) {
      Value isNumber = arith::CmpFOp::create(b, loc, CmpFPredicate::ORD, saturation.x, saturation.x);
      whole = arith::SelectOp::create(b, loc, isNumber, whole, integer(0));
    }
    if (isByte && isSigned) { // the upper bound already holds; LLVM recognizes the pair as the packing's saturation
      whole = arith::MaxSIOp::create(b, loc, whole, integer(-128));
      whole = arith::MinSIOp::create(b, loc, whole, integer(127));
    } else if (isByte) {
      whole = arith::MinUIOp::create(b, loc, whole, integer(255));
    }
    conversion.replaceAllUsesWith(whole);
  }

private:
  Value integer(int64_t value) {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(integers, b.getI32IntegerAttr(static_cast<int32_t>(value))));
  }
  Value clamp(Value x, CmpFPredicate predicate, double bound) {
    Value limit = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(floats, b.getFloatAttr(floats.getElementType(), bound)));
    return arith::SelectOp::create(b, loc, arith::CmpFOp::create(b, loc, predicate, x, limit), x, limit);
  }
  Value convert(Value x) {
    SmallVector<Value> operands{x};
    if (name.ends_with(".512")) { // the pass-through, the mask, and the rounding of MXCSR
      auto constant = [&](unsigned bits, int64_t value) {
        return LLVM::ConstantOp::create(b, loc, b.getIntegerAttr(b.getIntegerType(bits), value));
      };
      operands.append({integer(0), constant(integers.getNumElements(), -1), constant(32, 4)});
    }
    return LLVM::CallIntrinsicOp::create(b, loc, integers, b.getStringAttr(name), operands).getResult(0);
  }

  arith::FPToSIOp conversion;
  OpBuilder b;
  Location loc;
  StringRef name;
  VectorType floats, integers;
};

} // namespace

/// AArch64's conversion saturates and turns NaN into 0, so its integer results are clamped to the bounds.
static void expandOnArm(arith::FPToSIOp conversion, const Saturation &saturation) {
  OpBuilder b(conversion);
  Location loc = conversion.getLoc();
  auto bound = [&](double value) -> Value {
    auto type = cast<VectorType>(conversion.getType());
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(type, b.getI32IntegerAttr(static_cast<int32_t>(value))));
  };
  Value whole = aarch64::toNearest(b, loc, saturation.x);
  if (saturation.low > INT32_MIN)
    whole = arith::MaxSIOp::create(b, loc, whole, bound(saturation.low));
  if (saturation.high < INT32_MAX)
    whole = arith::MinSIOp::create(b, loc, whole, bound(saturation.high));
  conversion.replaceAllUsesWith(whole);
}

void expandSaturation(func::FuncOp function, const Target &target) {
  SmallVector<arith::FPToSIOp> conversions;
  function.walk([&](arith::FPToSIOp op) { conversions.push_back(op); });
  for (arith::FPToSIOp op : conversions) {
    auto type = dyn_cast<VectorType>(op.getIn().getType());
    StringRef name = type && type.getRank() == 1 && getElementTypeOrSelf(op.getType()).isInteger(32)
                         ? conversionOf(type, target)
                         : "";
    const bool isOnArm = target.isAArch64() && type && type.getShape() == ArrayRef<int64_t>{4} &&
                         type.getElementType().isF32() && getElementTypeOrSelf(op.getType()).isInteger(32);
    std::optional<Saturation> found = name.empty() && !isOnArm ? std::nullopt : matchSaturation(op);
    if (found && isOnArm)
      expandOnArm(op, *found);
    else if (found)
      Expansion(op, name).expand(*found);
  }
  if (conversions.empty())
    return;
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

} // namespace quern
