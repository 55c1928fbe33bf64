//===- Plan.h - What the rows recipe decides -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A plan fixes everything that emission writes down: the dim that vectors run along, the number of sweeps over the row,
// in which sweep each stage is computed, and where a value that crosses sweeps waits. Its text is the kernel's plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CPU_PLAN_H
#define QUERN_SCHEDULE_ROWS_CPU_PLAN_H

#include "Schedule/Rows/Chain.h"
#include "Schedule/Rows/Cpu/Split.h"
#include "Schedule/Rows/Rows.h"

namespace quern::rows {

/// How the lanes of a vector lie in an operand's memory: in one place, side by side, side by side within blocks that
/// are shorter than a vector, several neighbours along the row to a lane, or apart.
enum class LaneKind { Same, Unit, Pieces, Neighbours, Strided };

struct StagePlan {
  uint64_t usedIn = 0; ///< bit s: sweep s computes it
  int keptIn = -1;     ///< the sweep that writes its element value for later ones; -1: computed wherever it is needed
  const Access *storage = nullptr; ///< the destination that holds a kept value; null: scratch, or its own argument
  int64_t scratch = -1;            ///< or its offset in scratch, in bytes
  int64_t cost = 0;                ///< operations to compute it again
  /// Offsets in shared scratch of the chunks' results, by result of a reduction.
  llvm::SmallVector<int64_t, 1> partials;
};

/// A read that is dear to repeat, since its lanes are strided or its row does not stay in the
/// cache, is done once and kept.
struct KeptRead {
  const Access *access = nullptr;
  int keptIn = 0, lastUse = 0; ///< the sweeps that read it first and last
  int64_t scratch = -1;
};

struct RowPlan {
  RowChain &chain;
  RowsStrategy strategy;
  int64_t lanes = 0;         ///< of a vector
  int64_t registerLanes = 0; ///< of a register; a vector is several where it holds whole rows
  /// Rows that a vector holds one after the other, each whole; 0: it holds a part of a row, or of several.
  int64_t wholeRows = 0;
  bool compactsRows = false; ///< per-row stages are computed in one register, then spread over the lanes of the rows
  int64_t depth = 1;     ///< row positions that a lane of a step takes: several where bytes are summed (ByteSums.cpp)
  int64_t runs = 1;      ///< of so many positions that a step across rows adds up before they go to the sums
  bool inHalves = false; ///< bytes are summed in 16 bits within a block
  int vectorDim = -1;    ///< the parallel dim that vectors run along; -1: the row itself
  int64_t columns = 1;   ///< vectors side by side, when they run across rows
  int64_t groups = 1;    ///< iterations along the vector dim; of an open one, as many as are typical
  int64_t space = 1;     ///< iterations in all, times the factors
  /// Open extents that multiply the space: their index in the list of sizes, and the indices that one iteration takes.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> factors;
  int sweeps = 0;
  llvm::SmallVector<StagePlan, 8> stages;
  llvm::SmallVector<KeptRead, 2> keptReads;
  /// Of rows of open length that are longer than `shortRow`, for which scratch has no room: what `stages` keep there is
  /// in the destination or computed again, and nothing that is read is kept. 0: all rows are alike.
  llvm::SmallVector<StagePlan, 8> longStages;
  int64_t shortRow = 0;
  /// Of rows of open length that have no more than `heldVectors`, which stay in registers: nothing is kept elsewhere.
  llvm::SmallVector<StagePlan, 8> heldStages;
  int64_t heldVectors = 0;
  int64_t scratchBytes = 0;
  int64_t bytesAtPosition = 0; ///< of rows of open length, across them: that a later sweep needs of one vector
  RowSplit split;
  int64_t sharedBytes = 0;
  bool streams = false; ///< the last sweep has a form that writes past the caches
  /// Only in a call that computes all rows: the caches serve several threads better than memory does.
  bool streamsAlone = false;
  /// Sizes are open: the kernel asks whether the destination is large, and whether its rows are aligned.
  bool asksToStream = false;
  int64_t laneBuffer = -1; ///< offset in scratch of one vector, for lanes that are moved one by one; -1: none are

