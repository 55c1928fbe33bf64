//===- DeviceMapPlan.cpp - Boxes of a map ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A box through memory has runs of whole lines in either order, and rows in memory an odd number of banks apart, so that a column meets
// every bank.
//
//===----------------------------------------------------------------------===//
#include "Recipes/DeviceMapPlan.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::maps;

int64_t DeviceMapPlan::boxes(unsigned axis) const { return llvm::divideCeil(problem.axes[axis].extent, counts[axis]); }

namespace {

constexpr int64_t bankBytes = 4, preferredSubGroup = 16;

class Planner {
public:
  explicit Planner(DeviceMapPlan &plan) : plan(plan), problem(plan.problem), strategy(plan.strategy) {}
  void run();

private:
  SmallVector<unsigned> axesInOrderOf(const Operand &operand) const;
  int64_t runOf(const Operand &operand, int64_t *bytes = nullptr) const;
  int64_t commonRun() const;
  unsigned growRun(const Operand &operand, int64_t elements);
  bool chooseTile();
  void chooseLines();
  Group groupInOrderOf(const Operand &operand) const;
  void layOutMemory();

  DeviceMapPlan &plan;
  MapProblem &problem;
  const DeviceStrategy &strategy;
};

/// Axes that are no curves, the fastest first; those that the operand does not vary along come last.
SmallVector<unsigned> Planner::axesInOrderOf(const Operand &operand) const {
  SmallVector<unsigned> axes;
  for (unsigned a = 0; a < problem.axes.size(); ++a)
    if (!problem.axes[a].isCurved)
      axes.push_back(a);
  auto rank = [&](unsigned a) { return std::make_tuple(operand.strides[a] == 0, operand.strides[a], a); };
  llvm::sort(axes, [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
  return axes;
}

/// Elements that lie side by side in source and destination.
int64_t Planner::commonRun() const {
  int64_t length = 1;
  for (unsigned a : axesInOrderOf(problem.destination())) {
    if (problem.destination().strides[a] != length || plan.source().strides[a] != length)
      break;
    length *= problem.axes[a].extent;
  }
  return length;
}

/// Makes the box have a run of so many elements of the operand, if there is one; returns the last axis of it.
unsigned Planner::growRun(const Operand &operand, int64_t elements) {
  int64_t length = 1;
  unsigned last = problem.axes.size();
  for (unsigned a : axesInOrderOf(operand)) {
    int64_t extent = problem.axes[a].extent;
    if (operand.strides[a] != length || length >= elements)
      break;
    int64_t wanted = llvm::PowerOf2Ceil(llvm::divideCeil(elements, length));
    plan.counts[a] = std::min(extent, std::max(plan.counts[a], wanted));
    last = a;
    if (plan.counts[a] < extent)
      break;
    length *= extent;
  }
  return last;
}

/// A box with runs of whole lines of source and destination that fits the memory of a group.
bool Planner::chooseTile() {
  constexpr int64_t points = 1024;
  const Operand &source = plan.source(), &destination = problem.destination();
  bool readsSource = problem.source + 1 < problem.operands.size();
  int64_t lineOfSource = strategy.lineBytes / source.bytes(), lineOfDestination = strategy.lineBytes / destination.bytes();
  if (!readsSource || commonRun() >= std::min(lineOfSource, lineOfDestination))
    return false;
  unsigned none = problem.axes.size();
  unsigned alongSource = growRun(source, std::max<int64_t>(32, lineOfSource));
  unsigned alongDestination = growRun(destination, std::max<int64_t>(32, lineOfDestination));
  auto size = [&] {
    int64_t product = 1;
    for (int64_t count : plan.counts)
      product *= count;
    return product;
  };
  if (alongSource == none || alongDestination == none || size() * source.bytes() * 2 > strategy.groupMemoryBytes)
    return false;
  for (unsigned a : {alongDestination, alongSource})
    while (size() < points && plan.counts[a] < problem.axes[a].extent)
      plan.counts[a] = std::min(problem.axes[a].extent, 2 * plan.counts[a]);
  return true;
}

/// Some points for each work-item, in the order of the destination.
void Planner::chooseLines() {
  constexpr int64_t perItem = 4;
  int64_t left = perItem * std::min<int64_t>(256, strategy.maxGroup);
  plan.counts.assign(problem.axes.size(), 1);
  for (unsigned a : axesInOrderOf(problem.destination())) {
    plan.counts[a] = std::min(problem.axes[a].extent, left);
    left /= plan.counts[a];
    if (left < 2)
      break;
  }
}

Group Planner::groupInOrderOf(const Operand &operand) const {
  Group group;
  for (unsigned a : axesInOrderOf(operand))
    if (plan.counts[a] > 1)
      group.parts.push_back({a, plan.counts[a]});
  return group;
}

/// In the order of the source, with some elements between its runs.
void Planner::layOutMemory() {
  const Operand &source = plan.source();
  plan.inMemory.assign(problem.axes.size(), 0);
  int64_t next = 1, run = 1;
  bool isRun = true;
  for (const Part &part : plan.read.parts) {
    isRun &= source.strides[part.axis] == run;
    if (!isRun && next == run) { // behind the run
      int64_t perBank = std::max<int64_t>(1, bankBytes / source.bytes());
      next = llvm::alignTo(next, perBank) + (llvm::divideCeil(next, perBank) % 2 ? 0 : perBank);
    }
    plan.inMemory[part.axis] = next;
    next *= part.count;
    run *= isRun ? part.count : 1;
  }
  plan.memoryElements = next;
}

void Planner::run() {
  plan.counts.assign(problem.axes.size(), 1);
  plan.isThroughMemory = chooseTile();
  if (!plan.isThroughMemory)
    chooseLines();
  plan.written = groupInOrderOf(problem.destination());
  if (plan.isThroughMemory) {
    plan.read = groupInOrderOf(plan.source());
    layOutMemory();
  }
  int64_t smallest = strategy.subGroupSizes.front();
  plan.group = std::min<int64_t>({256, strategy.maxGroup, static_cast<int64_t>(llvm::PowerOf2Ceil(std::max(plan.points(), smallest)))});
  for (unsigned a = 0; a < problem.axes.size(); ++a)
    plan.space *= plan.boxes(a);
  for (int64_t size : strategy.subGroupSizes) {
    auto hasPieces = [&](const Group &order) { return order.parts.empty() || order.parts[0].count % size == 0; };
    bool isDivided = plan.written.parts.size() > 1 && hasPieces(plan.written) && hasPieces(plan.read) && plan.group % size == 0;
    if (isDivided && size <= preferredSubGroup)
      plan.subGroup = size;
  }
}

} // namespace

std::string DeviceMapPlan::text() const {
  std::string line;
  llvm::raw_string_ostream os(line);
  os << "map: " << (isThroughMemory ? "tiles through group memory" : "lines") << ", boxes";
  for (auto [a, axis] : llvm::enumerate(problem.axes))
    os << (a ? " x " : " ") << counts[a] << '/' << axis.extent;
  os << ", groups of " << group;
  if (subGroup)
    os << ", sub-groups of " << subGroup;
  if (problem.writesPadding())
    os << ", writes padding";
  return line;
}

void quern::maps::planDeviceMap(DeviceMapPlan &plan) { Planner(plan).run(); }
