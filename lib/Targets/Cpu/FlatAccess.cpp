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
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace {

/// Returns the pointer of a descriptor, extracted once in a block; for a kernel argument, the argument itself.
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

/// An index without its constant addend.
struct SplitIndex {
  Value index;
  int32_t offset = 0;
};

SplitIndex splitIndex(Value index) {
  int64_t offset = 0;
  APInt constant;
  for (auto sum = index.getDefiningOp<LLVM::AddOp>(); sum && matchPattern(sum.getRhs(), m_ConstantInt(&constant));
       sum = index.getDefiningOp<LLVM::AddOp>()) {
    if (!llvm::isInt<32>(offset + constant.getSExtValue()))
      break;
    offset += constant.getSExtValue();
    index = sum.getLhs();
  }
  return {index, static_cast<int32_t>(offset)};
}

/// Returns the address of element `index` of `base`, shared by all accesses of a block to it.
Value elementAddress(OpBuilder &builder, Location loc, Type element, Value base, Value index) {
  for (Operation *user : index.getUsers())
    if (auto known = dyn_cast<LLVM::GEPOp>(user); known && known->getBlock() == builder.getInsertionBlock() &&
                                                  known.getBase() == base && known.getElemType() == element &&
                                                  known.getDynamicIndices().size() == 1)
      return known;
  return LLVM::GEPOp::create(builder, loc, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{index});
}

/// Returns the address of an access to a flat buffer. The index's constant addend is a second step from the shared
/// address, so adjacent accesses share their index arithmetic without a search for it.
Value flatAddress(OpBuilder &builder, Location loc, Type element, Value base, SplitIndex at) {
  Value address = elementAddress(builder, loc, element, base, at.index);
  if (at.offset)
    address = LLVM::GEPOp::create(builder, loc, address.getType(), element, address, ArrayRef<LLVM::GEPArg>{at.offset});
  return address;
}

/// Returns true for an entry of a table in scratch.
bool isTableEntry(Value v) {
  if (auto cast = v.getDefiningOp<UnrealizedConversionCastOp>(); cast && cast.getNumOperands() == 1)
    v = cast.getOperand(0);
  auto load = v.getDefiningOp<memref::LoadOp>();
  return load && load.getMemRefType().getElementType().isIndex() &&
         isa_and_present<memref::AllocaOp, memref::ViewOp>(load.getMemRef().getDefiningOp());
}

/// A table entry that is added to the rest of an index in a separate step. Accesses then share the rest, and an address
/// can use one more register.
struct TableStep {
  Value from, entry; ///< null: there is none
};

TableStep tableStep(Value index) {
  auto sum = index.getDefiningOp<LLVM::AddOp>();
  return sum && isTableEntry(sum.getRhs()) ? TableStep{sum.getLhs(), sum.getRhs()} : TableStep();
}

/// Returns the value of `v` if it can be computed from constants, as code generation will do; null otherwise.
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

/// Returns the only enabled lane of a constant mask; -1 for other masks.
int64_t onlyLane(Value mask) {
  DenseElementsAttr lanes;
  if (!matchPattern(mask, m_Constant(&lanes)))
    return -1;
  auto values = llvm::to_vector<64>(lanes.getValues<bool>());
  return llvm::count(values, true) == 1 ? llvm::find(values, true) - values.begin() : -1;
}

/// LLVM 22 converts a masked store with a single constant lane to a scalar store, but forgets that the store also
/// truncates, and writes the width of the original element. So the scalar store is created here. Returns null for other
/// masks.
Operation *storeOnlyLane(OpBuilder &builder, vector::MaskedStoreOp op, Value value, Value address, unsigned alignment) {
  int64_t lane = onlyLane(op.getMask());
  if (lane < 0)
    return nullptr;
  Location loc = op.getLoc();
  Value at = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(lane));
  Value element = LLVM::ExtractElementOp::create(builder, loc, value, at);
  if (lane)
    address = LLVM::GEPOp::create(builder, loc, address.getType(), element.getType(), address,
                                  ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(lane)});
  return LLVM::StoreOp::create(builder, loc, element, address, alignment);
}

