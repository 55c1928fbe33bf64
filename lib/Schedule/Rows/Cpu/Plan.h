//===- Plan.h - The plan of the rows recipe on the CPU --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A plan has all decisions that emission implements: the dim that vectors run along, the number of sweeps over the row,
// the sweeps in which each stage is computed, and where values wait between sweeps. Its attribute is the kernel's plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CPU_PLAN_H
#define QUERN_SCHEDULE_ROWS_CPU_PLAN_H

#include "IR/Plan.h"
#include "Schedule/Build/Kernel.h"
#include "Schedule/Rows/Cpu/Split.h"
#include "Schedule/Rows/Cpu/Vectors.h"

namespace quern::schedule::rows {

struct StagePlan {
  uint64_t usedIn = 0; ///< bit s is set if sweep s computes it
  int keptIn = -1;     ///< the sweep that stores its value for later ones; -1: it is computed wherever it is needed
  const Access *storage = nullptr; ///< destination that holds a kept value; null: scratch or the stage's argument
  int64_t scratch = -1;            ///< offset of a kept value in scratch in bytes; -1: none
  int64_t cost = 0;                ///< operations to recompute it
  /// By result of a reduction: offset of the chunks' partial results in shared scratch, in bytes.
  llvm::SmallVector<int64_t, 1> partials;
};

/// A read that is done once and kept, because it is expensive to repeat: its lanes are strided, or its row does not
/// stay in the cache.
struct KeptRead {
  const Access *access = nullptr;
  int keptIn = 0, lastUse = 0; ///< first and last sweep that read it
  int64_t scratch = -1;
};

/// One form of the code for a row: the sweeps that compute each stage, and where values wait between sweeps.
struct RowForm {
  const RowVectors &vectors;
  llvm::SmallVector<StagePlan, 8> stages;
  llvm::SmallVector<KeptRead, 2> keptReads;
  bool streams = false; ///< true if the last sweep has a variant with non-temporal stores

  explicit RowForm(const RowVectors &vectors) : vectors(vectors) {}
  /// Returns the number of operations per vector in one sweep.
  int64_t opsIn(int sweep) const;
  /// Returns the number of adjacent vectors in one step of a sweep.
  int64_t columnsIn(int sweep) const;
  /// Returns true if a sweep may read pairs of vectors and deinterleave them: it only reduces contiguous rows of bf16,
  /// in which the order of lanes does not matter. Even and odd elements are the halves of f32 lanes, so no permutation
  /// is needed.
  bool readsPairs(int sweep) const;
  const KeptRead *keptReadOf(const Access &access) const;
};

/// The forms of a row. There are several if the length of a row is open.
struct RowForms {
  RowForm usual; ///< for all rows to which no other form applies
  /// For rows that are longer than `shortRow`, so that scratch cannot hold their values: a value that `usual` keeps in
  /// scratch is kept in the destination or recomputed, and reads are not kept. `shortRow` 0: there is no such form.
  RowForm longRows;
  int64_t shortRow = 0;
  /// For rows of at most `maxRegisterVectors` vectors: all values stay in registers, and nothing else is kept.
  RowForm inRegisters;
  int64_t maxRegisterVectors = 0;

  explicit RowForms(const RowVectors &vectors) : usual(vectors), longRows(vectors), inRegisters(vectors) {}
};

/// The iteration space of a kernel.
struct RowSpace {
  IterationSpace rows; ///< iterations over rows, before these are split into chunks
  int64_t groups = 1;  ///< iterations along the vector dim; an estimate if that is open
  RowSplit split;
  bool isSplit() const { return split.chunks > 1; }
};

/// Memory of a kernel, in bytes.
struct RowScratch {
  int64_t bytes = 0;
  int64_t sharedBytes = 0;
  int64_t bytesAtPosition = 0; ///< across rows: bytes per vector and row position that later sweeps read
  int64_t laneBuffer = -1;     ///< offset of one vector, for lanes that are moved one by one; -1: none
};

/// Conditions of a last sweep with non-temporal stores.
struct RowStreaming {
  /// True if only a call that computes all rows uses them: several threads together have more cache.
  bool isForFullCalls = false;
  /// With open sizes, the kernel checks at run time whether the destination is large and its rows are aligned.
  bool isChecked = false;
};

struct RowPlan {
  RowChain &chain;
  const RowsStrategy strategy;
  RowVectors vectors;
  RowForms forms;
  RowSpace space;
  RowScratch scratch;
  RowStreaming streaming;
  int sweeps = 0;

