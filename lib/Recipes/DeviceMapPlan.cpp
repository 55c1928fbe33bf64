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
  BoxOrder orderOf(const Operand &operand) const;
  void shortenRun(BoxOrder &order, const Operand &operand) const;
  void chooseSubGroup();
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

BoxOrder Planner::orderOf(const Operand &operand) const {
  BoxOrder order;
  bool isRun = true;
  for (unsigned a : axesInOrderOf(operand)) {
    if (plan.counts[a] == 1)
      continue;
    order.axes.parts.push_back({a, plan.counts[a]});
    isRun &= operand.strides[a] == order.run;
    order.run *= isRun ? plan.counts[a] : 1;
  }
  return order;
}

/// Makes the run of the order one of this operand, too, or one that it takes steps of one length through.
void Planner::shortenRun(BoxOrder &order, const Operand &operand) const {
  int64_t run = 1, next = 0;
  for (const Part &part : order.axes.parts) {
    int64_t stride = operand.strides[part.axis];
    if (run > 1 && stride != next)
      break;
    run *= part.count;
    next = stride * part.count;
  }
  order.run = std::min(order.run, run);
}

/// Sub-groups of which each has a piece of one run, in both orders if few places stay empty, else in one.
void Planner::chooseSubGroup() {
  constexpr double mostPlaces = 1.34; // for each point
  double least = 0;
  for (int64_t size : strategy.subGroupSizes) {
    if (size > preferredSubGroup || plan.group % size)
      continue;
    auto placesOf = [&](const BoxOrder &order) {
      return order.run == order.axes.lanes() ? 1 : static_cast<double>(llvm::alignTo(order.run, size)) / static_cast<double>(order.run);
    };
    // A shorter sub-group has more instructions for as many points.
    constexpr double perHalving = 1.2;
    double cost = 0;
    for (const BoxOrder *order : {&plan.written, &plan.read})
      cost += std::min(placesOf(*order), 2.) * (size < preferredSubGroup ? perHalving : 1);
    bool isUseful = false;
    for (const BoxOrder *order : {&plan.written, &plan.read})
      isUseful |= order->run < order->axes.lanes() && placesOf(*order) <= mostPlaces;
    if (!isUseful || (least && cost > least))
      continue;
    least = cost;
    plan.subGroup = size;
    for (BoxOrder *order : {&plan.written, &plan.read})
      order->filled = order->run < order->axes.lanes() && placesOf(*order) <= mostPlaces ? llvm::alignTo(order->run, size) : 0;
  }
}

/// In the order of the source, with some elements between its runs.
void Planner::layOutMemory() {
  const Operand &source = plan.source();
  plan.inMemory.assign(problem.axes.size(), 0);
  int64_t next = 1, run = 1;
  bool isRun = true;
  for (const Part &part : plan.read.axes.parts) {
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
  plan.written = orderOf(problem.destination());
  for (auto [i, operand] : llvm::enumerate(problem.operands))
    if (!(plan.isThroughMemory && i == problem.source))
      shortenRun(plan.written, operand);
  if (plan.isThroughMemory) {
    plan.read = orderOf(plan.source());
    layOutMemory();
  }
  plan.group = std::min<int64_t>({256, strategy.maxGroup, static_cast<int64_t>(llvm::PowerOf2Ceil(plan.points()))});
  for (unsigned a = 0; a < problem.axes.size(); ++a)
    plan.space *= plan.boxes(a);
  chooseSubGroup();
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