/// Creates the access at `address`. `values` has the operands: the operation itself, or a conversion's adaptor.
template <typename Op, typename Values>
Operation *createAccess(OpBuilder &builder, Op op, Values values, Value address) {
  Location loc = op.getLoc();
  unsigned alignment = op.getAlignment().value_or((op.getMemRefType().getElementTypeBitWidth() + 7) / 8);
  if constexpr (std::is_same_v<Op, vector::LoadOp>) {
    return LLVM::LoadOp::create(builder, loc, op.getVectorType(), address, alignment, /*isVolatile=*/false,
                                op.getNontemporal());
  } else if constexpr (std::is_same_v<Op, vector::StoreOp>) {
    return LLVM::StoreOp::create(builder, loc, values.getValueToStore(), address, alignment, /*isVolatile=*/false,
                                 op.getNontemporal());
  } else if constexpr (std::is_same_v<Op, vector::MaskedLoadOp>) {
    return LLVM::MaskedLoadOp::create(builder, loc, op.getVectorType(), address, values.getMask(), values.getPassThru(),
                                      alignment);
  } else {
    Operation *scalar = storeOnlyLane(builder, op, values.getValueToStore(), address, alignment);
    return scalar ? scalar
                  : LLVM::MaskedStoreOp::create(builder, loc, values.getValueToStore(), address, values.getMask(),
                                                alignment);
  }
}

bool isFlat(MemRefType type) {
  return type.getRank() == 1 && type.getLayout().isIdentity() && type.getElementType().isIntOrFloat();
}

template <typename Op> struct LowerFlatAccess : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    if (!isFlat(type) || op.getVectorType().getRank() != 1)
      return failure();
    SplitIndex at = splitIndex(op.getIndices().front());
    Value base = pointerOf(rewriter, op.getLoc(), adaptor.getBase());
    if (TableStep step = tableStep(at.index); step.entry) {
      base = elementAddress(rewriter, op.getLoc(), type.getElementType(), base, rewriter.getRemappedValue(step.from));
      at.index = step.entry;
    }
    at.index = rewriter.getRemappedValue(at.index);
    Value address = flatAddress(rewriter, op.getLoc(), type.getElementType(), base, at);
    rewriter.replaceOp(op, createAccess(rewriter, op, adaptor, address)->getResults());
    return success();
  }
};

struct LowerFlatLoad : ConvertOpToLLVMPattern<memref::LoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    if (!isFlat(type) || op.getNontemporal())
      return failure();
    SplitIndex at = splitIndex(op.getIndices().front());
    at.index = rewriter.getRemappedValue(at.index);
    Value address = flatAddress(rewriter, op.getLoc(), type.getElementType(),
                                pointerOf(rewriter, op.getLoc(), adaptor.getMemref()), at);
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, typeConverter->convertType(type.getElementType()), address);
    return success();
  }
};

bool isBuffer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getRank() == 1 && memref.getLayout().isIdentity() &&
         memref.getElementType().isIntOrIndexOrFloat();
}

/// Lowers operations on flat buffers to pointers. Memrefs remain until their last use is erased.
class FlatBuffers {
public:
  explicit FlatBuffers(func::FuncOp function)
      : function(function), builder(function.getContext()), pointer(LLVM::LLVMPointerType::get(function.getContext())) {
  }

  /// Returns true if lower() supports every operation that uses memrefs and all control flow is between blocks.
  bool allFlat();
  void lower();

private:
  template <typename Op> static bool isVectorAccess(Operation &op) {
    auto access = dyn_cast<Op>(op);
    return access && isFlat(access.getMemRefType()) && access.getVectorType().getRank() == 1;
  }
  static bool lowers(Operation &op);
  void lower(Operation &op);
  Value addressOf(Location loc, Value buffer, ValueRange indices) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    return flatAddress(builder, loc, element.isIndex() ? builder.getI64Type() : element, pointers.at(buffer),
                       splitIndex(indices.front()));
  }
  void becomeLlvmFunction();

  func::FuncOp function;
  OpBuilder builder;
  Type pointer;
  llvm::DenseMap<Value, Value> pointers;
};

bool FlatBuffers::lowers(Operation &op) {
  if (isVectorAccess<vector::LoadOp>(op) || isVectorAccess<vector::StoreOp>(op) ||
      isVectorAccess<vector::MaskedLoadOp>(op) || isVectorAccess<vector::MaskedStoreOp>(op))
    return true;
  if (op.getNumRegions() || isa<SymbolUserOpInterface>(op))
    return false;
  SmallVector<Type> types(op.getOperandTypes());
  llvm::append_range(types, op.getResultTypes());
  if (llvm::none_of(types, llvm::IsaPred<BaseMemRefType>))
    return true;
  return isa<memref::LoadOp, memref::StoreOp, memref::ViewOp, memref::PrefetchOp,
             memref::ExtractAlignedPointerAsIndexOp, arith::SelectOp>(op) &&
         llvm::all_of(types, [](Type type) { return !isa<BaseMemRefType>(type) || isBuffer(type); });
}

