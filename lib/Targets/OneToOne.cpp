//===- OneToOne.cpp - Operations with an equivalent in the LLVM dialect ---===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/OneToOne.h"

#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace quern {
namespace {

/// Returns true for a scalar or a one-dimensional vector of fixed length of a type that LLVM has.
bool isOfLlvm(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.getRank() != 1 || vector.isScalable())
      return false;
    type = vector.getElementType();
  }
  return type.isSignlessInteger() || isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(type);
}

bool allOfLlvm(TypeRange types) { return llvm::all_of(types, isOfLlvm); }

Type lowerIndexType(Type type) {
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  if (auto vector = dyn_cast<VectorType>(type); vector && vector.getElementType().isIndex())
    return vector.cloneWith(std::nullopt, IntegerType::get(type.getContext(), 64));
  return type;
}

void makeIndicesIntegers(ValueRange values) {
  for (Value value : values)
    if (Type type = lowerIndexType(value.getType()); type != value.getType())
      value.setType(type);
}

template <typename From, typename To> void copyFlags(From from, To to) {
  if constexpr (requires {
                  from.getOverflowFlags();
                  to.setOverflowFlags({});
                })
    if (auto flags = from.getOverflowFlags(); flags != arith::IntegerOverflowFlags::none)
      to.setOverflowFlags(arith::convertArithOverflowFlagsToLLVM(flags));
  if constexpr (requires {
                  from.getNonNeg();
                  to.setNonNeg(true);
                })
    if (from.getNonNeg())
      to.setNonNeg(true);
  if constexpr (requires {
                  from.getFastmath();
                  to.setFastmathFlags({});
                })
    if (auto flags = from.getFastmath(); flags != arith::FastMathFlags::none)
      to.setFastmathFlags(arith::convertArithFastMathFlagsToLLVM(flags));
}

} // namespace

template <typename From, typename To> Operation *OneToOne::convert(Operation &op, OpBuilder &builder) {
  auto from = cast<From>(op);
  Location loc = op.getLoc();
  if constexpr (std::is_same_v<From, arith::ConstantOp>)
    return To::create(builder, loc, op.getResult(0).getType(), from.getValue());
  else if constexpr (std::is_same_v<From, arith::CmpIOp>)
    return To::create(builder, loc, static_cast<LLVM::ICmpPredicate>(from.getPredicate()), from.getLhs(),
                      from.getRhs());
  else if constexpr (std::is_same_v<From, vector::ShuffleOp>)
    return from.getV1().getType() == from.getV2().getType()
               ? To::create(builder, loc, from.getV1(), from.getV2(), llvm::to_vector_of<int32_t>(from.getMask()))
                     .getOperation()
               : nullptr;
  else if constexpr (std::is_same_v<From, arith::TruncFOp>)
    return from.getRoundingmode() ? nullptr
                                  : To::create(builder, loc, op.getResultTypes(), op.getOperands()).getOperation();
  else {
    auto to = To::create(builder, loc, op.getResultTypes(), op.getOperands());
    if constexpr (std::is_same_v<From, arith::CmpFOp>)
      to.setPredicate(static_cast<LLVM::FCmpPredicate>(from.getPredicate()));
    copyFlags(from, to);
    return to;
  }
}

/// Inserts the scalar into the first lane and shuffles it to the others.
template <>
Operation *OneToOne::convert<vector::BroadcastOp, LLVM::ShuffleVectorOp>(Operation &op, OpBuilder &builder) {
  auto from = cast<vector::BroadcastOp>(op);
  if (isa<VectorType>(from.getSourceType()))
    return nullptr;
  Location loc = op.getLoc();
  VectorType type = from.getResultVectorType();
  Value none = LLVM::PoisonOp::create(builder, loc, type);
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value first = LLVM::InsertElementOp::create(builder, loc, none, from.getSource(), zero);
  return LLVM::ShuffleVectorOp::create(builder, loc, first, none, SmallVector<int32_t>(type.getNumElements(), 0));
}

template <> Operation *OneToOne::convert<vector::ExtractOp, LLVM::ExtractElementOp>(Operation &op, OpBuilder &builder) {
  auto from = cast<vector::ExtractOp>(op);
  if (from.getStaticPosition().size() != 1 || from.hasDynamicPosition())
    return nullptr;
  Value at =
      LLVM::ConstantOp::create(builder, op.getLoc(), builder.getI64IntegerAttr(from.getStaticPosition().front()));
  return LLVM::ExtractElementOp::create(builder, op.getLoc(), from.getSource(), at);
}

template <> Operation *OneToOne::convert<arith::IndexCastOp, LLVM::SExtOp>(Operation &op, OpBuilder &builder) {
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  if (!from.isInteger())
    return nullptr;
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return LLVM::SExtOp::create(builder, op.getLoc(), to, op.getOperand(0));
  return LLVM::TruncOp::create(builder, op.getLoc(), to, op.getOperand(0));
}

