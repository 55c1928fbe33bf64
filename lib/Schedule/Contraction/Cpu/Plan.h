//===- Plan.h - What the contraction recipe decides ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Columns are cut into *tiles* of a few vectors for every accumulator, rows into *blocks* whose sums fit the
// registers beside the vectors of a step, and blocks are gathered in *chunks*. An iteration of the kernel's space is
// a chunk of a tile. A block has the sums of all accumulators, or of a *group* of them; groups then follow each
// other, each for all rows of a chunk.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_PLAN_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_PLAN_H

#include "Schedule/Contraction/Dots.h"

namespace quern::contractions {

/// How the last tile's missing columns are left out.
enum class Tail {
  None,   ///< there are none
  Masked, ///< masked loads and stores in every tile
  /// Code of its own for the last tile, lane by lane where its columns end: for elements that no instruction masks.
  Separate,
};

/// A block of sums in registers of a matrix. Matrices of one height cover the rows of a chunk; the last lies over
/// rows of the one before it where the height does not divide them. What K leaves of 16 steps is multiplied from
/// copies filled up with zeros.
struct Matrices {
  int64_t height = 0;           ///< rows; 0: as many as an open number of rows gives
  int64_t down = 1, across = 1; ///< of a block
  /// By product, bytes from the start of scratch to the copies; 0: nothing is left, or a product
  /// that shares lhs has them.
  llvm::SmallVector<int64_t, 4> lhsCopies, rhsCopies;
  int64_t configuration = 0; ///< likewise

  /// Registers, those of one height first.
  int64_t sums(int64_t below, int64_t beside) const { return beside * down + below; }
  int64_t lhs(int64_t below) const { return down * across + below; }
  int64_t firstRhs() const { return lhs(down); }
};

/// Parts of K that all blocks of a chunk take before any takes the next (Cuts.cpp), mostly from copies of factors: sums
/// wait in scratch meanwhile, unless one part is all.
struct Cuts {
  int64_t steps = 0; ///< along K of a part
  int64_t parts = 1;
  int64_t tiles = 1; ///< most that neighbouring iterations take together, over the same part of a transposed lhs
  Product product;   ///< as copies have it: converted, or as pairs that lie apart in the factors
  bool hasPairs = false;
  bool isTransposed = false; ///< rows of lhs lie side by side rather than its K
  bool hasRhs = false;       ///< a copy of rhs; none where it is short of nothing but room in a cache
  bool hasLhs = false;       ///< a copy of lhs, if it is transposed
  /// Nothing is copied for a few blocks, of which the lowest prefetch the next part.
  bool fetchesNext = false;
  int64_t lhsStride = 0;            ///< elements from a step of that copy to the next
  int64_t lhsCopy = 0, rhsCopy = 0; ///< bytes from the start of scratch
  /// Steps of `product` that have all that they take; the last may have a pair's first element only.
  int64_t wholeSteps = 0;
};

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The steps along K that do not fill a matrix.
int64_t stepsLeft(const Product &product);

struct Plan {
  Plan(const Chain &chain, const ContractionStrategy &strategy) : chain(chain), strategy(strategy) {}

