//===- WorkItems.cpp - A device's kernel as a host function ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "WorkItems.h"

#include "WorkGroups.h"
#include "quern/kernel_abi.h"

#include "Targets/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace quern;
using namespace quern::test;

namespace {

class Rewriter {
public:
  explicit Rewriter(func::FuncOp kernel) : kernel(kernel), b(kernel.getContext()), calls(workItemCalls()) {}
  void run();

private:
  void takeGroupMemory();
  Value constant(int64_t value) { return LLVM::ConstantOp::create(b, loc, b.getI64Type(), value); }
  Value asInteger(Value index) { return arith::IndexCastOp::create(b, loc, b.getI64Type(), index); }
  Value call(uint64_t function, Type result, ArrayRef<Value> operands);
  Value askIndex(uint64_t function) {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), call(function, b.getI64Type(), {}));
  }
  void exchange(gpu::ShuffleOp op);
  void replace(Operation *op);
  template <typename Op>
  void watch(Op op, Value memref, ValueRange indices, int64_t count, int64_t alignment, bool isWrite);
  void watchAccess(Operation *op);

  func::FuncOp kernel;
  OpBuilder b;
  WorkItemCalls calls;
  Location loc = UnknownLoc::get(kernel.getContext());
  int64_t place = 0; ///< number of the current call site
};

/// Inserts the arguments for group memory after the tensors and before the open sizes.
void Rewriter::takeGroupMemory() {
  unsigned at = kernel.getNumArguments();
  while (at && kernel.getArgAttr(at - 1, attr::sizes))
    --at;
  llvm::MapVector<StringAttr, SmallVector<memref::GetGlobalOp>> uses;
  kernel.walk([&](memref::GetGlobalOp use) {
    if (isa_and_nonnull<gpu::AddressSpaceAttr>(use.getType().getMemorySpace()))
      uses[use.getNameAttr().getAttr()].push_back(use);
  });
  for (auto &[name, all] : uses) {
    auto type = MemRefType::get(all.front().getType().getShape(), all.front().getType().getElementType());
    auto attributes = b.getDictionaryAttr(b.getNamedAttr(groupMemoryArgument, b.getUnitAttr()));
    (void)kernel.insertArgument(at, type, attributes, loc);
    for (memref::GetGlobalOp use : all) {
      use.replaceAllUsesWith(Value(kernel.getArgument(at)));
      use.erase();
    }
    SymbolTable::lookupNearestSymbolFrom(kernel, name)->erase();
    ++at;
  }
}

/// Emits a call; returns null if it has no result.
Value Rewriter::call(uint64_t function, Type result, ArrayRef<Value> operands) {
  Value address = LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                           constant(static_cast<int64_t>(function)));
  SmallVector<Value> all{address};
  llvm::append_range(all, operands);
  SmallVector<Type> types(operands.size(), b.getI64Type());
  Type given = result ? result : LLVM::LLVMVoidType::get(b.getContext());
  auto made = LLVM::CallOp::create(b, loc, LLVM::LLVMFunctionType::get(given, types), all);
  return result ? made.getResult() : Value();
}

void Rewriter::exchange(gpu::ShuffleOp op) {
  Value v = op.getValue();
  Type type = v.getType(), bits = b.getIntegerType(type.getIntOrFloatBitWidth()), word = b.getI64Type();
  auto asWord = [&](Value narrow) -> Value { return arith::ExtSIOp::create(b, loc, word, narrow); };
  if (type != bits)
    v = arith::BitcastOp::create(b, loc, bits, v);
  if (bits != word)
    v = arith::ExtUIOp::create(b, loc, word, v);
  bool isXor = op.getMode() == gpu::ShuffleMode::XOR;
  assert(isXor || op.getMode() == gpu::ShuffleMode::IDX);
  v = call(calls.exchange, word, {constant(place), v, asWord(op.getOffset()), constant(isXor), asWord(op.getWidth())});
  if (bits != word)
    v = arith::TruncIOp::create(b, loc, bits, v);
  if (type != bits)
    v = arith::BitcastOp::create(b, loc, type, v);
  op.getShuffleResult().replaceAllUsesWith(v);
}

void Rewriter::replace(Operation *op) {
  b.setInsertionPoint(op);
  ++place;
  if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op))
    exchange(shuffle);
  else if (isa<gpu::BarrierOp>(op))
    (void)call(calls.barrier, Type(), {constant(place)});
  else if (isa<gpu::LaneIdOp>(op))
    op->getResult(0).replaceAllUsesWith(askIndex(calls.lane));
  else if (isa<gpu::SubgroupIdOp>(op))
    op->getResult(0).replaceAllUsesWith(askIndex(calls.subGroup));
  else if (auto group = dyn_cast<gpu::BlockIdOp>(op)) // groups and work-items are along x
    group.replaceAllUsesWith(group.getDimension() == gpu::Dimension::x
                                 ? Value(*std::prev(kernel.args_end(), 2))
                                 : arith::ConstantIndexOp::create(b, loc, 0).getResult());
  else if (isa<gpu::ThreadIdOp>(op))
    op->getResult(0).replaceAllUsesWith(Value(kernel.getArguments().back()));
  op->erase();
}

template <typename Op>
void Rewriter::watch(Op op, Value memref, ValueRange indices, int64_t count, int64_t alignment, bool isWrite) {
  auto argument = dyn_cast<BlockArgument>(memref);
  if (!argument || kernel.getArgAttr(argument.getArgNumber(), attr::sizes))
    return; // private to the work-item
  b.setInsertionPoint(op);
  int64_t bytes = llvm::divideCeil(cast<MemRefType>(memref.getType()).getElementTypeBitWidth(), 8);
  (void)call(calls.access, Type(),
             {constant(argument.getArgNumber()), indices.empty() ? constant(0) : asInteger(indices.front()),
              constant(count), constant(alignment ? alignment : bytes), constant(isWrite)});
}

void Rewriter::watchAccess(Operation *op) {
  auto lengthOf = [](VectorType type) { return type.getNumElements(); };
  if (auto load = dyn_cast<memref::LoadOp>(op))
    watch(load, load.getMemRef(), load.getIndices(), 1, 0, false);
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    watch(store, store.getMemRef(), store.getIndices(), 1, 0, true);
  else if (auto read = dyn_cast<vector::LoadOp>(op))
    watch(read, read.getBase(), read.getIndices(), lengthOf(read.getVectorType()), read.getAlignment().value_or(0),
          false);
  else if (auto write = dyn_cast<vector::StoreOp>(op))
    watch(write, write.getBase(), write.getIndices(), lengthOf(write.getVectorType()), write.getAlignment().value_or(0),
          true);
}

void Rewriter::run() {
  takeGroupMemory();
  for (int i = 0; i < 2; ++i)
    (void)kernel.insertArgument(kernel.getNumArguments(), b.getIndexType(), {}, loc);
  SmallVector<Operation *> between, accesses;
  kernel.walk([&](Operation *op) { (isa<gpu::GPUDialect>(op->getDialect()) ? between : accesses).push_back(op); });
  llvm::for_each(between, [&](Operation *op) { replace(op); });
  llvm::for_each(accesses, [&](Operation *op) { watchAccess(op); });
}

} // namespace

void quern::test::makeWorkItem(func::FuncOp kernel) { Rewriter(kernel).run(); }
