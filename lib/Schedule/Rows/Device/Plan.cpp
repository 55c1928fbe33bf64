//===- Plan.cpp - Rows over work-items -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Accesses are decided first: neighboring work-items get elements that are contiguous in most operands, along the row
// or across rows. The length of a row then determines how many work-items share it.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Device/Plan.h"

#include "Schedule/Device/GroupMemory.h"

#include "Schedule/Device/Access.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::rows;

bool DeviceRowPlan::compensates() const {
  constexpr int64_t manyTerms = 128;
  return !isInRegisters && chain.rowExtent.typical() / items > manyTerms;
}

bool DeviceRowPlan::rowsFollowLanes() const {
  return share == RowShare::Item && openDim < 0 && order.size() > 1 && rows % subGroup == 0 &&
         chain.dims[order.back()].extent.isMultipleOf(subGroup);
}

bool DeviceRowPlan::isInVectors(const Access &access) const {
  auto isWhole = [&](Size stride) { return stride.isMultipleOf(width); };
  auto isWholeFunction = [&](const std::pair<unsigned, AccessFunction> &entry) {
    return llvm::all_of(entry.second.digits(), [&](const Digit &digit) { return isWhole(digit.stride); });
  };
  auto isWholeBeyondRun = [&](const Digit &digit) {
    return digit.unit == 1 || (digit.unit % width == 0 && isWhole(digit.stride));
  };
  bool isInRuns = access.row.isLinear() || (access.row.run() % width == 0 && access.row.shift() == 0 &&
                                            llvm::all_of(access.row.digits(), isWholeBeyondRun));
  return access.isArgument() && access.row.step() == 1 && isInRuns && isWhole(access.offset) &&
         llvm::all_of(access.strides, isWhole) && llvm::all_of(access.nonlinear, isWholeFunction) &&
         isDeviceVector(access.elementType(), width);
}

bool DeviceRowPlan::isInBox(const Access &access) const {
  return access.isArgument() && access.producer < 0 && access.row.isLinear() && access.row.step() == 1 &&
         access.nonlinear.empty() && !access.offset.isOpen() && access.strides.size() == 1 &&
         access.strides.front() == chain.rowExtent;
}

int64_t DeviceRowPlan::boxPitch(Type element) const {
  const int64_t perWord = std::max<int64_t>(1, deviceWordBytes / bytesOf(element));
  return (static_cast<int64_t>(llvm::divideCeil(chain.rowExtent.known(), perWord)) | 1) * perWord;
}

namespace {

class DeviceRowPlanner {
public:
  explicit DeviceRowPlanner(DeviceRowPlan &plan)
      : plan(plan), chain(plan.chain), strategy(plan.strategy), isVectorized(!plan.strategy.vectorBytes) {}
  void run();

private:
  bool isProduct() const;
  bool hasFunctions() const;
  bool continuesInWords(const Access &access, int dim) const;
  int64_t bytesSideBySide(int dim);
  int64_t bytesOfPosition();
  void shareAlongRow();
  void takeNeighbors(int64_t most);
  void giveRowsToItems();
  void takeWords();
  void boxRows();
  void countRows();