template <> Operation *OneToOne::convert<cf::BranchOp, LLVM::BrOp>(Operation &op, OpBuilder &builder) {
  auto from = cast<cf::BranchOp>(op);
  return LLVM::BrOp::create(builder, op.getLoc(), from.getDestOperands(), from.getDest());
}

template <> Operation *OneToOne::convert<cf::CondBranchOp, LLVM::CondBrOp>(Operation &op, OpBuilder &builder) {
  auto from = cast<cf::CondBranchOp>(op);
  return LLVM::CondBrOp::create(builder, op.getLoc(), from.getCondition(), from.getTrueDest(),
                                from.getTrueDestOperands(), from.getFalseDest(), from.getFalseDestOperands());
}

template <typename From, typename To> void OneToOne::add() { table[TypeID::get<From>()] = convert<From, To>; }

OneToOne::OneToOne() {
  add<arith::AddFOp, LLVM::FAddOp>();
  add<arith::AddIOp, LLVM::AddOp>();
  add<arith::AndIOp, LLVM::AndOp>();
  add<arith::BitcastOp, LLVM::BitcastOp>();
  add<arith::CmpFOp, LLVM::FCmpOp>();
  add<arith::CmpIOp, LLVM::ICmpOp>();
  add<arith::ConstantOp, LLVM::ConstantOp>();
  add<arith::DivFOp, LLVM::FDivOp>();
  add<arith::DivUIOp, LLVM::UDivOp>();
  add<arith::ExtFOp, LLVM::FPExtOp>();
  add<arith::ExtSIOp, LLVM::SExtOp>();
  add<arith::ExtUIOp, LLVM::ZExtOp>();
  add<arith::FPToSIOp, LLVM::FPToSIOp>();
  add<arith::IndexCastOp, LLVM::SExtOp>();
  add<arith::MaxSIOp, LLVM::SMaxOp>();
  add<arith::MaxUIOp, LLVM::UMaxOp>();
  add<arith::MinSIOp, LLVM::SMinOp>();
  add<arith::MinUIOp, LLVM::UMinOp>();
  add<arith::MulFOp, LLVM::FMulOp>();
  add<arith::MulIOp, LLVM::MulOp>();
  add<arith::NegFOp, LLVM::FNegOp>();
  add<arith::OrIOp, LLVM::OrOp>();
  add<arith::RemUIOp, LLVM::URemOp>();
  add<arith::SIToFPOp, LLVM::SIToFPOp>();
  add<arith::SelectOp, LLVM::SelectOp>();
  add<arith::ShLIOp, LLVM::ShlOp>();
  add<arith::ShRSIOp, LLVM::AShrOp>();
  add<arith::ShRUIOp, LLVM::LShrOp>();
  add<arith::SubFOp, LLVM::FSubOp>();
  add<arith::SubIOp, LLVM::SubOp>();
  add<arith::TruncFOp, LLVM::FPTruncOp>();
  add<arith::TruncIOp, LLVM::TruncOp>();
  add<arith::XOrIOp, LLVM::XOrOp>();
  add<cf::BranchOp, LLVM::BrOp>();
  add<cf::CondBranchOp, LLVM::CondBrOp>();
  add<math::AbsFOp, LLVM::FAbsOp>();
  add<math::CopySignOp, LLVM::CopySignOp>();
  add<math::FmaOp, LLVM::FMAOp>();
  add<vector::BitCastOp, LLVM::BitcastOp>();
  add<vector::BroadcastOp, LLVM::ShuffleVectorOp>();
  add<vector::ExtractOp, LLVM::ExtractElementOp>();
  add<vector::ShuffleOp, LLVM::ShuffleVectorOp>();
}

void OneToOne::run(func::FuncOp function) const {
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             llvm::map_to_vector(function.getArgumentTypes(), lowerIndexType),
                                             function.getResultTypes()));
  OpBuilder builder(function.getContext());
  function.walk<WalkOrder::PreOrder>([&](Operation *op) { // `op` is not read after it is erased
    for (Region &region : op->getRegions())
      for (Block &block : region)
        makeIndicesIntegers(block.getArguments());
    makeIndicesIntegers(op->getResults());
    auto found = table.find(op->getName().getTypeID());
    if (found == table.end() || !allOfLlvm(op->getOperandTypes()) || !allOfLlvm(op->getResultTypes()))
      return WalkResult::advance();
    builder.setInsertionPoint(op);
    if (isa<arith::IndexCastOp>(op) && op->getOperandTypes() == op->getResultTypes()) { // both were indices or i64
      op->replaceAllUsesWith(op->getOperands());
    } else if (Operation *converted = found->second(*op, builder)) {
      op->replaceAllUsesWith(converted);
    } else {
      return WalkResult::advance();
    }
    op->erase();
    return WalkResult::skip();
  });
}

} // namespace quern
