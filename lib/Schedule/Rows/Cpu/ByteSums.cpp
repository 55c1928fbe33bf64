//===- ByteSums.cpp - Chains that add up bytes ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// If a chain only sums bytes as 32-bit words along the row, a vector has more bytes than words. One lane then covers
// four neighboring bytes: a vector of bytes becomes one vector of partial sums, in one or two instructions. Along a
// contiguous row, any four bytes may be neighbors. Across rows, they must be the bytes between two lanes, as in a
// layout whose innermost block is four row positions. If lanes are contiguous instead, bytes are summed in 16 bits for
// as long as these cannot overflow.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "Schedule/Build/CpuMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

namespace {

constexpr int64_t neighbors = 4;         ///< bytes of a word
constexpr int64_t fewestLanes = 4;       ///< minimum lanes of a vector
constexpr int64_t sumsUnderWay = 4;      ///< independent sums that hide the latency of an addition
constexpr double opsPerNeighbors = 4;    ///< a load, two adds of neighbors, one add to the sums
constexpr double opsPerHalves = 3.25;    ///< load, widen, add; rarely widening to words
constexpr int64_t fewestIterations = 16; ///< iterations that must remain if a step reads more than a cache line

/// Returns the input of a reduction that only sums bytes, acc + ext(byte); otherwise null.
const Access *summedBytes(const Stage &stage) {
  const Access *read = nullptr;
  for (const Access &in : stage.ins) {
    if (in.unread)
      continue;
    if (read || !in.isMemoryRead() || in.row.isStill())
      return nullptr;
    read = &in;
  }
  Block *body = const_cast<linalg::LinalgOp &>(stage.op).getBlock();
  auto sum = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddIOp>();
  if (!read || !sum || stage.outs.size() != 1 || body->getOperations().size() != 3)
    return nullptr;
  Operation &first = body->front();
  bool widens = isa<arith::ExtSIOp, arith::ExtUIOp>(first) && isa<BlockArgument>(first.getOperand(0)) &&
                first.getOperand(0).getType().isInteger(8) && first.getResult(0).getType().isInteger(32);
  return widens && llvm::is_contained(sum->getOperands(), first.getResult(0)) ? read : nullptr;
}

/// Returns the inputs of all reductions; none if the chain does anything else along the row.
SmallVector<const Access *, 2> readsOfByteSums(const RowChain &chain) {
  SmallVector<const Access *, 2> reads;
  for (const Stage &stage : chain.stages) {
    if (stage.perRow)
      continue;
    const Access *read = stage.reduces ? summedBytes(stage) : nullptr;
    if (!read)
      return {};
    reads.push_back(read);
  }
  return reads;
}

/// Returns true if row positions are contiguous between multiples of `count`.
bool isContiguousFor(const Access &access, int64_t count) {
  return access.row.step() == 1 && access.row.run() % count == 0;
}

/// Computes the number of operations per element of each way to sum bytes, and chooses the cheapest if it costs less
/// than `least`.
class ByteSumChooser {
public:
  ByteSumChooser(RowVectors &vectors, double least)
      : vectors(vectors), chain(vectors.chain), least(least), reads(readsOfByteSums(vectors.chain)) {}
  double choose() {
    if (reads.empty() || chain.rowExtent.isOpen())
      return least;
    tryAlongRow();
    for (int dim = 0; dim < static_cast<int>(chain.dims.size()); ++dim)
      if (chain.dims[dim].limit < 0 && vectors.mayCarryVectors(dim))
        tryAcross(dim);
    return least;
  }

private:
  template <typename F> bool allReads(F f) {
    return llvm::all_of(reads, [&](const Access *read) { return f(*read); });
  }
  void take(int64_t lanes, int dim, int64_t depth, double cost) {
    if (cost >= least)
      return;
    least = cost;
    vectors.depth = depth;
    vectors.inHalves = depth == 1;
    vectors.lanes = lanes;
    vectors.vectorDim = dim;
  }
  void tryAlongRow() {
    int64_t bytes = vectors.registerLanes * neighbors;
    if (chain.rowExtent.isMultipleOf(neighbors) && !chain.rowExtent.isBelow(bytes) &&
        allReads([&](const Access &read) { return isContiguousFor(read, bytes); }))
      take(vectors.registerLanes, -1, neighbors,
           opsPerNeighbors / static_cast<double>(bytes) +
               static_cast<double>(horizontalOps) / static_cast<double>(chain.rowExtent.known()));
  }
  void tryAcross(int dim) {
    int64_t extent = chain.dims[dim].extent.knownOr(1),
            lanes = std::min<int64_t>(vectors.registerLanes, extent & -extent);
    if (chain.rowExtent.isMultipleOf(neighbors) && lanes >= fewestLanes && allReads([&](const Access &read) {
          return isContiguousFor(read, neighbors) && read.strides[dim] == neighbors;
        }))
      take(lanes, dim, neighbors, opsPerNeighbors / static_cast<double>(lanes * neighbors));
    // Words of these lanes fill two registers, so no operand may need to move them one by one.
    bool liesSideBySide = allReads([&](const Access &read) { return read.strides[dim] == 1; });
    chain.forEachAccess([&](Stage &, Access &access) {
      liesSideBySide &=
          access.producer >= 0 || !access.isArgument() || access.strides[dim] == 0 || access.strides[dim] == 1;
    });
    lanes = vectors.registerLanes * 2;
    if (liesSideBySide && chain.rowExtent.mayExceed(1) && extent % lanes == 0)
      take(lanes, dim, 1, opsPerHalves / static_cast<double>(lanes));
  }

