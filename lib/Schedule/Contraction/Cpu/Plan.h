//===- Plan.h - Decisions of the contraction recipe -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Columns are split into *tiles* of a few vectors for every accumulator, rows into *blocks* whose sums fit the
// registers together with the vectors of a step, and blocks are gathered in *chunks*. An iteration of the kernel's
// space is a chunk of a tile. A block has the sums of all accumulators, or of a *group* of them; the groups then run
// one after another, each for all rows of a chunk.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_PLAN_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_PLAN_H

#include "IR/Plan.h"
#include "Schedule/Contraction/Cpu/Dots.h"

namespace quern::schedule::contractions {

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Treatment of the columns that the last tile lacks.
enum class Tail {
  None,   ///< the last tile is full
  Masked, ///< masked loads and stores in every tile
  /// Separate code for the last tile, which accesses its partial vector lane by lane: for elements that no instruction
  /// masks.
  Separate,
};

/// The columns, and the vectors of sums that cover a row of a tile.
struct ColumnPlan {
  int64_t columns = 0;       ///< columns of the problem: only its rows may be open here
  int64_t lanes = 1;         ///< lanes of a vector of sums
  int64_t columnVectors = 1; ///< adjacent vectors of each accumulator
  int64_t perRow = 0;        ///< vectors of sums in a row: accumulators x columnVectors
  int64_t tiles = 1;
  Tail tail = Tail::None;
  /// By product: elements of rhs from tile to tile; 0: computed from the digits of the tile's first column.
  llvm::SmallVector<int64_t, 4> strides;

  int64_t width() const { return columnVectors * lanes; }
  int64_t sumsOfRow() const { return perRow * lanes; }          ///< elements
  int64_t firstOfLast() const { return (tiles - 1) * width(); } ///< first column of the last tile
  /// Returns the index of a vector among the sums of several rows.
  unsigned sumIndex(int64_t row, unsigned accumulator, int64_t vector) const {
    return static_cast<unsigned>(row * perRow + vector * (perRow / columnVectors) + accumulator);
  }
  int64_t elementsOfStep(const Product &product) const { ///< elements of rhs
    return static_cast<int64_t>(product.sums.size()) * width() * product.packed;
  }
  bool readsPastEnd(const Product &product) const { return product.readable.isBelow(tiles * width()); }
  /// Returns true if some vector of rhs ends past the factor's columns.
  bool masksRhs(const Product &product) const {
    return !product.isStrided() && readsPastEnd(product) && !product.readable.isMultipleOf(lanes);
  }
};

/// The blocks of rows, and the chunks of an iteration.
struct BlockPlan {
  /// The first tallBlocks blocks have tallRows rows, the others blockRows.
  int64_t blocks = 1, blockRows = 1, tallBlocks = 0, tallRows = 1;
  int64_t blocksPerChunk = 1, chunks = 1;
  int64_t chunkRows = 0; ///< rows of a chunk, if rows are open or sums are in matrices
  /// Block heights for open rows, tallest first; each covers as many rows as it can.
  llvm::SmallVector<int64_t, 6> heights;

  int64_t tallest() const { return tallBlocks ? tallRows : blockRows; } ///< rows of the tallest block
};

/// A block of sums in matrix registers. Matrices of one height cover the rows of a chunk; if the height does not divide
/// them, the last matrix overlaps the one before it. The remainder of K modulo 16 steps is multiplied from zero-padded
/// copies.
struct Matrices {
  int64_t height = 0;           ///< rows; 0: computed from an open number of rows
  int64_t down = 1, across = 1; ///< matrices of a block

  // The functions below return register numbers: sums first, then lhs, then rhs.
  int64_t sums(int64_t below, int64_t beside) const { return beside * down + below; }
  int64_t lhs(int64_t below) const { return down * across + below; }
  int64_t firstRhs() const { return lhs(down); }
};

/// Slices of K: all blocks of a chunk process one slice before any starts the next (KSlices.cpp), usually from copies
/// of factors. Sums wait in scratch between slices, unless there is only one.
struct KSlices {
  int64_t steps = 0; ///< steps along K of a slice
  int64_t parts = 1;
  int64_t tiles = 1; ///< maximum adjacent tiles that share one slice of a transposed lhs
  Product product; ///< the product of the copies, which are converted or in pairs that are not adjacent in the factors
  bool hasPairs = false;
  bool isTransposed = false; ///< true if lhs is contiguous along rows rather than along K
  bool hasRhs = false;       ///< true if rhs is copied to scratch; false if K is sliced only to fit a cache
  bool hasLhs = false;       ///< true if lhs, which is transposed, is copied to scratch
  /// With few blocks and no copies, the lowest blocks prefetch the next slice.
  bool fetchesNext = false;
  int64_t lhsStride = 0; ///< elements from a step of the lhs copy to the next
  /// Number of steps of `product` that have all elements; a last step may have only the first element of each pair.
  int64_t wholeSteps = 0;

