//===- ExpandMath.cpp - math.exp and math.log as arithmetic ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// exp(x) = 2^n · p(r), n the integer nearest to x / ln 2 and r = x − n·ln 2; the polynomials are minimax in relative error over
// |r| <= ln 2 / 2 (computed with a Remez exchange). log(x) = e·ln 2 + log(m), m in [√½, √2), by the series in s = f / (2 + f) with the
// coefficients of Sun's fdlibm. Adding 1.5·2^p to a float and reading its low bits is how n becomes an integer on every level.
//
//===----------------------------------------------------------------------===//
#include "Transforms/VectorMath.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using arith::CmpFPredicate;

namespace quern {
namespace {

/// The attribute by which an emitter promises that an exp's argument is <= 0 or NaN.
constexpr StringLiteral nonpositiveAttr = "quern.nonpositive";

constexpr double log2OfE = 1.44269504088896340736;

/// What exp needs to know of a float type.
struct ExpConstants {
  double lowest, highest;  ///< exp is 0 below and infinite above
  double ln2High, ln2Low;  ///< n·ln2High is exact for every n
  ArrayRef<double> series; ///< (exp(r) − 1 − r) / r², highest power first, then 1, 1
};

// Relative error 4.2e-9 in exp.
constexpr double expSeriesF32[] = {0.001381489448f, 0.008368632756f, 0.04166837409f, 0.1666652113f, 0.4999999404f, 1.0, 1.0};
// Relative error 4.8e-18 in exp.
constexpr double expSeriesF64[] = {2.49993335235810364e-8,
                                   2.76299471615575523e-7,
                                   2.75575875238028457e-6,
                                   0.0000248014940354749696,
                                   0.000198412695070934806,
                                   0.00138888889426160662,
                                   0.00833333333349302666,
                                   0.0416666666665345617,
                                   0.166666666666664187,
                                   0.500000000000000999,
                                   1.0,
                                   1.0};

ExpConstants expConstants(bool isF32) {
  if (isF32)
    return {-104.0, 89.0, 0.693359375, -2.12194440e-4f, expSeriesF32};
  return {-746.0, 710.0, 6.93147180369123816490e-01, 1.90821492927058770002e-10, expSeriesF64};
}

/// Clamps the argument so that the steps after it stay in range. The comparisons are written so that NaN passes.
Value clampExpArgument(VectorMath &math, Value x, bool nonpositive) {
  ExpConstants c = expConstants(math.isF32());
  Value lowest = math.constant(c.lowest);
  x = math.select(CmpFPredicate::OGT, lowest, x, lowest, x);
  if (nonpositive)
    return x;
  Value highest = math.constant(c.highest);
  return math.select(CmpFPredicate::OLT, highest, x, highest, x);
}

/// p·2^n for n in the low bits of `bits`, which are biased by scaleBias(). Two factors keep every intermediate normal, so that a denormal
/// result is rounded once; for n <= 0 one of them can be a constant.
struct TwoStepScale {
  VectorMath &math;
  bool nonpositive;
  static constexpr int shift = 64;

