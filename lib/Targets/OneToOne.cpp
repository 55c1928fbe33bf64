//===- OneToOne.cpp - Operations that LLVM has under another name ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/OneToOne.h"

#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace quern {
namespace {

/// A number or a vector of one dimension of a type that LLVM has.
bool isOfLlvm(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.getRank() != 1 || vector.isScalable())
      return false;
    type = vector.getElementType();
  }
  return type.isSignlessInteger() || isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(type);
}

bool areOfLlvm(TypeRange types) { return llvm::all_of(types, isOfLlvm); }

Type withoutIndex(Type type) {
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  if (auto vector = dyn_cast<VectorType>(type); vector && vector.getElementType().isIndex())
    return vector.cloneWith(std::nullopt, IntegerType::get(type.getContext(), 64));
  return type;
}

void makeIndicesIntegers(ValueRange values) {
  for (Value value : values)
    if (Type type = withoutIndex(value.getType()); type != value.getType())
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
  else {
    auto to = To::create(builder, loc, op.getResultTypes(), op.getOperands());
    if constexpr (std::is_same_v<From, arith::CmpFOp>)
      to.setPredicate(static_cast<LLVM::FCmpPredicate>(from.getPredicate()));
    copyFlags(from, to);
    return to;
  }
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
  add<arith::MaxSIOp, LLVM::SMaxOp>();
  add<arith::MaxUIOp, LLVM::UMaxOp>();
  add<arith::MinSIOp, LLVM::SMinOp>();
  add<arith::MinUIOp, LLVM::UMinOp>();
  add<arith::MulFOp, LLVM::FMulOp>();
  add<arith::MulIOp, LLVM::MulOp>();
  add<arith::NegFOp, LLVM::FNegOp>();
  add<arith::OrIOp, LLVM::OrOp>();
  add<arith::RemUIOp, LLVM::URemOp>();
  add<arith::SelectOp, LLVM::SelectOp>();
  add<arith::ShLIOp, LLVM::ShlOp>();
  add<arith::ShRSIOp, LLVM::AShrOp>();
  add<arith::ShRUIOp, LLVM::LShrOp>();
  add<arith::SubFOp, LLVM::FSubOp>();
  add<arith::SubIOp, LLVM::SubOp>();
  add<arith::XOrIOp, LLVM::XOrOp>();
  add<math::AbsFOp, LLVM::FAbsOp>();
  add<math::CopySignOp, LLVM::CopySignOp>();
  add<math::FmaOp, LLVM::FMAOp>();
  add<vector::BitCastOp, LLVM::BitcastOp>();
  add<vector::ShuffleOp, LLVM::ShuffleVectorOp>();
}

void OneToOne::run(func::FuncOp function) const {
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             llvm::map_to_vector(function.getArgumentTypes(), withoutIndex),
                                             function.getResultTypes()));
  OpBuilder builder(function.getContext());
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        makeIndicesIntegers(block.getArguments());
    makeIndicesIntegers(op->getResults());
    auto found = table.find(op->getName().getTypeID());
    if (found == table.end() || !areOfLlvm(op->getOperandTypes()) || !areOfLlvm(op->getResultTypes()))
      return;
    builder.setInsertionPoint(op);
    if (Operation *converted = found->second(*op, builder)) {
      op->replaceAllUsesWith(converted);
      op->erase();
    }
  });
}

} // namespace quern
