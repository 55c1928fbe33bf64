//===- ExpandNarrowFloats.cpp - Narrow floats as integers -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// No narrow type remains: memory and registers hold i16 or i8 (so masked moves use AVX-512BW on every CPU), and
// conversions become arithmetic (NarrowConversions).
//
//===----------------------------------------------------------------------===//
#include "Transforms/Narrow/NarrowConversions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace quern {
namespace {

Attribute storageAttr(Attribute attr) {
  auto typed = dyn_cast<TypedAttr>(attr);
  if (!typed || !isNarrow(typed.getType()))
    return attr;
  Type storage = storageType(getElementTypeOrSelf(typed.getType()));
  auto resized = [&](const APInt &bits) { return bits.zextOrTrunc(storage.getIntOrFloatBitWidth()); };
  auto bitsOf = [&](const APFloat &value) { return resized(value.bitcastToAPInt()); };
  if (auto scalar = dyn_cast<FloatAttr>(attr))
    return IntegerAttr::get(storage, bitsOf(scalar.getValue()));
  if (auto scalar = dyn_cast<IntegerAttr>(attr))
    return IntegerAttr::get(storage, resized(scalar.getValue()));
  if (auto dense = dyn_cast<DenseFPElementsAttr>(attr))
    return dense.mapValues(storage, bitsOf);
  return cast<DenseIntElementsAttr>(attr).mapValues(storage, resized);
}

/// Returns true for extensions and truncations, which are converted rather than retyped.
bool converts(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op);
}

bool touchesNarrow(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isNarrow) || llvm::any_of(op->getResultTypes(), isNarrow);
}

/// Succeeds if `op` can use the storage integers: it moves bits, is a conversion, or is an intrinsic, whose operands
/// are cast.
LogicalResult checkMovesBits(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool moves = llvm::is_contained({"vector", "memref", "scf", "func", "cf", "ub"}, dialect) ||
               isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op) || converts(op);
  bool isInstruction = isa<LLVM::CallIntrinsicOp>(op);
  bool computes = isa<vector::ReductionOp, vector::MultiDimReductionOp, vector::ContractionOp, vector::OuterProductOp,
                      vector::FMAOp, vector::ScanOp, memref::AtomicRMWOp>(op);
  if ((moves && !computes) || isInstruction)
    return success();
  return op->emitError("expand-narrow-floats: '")
         << op->getName() << "' computes in a narrow type; convert to a wider one first";
}

void retype(Operation *op) {
  for (Value result : op->getResults())
    result.setType(storageType(result.getType()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setType(storageType(argument.getType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    constant.setValueAttr(cast<TypedAttr>(storageAttr(constant.getValue())));
}

/// Casts the operands of an instruction back to its narrow types; each value once, after its definition.
void castOperands(Operation *instruction, TypeRange narrow, llvm::DenseMap<Value, Value> &known) {
  for (auto [operand, type] : llvm::zip_equal(instruction->getOpOperands(), narrow)) {
    if (!isNarrow(type))
      continue;
    Value &cast = known[operand.get()];
    if (!cast) {
      OpBuilder builder(instruction);
      builder.setInsertionPointAfterValue(operand.get());
      cast = arith::BitcastOp::create(builder, instruction->getLoc(), type, operand.get());
    }
    operand.set(cast);
  }
}

/// Casts the narrow results of an instruction to their storage type.
void castResults(Operation *instruction) {
  for (Value result : instruction->getResults()) {
    if (!isNarrow(result.getType()))
      continue;
    OpBuilder builder(instruction);
    builder.setInsertionPointAfter(instruction);
    Value cast = arith::BitcastOp::create(builder, instruction->getLoc(), storageType(result.getType()), result);
    result.replaceAllUsesExcept(cast, cast.getDefiningOp());
  }
}

/// Returns true if `first` could be moved to `second`, which is later in the same block.
bool canSinkTo(Operation *first, Operation *second) {
  return first->getBlock() == second->getBlock() && llvm::all_of(first->getUsers(), [&](Operation *user) {
           Operation *here = first->getBlock()->findAncestorOpInBlock(*user);
           return here && second->isBeforeInBlock(here);
         });
}

} // namespace

LogicalResult expandNarrowFloats(func::FuncOp function, const Target &target) {
  SmallVector<Operation *> touched, conversions, instructions;
  WalkResult walked = function.walk([&](Operation *op) {
    bool narrowBlock = llvm::any_of(op->getRegions(), [](Region &region) {
      return llvm::any_of(region, [](Block &block) { return llvm::any_of(block.getArgumentTypes(), isNarrow); });
    });
    if (!narrowBlock && !touchesNarrow(op))
      return WalkResult::advance();
    if (op != function && failed(checkMovesBits(op)))
      return WalkResult::interrupt();
    (converts(op) ? conversions : llvm::isa<LLVM::CallIntrinsicOp>(op) ? instructions : touched).push_back(op);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  // Retype first: the replacement of a conversion mixes f16 (for F16C) with i16 and must not be retyped again.
  SmallVector<std::pair<Type, Type>> types;
  SmallVector<NarrowConverter::Origin> origins;
  for (Operation *op : conversions) {
    types.emplace_back(op->getOperand(0).getType(), op->getResult(0).getType());
    origins.push_back(NarrowConverter::originOf(op));
  }
  auto operandTypes =
      llvm::map_to_vector(instructions, [](Operation *op) { return llvm::to_vector(op->getOperandTypes()); });
  for (Operation *op : touched)
    retype(op);
  for (Operation *op : instructions)
    castResults(op);
  auto replace = [](Operation *op, Value by) {
    op->getResult(0).replaceAllUsesWith(by);
    op->erase();
  };
  auto isGroupable = [&](size_t i) {
    return conversions[i] && origins[i] == NarrowConverter::Origin::Unknown &&
           NarrowConverter::narrowsInGroups(conversions[i], target);
  };
  constexpr size_t maxGroupSize = 4;
  for (size_t i = 0; i < conversions.size(); ++i) {
    Operation *op = conversions[i];
    if (!op)
      continue; // converted with an earlier one
    SmallVector<Operation *> group{op};
    for (size_t j = i + 1; isGroupable(i) && j < conversions.size() && group.size() < maxGroupSize; ++j) {
      if (!isGroupable(j))
        continue;
      if (!llvm::all_of(group, [&](Operation *earlier) { return canSinkTo(earlier, conversions[j]); }))
        break;
      group.push_back(std::exchange(conversions[j], nullptr));
    }
    if (!isGroupable(i)) {
      replace(op, NarrowConverter(op, target, origins[i]).convert(op->getOperand(0), types[i].first, types[i].second));
      continue;
    }
    auto wide = llvm::map_to_vector(group, [](Operation *conversion) { return conversion->getOperand(0); });
    for (auto [conversion, narrow] :
         llvm::zip_equal(group, NarrowConverter(group.back(), target).narrowGroupToBf16(wide)))
      replace(conversion, narrow);
  }
  llvm::DenseMap<Value, Value> casts;
  for (auto [op, narrow] : llvm::zip_equal(instructions, operandTypes))
    castOperands(op, narrow, casts);
  auto mapTypes = [](TypeRange range) { return llvm::map_to_vector(range, storageType); };
  FunctionType type = function.getFunctionType();
  function.setFunctionType(
      FunctionType::get(function.getContext(), mapTypes(type.getInputs()), mapTypes(type.getResults())));
  return success();
}

} // namespace quern
