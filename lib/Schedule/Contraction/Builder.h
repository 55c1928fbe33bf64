//===- Builder.h - Addresses and loops of a contraction ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ContractionBuilder adds shared linear addresses, loops over counts and partial vectors to KernelBuilder. The parts of
// an emitter share one builder.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_BUILDER_H
#define QUERN_SCHEDULE_CONTRACTION_BUILDER_H

#include "Schedule/Build/KernelBuilder.h"

namespace quern::schedule::contractions {

/// A range of rows, tiles or steps.
struct IndexRange {
  mlir::Value begin, end;
};

class ContractionBuilder : public KernelBuilder {
public:
  /// value * stride, added to an address.
  struct Term {
    Value value;
    Size stride;
  };

  using KernelBuilder::KernelBuilder;

  Value linear(int64_t offset, llvm::ArrayRef<Term> terms);
  /// Emits a sum or product of indices once for all blocks that can see it: every further operation costs time in each
  /// later pass.
  template <typename Op> Value shared(Value x, Value y) {
    auto key = [&](mlir::Block *block) { return std::tuple(mlir::TypeID::get<Op>(), block, x, y); };
    for (mlir::Block *block = b.getInsertionBlock(); block; block = block->getParent()->getParentOp()->getBlock())
      if (auto found = indices.find(key(block)); found != indices.end())
        return found->second;
    return indices[key(b.getInsertionBlock())] = create<Op>(x, y, mlir::arith::IntegerOverflowFlags::nsw);
  }
  /// Returns the end of the last whole group of `steps` indices.
  Value endOfWhole(Value begin, Value end, int64_t steps) { return sub(end, mod(sub(end, begin), steps)); }
  /// Adds sums, which are floats or integers.
  Value plus(Value x, Value y);

  void forCount(int64_t begin, int64_t end, llvm::function_ref<void(Value)> body);
  /// Covers rows by blocks: as many of the first height as fit, then of the next. The last height must be 1.
  void forHeights(llvm::ArrayRef<int64_t> heights, IndexRange rows,
                  llvm::function_ref<void(Value row, int64_t height)> body);

  Value buffer(Value base) { return kernel.arguments.lookup(base); }
  /// Returns the part of scratch that starts at byte `bytes` as a buffer of `elements` elements.
  Value scratchBuffer(int64_t bytes, int64_t elements, Type element);
  /// Loads `count` elements, or those of the mask; the other elements of `lanes` are zero and not read.
  Value loadLanes(Value memref, Value at, int64_t lanes, Value mask, int64_t count);
  /// Stores the first `count` elements, or those of the mask.
  void storeLanes(Value v, Value memref, Value at, Value mask, int64_t count);
  /// Transposes the squares that registers of `lanes` elements hold. `pieceAt` returns the address of a lane's piece of
  /// a square, `sink` consumes the vector of lanes at an element of the pieces.
  void transpose(Value memref, int64_t lanes, llvm::function_ref<Value(int64_t lane)> pieceAt,
                 llvm::function_ref<void(int64_t element, Value v)> sink);

private:
  llvm::DenseMap<std::tuple<mlir::TypeID, mlir::Block *, Value, Value>, Value> indices; ///< results of shared()
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_BUILDER_H
