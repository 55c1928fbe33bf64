//===- Plan.cpp - Boxes of a map -----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A box that goes through group memory has runs of whole cache lines in both orders. Its rows in group memory are an
// odd number of banks from each other, so that a column accesses every bank.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Device/Plan.h"

#include "Schedule/Device/GroupMemory.h"

#include "Schedule/Device/Access.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

int64_t DeviceMapPlan::boxes(unsigned axis) const {
  return llvm::divideCeil(problem.axes[axis].extent.known(), counts[axis]);
}

namespace {

constexpr int64_t bankBytes = 4, preferredSubGroup = 16;

class DeviceMapPlanner {
public:
  explicit DeviceMapPlanner(DeviceMapPlan &plan) : plan(plan), problem(plan.problem), strategy(plan.strategy) {}
  void run();

private:
  int64_t ofGroup() const { return std::min<int64_t>(256, strategy.maxGroup); }
  SmallVector<unsigned> axesInOrderOf(const Operand &operand) const;
  int64_t runOf(const Operand &operand, int64_t *bytes = nullptr) const;
  int64_t commonRun() const;
  unsigned growRun(const Operand &operand, int64_t elements);
  bool chooseTile();
  void chooseLines();
  bool isAligned(const Operand &operand, unsigned axis) const;
  bool isInVectors(const Operand &operand, unsigned axis, int64_t width) const;
  int64_t widthAlong(const Operand &operand, int64_t width) const;
  int64_t widthOfLines() const;
  void chooseVectors();
  BoxOrder orderOf(const Operand &operand, int64_t width) const;
  bool isSmall(const Operand &operand) const;
  void shortenRun(BoxOrder &order, const Operand &operand) const;
  void chooseGroup();
  void chooseSubGroup();
  void layOutMemory();

