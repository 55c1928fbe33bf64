//===- ExpandMath.cpp - Expansion of the math dialect ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Selects the operations to expand and their expansions; the formulas are in ExpandExp.cpp, ExpandLog.cpp,
// ExpandErf.cpp and ExpandPow.cpp.
//
//===----------------------------------------------------------------------===//
#include "IR/QuernDialect.h"
#include "Transforms/Math/MathExpansions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace quern {
namespace {

/// Returns true if the table's exp may be used: it exists for this vector, the options select it and the operation
/// allows an approximation.
bool isByTable(math::ExpOp op, VectorMath &math, ExpMethod method) {
  return method == ExpMethod::Table && bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn) &&
         math.hasAvx512() && math.isF32() && math.type.getNumElements() % 16 == 0;
}

/// Broadcasts a scalar to a register; returns a vector unchanged.
Value inLanes(OpBuilder &builder, Location loc, VectorType type, Value value) {
  return isa<VectorType>(value.getType()) ? value : vector::BroadcastOp::create(builder, loc, type, value).getResult();
}

Value expandExpOp(VectorMath &math, math::ExpOp op, Value x, ExpMethod method) {
  bool nonpositive = hasRelaxation(op, Relaxation::Nonpositive);
  if (isByTable(op, math, method))
    return expandExpByTable(math, x, nonpositive);
  auto sum =
      hasRelaxation(op, Relaxation::Unrounded) ? op.getOperand().getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  if (!sum)
    return expandExp(math, x, Value(), nonpositive);
  OpBuilder builder(op);
  auto term = [&](Value value) { return inLanes(builder, op.getLoc(), math.type, value); };
  return expandExp(math, term(sum.getLhs()), term(sum.getRhs()), nonpositive);
}

/// Returns x·y + z. The pattern z = -(x·y) computes the rounding error of a product.
Value expandFma(VectorMath &math, math::FmaOp op, ValueRange operands) {
  auto negated = op.getC().getDefiningOp<arith::NegFOp>();
  auto product = negated ? negated.getOperand().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  if (product && product.getLhs() == op.getA() && product.getRhs() == op.getB())
    return math.product(operands[0], operands[1]).low;
  return math.fusedMulAdd(operands[0], operands[1], operands[2]);
}

/// Returns the result of `op` on `x`, its operands as vectors of math.type; null if there is no expansion.
Value expansionOf(Operation *op, VectorMath &math, ValueRange x, ExpMethod method) {
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp exp) { return expandExpOp(math, exp, x[0], method); })
      .Case([&](math::Exp2Op) { return expandExp2(math, x[0]); })
      .Case([&](math::ExpM1Op) { return expandExpM1(math, x[0], hasRelaxation(op, Relaxation::Nonpositive)); })
      .Case([&](math::TanhOp) { return expandTanh(math, x[0]); })
      .Case([&](math::LogOp) { return expandLog(math, x[0]); })
      .Case([&](math::Log2Op) { return expandLog2(math, x[0]); })
      .Case([&](math::Log1pOp) { return expandLog1p(math, x[0]); })
      .Case([&](math::ErfOp) { return expandErf(math, x[0]); })
      .Case([&](math::ErfcOp) { return expandErfc(math, x[0]); })
      .Case([&](math::PowFOp) { return expandPow(math, x[0], x[1]); })
      .Case([&](math::FmaOp fma) { return expandFma(math, fma, x); })
      .Default([](Operation *) { return Value(); });
}

/// Replaces one operation. A scalar is computed in the first lane of a register.
LogicalResult expandOne(Operation *op, const Target &target, ExpMethod exp, ConstantPool &pool) {
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  auto vectorType = dyn_cast<VectorType>(type);
  if (!element.isF32() && !element.isF64())
    return op->emitError("expand-math: ") << element << " has no expansion; the type must be f32 or f64";
  if (vectorType && (vectorType.getRank() != 1 || vectorType.isScalable()))
    return op->emitError("expand-math: ") << type << " is not a vector of rank 1 and fixed length";
  OpBuilder builder(op);
  Location loc = op->getLoc();
  SmallVector<Value, 3> operands(op->getOperands());
  if (!vectorType) {
    vectorType = VectorType::get({128 / element.getIntOrFloatBitWidth()}, element);
    for (Value &operand : operands)
      operand = inLanes(builder, loc, vectorType, operand);
  }
  VectorMath math(builder, loc, vectorType, target, pool);
  Value result = expansionOf(op, math, operands, exp);
  if (!result)
    return op->emitError("expand-math: '")
           << op->getName() << "' has neither an expansion nor an instruction on " << std::string(target.name());
  if (!isa<VectorType>(type))
    result = vector::ExtractOp::create(builder, loc, result, int64_t(0));
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

/// Returns true if the operation is not expanded: it is one or a few instructions, or powf of f32 on a target without
/// f64.
bool isInstruction(Operation *op, const Target &target) {
  if (isa<math::FmaOp>(op))
    return hasFma(target);
  if (isa<math::PowFOp>(op) && !target.hasF64())
    return getElementTypeOrSelf(op->getResult(0)).isF32();
  return isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::SqrtOp, math::RoundEvenOp, math::FloorOp, math::CeilOp,
             math::TruncOp>(op);
}

} // namespace

LogicalResult expandMath(func::FuncOp function, const Target &target, ExpMethod exp) {
  SmallVector<Operation *> operations;
  function.walk([&](Operation *op) {
    if (op->getName().getDialectNamespace() == math::MathDialect::getDialectNamespace())
      operations.push_back(op);
  });
  ConstantPool pool(function);
  for (Operation *op : operations)
    if (!isInstruction(op, target) && failed(expandOne(op, target, exp, pool)))
      return failure();
  return success();
}

namespace {
struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  ExpandMathPass() = default;
  ExpandMathPass(const ExpandMathPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "quern-expand-math"; }
  StringRef getDescription() const override {
    return "Replace functions of the math dialect by arithmetic that needs no library";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    Result<Target> parsed = Target::parse(target.getValue());
    if (!parsed || (exp != "polynomial" && exp != "table")) {
      getOperation().emitError("quern-expand-math: ")
          << (parsed ? "exp='" + exp + "': polynomial or table" : parsed.error().message);
      return signalPassFailure();
    }
    if (failed(expandMath(getOperation(), *parsed, exp == "table" ? ExpMethod::Table : ExpMethod::Polynomial)))
      signalPassFailure();
  }

  Option<std::string> target{*this, "target", llvm::cl::desc(targetOptionText), llvm::cl::init("avx512_core")};
  Option<std::string> exp{*this, "exp", llvm::cl::desc("polynomial or table (f32 on avx512_core)"),
                          llvm::cl::init("polynomial")};
};
} // namespace

std::unique_ptr<Pass> createExpandMathPass() { return std::make_unique<ExpandMathPass>(); }

} // namespace quern
