//===- KernelBuilder.cpp - The kernel, constants and control flow --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Build/KernelBuilder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

void KernelBuilder::beginKernel(func::FuncOp problem, Operation *after, const KernelTraits &traits,
                                ArrayRef<Operation *> prologue) {
  kernel = makeKernel(problem, after, traits);
  b.setInsertionPointToEnd(&kernel.function.getBody().front());
  clonePrologue(problem, prologue);
}

void KernelBuilder::clonePrologue(func::FuncOp problem, ArrayRef<Operation *> prologue) {
  for (Operation *op : prologue) {
    for (Value v : op->getOperands())
      if (!kernel.arguments.contains(v))
        b.clone(*v.getDefiningOp(), kernel.arguments); // a constant
    auto load = dyn_cast<memref::LoadOp>(op);
    const bool moves = load && load.getMemRefType().getRank() &&
                       (load.getMemRefType().getRank() > 1 || !load.getMemRefType().getLayout().isIdentity());
    if (!moves) {
      b.clone(*op, kernel.arguments);
      continue;
    }
    // The memref becomes flat, so the load's indices are linearized.
    const AtOperation scope(*this, load.getLoc());
    const ArgumentSizes::Layout layout = ArgumentSizes(problem).layoutOf(load.getMemRef());
    Index at = layout.offset;
    for (auto [i, stride] : llvm::zip_equal(load.getIndices(), layout.strides))
      at = add(at, mul(kernel.arguments.lookup(i), stride));
    kernel.arguments.map(load.getResult(), loadScalar(kernel.arguments.lookup(load.getMemRef()), at));
  }
}

scf::ForOp KernelBuilder::beginSpace() {
  auto loop = create<scf::ForOp>(kernel.begin(), kernel.end(), index(1));
  entry = loop;
  create<func::ReturnOp>();
  b.setInsertionPointToStart(loop.getBody());
  return loop;
}

func::FuncOp KernelBuilder::finishKernel() {
  kernel.function.walk([](scf::ForOp loop) { moveLoopInvariantCode(loop); });
  return kernel.function;
}

Value KernelBuilder::constant(TypedAttr attr) {
  Value &known = constants[attr];
  if (!known)
    known = atEntry([&] { return create<arith::ConstantOp>(attr).getResult(); });
  return known;
}

Value KernelBuilder::index(Index x) {
  if (x.value)
    return x.value;
  if (std::optional<int64_t> number = x.number())
    return constant(b.getIndexAttr(*number));
  const int64_t open = x.size.openIndex(), factor = x.size.openFactor();
  if (Value known = openSizes.lookup({open, factor}))
    return known;
  Value value = factor == 1 ? atEntry([&] { return loadScalar(kernel.sizes, open); })
                            : atEntry([&] { return mul(index(Size::open(open)), factor); });
  return openSizes[{open, factor}] = value;
}

Value KernelBuilder::splat(TypedAttr scalar, int64_t lanes) {
  return constant(lanes
                      ? TypedAttr(DenseElementsAttr::get(VectorType::get({lanes}, scalar.getType()), Attribute(scalar)))
                      : scalar);
}

Value KernelBuilder::zeros(Type type) { return constant(b.getZeroAttr(type)); }

Value KernelBuilder::captured(Value scalar, int64_t lanes) {
  TypedAttr attr;
  if (matchPattern(scalar, m_Constant(&attr)))
    return splat(attr, lanes);
  Value inKernel = kernel.arguments.lookup(scalar);
  if (!lanes)
    return inKernel;
  Value &known = splats[{scalar, lanes}];
  if (!known)
    known = atEntry(
        [&] { return create<vector::BroadcastOp>(VectorType::get({lanes}, scalar.getType()), inKernel).getResult(); });
  return known;
}

Value KernelBuilder::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  if (std::optional<int64_t> left = Index(x).number())
    return *left ? y : x;
  if (std::optional<int64_t> right = Index(y).number())
    return *right ? x : y;
  return create<arith::AndIOp>(x, y);
}

Value KernelBuilder::prefixMask(Index count, int64_t lanes) {
  if (std::optional<int64_t> number = count.number()) {
    SmallVector<bool> bits(lanes);
    std::fill_n(bits.begin(), std::clamp<int64_t>(*number, 0, lanes), true);
    return constant(DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), bits));
  }
  auto type = VectorType::get({lanes}, b.getI32Type());
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(lanes)));
  Value iota = constant(DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers))), narrow = index(count);
  if (isa<IndexType>(narrow.getType()))
    narrow = create<arith::IndexCastOp>(b.getI32Type(), narrow);
  return create<arith::CmpIOp>(arith::CmpIPredicate::slt, iota, create<vector::BroadcastOp>(type, narrow));
}

void KernelBuilder::choose(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  const std::optional<int64_t> known = condition ? Index(condition).number() : 1;
  if (known && *known)
    return then();
  if (known)
    return otherwise ? otherwise() : void();
  auto choice = create<scf::IfOp>(condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  then();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(choice.elseBlock());
  otherwise();
}

KernelBuilder::Values KernelBuilder::chooseValues(Value condition, TypeRange types, function_ref<Values()> then,
                                                  function_ref<Values()> otherwise) {
  if (!condition)
    return then();
  auto choice = create<scf::IfOp>(types, condition, /*withElseRegion=*/!types.empty());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  Values results = then();
  if (types.empty())
    return {};
  create<scf::YieldOp>(results);
  b.setInsertionPointToStart(choice.elseBlock());
  create<scf::YieldOp>(otherwise());
  return Values(choice.getResults());
}

KernelBuilder::Values KernelBuilder::loop(Value begin, Value end, Value step, ValueRange initial,
                                          function_ref<Values(Value, Values)> body) {
  auto loop = create<scf::ForOp>(begin, end, step, initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), Values(loop.getRegionIterArgs()));
  if (!next.empty())
    create<scf::YieldOp>(next);
  return Values(loop.getResults());
}

void KernelBuilder::forRange(Index begin, Index end, function_ref<void(Value)> body, Index step) {
  loop(index(begin), index(end), index(step), {}, [&](Value at, const Values &) {
    body(at);
    return Values();
  });
}