bool FlatBuffers::allFlat() {
  if (function.isExternal() || function.getNumResults())
    return false;
  for (Type type : function.getArgumentTypes())
    if (!isBuffer(type) && !type.isInteger())
      return false;
  for (Block &block : function.getBody()) {
    if (!block.isEntryBlock() && llvm::any_of(block.getArgumentTypes(), llvm::IsaPred<BaseMemRefType>))
      return false;
    if (!llvm::all_of(block, [](Operation &op) { return lowers(op); }))
      return false;
  }
  return true;
}

void FlatBuffers::lower(Operation &op) {
  Location loc = op.getLoc();
  builder.setInsertionPoint(&op);
  Operation *lowered = nullptr;
  llvm::TypeSwitch<Operation *>(&op)
      .Case<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp, vector::MaskedStoreOp>([&](auto access) {
        lowered = createAccess(builder, access, access, addressOf(loc, access.getBase(), access.getIndices()));
      })
      .Case([&](memref::LoadOp load) {
        lowered =
            LLVM::LoadOp::create(builder, loc, load.getType(), addressOf(loc, load.getMemRef(), load.getIndices()),
                                 /*alignment=*/0, /*isVolatile=*/false, load.getNontemporal());
      })
      .Case([&](memref::StoreOp store) {
        lowered = LLVM::StoreOp::create(builder, loc, store.getValue(),
                                        addressOf(loc, store.getMemRef(), store.getIndices()), /*alignment=*/0,
                                        /*isVolatile=*/false, store.getNontemporal());
      })
      .Case([&](memref::PrefetchOp fetch) {
        lowered = LLVM::Prefetch::create(builder, loc, addressOf(loc, fetch.getMemref(), fetch.getIndices()),
                                         fetch.getIsWrite(), fetch.getLocalityHint(), fetch.getIsDataCache());
      })
      .Case([&](memref::ExtractAlignedPointerAsIndexOp address) {
        lowered = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointers.at(address.getSource()));
      })
      .Case([&](memref::ViewOp view) {
        pointers[view] = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), pointers.at(view.getSource()),
                                             ArrayRef<LLVM::GEPArg>{view.getByteShift()});
      })
      .Case([&](arith::SelectOp choice) {
        if (isBuffer(choice.getType()))
          pointers[choice] =
              LLVM::SelectOp::create(builder, loc, choice.getCondition(), pointers.at(choice.getTrueValue()),
                                     pointers.at(choice.getFalseValue()));
      })
      .Case([&](func::ReturnOp) { lowered = LLVM::ReturnOp::create(builder, loc, ValueRange()); });
  if (!lowered)
    return;
  op.replaceAllUsesWith(lowered);
  op.erase();
}

void FlatBuffers::becomeLlvmFunction() {
  SmallVector<Type> types(function.getBody().front().getArgumentTypes());
  builder.setInsertionPoint(function);
  auto llvmFunction =
      LLVM::LLVMFuncOp::create(builder, function.getLoc(), function.getName(),
                               LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(function.getContext()), types));
  SymbolTable::setSymbolVisibility(llvmFunction, SymbolTable::getSymbolVisibility(function));
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    llvmFunction->setDiscardableAttr(attribute.getName(), attribute.getValue());
  llvmFunction.getBody().takeBody(function.getBody());
  function.erase();
}

void FlatBuffers::lower() {
  Block &entry = function.getBody().front();
  SmallVector<BlockArgument> buffers;
  for (BlockArgument argument : entry.getArguments())
    if (isBuffer(argument.getType()))
      buffers.push_back(argument);
  for (BlockArgument buffer : buffers)
    pointers[buffer] = entry.insertArgument(buffer.getArgNumber() + 1, pointer, buffer.getLoc());
  for (Block &block : function.getBody())
    for (Operation &op : llvm::make_early_inc_range(block))
      lower(op);
  for (Block &block : llvm::reverse(function.getBody()))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<memref::ViewOp, arith::SelectOp>(op) && pointers.contains(op.getResult(0)))
        op.erase();
  for (BlockArgument buffer : buffers)
    entry.eraseArgument(buffer.getArgNumber());
  becomeLlvmFunction();
}

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

bool quern::lowerFlatBuffers(func::FuncOp function) {
  FlatBuffers buffers(function);
  const bool allFlat = buffers.allFlat();
  if (allFlat)
    buffers.lower();
  return allFlat;
}

void quern::populateFlatAccessPatterns(const LLVMTypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerFlatAccess<vector::LoadOp>, LowerFlatAccess<vector::StoreOp>, LowerFlatAccess<vector::MaskedLoadOp>,
               LowerFlatAccess<vector::MaskedStoreOp>, LowerFlatLoad>(types, /*benefit=*/10);
}