  const Chain &chain;
  const ContractionStrategy &strategy;
  int64_t lanes = 1;         ///< of a vector of sums
  int64_t perRow = 0;        ///< vectors of sums in a row of a block: accumulators x columnVectors
  int64_t columnVectors = 1; ///< side by side, of each accumulator
  int64_t groupSize = 1;     ///< accumulators whose sums a block has; the last group may have fewer
  int64_t tiles = 1;
  /// The first tallBlocks have tallRows, the others blockRows.
  int64_t blocks = 1, blockRows = 1, tallBlocks = 0, tallRows = 1;
  int64_t blocksPerChunk = 1, chunks = 1;
  int64_t chunkRows = 0;                 ///< of an open number of rows, or of matrices
  std::optional<Cuts> cuts;              ///< none: factors are read where they lie
  std::optional<Matrices> matrices;      ///< sums are in registers of a matrix rather than of a vector
  llvm::SmallVector<int64_t, 6> heights; ///< of blocks, which then take what is left of a chunk in turn
  int64_t scratchRows = 0;               ///< of sums; 0: the epilogue works in registers
  /// Inputs of the epilogue whose rows lie side by side rather than their columns: copies of a vector of columns,
  /// turned over, and where these begin in scratch. Before and behind the chunk's rows there is room for a square's.
  struct Turned {
    TileAccess input;
    int64_t bytes;
  };
  llvm::SmallVector<Turned, 1> turned;
  int64_t scratchBytes = 0; ///< of sums, and what matrices and copies need beside them
  bool prefetches = false;  ///< for vectors of rhs, which several blocks of rows read again from beyond the first level
  /// What shifted dots add is summed once for all blocks of an iteration, not beside the only one.
  bool sumsShiftOnce = false;
  Tail tail = Tail::None;
  llvm::SmallVector<Dot, 4> dots; ///< by product
  /// By product: elements of rhs from tile to tile; 0: by the digits of the tile's first column.
  llvm::SmallVector<int64_t, 4> tileStrides;
  /// Products that read the same elements of lhs share the steps of one loop over K, and loops that differ in nothing
  /// but buffers follow each other as one: by loop, by turn of that loop, the products of a step.
  using Step = llvm::SmallVector<unsigned, 2>;
  llvm::SmallVector<llvm::SmallVector<Step, 2>, 2> loops;

  llvm::SmallVector<Step, 4> steps() const; ///< of all loops
  /// A product as its sums see it.
  const Product &summed(unsigned product) const { return cuts ? cuts->product : chain.products[product]; }
  /// Vectors of rhs that are loaded one behind the other while several steps are taken together.
  static constexpr int64_t rhsTogether = 2;
  /// Steps along K whose elements of a row of lhs are loaded as one vector; 1: each step for itself.
  int64_t stepsTogether(const Product &product, Dot dot) const;
  /// Rows whose elements of lhs at a step are loaded as one vector, since they lie side by side; 1: each row for
  /// itself.
  int64_t lhsRowsTogether(const Product &product, Dot dot) const;
  /// Whether a vector of rhs is loaded of all such steps at once, which lie side by side, beside the sums of so many
  /// rows.
  bool loadsRuns(const Step &step, int64_t rows) const;
  /// Bytes that what dots take of a row at a step has in a vector of lhs.
  int64_t indexedBytesOfStep(const Product &product, Dot dot) const;
  /// What the copy of a factor of `cuts->product` has.
  mlir::Type copied(const Product::Factor &factor) const;
  int64_t scratchElements() const { return (cuts && cuts->parts > 1 ? cuts->tiles : 1) * scratchRows * perRow * lanes; }
  /// Rows whose sums are added to together: two of patches, else one.
  int64_t rowsTogether() const { return llvm::any_of(dots, isPatch) ? rowsOfDot(Dot::PairPatches) : 1; }
  bool isShifted() const { return llvm::is_contained(dots, Dot::Shifted); }
  int64_t columns() const { return chain.columns.known(); } ///< of the problem: only its rows may be open here
  int64_t width() const { return columnVectors * lanes; }
  int64_t tallest() const { return tallBlocks ? tallRows : blockRows; } ///< rows of a block
  bool hasGroups() const;
  int64_t elementsOfStep(const Product &product) const { ///< of rhs
    return static_cast<int64_t>(product.sums.size()) * width() * product.packed;
  }
  bool readsPastEnd(const Product &product) const { return product.readable.isBelow(tiles * width()); }
  /// Some vector of rhs ends behind the factor's columns.
  bool masksRhs(const Product &product) const {
    return !product.isStrided() && readsPastEnd(product) && !product.readable.isMultipleOf(lanes);
  }
  double bytesOfTile() const; ///< of all factors rhs
  double nsPerIteration() const;
  std::string text() const; ///< one line
};

/// Decides everything. Fails with a reason where no vector of the target fits the packing of a factor.
mlir::LogicalResult planContraction(Plan &plan, std::string &whyNot);

} // namespace quern::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_PLAN_H
