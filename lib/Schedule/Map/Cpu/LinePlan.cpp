//===- LinePlan.cpp - The runs of lines and the order of their loops -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A run is as long as all operands permit. The order of the loops compensates for short runs: memory neighbors are
// processed one after another on the side without whole cache lines, and non-temporal stores follow the order of the
// source.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Plan.h"

#include "Schedule/Build/CpuMemory.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

namespace {

/// Adds axes to the run of a line while every operand keeps its form: contiguous, one element for all lanes, or a
/// pattern that each vector repeats.
class RunBuilder {
public:
  explicit RunBuilder(MapPlan &plan) : plan(plan), axes(plan.problem.axes) {}

  bool build() {
    int first = -1;
    for (auto [a, axis] : llvm::enumerate(axes))
      if (plan.destination().strides[a] == 1 && !axis.isNonlinear)
        first = a;
    if (first < 0)
      return false;
    plan.run.parts = {{static_cast<unsigned>(first), axes[first].extent.known()}};
    while (extend()) {}
    return true;
  }

private:
  bool isContiguous(const Operand &operand) const { return plan.run.isContiguousIn(operand.strides); }
  template <typename PerAxis> bool isStill(const PerAxis &perAxis) const {
    return llvm::all_of(plan.run.parts, [&](const Part &part) { return perAxis[part.axis] == 0; });
  }
  bool goesOn(unsigned axis, int64_t length) const {
    bool repeats = plan.lanes % length == 0 && plan.strategy.narrowestMask == 8;
    for (const Operand &operand : plan.problem.operands) {
      int64_t stride = operand.strides[axis].known();
      if (!(isContiguous(operand) && stride == length) && !(!stride && (repeats || isStill(operand.strides))))
        return false;
    }
    return llvm::all_of(plan.problem.limits, [&](const Limit &limit) {
      return isStill(limit.weights) || (!limit.weights[axis] && repeats);
    });
  }
  bool extend() {
    int64_t length = plan.run.lanes();
    for (auto [a, axis] : llvm::enumerate(axes)) {
      bool follows = plan.destination().strides[a] == length && !axis.isNonlinear && !plan.run.has(a);
      if (!follows || !goesOn(a, length))
        continue;
      plan.run.parts.push_back({static_cast<unsigned>(a), axis.extent.known()});
      return true;
    }
    return false;
  }

