//===- KSlices.h - Slices of K, one after another -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_KSLICES_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_KSLICES_H

#include "Schedule/Contraction/Cpu/Blocks.h"

namespace quern::schedule::contractions {

/// Computes all of K for a chunk of some tiles, by slices.
class SliceEmitter {
public:
  SliceEmitter(ContractionBuilder &ir, const ContractionPlan &plan, const RowBlocks &rows, const BlockEmitter &blocks,
               Value scratch)
      : ir(ir), plan(plan), chain(plan.chain), slices(*plan.k.slices), rows(rows), blocks(blocks), scratch(scratch) {}
  void emit(IndexRange tiles, Value chunk) const;

private:
  void forTiles(IndexRange tiles, llvm::function_ref<void(Tile &)> body) const;
  void emitSlice(IndexRange tiles, Value chunk, IndexRange range, Value begin) const;
  void prefetchStarts(const Tile &tile, const RowBlock &block) const;
  void copyLhs(KSlice &slice, IndexRange range) const;
  void copyRhs(KSlice &slice, const Tile &tile) const;
  void forSteps(const KSlice &slice, llvm::function_ref<void(Value step, llvm::ArrayRef<Value> k)> body) const;
  Value copyOf(const Product::Factor &from, const Product::Factor &to, llvm::ArrayRef<Value> k,
               llvm::function_ref<Value(Value k)> load) const;
  Value bufferOf(int64_t bytes, int64_t elements, mlir::Type element) const;

  ContractionBuilder &ir;
  const ContractionPlan &plan;
  const Chain &chain;
  const KSlices &slices;
  const RowBlocks &rows;
  const BlockEmitter &blocks;
  Value scratch; ///< sums that wait
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_KSLICES_H
