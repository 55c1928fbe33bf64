//===- Plan.h - The plan of the rows recipe on the CPU --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A plan has all decisions that emission implements: the dim that vectors run along, the number of sweeps over the row,
// the sweeps in which each stage is computed, and where values wait between sweeps. Its text is the kernel's plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CPU_PLAN_H
#define QUERN_SCHEDULE_ROWS_CPU_PLAN_H

#include "Schedule/Rows/Chain.h"
#include "Schedule/Rows/Cpu/Split.h"
#include "Schedule/Rows/Rows.h"

namespace quern::schedule::rows {

/// The addresses of a vector's lanes in an operand. `Same`: one address; `Unit`: contiguous; `Pieces`: contiguous
/// within blocks that are shorter than a vector; `Neighbors`: several contiguous row positions per lane; `Strided`:
/// anything else.
enum class LaneKind { Same, Unit, Pieces, Neighbors, Strided };

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

struct RowPlan {
  RowChain &chain;
  RowsStrategy strategy;
  int64_t lanes = 0;         ///< lanes of a vector
  int64_t registerLanes = 0; ///< lanes of a register; a vector that holds whole rows may be several registers
  /// Rows that a vector holds, one after another; 0: a vector holds part of a row, or one position of several rows.
  int64_t wholeRows = 0;
  bool compactsRows = false; ///< true if per-row stages use one register and are then spread over the rows' lanes
  int64_t depth = 1;         ///< row positions per lane of a step; more than 1 if bytes are summed (ByteSums.cpp)
  int64_t runs = 1;          ///< groups of `depth` positions that a step across rows adds up first
  bool inHalves = false;     ///< true if bytes are summed in 16 bits within a block
  int vectorDim = -1;        ///< parallel dim that vectors run along; -1: the row
  int64_t columns = 1;       ///< adjacent vectors in a step, if vectors run across rows
  int64_t groups = 1;        ///< iterations along the vector dim; an estimate if that is open
  int64_t space = 1;         ///< iterations without the factors
  /// Open extents that multiply the space: index in the list of sizes, and indices per iteration.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> factors;
  int sweeps = 0;
  llvm::SmallVector<StagePlan, 8> stages;
  llvm::SmallVector<KeptRead, 2> keptReads;
  /// For rows of open length that are longer than `shortRow`, so that scratch cannot hold their values: a value that
  /// `stages` keeps in scratch is kept in the destination or recomputed, and reads are not kept. `shortRow` 0: one form
  /// for all rows.
  llvm::SmallVector<StagePlan, 8> longStages;
  int64_t shortRow = 0;
  /// For rows of open length of at most `maxRegisterVectors` vectors: all values stay in registers, and nothing else is
  /// kept.
  llvm::SmallVector<StagePlan, 8> registerStages;
  int64_t maxRegisterVectors = 0;
  int64_t scratchBytes = 0;
  int64_t bytesAtPosition = 0; ///< open lengths, across rows: bytes per vector and position for later sweeps
  RowSplit split;
  int64_t sharedBytes = 0;
  bool streams = false; ///< true if the last sweep has a form with non-temporal stores
  /// True if only a call that computes all rows uses non-temporal stores: several threads together have more cache.
  bool streamsFullCallsOnly = false;
  /// With open sizes, the kernel checks at run time whether the destination is large and its rows are aligned.
  bool checksStreaming = false;
  int64_t laneBuffer = -1; ///< offset in scratch of one vector, for lanes that are moved one by one; -1: none