  MapPlan &plan;
  ArrayRef<Axis> axes;
};

bool takesMasks(const MapPlan &plan) {
  return llvm::all_of(plan.problem.operands, [&](const Operand &operand) { return plan.takesMask(operand.element()); });
}

/// Narrows the vectors of a run that is shorter than a register: to the next power of two if the vector can be masked,
/// otherwise to the one before.
void narrowLanes(MapPlan &plan) {
  uint64_t length = plan.run.lanes();
  int64_t enough = static_cast<int64_t>(takesMasks(plan) ? llvm::PowerOf2Ceil(length) : llvm::bit_floor(length));
  plan.lanes = std::min(plan.lanes, std::max(enough, fewestLanes));
}

/// Chooses the vectors of a step: enough to hide latency, fewer for a long body. A count that leaves few remaining
/// vectors is preferred.
void chooseUnroll(MapPlan &plan) {
  int64_t vectors = plan.run.lanes() / plan.lanes,
          ops = plan.bodyOps() + static_cast<int64_t>(plan.problem.operands.size());
  int64_t most = std::clamp<int64_t>(plan.strategy.stepOps / ops, 1, plan.strategy.unroll);
  int64_t line = plan.streams
                     ? std::max<int64_t>(1, plan.strategy.vectorBytes / (plan.lanes * plan.destination().bytes()))
                     : plan.strategy.vectorsPerAccess;
  if (line <= most)
    most -= most % line;
  else
    line = 1;
  int64_t best = most;
  for (int64_t count = most; count * 2 > most; count -= line)
    if (vectors >= count && count + vectors % count < best + vectors % best)
      best = count;
  plan.unroll = vectors ? std::min(best, vectors) : 1;
}

/// Returns true if the operand's next run along the loop continues the current one, at least up to the next block.
bool followsRun(const MapPlan &plan, const Operand &operand, const MapLoop &loop) {
  Size stride = operand.strides[loop.axis].known() * loop.step;
  for (auto &[axis, function] : operand.nonlinear)
    if (axis == loop.axis)
      stride = function.step();
  return stride == plan.run.lanes();
}

/// If runs are shorter than a cache line of the source, moves the axis that continues the run in the source innermost,
/// so that a cache line is read in one pass. The same holds for a non-linear axis, along which the blocks of both
/// operands end.
void keepLines(MapPlan &plan) {
  int64_t bytes = plan.run.lanes() * plan.source().bytes();
  for (auto [i, loop] : llvm::enumerate(plan.loops)) {
    bool isNonlinear = plan.problem.axes[loop.axis].isNonlinear;
    bool follows = followsRun(plan, plan.source(), loop) || (isNonlinear && followsRun(plan, plan.destination(), loop));
    if (follows && bytes < (isNonlinear ? prefetcherReach : lineBytes) && loop.trip <= lineBytes) {
      std::rotate(plan.loops.begin() + i, plan.loops.begin() + i + 1, plan.loops.end());
      return;
    }
  }
}

/// For runs of one or two cache lines that are at least 1 KiB from each other in the source: splits the loop over runs
/// that are contiguous there, so that a few of them are read in one pass.
void gatherLines(MapPlan &plan) {
  constexpr int64_t wantedBytes = 256, farBytes = 1024;
  int64_t bytes = plan.run.lanes() * plan.source().bytes(), count = wantedBytes / bytes;
  if (bytes < lineBytes || count < 2 || plan.loops.size() < 2)
    return;
  const MapLoop &last = plan.loops.back();
  if (plan.source().strides[last.axis].known() * last.step * plan.source().bytes() < farBytes)
    return;
  for (auto [i, loop] : llvm::enumerate(plan.loops)) {
    if (!followsRun(plan, plan.source(), loop) || loop.trip % count || plan.problem.axes[loop.axis].isNonlinear)
      continue;
    MapLoop inner = loop;
    inner.trip = count;
    loop.step *= count;
    loop.trip /= count;
    plan.loops.push_back(inner);
    return;
  }
}

/// Returns true if every run of the destination is whole cache lines, provided that its buffer is aligned.
bool streamsWholeLines(const MapPlan &plan) {
  const Operand &destination = plan.destination();
  auto isWhole = [&](int64_t elements) { return elements * destination.bytes() % lineBytes == 0; };
  return plan.streams && plan.problem.limits.empty() && isWhole(destination.offset.known()) &&
         isWhole(plan.run.lanes()) && llvm::all_of(plan.loops, [&](const MapLoop &loop) {
           return isWhole(destination.strides[loop.axis].known() * loop.step);
         });
}

/// Returns true if a line starts with a separate masked store, after which non-temporal stores are aligned.
bool peelsLines(const MapPlan &plan) {
  constexpr int64_t vectors = 16, minStreamed = 16;
  return plan.streams && plan.run.parts.size() == 1 && plan.run.lanes() >= vectors * plan.lanes &&
         !plan.problem.writesPadding() && plan.streamedLanes * plan.destination().bytes() >= minStreamed &&
         takesMasks(plan);
}

/// Orders the loops by source strides. Non-temporal stores need no particular order, and the hardware prefetcher
/// follows reads in memory order.
void orderBySource(MapPlan &plan) {
  if (plan.run.lanes() * plan.source().bytes() >= pageBytes)
    return;
  auto lead = [&](const MapLoop &loop) { return plan.source().strides[loop.axis].known(); };
  llvm::sort(plan.loops, [&](const MapLoop &a, const MapLoop &b) {
    return std::make_pair(-lead(a), a.axis) < std::make_pair(-lead(b), b.axis);
  });
}

/// Returns true if the offsets of `count` runs from the first one are the same in every iteration.
bool repeats(const MapPlan &plan, const MapLoop &loop, int64_t count) {
  for (const Operand &operand : plan.problem.operands)
    for (auto &[axis, function] : operand.nonlinear)
      for (int64_t i = 1; axis == loop.axis && i < count; ++i)
        if (!function.advance(i, count == loop.trip ? 0 : count))
          return false;
  return true;
}

/// For short runs: processes several in one iteration of the innermost loop. If they are not contiguous in the source,
/// the next ones are prefetched, because the hardware prefetcher does not follow them.
void pairRuns(MapPlan &plan) {
  constexpr int64_t ahead = 1024;
  if (plan.loops.size() == plan.outer)
    return;
  const MapLoop &loop = plan.loops.back();
  int64_t vectors = llvm::divideCeil(plan.run.lanes(), plan.lanes),
          ops = plan.bodyOps() + static_cast<int64_t>(plan.problem.operands.size());
  int64_t most = std::min(2 * plan.strategy.unroll / vectors, 2 * plan.strategy.stepOps / (vectors * ops));
  if (plan.problem.axes[loop.axis].isNonlinear)
    most *= 2; // otherwise each run needs divisions
  bool isSimple = plan.problem.limits.empty() || vectors == 1;
  for (int64_t count = most; isSimple && count > 1 && plan.jamFactor == 1; --count)
    if (loop.trip % count == 0 && loop.partOf % count == 0 && repeats(plan, loop, count))
      plan.jamFactor = count;
  int64_t bytes = plan.run.lanes() * plan.source().bytes(),
          apart = plan.source().strides[loop.axis].known() * loop.step * plan.source().bytes();
  if (bytes >= lineBytes && bytes < prefetcherReach && apart != bytes && apart)
    plan.prefetchDistance = std::max<int64_t>(1, ahead / (bytes * plan.jamFactor));
}

} // namespace

bool quern::schedule::maps::planLine(MapPlan &plan) {
  plan.lanes = plan.strategy.vectorBytes * 8 / plan.problem.widestBits();
  return RunBuilder(plan).build();
}

void quern::schedule::maps::fitLine(MapPlan &plan) {
  narrowLanes(plan);
  chooseUnroll(plan);
}

void quern::schedule::maps::orderLineLoops(MapPlan &plan) {
  if (plan.source().nonlinear.empty() && streamsWholeLines(plan))
    orderBySource(plan);
  else
    keepLines(plan), gatherLines(plan);
}

int64_t quern::schedule::maps::lanesStreamed(const MapPlan &plan) {
  int64_t most = plan.strategy.vectorBytes / plan.destination().bytes(), streamed = plan.lanes;
  while (streamed * 2 <= most && plan.unroll * plan.lanes % (streamed * 2) == 0)
    streamed *= 2;
  return streamed;
}

void quern::schedule::maps::finishLine(MapPlan &plan) {
  plan.streamedLanes = lanesStreamed(plan);
  plan.peels = peelsLines(plan);
  pairRuns(plan);
}
