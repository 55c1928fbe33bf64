//===- Contraction.h - The contraction recipe: products, then elementwise ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules products of two operands that accumulate into one space of rows and columns, and the elementwise ops around them, into one
// kernel of scf loops and vectors: a block of sums stays in registers over all of K, and the elementwise ops follow while the block is in
// registers or in a scratch of the first-level cache. It reads indexing maps, iterator types, strides and bodies only; no primitive is
// known to it. What it decides is written on the kernel as `quern.plan`.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CONTRACTION_H
#define QUERN_SCHEDULE_CONTRACTION_CONTRACTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <string>

namespace quern {

/// What a target contributes. One table per target fills it (Targets/*/Strategy.h).
struct ContractionStrategy {
  int64_t vectorBytes = 64;        ///< of one register
  int64_t registers = 32;          ///< vector registers: sums, the vectors of one step along K and one broadcast element fit
  int64_t narrowestMask = 8;       ///< bits of the narrowest element that masked loads and stores take natively; 0: no masked memory access
  int64_t vectors = 4;             ///< sums side by side in a row of a block, over all accumulators
  int64_t maxRows = 14;            ///< of a block
  int64_t leastSums = 8;           ///< a block of few rows is made wider up to about as many, so that sums do not wait for each other
  bool hasFma = true;              ///< multiplies and adds in one instruction
  bool hasPairDots = false;        ///< adds products of pairs of bf16 in one instruction, and rounds to bf16 in one
  bool hasQuadDots = false;        ///< adds products of four bytes, unsigned with signed, in one instruction
  bool hasMatrices = false;        ///< has registers of a matrix (Transforms/X86/MatrixInstructions.h)
  int64_t leastMatrixRows = 4;     ///< fewer rows leave most of a matrix empty and are faster by vectors
  int64_t leastMatrixSteps = 16;   ///< so are fewer steps along K, of all products
  int64_t chunkRows = 64;          ///< rows of an iteration: bounds the scratch and gives several threads work
  int64_t cutBytes = 256 << 10;    ///< more than so much of rhs that a tile reads in strides is copied, as much at a time
  int64_t cutRows = 256;           ///< then the rows of an iteration
  int64_t leastCopyRows = 64;      ///< rows for which copying pays
  int64_t inlineOps = 6;           ///< elementwise ops of up to so many operations stay in registers, more go over scratch
  int64_t nearStrideBytes = 4096;  ///< a step along K this long meets the same sets of a cache: tiles of few rows then read longer runs
  bool isLastResort = false;       ///< no other recipe takes it: strided columns are read one by one, and a single one is taken, too
  int64_t nearestBytes = 32 << 10; ///< what a tile reads of rhs so often stays in the first level of the cache up to this size
  int64_t nearBytes = 512 << 10;   ///< and in the second up to this
  int64_t aheadBytes = 2048;       ///< what comes from the second is asked for so far ahead
  int64_t farAheadBytes = 4096;    ///< and from beyond it so far, by the first rows that read it
  int64_t togetherBytes = 1024;    ///< a step along K this short follows the one before: the prefetcher of a core sees one stream
  int64_t leastTiles = 8;          ///< tiles are narrower where there would be fewer, each of more than nsOfTile
  double nsOfTile = 2000;
  double nsPerOperation = 0.17; ///< of one vector operation on one core
  double nsPerMatrix = 6;       ///< of a product of two full ones
  double nsPerByte = 0.011;     ///< of a factor that comes from beyond the second level of the cache
};

/// Schedules `problem` as one kernel `@<name>_kernel` behind it. The kernel's signature and attributes are those that scheduleRows()
/// gives. `problem` stays. An argument that only elementwise ops read may be the same memory as one of the same type and layout that they
/// write; arguments that otherwise overlap may not. Fails without a diagnostic where the function does not match; `whyNot`, if given, then
/// receives the reason in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> scheduleContraction(mlir::func::FuncOp problem, const ContractionStrategy &strategy,
                                                                           std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_CONTRACTION_CONTRACTION_H