  DeviceMapPlan &plan;
  MapProblem &problem;
  const DeviceStrategy &strategy;
};

/// Returns the linear axes, fastest first; axes along which the operand is invariant come last.
SmallVector<unsigned> DeviceMapPlanner::axesInOrderOf(const Operand &operand) const {
  SmallVector<unsigned> axes;
  for (unsigned a = 0; a < problem.axes.size(); ++a)
    if (!problem.axes[a].isNonlinear)
      axes.push_back(a);
  auto rank = [&](unsigned a) { return std::make_tuple(operand.strides[a] == 0, operand.strides[a], a); };
  llvm::sort(axes, [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
  return axes;
}

/// Returns the number of elements that are contiguous in both source and destination.
int64_t DeviceMapPlanner::commonRun() const {
  int64_t length = 1;
  for (unsigned a : axesInOrderOf(problem.destination())) {
    if (problem.destination().strides[a] != length || plan.source().strides[a] != length)
      break;
    length *= problem.axes[a].extent.typical();
  }
  return length;
}

/// Extends the box to a run of about `elements` contiguous elements of the operand. Returns the run's last axis, or the
/// number of axes if the operand is not contiguous.
unsigned DeviceMapPlanner::growRun(const Operand &operand, int64_t elements) {
  int64_t length = 1;
  unsigned last = problem.axes.size();
  for (unsigned a : axesInOrderOf(operand)) {
    const Size extent = problem.axes[a].extent;
    if (operand.strides[a] != length || length >= elements)
      break;
    int64_t wanted = llvm::PowerOf2Ceil(llvm::divideCeil(elements, length));
    plan.counts[a] = extent.cappedAt(std::max(plan.counts[a], wanted));
    last = a;
    if (extent.mayExceed(plan.counts[a]))
      break;
    length *= plan.counts[a];
  }
  return last;
}

/// Chooses a box with runs of whole cache lines of source and destination that fits group memory.
bool DeviceMapPlanner::chooseTile() {
  constexpr int64_t points = 1024;
  const Operand &source = plan.source(), &destination = problem.destination();
  bool readsSource = problem.source + 1 < problem.operands.size();
  int64_t lineOfSource = strategy.lineBytes / source.bytes(),
          lineOfDestination = strategy.lineBytes / destination.bytes();
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
    while (size() < points && problem.axes[a].extent.mayExceed(plan.counts[a]))
      plan.counts[a] = problem.axes[a].extent.cappedAt(2 * plan.counts[a]);
  return true;
}

/// Returns true if vectors along an axis start at whole words of the operand, provided that its memory does and that
/// open strides are whole words.
bool DeviceMapPlanner::isAligned(const Operand &operand, unsigned axis) const {
  const int64_t perWord = std::max<int64_t>(1, deviceWordBytes / operand.bytes());
  auto divides = [&](Size size) { return size.isOpen() || size.isMultipleOf(perWord); };
  bool isWhole = divides(operand.offset);
  for (auto [a, stride] : llvm::enumerate(operand.strides))
    isWhole &= a == axis || divides(stride);
  for (auto &[a, function] : operand.nonlinear) {
    isWhole &= function.start() % perWord == 0;
    for (const Digit &digit : function.digits())
      isWhole &= digit.stride % perWord == 0;
  }
  return isWhole;
}

bool DeviceMapPlanner::isInVectors(const Operand &operand, unsigned axis, int64_t width) const {
  return !operand.isIndex() && operand.strides[axis] == 1 && isDeviceVector(operand.element(), width) &&
         isAligned(operand, axis);
}

/// Returns the largest vector of at most `width` points along the operand's fastest axis. The end of the axis must
/// split few vectors, and a long body must not be unrolled often.
int64_t DeviceMapPlanner::widthAlong(const Operand &operand, int64_t width) const {
  constexpr int64_t maxOps = 64, wholeOf = 256; // wholeOf: vectors of which at most one is partial
  const SmallVector<unsigned> order = axesInOrderOf(operand);
  if (order.empty())
    return 1;
  const Size extent = problem.axes[order.front()].extent;
  const int64_t ops = opsOf(problem.op);
  auto fits = [&] { return width * ops <= maxOps && (extent.isMultipleOf(width) || !extent.isBelow(width * wholeOf)); };
  while (width > 1 && !fits())
    width /= 2;
  return isInVectors(operand, order.front(), width) ? width : 1;
}

/// Returns the number of points of a vector: as many as the device moves of the widest operand at once, if the problem
/// fills the device.
int64_t DeviceMapPlanner::widthOfLines() const {
  constexpr int64_t enoughGroups = 128, enough = int64_t(1) << 30;
  const SmallVector<unsigned> order = axesInOrderOf(problem.destination());
  if (order.empty() || plan.source().strides[order.front()] != 1)
    return 1;
  int64_t widest = 1, points = 1;
  for (const Operand &operand : problem.operands)
    widest = operand.strides[order.front()] == 1 ? std::max(widest, operand.bytes()) : widest;
  for (const Axis &axis : problem.axes)
    points = std::min(points, enough) * axis.extent.cappedAt(enough);
  int64_t width = std::max<int64_t>(1, strategy.vectorBytes / widest);
  while (width * widest > deviceWordBytes && points < enoughGroups * ofGroup() * width)
    width /= 2;
  width = widthAlong(problem.destination(), width);
  bool allVectors = llvm::all_of(problem.operands, [&](const Operand &operand) {
    return operand.isIndex() || operand.strides[order.front()] != 1 || isInVectors(operand, order.front(), width);
  });
  return allVectors ? width : 1;
}

/// Gives each work-item some points in the order of the destination. It is one point if nothing is read: there is no
/// latency to hide, and for padding, compiling more code costs more than it saves.
void DeviceMapPlanner::chooseLines() {
  const bool readsNothing = problem.operands.size() == 1 && !problem.readsOld;
  const int64_t width = readsNothing ? 1 : widthOfLines(), perItem = readsNothing ? 1 : width > 1 ? 2 * width : 4;
  int64_t left = perItem * ofGroup();
  plan.counts.assign(problem.axes.size(), 1);
  const SmallVector<unsigned> order = axesInOrderOf(problem.destination());
  for (unsigned a : order) {
    // An open axis may be short, so it gets the whole box only if there is no other axis.
    constexpr int64_t ofOpen = 64;
    const int64_t most = plan.isOpen(a) && a != order.back() ? std::min(left, ofOpen * width) : left;
    plan.counts[a] = problem.axes[a].extent.cappedAt(most);
    left /= plan.counts[a];
    if (left < 2)
      break;
  }
  plan.written.width = width;
}

/// Chooses the vectors of tiles; chooseLines() has chosen those of lines. A word is sufficient for tiles, because a
/// sub-group then accesses a cache line.
void DeviceMapPlanner::chooseVectors() {
  auto wordOf = [&](const Operand &operand) {
    return strategy.vectorBytes ? widthAlong(operand, std::max<int64_t>(1, deviceWordBytes / operand.bytes())) : 1;
  };
  if (plan.isThroughMemory) {
    plan.written.width = wordOf(problem.destination());
    plan.read.width = wordOf(plan.source());
  }
  auto growTo = [&](const BoxOrder &order, const Operand &operand) {
    if (order.width > 1) {
      int64_t &count = plan.counts[axesInOrderOf(operand).front()];
      count = static_cast<int64_t>(llvm::alignTo(count, order.width));
    }
  };
  growTo(plan.written, problem.destination());
  growTo(plan.read, plan.source());
  plan.inVectors.assign(problem.operands.size(), false);
  for (auto [operand, isVector] : llvm::zip_equal(problem.operands, plan.inVectors))
    isVector = plan.written.width > 1 &&
               isInVectors(operand, axesInOrderOf(problem.destination()).front(), plan.written.width);
}

BoxOrder DeviceMapPlanner::orderOf(const Operand &operand, int64_t width) const {
  BoxOrder order;
  order.width = width;
  bool isRun = true;
  for (unsigned a : axesInOrderOf(operand)) {
    if (plan.counts[a] == 1)
      continue;
    const int64_t step = order.axes.parts.empty() ? width : 1, count = plan.counts[a] / step;
    order.axes.parts.push_back({a, count});
    isRun &= operand.strides[a] * step == order.run * width;
    order.run *= isRun ? count : 1;
  }
  return order;
}

/// Returns true if the operand's elements are read many times, like scales: they are cached, wherever they are.
bool DeviceMapPlanner::isSmall(const Operand &operand) const {
  constexpr int64_t often = 64;
  int64_t times = 1;
  for (auto [a, axis] : llvm::enumerate(problem.axes))
    times = std::min(often, times * (operand.strides[a] != 0 || axis.isNonlinear ? 1 : axis.extent.cappedAt(often)));
  return times >= often;
}

/// Shortens the run of the order to one that is also a run, or has a constant stride, in this operand.
void DeviceMapPlanner::shortenRun(BoxOrder &order, const Operand &operand) const {
  int64_t run = 1;
  Size next;
  for (const Part &part : order.axes.parts) {
    const Size stride = order.stride(operand.strides, part.axis);
    if (run > 1 && stride != next)
      break;
    run *= part.count;
    next = stride * part.count;
  }
  order.run = std::min(order.run, run);
}

/// Chooses the size of sub-groups, each of which gets a piece of one run, in the orders that leave few places unused.
void DeviceMapPlanner::chooseSubGroup() {
  constexpr double maxPlaces = 1.34; // places of sub-groups per point
  double least = 0;
  for (int64_t size : strategy.subGroupSizes) {
    if (size == 1 || size > preferredSubGroup || plan.group % size)
      continue;
    auto placesOf = [&](const BoxOrder &order) {
      return order.run == order.axes.lanes()
                 ? 1
                 : static_cast<double>(llvm::alignTo(order.run, size)) / static_cast<double>(order.run);
    };
    // A smaller sub-group executes more instructions for the same number of points.
    constexpr double perHalving = 1.2;
    double cost = 0;
    for (const BoxOrder *order : {&plan.written, &plan.read})
      cost += std::min(placesOf(*order), 2.) * (size < preferredSubGroup ? perHalving : 1);
    bool isUseful = false;
    for (const BoxOrder *order : {&plan.written, &plan.read})
      isUseful |= order->run < order->axes.lanes() && placesOf(*order) <= maxPlaces;
    if (!isUseful || (least && cost > least))
      continue;
    least = cost;
    plan.subGroup = size;
    for (BoxOrder *order : {&plan.written, &plan.read})
      order->filled =
          order->run < order->axes.lanes() && placesOf(*order) <= maxPlaces ? llvm::alignTo(order->run, size) : 0;
  }
}

/// Lays out a box in group memory in the order of the source. There is padding between its runs and, if work-items
/// write vectors, between these.
void DeviceMapPlanner::layOutMemory() {
  const Operand &source = plan.source();
  plan.inMemory.assign(problem.axes.size(), 0);
  const int64_t perBank = std::max<int64_t>(1, bankBytes / source.bytes());
  int64_t next = 1, run = 1;
  bool isRun = true;
  plan.storesVectors = plan.read.width > 1;
  const unsigned inVector = plan.written.axes.parts.front().axis;
  for (const Part &part : plan.read.axes.parts) {
    isRun &= source.strides[part.axis] == run;
    if (!isRun && next == run) { // after the run
      next = llvm::alignTo(next, perBank) + (llvm::divideCeil(next, perBank) % 2 ? 0 : perBank);
    }
    const int64_t points = part.count * plan.read.step(part.axis);
    plan.inMemory[part.axis] = next;
    plan.storesVectors &= next == 1 || next % perBank == 0;
    if (plan.written.width > 1 && part.axis == inVector && next > 1)
      plan.skew = perBank;
    next = next * points + (part.axis == inVector ? points / plan.written.width * plan.skew : 0);
    run *= isRun ? points : 1;
  }
  plan.memoryElements = next;
}

/// Chooses the size of a group, a power of two. If work-items remain idle, it is at least the size of a sub-group, by
/// which the emitter identifies them (subGroupOfItems()).
void DeviceMapPlanner::chooseGroup() {
  const int64_t places = plan.written.axes.lanes();
  plan.group = std::min<int64_t>(ofGroup(), llvm::PowerOf2Ceil(places));
  auto *least = llvm::find_if(strategy.subGroupSizes, [](int64_t size) { return size > 1; });
  if (places % plan.group && least != strategy.subGroupSizes.end())
    plan.group = std::min(ofGroup(), std::max(plan.group, *least));
}

void DeviceMapPlanner::run() {
  plan.counts.assign(problem.axes.size(), 1);
  plan.isThroughMemory = chooseTile();
  if (!plan.isThroughMemory)
    chooseLines();
  chooseVectors();
  plan.written = orderOf(problem.destination(), plan.written.width);
  for (auto [i, operand] : llvm::enumerate(problem.operands))
    if (!(plan.isThroughMemory && i == problem.source) && !operand.isIndex() && !isSmall(operand))
      shortenRun(plan.written, operand);
  if (plan.isThroughMemory) {
    plan.read = orderOf(plan.source(), plan.read.width);
    layOutMemory();
  }
  chooseGroup();
  for (unsigned a = 0; a < problem.axes.size(); ++a)
    plan.space.addLoop(problem.axes[a].extent, plan.counts[a]);
  chooseSubGroup();
}

} // namespace

int64_t DeviceMapPlan::groupBytes() const {
  return isThroughMemory ? addGroupMemory(0, memoryElements, groupMemoryType(source().element())) : 0;
}

PlanAttr DeviceMapPlan::attribute() const {
  std::string boxesByAxis;
  for (auto [a, axis] : llvm::enumerate(problem.axes))
    boxesByAxis += (a ? " x " : "") + std::to_string(counts[a]) + "/" + axis.extent.text();
  return PlanBuilder(problem.function, Recipe::Map)
      .add(PlanField::Kind, isThroughMemory ? "tiles through group memory" : "lines")
      .add(PlanField::Boxes, boxesByAxis)
      .addIf(read.width > 1, PlanField::ReadVectors, read.width)
      .addIf(written.width > 1, isThroughMemory ? PlanField::WrittenVectors : PlanField::Vectors, written.width)
      .add(PlanField::GroupItems, group)
      .addIf(subGroup != 0, PlanField::SubGroup, subGroup)
      .addIf(problem.writesPadding(), PlanField::WritesPadding)
      .get();
}

void quern::schedule::maps::planDeviceMap(DeviceMapPlan &plan) { DeviceMapPlanner(plan).run(); }
