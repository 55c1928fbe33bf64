//===- MathFunctions.cpp - Expansion of math functions --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Narrow floats are computed in f32 and rounded once. Each formula keeps its accuracy for arguments near 0, and covers
// the range of the type even if an intermediate result would overflow.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace quern;
using namespace quern::functions;
using arith::CmpFPredicate;

namespace {

/// Emits formulas in f32 or f64.
class Formulas {
public:
  Formulas(Numbers &on, Type type) : on(on), type(type) {}

  Value constant(double value) { return on.number(type, value); }
  Value plus(Value a, Value b) { return on.make<arith::AddFOp>(a, b); }
  Value minus(Value a, Value b) { return on.make<arith::SubFOp>(a, b); }
  Value times(Value a, Value b) { return on.make<arith::MulFOp>(a, b); }
  Value times(Value a, double b) { return times(a, constant(b)); }
  Value over(Value a, Value b) { return on.make<arith::DivFOp>(a, b); }
  Value abs(Value a) { return on.make<math::AbsFOp>(a); }
  Value signedAs(Value a, Value sign) { return on.make<math::CopySignOp>(a, sign); }
  Value is(Value a, CmpFPredicate predicate, double b) { return on.compare(predicate, a, constant(b)); }

  /// Rounds half away from zero. x - trunc(x) is exact.
  Value round(Value x) {
    Value whole = on.make<math::TruncOp>(x), rest = abs(minus(x, whole));
    Value away = plus(whole, signedAs(constant(1), x));
    Value isTie = is(rest, CmpFPredicate::OGE, 0.5);
    return signedAs(on.choose(isTie, away, whole), x); // -0.3 becomes -0
  }
  Value log10(Value x) { return times(on.make<math::LogOp>(x), 0.43429448190325182765); }
  /// Uses a power, and a step of Newton's method to correct it. Arguments so small that the cube of the root loses
  /// digits are scaled.
  Value cbrt(Value x) {
    const int bits = type.isF64() ? 216 : 72;
    Value size = abs(x), isSmall = is(size, CmpFPredicate::OLT, std::ldexp(1.0, type.isF64() ? -700 : -90));
    Value scaled = on.choose(isSmall, times(size, std::ldexp(1.0, bits)), size);
    Value root = on.make<math::PowFOp>(scaled, constant(1.0 / 3));
    root = minus(root, times(minus(root, over(scaled, times(root, root))), 1.0 / 3));
    root = on.choose(isSmall, times(root, std::ldexp(1.0, -bits / 3)), root);
    Value isSpecial = on.make<arith::OrIOp>(is(size, CmpFPredicate::OEQ, 0),
                                            is(size, CmpFPredicate::UEQ, std::numeric_limits<double>::infinity()));
    return signedAs(on.choose(isSpecial, size, root), x);
  }
  /// Returns e^a / 2 for a > 20, where e^-a is negligible; e^a itself may overflow.
  Value halfExp(Value a) {
    Value root = on.make<math::ExpOp>(times(a, 0.5));
    return times(times(root, 0.5), root);
  }
  Value sinh(Value x) {
    Value size = abs(x), less = on.make<math::ExpM1Op>(size);
    Value near = times(plus(less, over(less, plus(less, constant(1)))), 0.5);
    return signedAs(on.choose(is(size, CmpFPredicate::OGT, 20), halfExp(size), near), x);
  }
  Value cosh(Value x) {
    Value size = abs(x), power = on.make<math::ExpOp>(size);
    Value near = plus(times(power, 0.5), over(constant(0.5), power));
    return on.choose(is(size, CmpFPredicate::OGT, 20), halfExp(size), near);
  }
  /// Returns log(2a), for arguments whose squares would overflow.
  Value logOfTwice(Value a) { return plus(on.make<math::LogOp>(a), constant(0.69314718055994530942)); }
  Value asinh(Value x) {
    Value size = abs(x), square = times(size, size);
    Value root = plus(constant(1), on.make<math::SqrtOp>(plus(square, constant(1))));
    Value near = on.make<math::Log1pOp>(plus(size, over(square, root)));
    return signedAs(on.choose(is(size, CmpFPredicate::OGT, 1e9), logOfTwice(size), near), x);
  }
  Value acosh(Value x) {
    Value more = minus(x, constant(1));
    Value root = on.make<math::SqrtOp>(times(more, plus(more, constant(2))));
    Value near = on.make<math::Log1pOp>(plus(more, root));
    Value result = on.choose(is(x, CmpFPredicate::OGT, 1e9), logOfTwice(x), near);
    return on.choose(is(x, CmpFPredicate::OLT, 1), constant(std::numeric_limits<double>::quiet_NaN()), result);
  }
  Value atanh(Value x) {
    Value size = abs(x);
    Value ratio = over(times(size, 2), minus(constant(1), size));
    return signedAs(times(on.make<math::Log1pOp>(ratio), 0.5), x);
  }

private:
  Numbers &on;
  Type type;
};

/// Returns the expansion of a function of f32 or f64; null if targets compute the function.
Value expansionOf(Operation *op, Numbers &on, ValueRange x) {
  Formulas f(on, x[0].getType());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::IsNaNOp) { return on.compare(CmpFPredicate::UNO, x[0], x[0]); })
      .Case([&](math::IsInfOp) { return f.is(f.abs(x[0]), CmpFPredicate::OEQ, infinity); })
      .Case([&](math::IsFiniteOp) { return f.is(f.abs(x[0]), CmpFPredicate::OLT, infinity); })
      .Case([&](math::ClampFOp) { return on.make<arith::MinimumFOp>(on.make<arith::MaximumFOp>(x[0], x[1]), x[2]); })
      .Case([&](math::FmaOp) { return on.make<math::FmaOp>(x[0], x[1], x[2]); })
      .Case([&](math::RoundOp) { return f.round(x[0]); })
      .Case([&](math::Log10Op) { return f.log10(x[0]); })
      .Case([&](math::CbrtOp) { return f.cbrt(x[0]); })
      .Case([&](math::SinhOp) { return f.sinh(x[0]); })
      .Case([&](math::CoshOp) { return f.cosh(x[0]); })
      .Case([&](math::AsinhOp) { return f.asinh(x[0]); })
      .Case([&](math::AcoshOp) { return f.acosh(x[0]); })
      .Case([&](math::AtanhOp) { return f.atanh(x[0]); })
      .Default([](Operation *) { return Value(); });
}

} // namespace

bool functions::expandFunction(Operation *op) {
  const bool isNarrowFma = isa<math::FmaOp>(op) && op->getResult(0).getType().getIntOrFloatBitWidth() < 32;
  if (!isNarrowFma && !isa<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp, math::ClampFOp, math::RoundOp, math::Log10Op,
                           math::CbrtOp, math::SinhOp, math::CoshOp, math::AsinhOp, math::AcoshOp, math::AtanhOp>(op))
    return false;
  OpBuilder builder(op);
  Numbers on(builder, op->getLoc());
  SmallVector<Value, 3> operands(op->getOperands());
  for (Value &operand : operands)
    if (operand.getType().getIntOrFloatBitWidth() < 32)
      operand = on.make<arith::ExtFOp>(builder.getF32Type(), operand);
  Value result = expansionOf(op, on, operands);
  if (Type type = op->getResult(0).getType(); result.getType() != type)
    result = on.make<arith::TruncFOp>(type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}