  RowVectors &vectors;
  RowChain &chain;
  double least;
  SmallVector<const Access *, 2> reads;
};

/// Returns the number of runs of a step across rows, enough to hide the latency of sums, provided that the distances of
/// the runs are known.
int64_t runsOf(const RowVectors &vectors) {
  auto reads = readsOfByteSums(vectors.chain);
  int64_t runs = vectors.inHalves ? 1 : std::max<int64_t>(sumsUnderWay / vectors.columns, 1);
  for (; runs > 1; --runs) {
    int64_t step = runs * vectors.depth;
    auto isKnown = [&](const Access *read) {
      return llvm::all_of(llvm::seq<int64_t>(1, runs),
                          [&](int64_t run) { return read->row.advance(run * vectors.depth, step).has_value(); });
    };
    if (vectors.chain.rowExtent.isMultipleOf(step) && llvm::all_of(reads, isKnown))
      break;
  }
  return runs;
}

} // namespace

double quern::schedule::rows::chooseByteSums(RowVectors &vectors, double least) {
  return ByteSumChooser(vectors, least).choose();
}

void quern::schedule::rows::chooseColumnsOfBytes(RowPlan &plan) {
  RowVectors &vectors = plan.vectors;
  int64_t count = vectors.vectorExtent().known() / vectors.lanes, others = 1;
  for (auto [d, dim] : llvm::enumerate(plan.chain.dims))
    others *= static_cast<int>(d) == vectors.vectorDim ? 1 : dim.extent.typical();
  auto fits = [&](int64_t columns) {
    bool isLine = columns * vectors.lanes * vectors.depth <= lineBytes;
    return count % columns == 0 && (isLine || others * count / columns >= fewestIterations);
  };
  vectors.columns = std::min(plan.strategy.maxColumns, count);
  while (vectors.columns > 1 && !fits(vectors.columns))
    --vectors.columns;
  plan.space.groups = count / vectors.columns;
  vectors.runs = runsOf(vectors);
}

bool SweepEmitter::isSigned(Stage &stage) { return isa<arith::ExtSIOp>(stage.op.getBlock()->front()); }

Value SweepEmitter::widened(Value bytes, Type type, bool isSigned) {
  return isSigned ? create<arith::ExtSIOp>(type, bytes).getResult() : create<arith::ExtUIOp>(type, bytes).getResult();
}

/// Adds one byte per lane to the accumulator in 16 bits.
Value SweepEmitter::addHalves(Stage &stage, int64_t slot, Value accumulator) {
  Value bytes = read(*summedBytes(stage), slot);
  return create<arith::AddIOp>(accumulator, widened(bytes, vec(b.getI16Type()), isSigned(stage)));
}

/// Adds a step's bytes, several per lane, to the accumulator.
Value SweepEmitter::addNeighbors(Stage &stage, int64_t slot, Value accumulator) {
  const Access &read = *summedBytes(stage);
  Type word = b.getI32Type();
  auto bytes = VectorType::get({vectors.lanes * depth}, read.elementType()), words = bytes.clone(word);
  auto shaped = VectorType::get({vectors.lanes, depth}, word);
  int64_t runs = vectors.alongRow() ? 1 : vectors.runs;
  Value sum = runs == 1 ? accumulator : splat(stage.inits[0]), first = place(read, slot);
  for (int64_t run = 0; run < runs; ++run) {
    Value at = run ? add(first, index(*read.row.advance(run * depth, runs * depth))) : first;
    Value loaded = create<vector::LoadOp>(bytes, kernel.arguments.lookup(read.base), ValueRange{at});
    Value parts = create<vector::ShapeCastOp>(shaped, widened(loaded, words, isSigned(stage)));
    sum = create<vector::MultiDimReductionOp>(parts, sum, ArrayRef<bool>{false, true}, vector::CombiningKind::ADD);
  }
  return runs == 1 ? sum : combine(stage.combiner(0), sum, accumulator);
}
