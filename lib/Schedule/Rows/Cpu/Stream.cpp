//===- Stream.cpp - A last sweep with non-temporal stores -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

/// Returns 0 at run time if every vector of a destination is aligned to its size, otherwise another value.
Value SweepEmitter::misalignmentOf(const Access &out) {
  const int64_t bytes = bytesOf(out.elementType());
  Value places = create<memref::ExtractAlignedPointerAsIndexOp>(kernel.arguments.lookup(out.base));
  auto include = [&](Size size) {
    if (size.isOpen())
      places = create<arith::OrIOp>(places, mul(index(size), bytes));
  };
  include(out.offset);
  for (auto [dim, stride] : llvm::enumerate(out.strides))
    if (static_cast<int>(dim) != vectors.vectorDim)
      include(stride);
  include(vectors.alongRow() ? chain.rowExtent : out.row.step());
  return create<arith::AndIOp>(places, index(vectors.lanes * bytes - 1));
}

/// Returns whether every streamed destination is aligned and this call may use non-temporal stores: the threads of
/// partial calls together have more cache, so these need a larger destination.
Value SweepEmitter::emitMayStream() {
  Value misaligned;
  int64_t widest = 1;
  for (Stage &stage : chain.stages)
    for (const Access &out : stage.outs) {
      if (!stage.isElementwise() || !plan.isStreamed(out))
        continue;
      Value rest = misalignmentOf(out);
      misaligned = misaligned ? create<arith::OrIOp>(misaligned, rest).getResult() : rest;
      widest = std::max(widest, bytesOf(out.elementType()));
    }
  Value aligned = isEqual(misaligned, 0);
  if (!plan.streaming.isForFullCalls && !plan.streaming.isChecked)
    return aligned;
  Index space = plan.space.rows.number;
  ArrayRef<int64_t> factors = plan.space.rows.factors;
  for (; !factors.empty(); factors = factors.drop_front(2))
    space = mul(space, ceilDiv(Size::open(factors[0]), factors[1]));
  Value all = isEqual(sub(kernel.end(), kernel.begin()), space);
  if (!plan.streaming.isChecked)
    return both(aligned, all);
  Index bytes = mul(widest, chain.rowExtent);
  for (const Dim &dim : chain.dims)
    bytes = mul(bytes, dim.extent);
  const RowsStrategy &strategy = plan.strategy;
  Value least = create<arith::SelectOp>(all, index(strategy.streamBytes),
                                        index(std::max(strategy.streamBytes, strategy.streamAlwaysBytes)));
  return both(aligned, compare(arith::CmpIPredicate::sge, bytes, least));
}

Value SweepEmitter::mayStream() {
  if (!streamsNow)
    streamsNow = atEntry([&] { return emitMayStream(); });
  return streamsNow;
}

/// Emits the sweep in two forms. Values that one form hoists to the row level must not be found by the other, so values
/// that both need are emitted first.
void SweepEmitter::emitStreamedSweep() {
  for (auto [i, stage] : llvm::enumerate(chain.stages))
    for (int64_t slot = 0; slot < rowsOfStep; ++slot)
      if (stage.perRow && ((form->stages[i].usedIn >> sweep) & 1))
        values(i, slot);
  auto choice = create<scf::IfOp>(mayStream(), /*withElseRegion=*/true);
  const RowCache known = ofRow;
  for (bool streamed : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(streamed ? choice.thenBlock() : choice.elseBlock());
    streaming = streamed;
    emitSweep();
    ofRow = known;
  }
}