  RowPlan(RowChain &chain, const RowsStrategy &strategy)
      : chain(chain), strategy(strategy), vectors{chain, this->strategy}, forms(vectors) {}
  RowPlan(const RowPlan &) = delete;
  RowPlan &operator=(const RowPlan &) = delete;

  /// Returns true if an iteration may have fewer vectors than usual, so that the kernel has forms for fewer.
  bool hasNarrowForms() const {
    return !vectors.alongRow() && !space.isSplit() && vectors.columns > 1 && vectors.depth * vectors.runs == 1 &&
           !vectors.inHalves && chain.dims[vectors.vectorDim].limit < 0 && vectors.vectorExtent().isOpen();
  }
  /// Returns true if the vectors of a row map to so few L2 sets that the first ones are evicted before a later sweep.
  /// If sizes are open, this is assumed, and rows that fit scratch are kept.
  bool thrashesL2(const Access &access) const;
  /// Returns true if the sweep goes from the end of the row to its start, because the data that the sweep before it
  /// accessed last is still in L1. Such a sweep has no reductions and accesses more bytes than half of L1.
  bool sweepsBackward(const RowForm &form, int sweep) const;
  /// Returns true if the next iteration's elements are prefetched, because row positions are so far from each other
  /// that the hardware prefetcher does not follow.
  bool isPrefetched(const Access &access) const;
  /// Returns true for a large destination of whole vectors, which is written with non-temporal stores if its buffer is
  /// aligned.
  bool isStreamed(const Access &access) const;
  /// Returns the number of indices of a limited loop that one iteration covers: the extent of the vector dim, or 1.
  int64_t countedRun(int limit) const;
  /// Returns the number of iterations along a dim. The highest digit of a limited loop counts for the whole loop; its
  /// other digits, except the vector dim, count 1.
  Size countOf(int dim) const;
  /// Returns the number of operations of one iteration, including loads and stores.
  int64_t opsPerIteration() const;
  /// Returns the plan of the kernel of one sweep. Only the first of several kernels has the whole plan.
  PlanAttr attribute(int sweep) const;
};

inline constexpr int64_t horizontalOps = 15; ///< operations of a reduction within a vector

/// If the chain only sums bytes, chooses a form that sums several per lane or in 16 bits (depth, inHalves, lanes,
/// vectorDim), provided that the layout permits it and it costs less than `least` operations per element. Returns the
/// lower of the two costs.
double chooseByteSums(RowVectors &vectors, double least);

/// Chooses columns, groups and runs of such a plan across rows.
void chooseColumnsOfBytes(RowPlan &plan);

/// Returns the number of operations of one iteration if `wholeRows` rows are held in a vector of `registers` registers.
double opsOfWholeRows(const RowVectors &vectors, int64_t registers);

/// Chooses vectors that hold whole rows (vectorDim, lanes, wholeRows, groups) if that costs less than `least`
/// operations per element.
void chooseWholeRows(RowPlan &plan, double least);

/// Forms of a row of open length (OpenPlan.cpp). wantsShortForm() decides whether short rows get separate forms,
/// longestShortRow() the length up to which scratch holds their values, keptAtPosition() the bytes of these per row
/// position, and countRegisterVectors() the number of vectors that stay in registers.
bool wantsShortForm(const RowPlan &plan);
int64_t keptAtPosition(const RowPlan &plan);
/// Returns the stage whose kept values replace those of a kept read: a stage kept by the last sweep that uses the read.
const StagePlan *replacementOf(const RowPlan &plan, const KeptRead &read);
int64_t longestShortRow(const RowPlan &plan);
int64_t countRegisterVectors(const RowPlan &plan);

/// Makes the plan. Fails only if the chain computes in a type wider than a vector, has too many dependent sweeps, or
/// reads a value in a later sweep that is not stored.
mlir::LogicalResult planRows(RowPlan &plan, std::string &whyNot);

} // namespace quern::schedule::rows

#endif // QUERN_SCHEDULE_ROWS_CPU_PLAN_H