  RowPlan(RowChain &chain, const RowsStrategy &strategy) : chain(chain), strategy(strategy) {}
  bool alongRow() const { return vectorDim < 0; }
  bool isSplit() const { return split.chunks > 1; }
  LaneKind lanesOf(const Access &access) const;
  /// Returns the parallel indices of the vector dim that one iteration covers.
  int64_t perGroup() const { return wholeRows ? wholeRows : columns * lanes; }
  /// Returns true if the last vector of whole rows may hold fewer rows.
  bool hasPartialVector() const;
  /// Returns true if all rows of a vector of whole rows read the same contiguous elements of this operand.
  bool isSameForRows(const Access &access) const;
  /// Returns true if each row of a vector of whole rows reads one element of this operand, and these are contiguous.
  bool isOnePerRow(const Access &access) const;
  /// Returns true if every iteration reads the same elements of this operand, and lanes are not moved one by one.
  bool isSameForGroups(const Access &access) const;
  /// Returns true if the row or a parallel dim has an open extent.
  bool hasOpenSpace() const {
    return chain.rowExtent.isOpen() || llvm::any_of(chain.dims, [](const Dim &dim) { return dim.extent.isOpen(); });
  }
  /// Returns true if an iteration may have fewer vectors than usual, so that the kernel has forms for fewer.
  bool hasNarrowForms() const {
    return !alongRow() && !isSplit() && columns > 1 && depth * runs == 1 && !inHalves &&
           chain.dims[vectorDim].limit < 0 && vectorExtent().isOpen();
  }
  /// Returns true if masked accesses are as fast as others for every element type.
  bool masksFreely() const { return strategy.narrowestMask && strategy.narrowestMask <= 8; }
  bool takesMask(mlir::Type element) const;
  /// Returns the operations that moving an operand's lanes needs in addition to one load or store.
  int64_t opsToMove(const Access &access) const;
  /// Returns true if the vectors of a row map to so few L2 sets that the first ones are evicted before a later sweep.
  /// If sizes are open, this is assumed, and rows that fit scratch are kept.
  bool thrashesL2(const Access &access) const;
  /// Returns true if the sweep goes from the end of the row to its start, because the data that the sweep before it
  /// accessed last is still in L1. Such a sweep has no reductions and accesses more bytes than half of L1.
  bool sweepsBackward(int sweep) const;
  /// Returns true if the next iteration's elements are prefetched, because row positions are so far from each other
  /// that the hardware prefetcher does not follow.
  bool isPrefetched(const Access &access) const;
  /// Returns true for a large destination of whole vectors, which is written with non-temporal stores if its buffer is
  /// aligned.
  bool isStreamed(const Access &access) const;
  /// Returns true if vectors may run along the dim: every operand is linear along it and, if it is padded, it is the
  /// lowest digit of its loop.
  bool mayCarryVectors(int dim) const;
  /// Returns the end of the lanes: the extent of the vector dim, or its limit.
  Size lanesEnd() const;
  /// Returns the indices of a limited loop that one iteration covers: the extent of the vector dim, or 1.
  int64_t countedRun(int limit) const;
  /// Returns the iterations along a dim. The highest digit of a limited loop counts for the whole loop; its other
  /// digits, except the vector dim, count 1.
  Size countOf(int dim) const;
  /// Returns the extent of the dim that vectors run along.
  Size vectorExtent() const { return alongRow() ? chain.rowExtent : chain.dims[vectorDim].extent; }
  /// Returns true if some vectors are partial.
  bool hasPartialVectors() const;
  /// Returns the number of steps after which sums are added to wider accumulators.
  int64_t blockSteps() const;
  /// Returns the number of full vectors of an iteration that cover `positions` row positions.
  int64_t vectorsFor(int64_t positions) const;
  /// Returns the operations per vector in one sweep.
  int64_t opsIn(int sweep) const;
  /// Returns the number of adjacent vectors in one step of a sweep.
  int64_t columnsIn(int sweep) const;
  /// Returns the operations of one iteration, including loads and stores.
  int64_t opsPerIteration() const;
  /// Returns true if a sweep may read pairs of vectors and deinterleave them: it only reduces contiguous rows of bf16,
  /// in which the order of lanes does not matter. Even and odd elements are the halves of f32 lanes, so no permutation
  /// is needed.
  bool readsPairs(int sweep) const;
  const KeptRead *keptReadOf(const Access &access) const;
  std::string text() const;
  /// Returns the text for the kernel of one sweep. Only the first of several kernels has the whole plan.
  std::string text(int sweep) const;
};

inline constexpr int64_t horizontalOps = 15; ///< operations of a reduction within a vector

/// If the chain only sums bytes, chooses a form that sums several per lane or in 16 bits (depth, inHalves, lanes,
/// vectorDim), provided that the layout permits it and it costs less than `least` operations per element. Returns the
/// lower of the two costs.
double chooseByteSums(RowPlan &plan, double least);

/// Chooses columns, groups and runs of such a plan across rows.
void chooseColumnsOfBytes(RowPlan &plan);

/// Returns the operations of one iteration if `plan.wholeRows` rows are held in a vector of `registers` registers.
double opsOfWholeRows(const RowPlan &plan, int64_t registers);

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
