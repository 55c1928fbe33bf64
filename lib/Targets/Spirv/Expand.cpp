//===- Expand.cpp - Arithmetic that every device has ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Results must depend on the problem only, not on the driver: functions use Quern's polynomials, and no relaxation
// remains in the code.
//
//===----------------------------------------------------------------------===//
#include "Targets/Spirv/Pipeline.h"

#include "Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// Emits a maximum or minimum. It is NaN if either operand is NaN, unlike OpenCL's fmax; a positive zero is greater
/// than a negative one.
static Value expandExtremum(OpBuilder &b, Operation *op, bool isMaximum) {
  Location loc = op->getLoc();
  Value x = op->getOperand(0), y = op->getOperand(1);
  auto compare = [&](arith::CmpFPredicate predicate) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  };
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  };
  Type type = x.getType(), bits = b.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  if (auto vector = dyn_cast<VectorType>(type))
    bits = vector.clone(bits);
  Value a = arith::BitcastOp::create(b, loc, bits, x), c = arith::BitcastOp::create(b, loc, bits, y);
  // Result for equal operands, such as zeros of different signs.
  Value both = isMaximum ? Value(arith::AndIOp::create(b, loc, a, c)) : Value(arith::OrIOp::create(b, loc, a, c));
  Value chosen = select(compare(isMaximum ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT), x, y);
  chosen = select(compare(arith::CmpFPredicate::OEQ), arith::BitcastOp::create(b, loc, type, both), chosen);
  return select(compare(arith::CmpFPredicate::UNO), arith::AddFOp::create(b, loc, x, y), chosen);
}

static void expandExtrema(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (!isa<arith::MaximumFOp, arith::MinimumFOp>(op))
      return;
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(expandExtremum(builder, op, isa<arith::MaximumFOp>(op)));
    op->erase();
  });
}

static void removeRelaxations(func::FuncOp function) {
  auto none = arith::FastMathFlagsAttr::get(function.getContext(), arith::FastMathFlags::none);
  function.walk([&](arith::ArithFastMathInterface op) { op->setAttr(op.getFastMathAttrName(), none); });
}

/// Returns OpenCL's function that broadcasts the value of one lane to all lanes. Drivers treat its result as uniform,
/// unlike that of a shuffle.
static LLVM::LLVMFuncOp broadcastOf(ModuleOp module, Type type) {
  std::string letter = type.isF32()         ? "f"
                       : type.isF64()       ? "d"
                       : type.isInteger(32) ? "i"
                       : type.isInteger(64) ? "l"
                                            : "";
  if (letter.empty())
    return {};
  std::string name = "_Z19sub_group_broadcast" + letter + "j";
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto signature = LLVM::LLVMFunctionType::get(type, {type, b.getI32Type()});
  auto function = LLVM::LLVMFuncOp::create(b, module.getLoc(), name, signature, LLVM::Linkage::External,
                                           /*dsoLocal=*/false, LLVM::cconv::CConv::SPIR_FUNC);
  function.setConvergent(true);
  function.setNoUnwind(true);
  function.setWillReturn(true);
  return function;
}

static void expandBroadcasts(func::FuncOp function) {
  function.walk([](gpu::ShuffleOp op) {
    bool isOfOneLane = op.getMode() == gpu::ShuffleMode::IDX && matchPattern(op.getOffset(), m_Constant());
    LLVM::LLVMFuncOp callee = isOfOneLane && op.getValid().use_empty()
                                  ? broadcastOf(op->getParentOfType<ModuleOp>(), op.getShuffleResult().getType())
                                  : LLVM::LLVMFuncOp();
    if (!callee)
      return;
    OpBuilder b(op);
    auto call = LLVM::CallOp::create(b, op.getLoc(), callee, ValueRange{op.getValue(), op.getOffset()});
    call.setCConv(LLVM::cconv::CConv::SPIR_FUNC);
    call.setConvergent(true);
    op.getShuffleResult().replaceAllUsesWith(call.getResult());
    op.erase();
  });
}

LogicalResult quern::expandForDevice(ModuleOp module, const Target &target) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (failed(expandNarrowFloats(function, target)) || failed(expandMath(function, target, ExpMethod::Polynomial)))
      return failure();
    expandExtrema(function);
    expandBroadcasts(function);
    removeRelaxations(function);
  }
  return success();
}
