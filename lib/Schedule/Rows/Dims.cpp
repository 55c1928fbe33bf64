//===- Dims.cpp - The dims of a chain of row operations ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Loops are iterated by the ops, dims by the kernel. A blocked loop becomes one dim for each digit, so that every
// operand has one stride along each dim. If the last block is not full, the dims are padded and have a limit.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Chain.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

namespace {

class DimLayout {
public:
  explicit DimLayout(RowChain &chain) : chain(chain) {}
  void run() {
    for (unsigned loop = 0; loop < chain.loops.size(); ++loop)
      if (static_cast<int>(loop) == chain.rowLoop)
        layOutRow(loop);
      else
        split(loop);
    sort();
    merge();
    if (chain.rowLoop < 0)
      chooseRow();
  }

private:
  void layOutRow(unsigned loop);
  void split(unsigned loop);
  void sort();
  void merge();
  void chooseRow();

  RowChain &chain;
};

/// Returns true for an intermediate or a result of an earlier stage: its layout does not affect the dims.
bool isPrivate(const Access &access) { return !access.isIndex() && (access.producer >= 0 || !access.isArgument()); }

void DimLayout::layOutRow(unsigned loop) {
  chain.rowExtent = chain.loops[loop];
  chain.forEachPlace([&](Stage &, Access &access) { access.row = access.loops[loop]; });
}

/// Splits a loop at its cuts and adds a dim for each part, outermost first. A loop of one index has no dim.
void DimLayout::split(unsigned loop) {
  const Size extent = chain.loops[loop];
  if (extent == 1)
    return;
  SmallVector<const AccessFunction *> functions;
  chain.forEachPlace([&](Stage &, Access &access) {
    if (!isPrivate(access))
      functions.push_back(&access.loops[loop]);
  });
  // A run with an open stride cannot be split by a constant. The loop stays whole, and blocked operands compute their
  // digits by division.
  bool isOpenAlong = llvm::any_of(functions, [](const AccessFunction *function) { return function->step().isOpen(); });
  // An open loop has no cuts, because no operand accesses it in blocks.
  Numbers cuts = isOpenAlong ? Numbers() : commonCuts(functions);
  int limit = -1;
  if (!cuts.empty() && !extent.isMultipleOf(cuts.back())) {
    limit = chain.limits.size();
    chain.limits.push_back(extent.known());
  }
  cuts.insert(cuts.begin(), 1);
  for (int i = cuts.size() - 1; i >= 0; --i) {
    Dim dim{extent, limit, cuts[i]};
    if (!extent.isOpen())
      dim.extent = llvm::divideCeil(i + 1 < static_cast<int>(cuts.size()) ? cuts[i + 1] : extent.known(), cuts[i]);
    chain.forEachPlace([&](Stage &, Access &access) {
      access.addDim(isPrivate(access) ? AccessFunction() : functionFromCut(access.loops[loop], cuts[i], dim.extent));
    });
    chain.dims.push_back(dim);
  }
}

/// Orders parallel dims by the strides of the last output, so that consecutive iterations are neighbors in memory.
void DimLayout::sort() {
  const Stage *last = nullptr;
  for (const Stage &stage : chain.stages)
    if (stage.writesArgument)
      last = &stage;
  if (!last)
    return;
  Sizes lead = last->outs[0].strides;
  for (auto &[dim, function] : last->outs[0].nonlinear)
    lead[dim] = function.digits()[0].stride;
  SmallVector<unsigned, 12> order = llvm::to_vector<12>(llvm::seq<unsigned>(0, lead.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) { return std::make_pair(lead[b], a) < std::make_pair(lead[a], b); });
  auto dims = chain.dims;
  for (auto [to, from] : llvm::enumerate(order))
    chain.dims[to] = dims[from];
  chain.forEachPlace([&](Stage &, Access &access) {
    access.strides = llvm::map_to_vector<6>(order, [&](unsigned d) { return access.strides[d]; });
    for (auto &[dim, function] : access.nonlinear)
      dim = llvm::find(order, dim) - order.begin();
  });
}

/// Merges dim d + 1 into d if every operand has one stride along both (including broadcasts).
void DimLayout::merge() {
  for (int d = static_cast<int>(chain.dims.size()) - 2; d >= 0; --d) {
    const Dim &outer = chain.dims[d], &inner = chain.dims[d + 1];
    bool mergeable = outer.limit < 0 && inner.limit < 0 && !outer.extent.isOpen() && !inner.extent.isOpen();
    chain.forEachPlace([&](Stage &, Access &access) {
      mergeable = mergeable && (isPrivate(access) || access.followsOn(d, d + 1, inner.extent.known()));
    });
    if (!mergeable)
      continue;
    chain.dims[d] = {outer.extent.known() * inner.extent.known()};
    chain.dims.erase(chain.dims.begin() + d + 1);
    chain.forEachPlace([&](Stage &, Access &access) { access.dropDim(d); });
  }
}

/// Chooses the row of a chain without a reduction, whose dims are all parallel. It is the innermost dim if that is
/// long, otherwise the next dim that vectors need not run along, provided that enough iterations remain. Failing that,
/// the row is a single point.
void DimLayout::chooseRow() {
  constexpr int64_t enough = 16, lengthy = 64;
  uint64_t space = 1; // may exceed memory if all operands broadcast, so the product saturates
  for (const Dim &dim : chain.dims)
    space = llvm::SaturatingMultiply<uint64_t>(space, dim.extent.typical());
  int innermost = static_cast<int>(chain.dims.size()) - 1;
  for (int d = innermost; d >= 0; --d) {
    bool isPlain = chain.dims[d].limit < 0 && space / chain.dims[d].extent.typical() >= enough &&
                   (d < innermost || chain.dims[d].extent.typical() >= lengthy);
    chain.forEachPlace([&](Stage &, Access &access) { isPlain &= !access.isNonlinear(d); });
    if (!isPlain)
      continue;
    chain.rowExtent = chain.dims[d].extent;
    chain.dims.erase(chain.dims.begin() + d);
    chain.forEachPlace([&](Stage &, Access &access) {
      access.row = AccessFunction::linear(access.strides[d], chain.rowExtent);
      access.dropDim(d);
    });
    return;
  }
}

} // namespace

void quern::schedule::rows::layOutDims(RowChain &chain) { DimLayout(chain).run(); }