  int64_t exponentBias() const { return math.isF32() ? 127 : 1023; }
  int64_t bias() const { return nonpositive ? exponentBias() + shift : 2 * exponentBias(); }
  Value power(Value biased) { return math.asFloat(math.shiftLeft(biased, math.mantissaBits())); }
  Value apply(Value p, Value bits) {
    if (nonpositive)
      return math.mul(math.mul(p, power(bits)), math.constant(std::ldexp(1.0, -shift)));
    Value first = math.shiftRight(bits, 1), second = math.shiftRight(math.addInt(bits, math.integer(1)), 1);
    return math.mul(math.mul(p, power(first)), power(second));
  }
};

Value expandExp(VectorMath &math, Value x, bool nonpositive) {
  ExpConstants c = expConstants(math.isF32());
  TwoStepScale scale{math, nonpositive};
  x = clampExpArgument(math, x, nonpositive);
  double rounder = std::ldexp(1.5, math.mantissaBits()) + (math.hasAvx512() ? 0.0 : static_cast<double>(scale.bias()));
  Value biased = math.mulAdd(x, math.constant(log2OfE), math.constant(rounder));
  Value n = math.sub(biased, math.constant(rounder));
  Value r = math.mulAdd(n, math.constant(-c.ln2High), x);
  r = math.mulAdd(n, math.constant(-c.ln2Low), r);
  Value p;
  if (math.hasFma()) {
    p = math.polynomial(r, c.series);
  } else {
    // Without a fused multiply-add, Horner's last steps would round at the magnitude of the result; here only the last sum does.
    Value q = math.polynomial(r, c.series.drop_back(2));
    p = math.add(math.add(math.mul(math.mul(r, r), q), r), math.constant(1.0));
  }
  return math.hasAvx512() ? math.scalef(p, n) : scale.apply(p, math.asInteger(biased));
}

/// 2^(j/32) for j = 0 … 31.
std::array<float, 32> powersOfTwoTable() {
  std::array<float, 32> table;
  for (int j = 0; j < 32; ++j)
    table[j] = static_cast<float>(std::exp2(j / 32.0));
  return table;
}

/// exp(x) = 2^floor(m) · 2^(j/32) · (1 + r·(c1 + c2·r)), m = floor(m) + j/32 nearest to x / ln 2. The rounder's last place is 1/32, so its
/// low five bits are j; scalef floors m itself. One step of reduction is enough because f32 happens to hold ln 2 to 29 bits.
Value expandExpByTable(VectorMath &math, Value x, bool nonpositive) {
  x = clampExpArgument(math, x, nonpositive);
  Value rounder = math.constant(std::ldexp(1.5, math.mantissaBits() - 5));
  Value biased = math.mulAdd(x, math.constant(log2OfE), rounder);
  Value m = math.sub(biased, rounder);
  Value r = math.mulAdd(m, math.constant(-0.693147182464599609375), x);
  Value power = math.lookup32(powersOfTwoTable(), math.asInteger(biased));
  // Relative error 5.3e-8 over |r| <= ln 2 / 64.
  Value q = math.mul(math.mulAdd(r, math.constantF32(0.4999999106f), math.constantF32(1.000014663f)), r);
  return math.scalef(math.mulAdd(power, q, power), m);
}

/// x = m·2^e with m in [√½, √2); any e and m for zero, negatives, infinity and NaN.
std::pair<Value, Value> splitByGetexp(VectorMath &math, Value x) {
  Value e = math.getExponent(x), m = math.getMantissa(x), root = math.constant(std::sqrt(2.0));
  Value half = math.mul(m, math.constant(0.5)), next = math.add(e, math.constant(1.0));
  return {math.select(CmpFPredicate::OGT, m, root, half, m), math.select(CmpFPredicate::OGT, m, root, next, e)};
}

/// The same by integer arithmetic: moving the exponent's boundary to √½ makes one shift give e. Denormals are scaled up first.
std::pair<Value, Value> splitByBits(VectorMath &math, Value x) {
  bool isF32 = math.isF32();
  int bits = math.mantissaBits(), lift = bits + 2;
  int64_t oneBits = isF32 ? 0x3f800000 : 0x3ff0000000000000, rootBits = isF32 ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  Value normal = math.constant(isF32 ? 0x1p-126 : 0x1p-1022);
  Value lifted = math.mul(x, math.constant(std::ldexp(1.0, lift)));
  Value adjust = math.select(CmpFPredicate::OLT, x, normal, math.constant(-lift), math.constant(0.0));
  x = math.select(CmpFPredicate::OLT, x, normal, lifted, x);
  Value moved = math.addInt(math.asInteger(x), math.integer(oneBits - rootBits));
  // An integer below 2^bits becomes a float by giving it the exponent of 2^bits.
  double power = std::ldexp(1.0, bits);
  int64_t powerBits = isF32 ? 0x4b000000 : 0x4330000000000000;
  Value e = math.asFloat(math.orInt(math.shiftRight(moved, bits), math.integer(powerBits)));
  e = math.add(math.sub(e, math.constant(power + (isF32 ? 127 : 1023))), adjust);
  Value fraction = math.andInt(moved, math.integer((int64_t(1) << bits) - 1));
  return {math.asFloat(math.addInt(fraction, math.integer(rootBits))), e};
}

/// (log(1 + f) − f + f²/2) / s − f²/2 as a function of z = s², with an error below 2^-58 (f64) or 2^-34 (f32).
Value logSeries(VectorMath &math, Value z) {
  static constexpr double f32Terms[] = {0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693};
  static constexpr double f64Terms[] = {1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                                        2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                                        6.666666666666735130e-01};
  return math.mul(z, math.polynomial(z, math.isF32() ? ArrayRef<double>(f32Terms) : ArrayRef<double>(f64Terms)));
}

Value expandLog(VectorMath &math, Value x) {
  auto [m, e] = math.hasAvx512() ? splitByGetexp(math, x) : splitByBits(math, x);
  double ln2High = math.isF32() ? 6.9313812256e-01f : 6.93147180369123816490e-01;
  double ln2Low = math.isF32() ? 9.0580006145e-06f : 1.90821492927058770002e-10;
  Value one = math.constant(1.0), zero = math.constant(0.0), infinity = math.constant(std::numeric_limits<double>::infinity());
  Value f = math.sub(m, one), s = math.div(f, math.add(f, math.constant(2.0)));
  Value halfSquare = math.mul(math.mul(f, f), math.constant(0.5));
  Value tail = math.mulAdd(s, math.add(halfSquare, logSeries(math, math.mul(s, s))), math.mul(e, math.constant(ln2Low)));
  Value result = math.mulAdd(e, math.constant(ln2High), math.sub(f, math.sub(halfSquare, tail)));
  result = math.select(CmpFPredicate::OEQ, x, infinity, infinity, result);
  result = math.select(CmpFPredicate::OEQ, x, zero, math.constant(-std::numeric_limits<double>::infinity()), result);
  return math.select(CmpFPredicate::ULT, x, zero, math.constant(std::numeric_limits<double>::quiet_NaN()), result);
}

/// Replaces one exp or log. A scalar is computed in the first lane of a register.
LogicalResult expandOne(Operation *op, const MathOptions &options, ConstantPool &pool) {
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  auto vectorType = dyn_cast<VectorType>(type);
  if (!element.isF32() && !element.isF64())
    return op->emitError("expand-math: ") << element << " has no expansion; f32 and f64 have";
  if (vectorType && (vectorType.getRank() != 1 || vectorType.isScalable()))
    return op->emitError("expand-math: ") << type << " is not a vector of rank 1 and fixed length";
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value x = op->getOperand(0);
  if (!vectorType) {
    vectorType = VectorType::get({128 / element.getIntOrFloatBitWidth()}, element);
    x = vector::BroadcastOp::create(builder, loc, vectorType, x);
  }
  VectorMath math(builder, loc, vectorType, options.isa, pool);
  bool byTable = options.exp == ExpMethod::Table && math.hasAvx512() && math.isF32() && vectorType.getNumElements() % 16 == 0;
  bool nonpositive = op->hasAttr(nonpositiveAttr);
  Value result = isa<math::LogOp>(op) ? expandLog(math, x)
                 : byTable            ? expandExpByTable(math, x, nonpositive)
                                      : expandExp(math, x, nonpositive);
  if (!isa<VectorType>(type))
    result = vector::ExtractOp::create(builder, loc, result, int64_t(0));
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

/// Operations of the math dialect that are instructions, or a few, at the given level.
bool isInstruction(Operation *op, VectorIsa level) {
  if (isa<math::FmaOp>(op))
    return level >= VectorIsa::Avx2;
  return isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::SqrtOp, math::RoundEvenOp, math::FloorOp, math::CeilOp, math::TruncOp>(op);
}

} // namespace

LogicalResult expandMath(func::FuncOp function, const MathOptions &options) {
  SmallVector<Operation *> operations;
  function.walk([&](Operation *op) {
    if (op->getName().getDialectNamespace() == math::MathDialect::getDialectNamespace())
      operations.push_back(op);
  });
  ConstantPool pool(function);
  for (Operation *op : operations) {
    if (isa<math::ExpOp, math::LogOp>(op)) {
      if (failed(expandOne(op, options, pool)))
        return failure();
    } else if (!isInstruction(op, options.isa)) {
      return op->emitError("expand-math: '") << op->getName() << "' has neither an expansion nor an instruction on "
                                             << nameOfVectorIsa(options.isa);
    }
  }
  return success();
}

namespace {
struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  ExpandMathPass() = default;
  explicit ExpandMathPass(const MathOptions &options) {
    isa = nameOfVectorIsa(options.isa).str();
    exp = options.exp == ExpMethod::Table ? "table" : "polynomial";
  }
  ExpandMathPass(const ExpandMathPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "quern-expand-math"; }
  StringRef getDescription() const override { return "Replace math.exp and math.log by arithmetic that needs no library"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    auto level = vectorIsaFromName(isa);
    if (!level || (exp != "polynomial" && exp != "table")) {
      getOperation().emitError("quern-expand-math: isa='") << isa << "' exp='" << exp << "': sse42, avx2 or avx512; polynomial or table";
      return signalPassFailure();
    }
    if (failed(expandMath(getOperation(), {*level, exp == "table" ? ExpMethod::Table : ExpMethod::Polynomial})))
      signalPassFailure();
  }

  Option<std::string> isa{*this, "isa", llvm::cl::desc("sse42, avx2 or avx512"), llvm::cl::init("avx512")};
  Option<std::string> exp{*this, "exp", llvm::cl::desc("polynomial or table (f32 on avx512)"), llvm::cl::init("polynomial")};
};
} // namespace

std::unique_ptr<Pass> createExpandMathPass(const MathOptions &options) { return std::make_unique<ExpandMathPass>(options); }

} // namespace quern
