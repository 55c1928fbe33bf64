//===- OpenEmitter.h - Products with open sizes ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// OpenEmitter.cpp writes the kernel, its iterations, blocks and elementwise ops; OpenCopy.cpp writes the copies of rhs
// and computes the addresses of its vectors.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_OPENEMITTER_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_OPENEMITTER_H

#include "Schedule/Build/Bodies.h"
#include "Schedule/Contraction/Cpu/Open.h"
#include "Schedule/Contraction/Numbers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace quern::schedule::contractions {

class OpenEmitter : NumberEmitter {
public:
  explicit OpenEmitter(const OpenPlan &plan)
      : NumberEmitter(plan.chain.problem), plan(plan), chain(plan.chain), problem(chain.problem),
        own(chain.products[0]), sumType(mlir::VectorType::get({plan.lanes}, chain.sumType())),
        waitingType(mlir::VectorType::get({plan.lanes}, plan.waitingType())) {}
  mlir::func::FuncOp emit();

private:
  struct Range {
    Value begin, end;
  };
  enum class Rhs { Copied, InPlace, InPanels };
  enum class Sums { Waiting, Done }; ///< state of the sums after one slice of K, or after all of K
  /// Range of vectors of the tile.
  struct Vectors {
    Value first;
    int64_t count;
  };
  struct Block {
    Value row;
    int64_t height;
    Vectors of;
    Range k;
    Rhs from;
    Sums sumsOf;
    Values places = {};   ///< addresses of waiting sums
    Values inPanels = {}; ///< address of each vector at the first step
  };
  Value view(int64_t bytes, int64_t elements, mlir::Type element) {
    auto type = mlir::MemRefType::get({elements}, element);
    return create<mlir::memref::ViewOp>(type, kernel.scratch, index(bytes), mlir::ValueRange());
  }
  void emitIteration(Value iteration);
  void emitDots(Range k);
  Value addTo(Value waiting, Value sum);
  void emitDots(Range k, Value row, int64_t height, Value column, int64_t columns);
  void startSums();
  void copyPart(Range k);
  void copyRuns(Range k);
  void copyTransposed(Range k);
  void copySquare(Value vector, Value k, Value partBegin);
  void copyElements(Value vector, Range k, Value partBegin);
  Value copyAt(Value k, Value partBegin, Value vector);
  void copyPair(Value vector, Value step, Value partBegin, Value exist, bool hasSecond);
  /// Emits whole steps, then one step with the remaining elements along K, fewer than are packed.
  using StepBody = llvm::function_ref<Values(Value step, Values carried, int64_t elements)>;
  void forSteps(Range k, Values &carried, StepBody body);
  void forSteps(Range k, llvm::function_ref<void(Value step, bool isWhole)> body);
  void sumPart(Range k, Rhs from, Sums sumsOf);
  void forBlocks(llvm::ArrayRef<int64_t> heights, llvm::function_ref<void(Value row, int64_t height)> body);
  Values startBlock(Block &block);
  Value loadStep(const Block &block, Value step, int64_t v, bool isWhole);
  void finishBlock(const Block &block, const Values &after);
  void emitBlock(Block block);
  void emitWhole(Range k, llvm::ArrayRef<int64_t> heights, Rhs from);
  void emitInParts(Value isFull, Value hasFewRows);
  Value sumsAt(Value row, Value column);
  void emitEpilogue();
  void emitPoint(Value row, Value column, int64_t lanes, Value sum = {});
  Value load(const TileAccess &access, Value row, Value column, int64_t lanes);
  Value rhsAt(Value k, Value column) {
    return linear(own.sums[0].offset,
                  {{k, own.reduced[0].rhs}, {tileColumn, own.columns[0].stride}, {column, own.columns[0].stride}});
  }
  Value loadVector(const Product::Factor &factor, Value at, int64_t elements) {
    auto type = mlir::VectorType::get({elements}, factor.element());
    return create<mlir::vector::LoadOp>(type, argument(factor.base), mlir::ValueRange{at});
  }
  Value loadRhs(Value at) { return convert(b, own.rhs, loadVector(own.rhs, at, plan.lanes)); }
  Value pairsOf(Value step, Value column, bool hasSecond);
  Value placeInPanels(const Vectors &of, int64_t vector);
  /// Returns the lhs operands of the dots of a row at a step.
  llvm::SmallVector<Value, 4> lhsOf(const Product &product, Value row, Value step);
  /// Prefetches the tile's rhs some steps ahead, because its rows are too far from each other for a hardware
  /// prefetcher. Addresses past the end are harmless.
  void prefetchRhs(Value step) {
    constexpr int64_t ahead = 16;
    const int64_t bytes = own.rhs.element().getIntOrFloatBitWidth() / 8;
    for (int64_t i = 0; i < plan.stepLength(); ++i)
      for (int64_t column = 0; column < plan.width(); column += lineBytes / bytes)
        create<mlir::memref::PrefetchOp>(argument(own.rhs.base),
                                         mlir::ValueRange{rhsAt(linear(ahead + i, {{step, 1}}), index(column))},
                                         /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  }
  Value argument(Value base) { return kernel.arguments.lookup(base); }

  const OpenPlan &plan;
  const Chain &chain;
  mlir::func::FuncOp problem;
  const Product &own;                    ///< the product as read from memory, not from copies
  mlir::VectorType sumType, waitingType; ///< type of a sum in a register, and in scratch
  Value sums, copy;                      ///< views of scratch
  Value tileColumn;                      ///< first column of the tile
  Value count;                           ///< columns of the tile
  Value whole, started;                  ///< its whole vectors, and all vectors
  Range rows;                            ///< rows of the chunk
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_OPENEMITTER_H