  RowPlan(RowChain &chain, const RowsStrategy &strategy) : chain(chain), strategy(strategy) {}
  bool alongRow() const { return vectorDim < 0; }
  bool isSplit() const { return split.chunks > 1; }
  LaneKind lanesOf(const Access &access) const;
  /// Parallel indices of the vector dim that one iteration covers.
  int64_t perGroup() const { return wholeRows ? wholeRows : columns * lanes; }
  /// The last vector of whole rows may have fewer.
  bool mayLackRows() const;
  /// Rows of a vector of whole rows all read the same elements of this operand, which lie side by side.
  bool isSameForRows(const Access &access) const;
  /// Every row of a vector of whole rows reads one element of this operand, and these lie side by side.
  bool isOnePerRow(const Access &access) const;
  /// Every iteration reads the same elements of this operand, and without a loop over lanes.
  bool isSameForGroups(const Access &access) const;
  /// Of the sizes that a result of the space has, some is open.
  bool hasOpenSpace() const {
    return chain.rowExtent.isOpen() || llvm::any_of(chain.dims, [](const Dim &dim) { return dim.extent.isOpen(); });
  }
  /// An iteration may have fewer vectors than fit, and has forms for that.
  bool hasNarrowForms() const {
    return !alongRow() && !isSplit() && columns > 1 && depth * runs == 1 && !inHalves &&
           chain.dims[vectorDim].limit < 0 && vectorExtent().isOpen();
  }
  /// Masked accesses are as fast as others, whatever the element.
  bool masksFreely() const { return strategy.narrowestMask && strategy.narrowestMask <= 8; }
  bool takesMask(mlir::Type element) const;
  /// Operations that moving an operand's lanes takes beyond one load or store.
  int64_t opsToMove(const Access &access) const;
  /// The vectors of one row meet so few sets of L2 that the first are gone when a later sweep comes.
  /// If sizes are open they may, and rows that scratch has room for are kept.
  bool leavesCache(const Access &access) const;
  /// A sweep without reductions over more than stays in L1 goes from the end of the row to its start: what the sweep
  /// before it touched last is still there.
  bool runsBackwards(int sweep) const;
  /// Its rows jump from page to page, which no hardware prefetcher follows: the next iteration's are asked for ahead.
  bool isPrefetched(const Access &access) const;
  /// Its elements are written past the caches, if the buffer turns out to be aligned: a large
  /// destination, of whole lines.
  bool isStreamed(const Access &access) const;
  /// Vectors may run along a dim that every operand walks linearly; if it is padded, only along the
  /// lowest digit of its loop.
  bool mayCarryVectors(int dim) const;
  /// Where the last lane ends: the extent of the vector dim, or the limit on it.
  Size lanesEnd() const;
  /// Indices of a limited loop that one count of it covers: the run that vectors take at a time, or 1.
  int64_t countedRun(int limit) const;
  /// Iterations that a dim counts. A limited loop is counted by its highest digit, its others
  /// (but the vector dim) count 1.
  Size countOf(int dim) const;
  /// Of the dim that vectors run along.
  Size vectorExtent() const { return alongRow() ? chain.rowExtent : chain.dims[vectorDim].extent; }
  /// Some vectors are not full.
  bool hasPartialVectors() const;
  /// Steps after which sums go to wider accumulators.
  int64_t blockSteps() const;
  /// Full vectors for so many row positions of an iteration.
  int64_t vectorsFor(int64_t positions) const;
  /// Operations per vector of one sweep.
  int64_t opsIn(int sweep) const;
  /// Vectors side by side in one iteration of a sweep.
  int64_t columnsIn(int sweep) const;
  /// Operations of one iteration, loads and stores included.
  int64_t opsPerIteration() const;
  /// A sweep that only reduces contiguous rows of bf16 may take its lanes in any order: it reads two
  /// vectors at once and takes the even lanes, then the odd ones. These are the halves of f32 lanes, so
  /// that nothing has to be permuted.
  bool readsPairs(int sweep) const;
  const KeptRead *keptReadOf(const Access &access) const;
  std::string text() const;
  /// Of one kernel: the first of several has the plan of all.
  std::string text(int sweep) const;
};

inline constexpr int64_t horizontalOps = 15; ///< of a reduction within a vector

/// Where the chain only sums bytes: takes them several to a lane or in 16 bits (depth, inHalves, lanes, vectorDim) if
/// they lie so and that costs less than `least`, in operations per element; returns the lesser.
double chooseByteSums(RowPlan &plan, double least);

/// Gives such a plan, if across rows, its columns, groups and runs.
void chooseColumnsOfBytes(RowPlan &plan);

/// Operations of one iteration, if a vector of `registers` registers holds `plan.wholeRows` rows.
double opsOfWholeRows(const RowPlan &plan, int64_t registers);

/// Tries vectors that hold whole rows and takes them (vectorDim, lanes, wholeRows, groups) if that costs less than
/// `least`, in operations per element.
void chooseWholeRows(RowPlan &plan, double least);

/// The forms of a row of open length (OpenPlan.cpp): whether it is worth forms for short rows, up to which length
/// scratch keeps what they need, and how many vectors registers hold.
bool wantsShortForm(const RowPlan &plan);
int64_t keptAtPosition(const RowPlan &plan);
/// What takes the place of a read that is kept, value by value: a stage that is kept by the last sweep that reads it.
const StagePlan *heirOf(const RowPlan &plan, const KeptRead &read);
int64_t longestShortRow(const RowPlan &plan);
int64_t vectorsHeld(const RowPlan &plan);

/// Makes the plan. Every matched chain has one, unless it computes in a type wider than a vector or is absurdly deep.
mlir::LogicalResult planRows(RowPlan &plan, std::string &whyNot);

} // namespace quern::rows

#endif // QUERN_SCHEDULE_ROWS_CPU_PLAN_H
