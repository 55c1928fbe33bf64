//===- Dims.cpp - The dims of a chain of row operations ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Loops are what the ops iterate, dims are what the kernel does. A blocked loop becomes one dim for each digit, so that every operand has
// one stride along each. Where blocks do not fill the last one, the dims are padded and carry a limit.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Chain.h"

using namespace mlir;
using namespace quern::rows;

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

/// An intermediate has no layout of its own.
bool isPrivate(const Access &access) { return access.producer >= 0 || !access.isArgument(); }

void DimLayout::layOutRow(unsigned loop) {
  chain.rowExtent = chain.loops[loop];
  chain.forEachAccess([&](Stage &, Access &access) { access.row = access.loops[loop]; });
}

/// One dim between any two cuts, outermost first; none for a loop of one index.
void DimLayout::split(unsigned loop) {
  int64_t extent = chain.loops[loop];
  if (extent == 1)
    return;
  SmallVector<const Walk *> walks;
  chain.forEachAccess([&](Stage &, Access &access) {
    if (!isPrivate(access))
      walks.push_back(&access.loops[loop]);
  });
  // Runs of an open stride have no number to step by: the loop stays whole, and blocked operands find their digits by division.
  bool isOpenAlong = llvm::any_of(
      walks, [](const Walk *walk) { return llvm::any_of(walk->digits(), [](const Digit &digit) { return isOpen(digit.stride); }); });
  Strides cuts = isOpenAlong ? Strides() : commonCuts(walks);
  int limit = -1;
  if (!cuts.empty() && extent % cuts.back()) {
    limit = chain.limits.size();
    chain.limits.push_back(extent);
  }
  cuts.insert(cuts.begin(), 1);
  for (int i = cuts.size() - 1; i >= 0; --i) {
    int64_t next = i + 1 < static_cast<int>(cuts.size()) ? cuts[i + 1] : extent;
    Dim dim{(next + cuts[i] - 1) / cuts[i], limit, cuts[i]};
    chain.forEachAccess(
        [&](Stage &, Access &access) { access.addDim(isPrivate(access) ? Walk() : walkFromCut(access.loops[loop], cuts[i], dim.extent)); });
    chain.dims.push_back(dim);
  }
}

/// Parallel dims in the order of the last output's strides, so that neighbours in memory are neighbours in the iteration space.
void DimLayout::sort() {
  const Stage *last = nullptr;
  for (const Stage &stage : chain.stages)
    if (stage.writesArgument)
      last = &stage;
  if (!last)
    return;
  Strides lead = last->outs[0].strides;
  for (auto &[dim, walk] : last->outs[0].curves)
    lead[dim] = walk.digits()[0].stride;
  SmallVector<unsigned, 12> order = llvm::to_vector<12>(llvm::seq<unsigned>(0, lead.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) { return std::make_pair(-lead[a], a) < std::make_pair(-lead[b], b); });
  auto dims = chain.dims;
  for (auto [to, from] : llvm::enumerate(order))
    chain.dims[to] = dims[from];
  chain.forEachAccess([&](Stage &, Access &access) {
    access.strides = llvm::map_to_vector<6>(order, [&](unsigned d) { return access.strides[d]; });
    for (auto &[dim, walk] : access.curves)
      dim = llvm::find(order, dim) - order.begin();
  });
}

/// Merges dim d + 1 into d where every operand walks both with one stride (broadcasts included).
void DimLayout::merge() {
  for (int d = static_cast<int>(chain.dims.size()) - 2; d >= 0; --d) {
    int64_t inner = chain.dims[d + 1].extent;
    bool mergeable = chain.dims[d].limit < 0 && chain.dims[d + 1].limit < 0 && !isOpen(chain.dims[d].extent) && !isOpen(inner);
    chain.forEachAccess(
        [&](Stage &, Access &access) { mergeable = mergeable && (isPrivate(access) || access.followsOn(d, d + 1, inner)); });
    if (!mergeable)
      continue;
    chain.dims[d] = {chain.dims[d].extent * inner};
    chain.dims.erase(chain.dims.begin() + d + 1);
    chain.forEachAccess([&](Stage &, Access &access) { access.dropDim(d); });
  }
}

/// Without a reduction the dims are all alike. The row is the innermost one if it is long; else the next that vectors need not run along,
/// if it leaves enough iterations to share out; failing that, there is none and the row is a single point.
void DimLayout::chooseRow() {
  constexpr int64_t enough = 16, lengthy = 64;
  uint64_t space = 1; // a space where all operands broadcast may be larger than memory
  for (const Dim &dim : chain.dims)
    space = llvm::SaturatingMultiply<uint64_t>(space, typical(dim.extent));
  int innermost = static_cast<int>(chain.dims.size()) - 1;
  for (int d = innermost; d >= 0; --d) {
    bool isPlain = chain.dims[d].limit < 0 && space / typical(chain.dims[d].extent) >= enough &&
                   (d < innermost || typical(chain.dims[d].extent) >= lengthy);
    chain.forEachAccess([&](Stage &, Access &access) { isPlain &= !access.isCurved(d); });
    if (!isPlain)
      continue;
    chain.rowExtent = chain.dims[d].extent;
    chain.dims.erase(chain.dims.begin() + d);
    chain.forEachAccess([&](Stage &, Access &access) {
      access.row = Walk(Digit{1, 0, access.strides[d]}, chain.rowExtent);
      access.dropDim(d);
    });
    return;
  }
}

} // namespace

void quern::rows::layOutDims(RowChain &chain) { DimLayout(chain).run(); }
