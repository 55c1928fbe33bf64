//===- Emitter.cpp - The kernel of a contraction and its iterations -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Adjacent iterations are chunks of one tile, which read the same panel of rhs. Every sum is accumulated in the order
// of K, however rows are split, so results do not depend on which thread computes which iteration.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Emitter.h"

#include "Schedule/Contraction/Cpu/Epilogue.h"
#include "Schedule/Contraction/Cpu/KSlices.h"
#include "Schedule/Contraction/Cpu/Matrices.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

namespace {

class ContractionEmitter {
public:
  explicit ContractionEmitter(const ContractionPlan &plan) : ir(plan.chain.problem), plan(plan), chain(plan.chain) {}
  func::FuncOp emit();

private:
  void startKernel();
  scf::ForOp makeLoop();
  void emitIteration(Value iteration);
  void emitSeveralTiles(Value at);
  void emitTile(Value number, Value chunk, bool isLast);
  /// Returns true if an iteration of the kernel's loop is one of the kernel's space.
  bool isOneIteration() const { return !plan.k.slices || plan.k.slices->tiles == 1; }

  ContractionBuilder ir;
  const ContractionPlan &plan;
  const Chain &chain;
  Value scratch; ///< sums of a chunk, or null
  std::optional<RowBlocks> rows;
  std::optional<BlockEmitter> blocks;
  std::optional<SliceEmitter> slices;
  std::optional<MatrixEmitter> matrices;
};

void ContractionEmitter::startKernel() {
  func::FuncOp problem = chain.problem;
  KernelTraits traits;
  traits.name = (problem.getName() + "_kernel").str();
  traits.plan = plan.attribute();
  traits.space = plan.tile.tiles * plan.rows.chunks;
  if (chain.rows.isOpen())
    traits.space.addLoop(chain.rows, plan.rows.chunkRows);
  traits.nsPerIteration = plan.nsPerIteration();
  traits.scratchBytes = plan.scratch.bytes;
  ir.beginKernel(problem, problem, traits, chain.prologue);
}

func::FuncOp ContractionEmitter::emit() {
  startKernel();
  const KernelBuilder::AtOperation scope(ir, chain.products[0].loc());
  scf::ForOp loop = makeLoop();
  ir.entry = loop;
  if (plan.matrices)
    matrices::release(ir.b, ir.loc);
  ir.create<func::ReturnOp>();
  if (plan.scratch.elements)
    scratch = ir.atEntry([&] { return ir.scratchBuffer(0, plan.scratch.elements, chain.sumType()); });
  rows.emplace(ir, chain, plan.rows);
  blocks.emplace(ir, plan, scratch);
  if (plan.k.slices)
    slices.emplace(ir, plan, *rows, *blocks, scratch);
  if (plan.matrices)
    matrices.emplace(ir, plan, scratch);
  ir.b.setInsertionPointToStart(loop.getBody());
  if (isOneIteration())
    emitIteration(loop.getInductionVar());
  else
    emitSeveralTiles(loop.getInductionVar());
  return ir.finishKernel();
}

/// Creates the loop over the iterations; if several tiles share a copy of lhs, over groups of tiles, or over chunks if
/// there are several.
scf::ForOp ContractionEmitter::makeLoop() {
  Value begin = ir.kernel.begin(), end = ir.kernel.end();
  if (isOneIteration() || plan.rows.chunks == 1)
    return ir.create<scf::ForOp>(begin, end, ir.index(isOneIteration() ? 1 : plan.k.slices->tiles));
  Value tiles = ir.index(plan.tile.tiles);
  Value last = ir.linear(plan.tile.tiles - 1, {{end, 1}});
  return ir.create<scf::ForOp>(ir.create<arith::DivUIOp>(begin, tiles), ir.create<arith::DivUIOp>(last, tiles),
                               ir.index(1));
}

/// The iterations of one chunk that this call computes share the copy of lhs.
void ContractionEmitter::emitSeveralTiles(Value at) {
  const int64_t together = plan.k.slices->tiles, tiles = plan.tile.tiles;
  if (plan.rows.chunks == 1)
    return slices->emit({at, ir.min(ir.linear(together, {{at, 1}}), ir.kernel.end())}, ir.index(0));
  Value begin = ir.max(ir.linear(0, {{ir.kernel.begin(), 1}, {at, -tiles}}), ir.index(0)),
        end = ir.min(ir.linear(0, {{ir.kernel.end(), 1}, {at, -tiles}}), ir.index(tiles));
  ir.forRange(
      begin, end, [&](Value first) { slices->emit({first, ir.min(ir.linear(together, {{first, 1}}), end)}, at); },
      together);
}

void ContractionEmitter::emitIteration(Value iteration) {
  Value number = iteration, chunk = ir.index(0);
  if (rows->hasChunks()) {
    Value chunks = rows->chunks();
    number = ir.floorDiv(iteration, chunks);
    chunk = ir.mod(iteration, chunks);
  }
  if (slices)
    return slices->emit({number, ir.linear(1, {{number, 1}})}, chunk);
  if (plan.tile.tail != Tail::Separate || plan.tile.tiles == 1)
    return emitTile(number, chunk, plan.tile.tail == Tail::Separate);
  Value isLast = ir.isEqual(number, plan.tile.tiles - 1);
  ir.choose(isLast, [&] { emitTile(number, chunk, true); }, [&] { emitTile(number, chunk, false); });
}

void ContractionEmitter::emitTile(Value number, Value chunk, bool isLast) {
  Tile tile(ir, chain, plan.tile, number, isLast);
  blocks->startTile(tile, {});
  if (matrices)
    return matrices->emitChunk(tile, chunk);
  const unsigned accumulators = rows->allAccumulators().end, size = static_cast<unsigned>(plan.k.groupSize);
  IndexRange range;
  for (unsigned first = 0; first < accumulators; first += size)
    range = rows->forBlocks(chunk, [&](RowBlock block) {
      block.group = {first, std::min(first + size, accumulators)};
      blocks->emit(tile, {}, block);
    });
  if (scratch)
    ScratchEpilogue(ir, plan, tile, scratch, range.begin, range).emit();
}

} // namespace

func::FuncOp contractions::emitContraction(const ContractionPlan &plan) { return ContractionEmitter(plan).emit(); }
