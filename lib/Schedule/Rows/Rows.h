//===- Rows.h - The rows recipe: chains of linalg ops with row reductions ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules a chain of linalg ops that share a parallel space and reduce along one dimension into a kernel of scf loops and vectors, or
// into one for each sweep if few long rows are to feed several threads.
// It reads indexing maps, iterator types, strides and bodies only; no primitive is known to it. What it decides (vector dimension,
// sweeps, what is kept between them) follows from the IR and from the strategy, and is written on the kernel as `quern.plan`.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_ROWS_H
#define QUERN_SCHEDULE_ROWS_ROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <string>

namespace quern {

/// What a target contributes. One table per target fills it (Targets/*/Strategy.h).
struct RowsStrategy {
  int64_t vectorBytes = 64;   ///< of one register; lanes follow from the widest type that a chain computes in
  int64_t registers = 32;     ///< vector registers; bounds the accumulators of a sweep
  int64_t unroll = 4;         ///< most vectors per iteration along a contiguous row
  int64_t sweepOps = 24;      ///< a sweep is unrolled up to about this many operations: cheap sweeps hide latency, dear ones stay small
  int64_t blockSteps = 32;    ///< steps that a sum takes before its partial result goes to a wider accumulator
  int64_t maxOps = 208;       ///< budget of operations per step when several vectors go side by side across rows (compile time)
  int64_t maxColumns = 8;     ///< most vectors side by side across rows
  int64_t recomputeOps = 3;   ///< a value needed in several sweeps is recomputed, not kept, up to this cost
  int64_t narrowestMask = 8;  ///< bits of the narrowest element that masked loads and stores take natively; 0: no masked memory access
  int64_t l1Bytes = 32 << 10; ///< what side-by-side columns may touch in one sweep
  int64_t scratchBytes = 512 << 10;     ///< most scratch per thread; values that do not fit are recomputed
  int64_t l2Bytes = 1 << 20;            ///< what a row that is read again should fit, with regard to the sets that its stride meets
  int64_t streamBytes = 16 << 20;       ///< a destination this large is written past the caches, where its alignment allows
  int64_t streamAlwaysBytes = 16 << 20; ///< by every call; a smaller one only by a call that computes all of it
  int64_t splitRows = 16;               ///< so few rows, if long, are cut into chunks that threads share
  int64_t splitElements = 32 << 10;     ///< least length of a chunk; a row is cut if it has two
  int64_t maxChunks = 64;               ///< of a row: a later sweep combines as many partial results
  double nsPerFarByte = 0.05;           ///< of a row that no longer fits L2, on one core
  double nsPerOperation = 0.17;         ///< of one vector operation on one core: what tells how many threads an iteration is worth
};

/// Schedules `problem` (strided memrefs; arguments named by `quern.arg`) as kernels that run one after the other, inserted in that
/// order after it: `@<name>_kernel`, or `@<name>_kernel0`, … where there are several. Each takes
///   (each argument as a rank-1 or rank-0 memref over its whole buffer, [shared {quern.shared}], [scratch {quern.scratch}],
///    [sizes {quern.sizes}: the dynamic sizes of the arguments, in the order of RowSize.h], begin: index, end: index)
/// and has the attributes `quern.space` (iterations; independent of each other), `quern.factors` (of dynamic dims, which multiply them),
/// `quern.plan` (one line), `quern.ns_per_iteration` (i64, an estimate on one core), if it takes scratch, `quern.scratch_bytes` (aligned to
/// 64 by the caller, one per thread), and if it takes shared scratch, `quern.shared_bytes` (aligned likewise, one for all calls of all
/// kernels of an execution). `problem` stays.
/// A fill of an argument that a later op overwrites is a kernel of its own, `@<name>_fill_kernel`, in front.
/// Arguments of one type and layout may be the same memory; arguments that otherwise overlap may not.
/// Fails without a diagnostic when the chain does not match; `whyNot`, if given, then receives the reason in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> scheduleRows(mlir::func::FuncOp problem, const RowsStrategy &strategy,
                                                                    std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_ROWS_ROWS_H