  DeviceRowPlan &plan;
  RowChain &chain;
  const DeviceStrategy &strategy;
  const bool isVectorized; ///< true if one thread runs a group, and one instruction a sub-group
  int vectorDim = -1;
};

/// Returns true for a reduction over two or more inputs that other rows read again, such as a matrix product: other
/// recipes reuse these.
bool DeviceRowPlanner::isProduct() const {
  auto isShared = [&](const Access &access) {
    if (!access.isMemoryRead() || access.row.isStill()) // other operands have no strides
      return false;
    bool isAgain = false;
    for (auto [dim, stride] : llvm::zip_equal(chain.dims, access.strides))
      isAgain |= dim.extent.mayExceed(1) && stride == 0;
    return isAgain;
  };
  return llvm::any_of(chain.stages,
                      [&](const Stage &stage) { return stage.reduces && llvm::count_if(stage.ins, isShared) > 1; });
}

/// Returns true if a stage evaluates a function such as exp for each element.
bool DeviceRowPlanner::hasFunctions() const {
  return llvm::any_of(chain.stages, [](Stage &stage) {
    return (stage.reduces || stage.isElementwise()) &&
           llvm::any_of(stage.op.getBlock()->getOperations(),
                        [](Operation &op) { return op.getName().getDialectNamespace() == "math"; });
  });
}

/// Returns true if contiguous elements of the row form a word that is followed by the word of the dim's next index, as
/// in packed weights of bytes.
bool DeviceRowPlanner::continuesInWords(const Access &access, int dim) const {
  int64_t run = access.row.run();
  return run > 1 && access.row.step() == 1 && access.strides[dim] == run &&
         run * bytesOf(access.elementType()) == deviceWordBytes && chain.rowExtent.isMultipleOf(run);
}

/// Returns the number of bytes at one point of the space that are in the same cache line as those of neighbors along a
/// dim; -1: along the row. If rows are swept from a cache, repeated reads count once, and writes twice, because a
/// partly written cache line is also read.
int64_t DeviceRowPlanner::bytesSideBySide(int dim) {
  int64_t bytes = 0;
  llvm::SmallDenseSet<Value> known;
  chain.forEachAccess([&](Stage &stage, Access &access) {
    if (stage.perRow || !access.isArgument() || access.producer >= 0)
      return;
    bool isWrite = llvm::any_of(stage.outs, [&](const Access &out) { return &out == &access; });
    bool isOfWords = isVectorized && dim >= 0 && continuesInWords(access, dim);
    bool isAdjacent = isOfWords || (dim < 0 ? access.row.step() : access.strides[dim]) == 1;
    if (!isAdjacent || (isVectorized && !isWrite && !known.insert(access.base).second))
      return;
    bytes += (isOfWords ? deviceWordBytes : bytesOf(access.elementType())) * (isVectorized && isWrite ? 2 : 1);
  });
  return bytes;
}

/// Returns the register bytes per work-item for one position of a row: each read in the type that it is computed in.
int64_t DeviceRowPlanner::bytesOfPosition() {
  int64_t reads = 0, widest = 4;
  for (Stage &stage : chain.stages) {
    for (const Access &access : stage.ins)
      reads += stage.isElementwise() || stage.reduces ? access.isMemoryRead() && !access.row.isStill() : 0;
    for (Value argument : stage.op.getBlock()->getArguments())
      widest = std::max(widest, bytesOf(argument.getType()));
  }
  llvm::SmallDenseSet<Value> distinct;
  for (Stage &stage : chain.stages)
    for (const Access &access : stage.ins)
      if (access.isMemoryRead() && !access.row.isStill())
        distinct.insert(access.base);
  return std::max<int64_t>(1, std::min<int64_t>(reads, distinct.size())) * widest;
}

/// Chooses a sub-group if it can hold a row, otherwise the smallest group that can hold it in few registers, otherwise
/// the largest group, which holds the row or sweeps over it. If one thread runs a group, a sub-group is chosen always:
/// a group would spill its values at each barrier for no gain.
void DeviceRowPlanner::shareAlongRow() {
  constexpr int64_t ofSubGroup = 16, ofGroup = 8, ofStep = 4;
  int64_t length = chain.rowExtent.typical(), bytes = bytesOfPosition();
  int64_t most = std::max<int64_t>(1, strategy.registerBytes / bytes);
  auto slotsOf = [&](int64_t items) { return static_cast<int64_t>(llvm::divideCeil(length, items)); };
  bool isKnown = !chain.rowExtent.isOpen();
  if (isVectorized)
    most = ofSubGroup;
  if (isVectorized || !strategy.groupMemoryBytes || (isKnown && slotsOf(plan.subGroup) <= std::min(most, ofSubGroup))) {
    if (plan.subGroup == 1)
      return giveRowsToItems();
    plan.share = RowShare::SubGroup;
    plan.items = plan.subGroup;
    plan.group = std::max(plan.subGroup, std::min(strategy.smallGroup, strategy.maxGroup));
    plan.rows = plan.group / plan.items;
  } else {
    plan.share = RowShare::Group;
    plan.items = plan.subGroup;
    // Each lane combines the results of at most a few sub-groups.
    const int64_t maxItems = std::min(strategy.maxGroup, 16 * plan.subGroup * plan.subGroup);
    while (2 * plan.items <= maxItems && slotsOf(plan.items) > std::min(most, ofGroup))
      plan.items *= 2;
    plan.group = plan.items;
  }
  plan.slots = slotsOf(plan.items);
  if (plan.share == RowShare::Group && plan.slots > most && plan.slots <= 2 * most &&
      llvm::is_contained(strategy.subGroupSizes, 8)) {
    plan.subGroup = 8;
    most *= 2;
  }
  plan.isInRegisters = isKnown && plan.slots <= most;
  if (!plan.isInRegisters)
    plan.slots = isKnown ? std::min(most, ofStep) : 1;
  if (isKnown && !isVectorized)
    takeNeighbors(most);
}

/// Chooses the largest vectors that suit all operands of the widest type along the row, if the positions of a work-item
/// grow by at most a quarter.
void DeviceRowPlanner::takeNeighbors(int64_t most) {
  int64_t widest = 0;
  auto isAlong = [](const Access &access) {
    return access.isArgument() && access.row.isLinear() && access.row.step() == 1;
  };
  chain.forEachAccess([&](Stage &, Access &access) {
    if (access.producer < 0 && isAlong(access))
      widest = std::max(widest, bytesOf(access.elementType()));
  });
  for (plan.width = widest ? strategy.vectorBytes / widest : 1; plan.width > 1; plan.width /= 2) {
    int64_t slots = plan.slots;
    if (plan.isInRegisters)
      slots = static_cast<int64_t>(llvm::divideCeil(chain.rowExtent.known(), plan.width * plan.items)) * plan.width;
    bool isWhole = chain.rowExtent.isMultipleOf(plan.width) && slots % plan.width == 0 && slots <= most &&
                   4 * slots <= 5 * plan.slots;
    chain.forEachAccess([&](Stage &, Access &access) {
      if (access.producer < 0 && isAlong(access) && bytesOf(access.elementType()) == widest)
        isWhole &= plan.isInVectors(access);
    });
    if (isWhole) {
      plan.slots = slots;
      return;
    }
  }
  plan.width = 1;
}

void DeviceRowPlanner::giveRowsToItems() {
  constexpr int64_t ofStep = 8;
  // Reductions do not need all positions in registers at once.
  int64_t most = std::max<int64_t>(1, 2 * strategy.registerBytes / bytesOfPosition());
  plan.share = RowShare::Item;
  plan.items = 1;
  // Sub-groups of 8 are used if those of 16 would start within a run of neighboring rows.
  int64_t run = vectorDim < 0 ? 0 : chain.dims[vectorDim].extent.knownOr(0);
  if (run % plan.subGroup && run % 8 == 0 && llvm::is_contained(strategy.subGroupSizes, 8))
    plan.subGroup = 8;
  plan.group = std::max(plan.subGroup, std::min(strategy.smallGroup, strategy.maxGroup));
  plan.isInRegisters = !chain.rowExtent.mayExceed(most);
  plan.slots = chain.rowExtent.knownOr(1);
  if (!plan.isInRegisters)
    plan.slots = std::min({plan.slots, most, ofStep});
  plan.rows = plan.group;
  if (isVectorized && vectorDim >= 0)
    takeWords();
}

/// Sets `width` to move words that are contiguous between neighboring work-items in one access.
void DeviceRowPlanner::takeWords() {
  chain.forEachAccess([&](Stage &, Access &access) {
    if (access.isArgument() && access.producer < 0 && continuesInWords(access, vectorDim) &&
        plan.slots % access.row.run() == 0)
      plan.width = std::max(plan.width, access.row.run());
  });
}

/// Counts the rows and the groups. The rows of a group are neighbors in the order of dims; they differ in an open dim
/// only if all dims are open.
void DeviceRowPlanner::countRows() {
  for (auto [d, dim] : llvm::enumerate(chain.dims))
    (dim.extent.isOpen() ? plan.open : plan.order).push_back(d);
  for (unsigned d : plan.order)
    plan.count *= chain.dims[d].extent.known();
  if (auto *inner = llvm::find(plan.order, static_cast<unsigned>(vectorDim)); inner != plan.order.end())
    std::rotate(inner, inner + 1, plan.order.end());
  constexpr int64_t manyGroups = 64;
  constexpr int64_t usualVector = 16; // if the width of the driver's vectors is not known
  int64_t fewestRows = plan.isAlongRow() ? 1 : plan.subGroup > 1 ? plan.subGroup : usualVector;
  // A group is run by one thread; there should be enough groups for all threads of a processor.
  if (isVectorized && plan.open.empty() && (plan.isAlongRow() || !plan.isInRegisters))
    while (plan.rows > fewestRows && plan.count < manyGroups * plan.rows)
      plan.rows /= 2, plan.group /= 2;
  if (!plan.open.empty() && plan.count == 1)
    plan.openDim = static_cast<int>(plan.open.back());
  else if (plan.count < plan.rows) { // too few rows to fill a group
    plan.rows = plan.isAlongRow() ? plan.count : llvm::alignTo(plan.count, plan.subGroup);
    plan.group = plan.rows * plan.items;
  }
  for (unsigned d : plan.open)
    plan.space.addLoop(chain.dims[d].extent, static_cast<int>(d) == plan.openDim ? plan.rows : 1);
  if (plan.openDim < 0)
    plan.space.addLoop(plan.count, plan.rows);
}

/// Uses group memory if neighboring rows are contiguous in memory: work-items that each read a row would access a
/// different cache line at each position.
void DeviceRowPlanner::boxRows() {
  bool isOneRun = plan.isInRegisters && chain.dims.size() == 1 && plan.order.size() == 1 && chain.limits.empty() &&
                  chain.rowExtent.mayExceed(1);
  if (isVectorized || !isOneRun)
    return;
  int64_t bytes = 0;
  chain.forEachAccess([&](Stage &, Access &access) {
    if (plan.isInBox(access))
      bytes += llvm::alignTo(plan.rows * plan.boxPitch(access.elementType()) * bytesOf(access.elementType()), 16);
  });
  plan.isBoxed = bytes && bytes <= strategy.groupMemoryBytes;
}

void DeviceRowPlanner::run() {
  if (chain.rowLoop < 0)
    plan.whyFallback = "nothing is reduced";
  else if (isProduct())
    plan.whyFallback = "it is a product whose factors several rows share";
  plan.sweeps = chain.sweeps;
  auto sizes = ArrayRef(strategy.subGroupSizes);
  auto preferred = llvm::find(sizes, 16);
  plan.subGroup = preferred == sizes.end() ? sizes.back() : *preferred;
  int64_t best = bytesSideBySide(-1);
  for (int d = chain.dims.size() - 1; d >= 0; --d)
    if (int64_t bytes = bytesSideBySide(d); bytes > best && chain.dims[d].extent.mayExceed(1)) {
      best = bytes;
      vectorDim = d;
    }
  // Short vectors cost less than gathering rows for all lanes, unless idle lanes would compute functions.
  constexpr int64_t shortVector = 8;
  bool isSmall = isVectorized && chain.rowExtent.isBelow(plan.subGroup) && !chain.rowExtent.isBelow(shortVector / 2) &&
                 (chain.rowExtent == shortVector || !hasFunctions());
  if (vectorDim < 0 && isSmall && llvm::is_contained(strategy.subGroupSizes, shortVector))
    plan.subGroup = shortVector;
  // Lanes of a sub-group would idle; the cache lines that it reads are the same in either case.
  bool wouldIdle = chain.rowExtent.isBelow(plan.subGroup) && !isSmall;
  if (vectorDim < 0 && !wouldIdle)
    shareAlongRow();
  else
    giveRowsToItems();
  countRows();
  if (plan.share == RowShare::Item && vectorDim < 0)
    boxRows();
}

} // namespace

int64_t DeviceRowPlan::reductionBytes() const {
  int64_t bytes = 0;
  if (share == RowShare::Group && items > subGroup)
    for (const Stage &stage : chain.stages)
      for (TypedAttr init : stage.reduces ? ArrayRef(stage.inits) : ArrayRef<TypedAttr>())
        bytes = addGroupMemory(bytes, items / subGroup, init.getType());
  return bytes;
}

PlanAttr DeviceRowPlan::attribute() const {
  PlanBuilder fields(chain.problem, Recipe::Rows);
  fields.add(PlanField::RowShare, share == RowShare::SubGroup ? "a sub-group of " + std::to_string(subGroup)
                                  : share == RowShare::Group  ? "a group"
                                                              : "a work-item");
  if (isInRegisters)
    fields.add(PlanField::HeldValues, slots);
  else
    fields.add(PlanField::ItemSweeps, sweeps).add(PlanField::SweepStep, slots);
  return fields.addIf(width > 1, PlanField::RowWidth, width)
      .addIf(isBoxed, PlanField::IsBoxed)
      .add(PlanField::GroupItems, group)
      .get();
}

void quern::schedule::rows::planDeviceRows(DeviceRowPlan &plan) { DeviceRowPlanner(plan).run(); }
