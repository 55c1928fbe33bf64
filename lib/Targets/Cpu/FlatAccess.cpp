//===- FlatAccess.cpp - Loads and stores of flat buffers ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/FlatAccess.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {

/// The pointer of a descriptor, read once in a block; of a kernel's argument, the argument itself.
Value pointerOf(ConversionPatternRewriter &rewriter, Location loc, Value descriptor) {
  auto cast = descriptor.getDefiningOp<UnrealizedConversionCastOp>();
  if (cast && cast.getNumOperands() == 1 && isa<LLVM::LLVMPointerType>(cast.getOperand(0).getType()))
    return cast.getOperand(0);
  for (Operation *user : descriptor.getUsers())
    if (auto read = dyn_cast<LLVM::ExtractValueOp>(user); read && read->getBlock() == rewriter.getInsertionBlock() &&
                                                          isa<LLVM::LLVMPointerType>(read.getType()) &&
                                                          read.getPosition().back() == 1)
      return read;
  return MemRefDescriptor(descriptor).alignedPtr(rewriter, loc);
}

/// The element of `base` at `index`; the same for every access of a block to it.
Value elementAddress(ConversionPatternRewriter &rewriter, Location loc, Type element, Value base, Value index) {
  for (Operation *user : index.getUsers())
    if (auto known = dyn_cast<LLVM::GEPOp>(user); known && known->getBlock() == rewriter.getInsertionBlock() &&
                                                  known.getBase() == base && known.getElemType() == element &&
                                                  known.getDynamicIndices().size() == 1)
      return known;
  return LLVM::GEPOp::create(rewriter, loc, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{index});
}

/// Where an access to a flat buffer begins. What the index adds as a constant becomes a second step from the same
/// place: accesses side by side then share their index arithmetic without a search for it.
Value flatAddress(ConversionPatternRewriter &rewriter, Location loc, MemRefType type, Value descriptor, Value index) {
  int64_t offset = 0;
  APInt constant;
  for (auto sum = index.getDefiningOp<LLVM::AddOp>(); sum && matchPattern(sum.getRhs(), m_ConstantInt(&constant));
       sum = index.getDefiningOp<LLVM::AddOp>()) {
    if (!llvm::isInt<32>(offset + constant.getSExtValue()))
      break;
    offset += constant.getSExtValue();
    index = sum.getLhs();
  }
  Type element = type.getElementType();
  Value address =
      elementAddress(rewriter, loc, element, pointerOf(rewriter, loc, descriptor), rewriter.getRemappedValue(index));
  if (offset)
    address = LLVM::GEPOp::create(rewriter, loc, address.getType(), element, address,
                                  ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  return address;
}

/// What `v` is if it follows from constants, as code generation will find out; null otherwise.
Attribute constantOf(Value v) {
  Attribute known;
  if (matchPattern(v, m_Constant(&known)))
    return known;
  Operation *op = v.getDefiningOp();
  if (!op || op->getNumRegions() || op->getNumResults() != 1 || !isMemoryEffectFree(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    if (Attribute constant = constantOf(operand))
      operands.push_back(constant);
    else
      return {};
  SmallVector<OpFoldResult> results;
  return succeeded(op->fold(operands, results)) && results.size() == 1 ? dyn_cast<Attribute>(results[0]) : Attribute();
}

/// The only lane that a constant mask has; -1 if it is another mask.
int64_t onlyLane(Value mask) {
  DenseElementsAttr lanes;
  if (!matchPattern(mask, m_Constant(&lanes)))
    return -1;
  auto values = llvm::to_vector<64>(lanes.getValues<bool>());
  return llvm::count(values, true) == 1 ? llvm::find(values, true) - values.begin() : -1;
}

/// LLVM 22 makes a scalar store of a masked one with a single constant lane, and forgets there that the store also
/// truncates: it writes as much as the element was wide before. So that store is written here.
bool storeOnlyLane(vector::MaskedStoreOp op, Value value, Value address, unsigned alignment,
                   ConversionPatternRewriter &rewriter) {
  int64_t lane = onlyLane(op.getMask());
  if (lane < 0)
    return false;
  Location loc = op.getLoc();
  Value at = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(lane));
  Value element = LLVM::ExtractElementOp::create(rewriter, loc, value, at);
  if (lane)
    address = LLVM::GEPOp::create(rewriter, loc, address.getType(), element.getType(), address,
                                  ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(lane)});
  rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, element, address, alignment);
  return true;
}

template <typename Op> struct LowerFlatAccess : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    if (type.getRank() != 1 || !type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat() ||
        op.getVectorType().getRank() != 1)
      return failure();
    unsigned alignment = op.getAlignment().value_or((type.getElementTypeBitWidth() + 7) / 8);
    Value address = flatAddress(rewriter, op.getLoc(), type, adaptor.getBase(), op.getIndices().front());
    if constexpr (std::is_same_v<Op, vector::LoadOp>)
      rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, op.getVectorType(), address, alignment, /*isVolatile=*/false,
                                                op.getNontemporal());
    else if constexpr (std::is_same_v<Op, vector::StoreOp>)
      rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, adaptor.getValueToStore(), address, alignment,
                                                 /*isVolatile=*/false, op.getNontemporal());
    else if constexpr (std::is_same_v<Op, vector::MaskedLoadOp>)
      rewriter.replaceOpWithNewOp<LLVM::MaskedLoadOp>(op, op.getVectorType(), address, adaptor.getMask(),
                                                      adaptor.getPassThru(), alignment);
    else if (!storeOnlyLane(op, adaptor.getValueToStore(), address, alignment, rewriter))
      rewriter.replaceOpWithNewOp<LLVM::MaskedStoreOp>(op, adaptor.getValueToStore(), address, adaptor.getMask(),
                                                       alignment);
    return success();
  }
};

struct LowerFlatLoad : ConvertOpToLLVMPattern<memref::LoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    if (type.getRank() != 1 || !type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat() ||
        op.getNontemporal())
      return failure();
    Value address = flatAddress(rewriter, op.getLoc(), type, adaptor.getMemref(), op.getIndices().front());
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, typeConverter->convertType(type.getElementType()), address);
    return success();
  }
};

} // namespace

void quern::foldMasksOfStores(func::FuncOp function) {
  function.walk([](vector::MaskedStoreOp store) {
    Value mask = store.getMask();
    auto constant = dyn_cast_or_null<TypedAttr>(constantOf(mask));
    if (!constant || matchPattern(mask, m_Constant()))
      return;
    OpBuilder builder(store);
    store.getMaskMutable().assign(arith::ConstantOp::create(builder, store.getLoc(), constant));
  });
}

void quern::populateFlatAccessPatterns(const LLVMTypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerFlatAccess<vector::LoadOp>, LowerFlatAccess<vector::StoreOp>, LowerFlatAccess<vector::MaskedLoadOp>,
               LowerFlatAccess<vector::MaskedStoreOp>, LowerFlatLoad>(types, /*benefit=*/10);
}