  /// Returns the element type of the copy of a factor of `product`.
  mlir::Type copied(const Product::Factor &factor) const;
};

/// The steps along K, and how loops over them are shared.
struct KPlan {
  llvm::SmallVector<Dot, 4> dots; ///< computation of each product
  /// Products that read the same elements of lhs share the steps of one loop over K, and consecutive loops that differ
  /// only in their buffers are merged. Indexed by loop and by set of buffers; each entry lists the products of a step.
  using Step = llvm::SmallVector<unsigned, 2>;
  llvm::SmallVector<llvm::SmallVector<Step, 2>, 2> loops;
  int64_t groupSize = 1;         ///< accumulators whose sums a block has; the last group may have fewer
  std::optional<KSlices> slices; ///< none: factors are read in place
  bool prefetches = false;       ///< true if vectors of rhs come from beyond L1 and are prefetched
  /// The correction of shifted dots is summed once for all blocks of an iteration, rather than in each block.
  bool sumsShiftOnce = false;

  llvm::SmallVector<Step, 4> steps() const; ///< the steps of all loops
  /// Returns the number of rows whose sums are updated together: two if there are patches, otherwise one.
  int64_t rowsPerPatch() const { return llvm::any_of(dots, isPatch) ? rowsOfDot(Dot::PairPatches) : 1; }
  bool isShifted() const { return llvm::is_contained(dots, Dot::Shifted); }
};

/// Memory of a thread for one iteration. Offsets and sizes are in bytes. The sums of a chunk come first:
/// [row][vector][accumulator][lane].
struct ScratchPlan {
  int64_t rows = 0;     ///< rows of sums; 0: the epilogue works in registers
  int64_t elements = 0; ///< number of sums
  /// Offsets of the copies by product, which have a slice of K or the steps that do not fill a matrix. 0: there is no
  /// copy, or a product that shares lhs has it.
  llvm::SmallVector<int64_t, 4> lhsCopies, rhsCopies;
  int64_t configuration = 0; ///< offset of the matrix configuration
  /// Inputs of the epilogue that are contiguous along rows rather than columns. A vector of columns is transposed into
  /// scratch at offset `bytes`. Before and after the chunk's rows there is space for the rows of one square.
  struct TransposedInput {
    TileAccess input;
    int64_t bytes;
  };
  llvm::SmallVector<TransposedInput, 1> transposedInputs;
  int64_t bytes = 0; ///< size
};

struct ContractionPlan {
  ContractionPlan(const Chain &chain, const ContractionStrategy &strategy) : chain(chain), strategy(strategy) {}

  const Chain &chain;
  const ContractionStrategy &strategy;
  ColumnPlan tile;
  BlockPlan rows;
  std::optional<Matrices> matrices; ///< present if sums are in matrix registers
  KPlan k;
  ScratchPlan scratch;

  /// Returns a product with the factors that the sums read, which may be copies.
  const Product &summed(unsigned product) const { return k.slices ? k.slices->product : chain.products[product]; }
  /// Number of vectors of rhs that are loaded before they are used, if several steps are unrolled.
  static constexpr int64_t rhsVectorsInFlight = 2;
  /// Returns the number of steps along K whose elements of a row of lhs are loaded as one vector; 1: each step loads
  /// separately.
  int64_t kUnroll(const Product &product, Dot dot) const;
  /// Returns the number of contiguous rows of lhs whose elements at a step are loaded as one vector; 1: each row loads
  /// separately.
  int64_t rowsPerLhsLoad(const Product &product, Dot dot) const;
  /// Returns true if a vector of rhs is loaded for all unrolled steps at once: they must be contiguous, and fit the
  /// registers together with the sums of `rows` rows.
  bool loadsRuns(const KPlan::Step &step, int64_t rows) const;
  /// Returns the number of bytes of an lhs vector that the dots of one row consume in a step.
  int64_t indexedBytesOfStep(const Product &product, Dot dot) const;
  bool hasGroups() const { return k.groupSize < static_cast<int64_t>(chain.accumulators.size()); }
  double bytesOfTile() const; ///< rhs bytes of all products
  double nsPerIteration() const;
  PlanAttr attribute() const;
};

/// Returns `tallest`, then those of 8, 4, 2 and 1 that are below it.
llvm::SmallVector<int64_t, 6> heightsFrom(int64_t tallest);

/// Returns the number of steps along K that are multiplied from padded copies: those that do not fill a matrix, or all
/// if not all packed elements are multiplied.
int64_t stepsLeft(const Product &product);

/// Decides everything. Fails with a reason if no vector of the target fits the packing of a factor.
mlir::LogicalResult planContraction(ContractionPlan &plan, std::string &whyNot);

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_PLAN_H
