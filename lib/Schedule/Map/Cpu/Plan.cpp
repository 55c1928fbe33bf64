//===- Plan.cpp - The plan of a map on the CPU ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The kind of kernel is chosen first, then the loops around it, then the number of loops that form the kernel's space:
// an iteration is worth handing to a thread, or is the whole map if that is small.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Plan.h"

#include "Schedule/Build/CpuMemory.h"
#include "Support/ThreadCost.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

bool MapPlan::isStraight(const LaneGroup &group) const {
  auto isStill = [&](const auto &perAxis) {
    return llvm::all_of(group.parts, [&](const Part &part) { return perAxis[part.axis] == 0; });
  };
  return llvm::all_of(ArrayRef(problem.operands).drop_back(problem.readsOld ? 0 : 1),
                      [&](const Operand &operand) {
                        return isStill(operand.strides) || group.isContiguousIn(operand.strides);
                      }) &&
         llvm::all_of(problem.limits, [&](const Limit &limit) { return limit.shifted >= 0 || isStill(limit.weights); });
}

bool MapPlan::masksEnds() const {
  return llvm::all_of(problem.operands, [&](const Operand &operand) {
    return takesMask(operand.element()) || (kind == MapKind::Line && operand.strides[run.parts[0].axis] != 1);
  });
}

int64_t MapPlan::bodyOps() const { return opsOf(problem.op); }

namespace {

/// Returns the number of bytes of the operand that the whole map accesses.
int64_t footprint(const MapProblem &problem, const Operand &operand) {
  int64_t bytes = operand.bytes();
  for (auto [a, axis] : llvm::enumerate(problem.axes))
    bytes *= operand.strides[a] != 0 || llvm::any_of(operand.nonlinear, [&](auto &entry) { return entry.first == a; })
                 ? axis.extent.known()
                 : 1;
  return bytes;
}

int64_t bytesMoved(const MapProblem &problem) {
  int64_t bytes = 0;
  for (const Operand &operand : problem.operands)
    bytes += footprint(problem, operand);
  return bytes;
}

/// Returns the number of bytes that non-temporal stores keep out of the caches. A destination that is read is cached in
/// any case.
int64_t bytesStreamed(const MapProblem &problem) {
  return problem.readsOld ? footprint(problem, problem.destination()) : bytesMoved(problem);
}

/// Adds loops over the parts of the axes that groups do not cover, in the order of the destination, and limits for
/// groups that do not divide axes.
void makeLoops(MapPlan &plan) {
  MapProblem &problem = plan.problem;
  Numbers chunks(problem.axes.size(), 1);
  for (const LaneGroup *group : {&plan.run, &plan.rows, &plan.columns, &plan.tile.repeat})
    for (const Part &part : group->parts)
      chunks[part.axis] = part.count;
  for (auto [a, axis] : llvm::enumerate(problem.axes)) {
    int64_t trip = llvm::divideCeil(axis.extent.known(), chunks[a]);
    if (trip > 1)
      plan.loops.push_back({static_cast<unsigned>(a), chunks[a], trip});
    bool isLimited = llvm::any_of(
        problem.limits, [&](const Limit &limit) { return limit.weights[a] * axis.extent.known() >= limit.write; });
    if (axis.extent.known() % chunks[a] == 0 || isLimited)
      continue;
    Limit limit{Numbers(problem.axes.size(), 0), axis.extent.known(), axis.extent.known()};
    limit.weights[a] = 1;
    if (llvm::is_contained(plan.tile.shifted, a))
      limit.shifted = static_cast<int>(a);
    problem.limits.push_back(limit);
  }
  for (const Limit &limit : problem.limits) {
    int64_t sum = 0;
    for (auto [axis, chunk, weight] : llvm::zip_equal(problem.axes, chunks, limit.weights))
      sum += weight * (static_cast<int64_t>(llvm::alignTo(axis.extent.known(), chunk)) - 1);
    plan.highest.push_back(sum);
  }
  auto lead = [&](const MapLoop &loop) {
    int64_t stride = plan.destination().strides[loop.axis].known();
    for (auto &[axis, function] : plan.destination().nonlinear)
      if (axis == loop.axis)
        stride = function.digits().back().stride;
    return stride;
  };
  llvm::sort(plan.loops, [&](const MapLoop &a, const MapLoop &b) {
    return std::make_pair(-lead(a), a.axis) < std::make_pair(-lead(b), b.axis);
  });
}

/// Splits a loop into blocks of about `count` indices and the indices within a block. If the trip count is a multiple
/// of 8, 4, 2 or 3, `count` is rounded down to a multiple of the first of these.
void splitLoop(MapPlan &plan, unsigned at, int64_t count) {
  MapLoop &loop = plan.loops[at], inner = loop;
  for (int64_t even : {8, 4, 2, 3})
    if (loop.trip % even == 0 && count > even) {
      count -= count % even;
      break;
    }
  inner.trip = count;
  inner.partOf = loop.trip;
  loop.step *= count;
  loop.trip = llvm::divideCeil(loop.trip, count);
  plan.loops.insert(plan.loops.begin() + at + 1, inner);
}

void estimate(MapPlan &plan) {
  double bytes = static_cast<double>(bytesMoved(plan.problem)), points = static_cast<double>(plan.problem.points());
  const MapStrategy &strategy = plan.strategy;
  double perPoint =
      plan.kind == MapKind::Scalar ? strategy.nsPerScalar : plan.bodyOps() * strategy.nsPerOperation / plan.lanes;
  plan.ns = std::max(1.0, bytes * strategy.nsPerByte + points * perPoint);
}

/// Returns the time that an iteration should take: at least a microsecond, and more if there is enough for many
/// threads. If the map is worth one thread only, it is a single iteration.
double nsWanted(const MapPlan &plan) {
  constexpr double least = nsWorthASlot, most = 20000, share = 512;
  return plan.ns < 2 * nsWorthAThread ? plan.ns : std::clamp(plan.ns / share, least, most);
}

/// Splits a run that takes longer than an iteration should.
void cutRun(MapPlan &plan) {
  Part &last = plan.run.parts.back();
  double nsPerIndex = plan.ns / plan.problem.points() * plan.run.lanes() / last.count;
  int64_t perIndex = plan.run.lanes() / last.count, step = plan.lanes * plan.unroll;
  int64_t whole = step / std::gcd(step, perIndex); // smallest number of indices that ends with a whole step
  int64_t wanted = llvm::alignTo(std::max<int64_t>(1, static_cast<int64_t>(nsWanted(plan) / nsPerIndex)), whole);
  if (wanted * 2 <= last.count)
    last.count = wanted;
}

void chooseSpace(MapPlan &plan) {
  double wanted = nsWanted(plan), left = plan.ns;
  while (plan.outer < plan.loops.size() && left > wanted) {
    MapLoop &loop = plan.loops[plan.outer];
    double each = left / loop.trip;
    int64_t together = each < wanted ? static_cast<int64_t>(wanted / each) : 1;
    if (together > 1 && together * 2 > loop.trip)
      break; // the remainder is shorter than two iterations should take
    if (together > 1 && !plan.problem.axes[loop.axis].isNonlinear) {
      splitLoop(plan, plan.outer, together);
      each *= together;
    }
    plan.space *= plan.loops[plan.outer].trip;
    ++plan.outer;
    left = each;
  }
  plan.nsPerIteration = left;
}

bool isContiguousAlong(const Operand &operand, unsigned axis) {
  return operand.strides[axis] == 1 || operand.strides[axis] == 0;
}

void chooseKind(MapPlan &plan) {
  bool hasRun = planLine(plan);
  if (hasRun && isContiguousAlong(plan.source(), plan.run.parts[0].axis)) {
    plan.kind = MapKind::Line;
    return;
  }
  LaneGroup run = std::exchange(plan.run, LaneGroup());
  if (planTile(plan)) {
    plan.kind = MapKind::Tile;
    return;
  }
  plan.run = run;
  plan.kind = hasRun ? MapKind::Line : MapKind::Scalar;
}

void chooseStreaming(MapPlan &plan, int64_t least) {
  int64_t bytes = bytesStreamed(plan.problem);
  plan.streams = bytes >= least;
  plan.streamsFullCallsOnly = plan.streams && bytes < plan.strategy.streamAlwaysBytes;
}

/// Returns true if consecutive tiles continue the destination for so long that the hardware prefetches the lines that
/// they start to write.
bool followsDestination(const MapPlan &plan) {
  if (plan.loops.empty())
    return false;
  const MapLoop &inner = plan.loops.back();
  return plan.destination().strides[inner.axis] == 1 &&
         inner.trip * inner.step * plan.destination().bytes() >= prefetcherReach;
}

} // namespace

void quern::schedule::maps::planMap(MapPlan &plan) {
  chooseKind(plan);
  bool isLine = plan.kind == MapKind::Line;
  chooseStreaming(plan, plan.strategy.streamBytes);
  if (isLine)
    fitLine(plan);
  estimate(plan);
  if (isLine)
    cutRun(plan);
  makeLoops(plan);
  if (isLine)
    orderLineLoops(plan);
  else if (plan.kind == MapKind::Tile) {
    orderTileLoops(plan);
    if (!followsDestination(plan))
      chooseStreaming(plan, plan.strategy.streamTilesBytes);
  }
  chooseSpace(plan);
  if (isLine)
    finishLine(plan);
}

/// Adds the decisions about the elements of a tile.
static void addTile(PlanBuilder &fields, const MapPlan &plan) {
  const TilePlan &tile = plan.tile;
  fields.add(PlanField::TileColumns, plan.columns.lanes())
      .add(PlanField::TileRows, plan.rows.lanes())
      .add(PlanField::Moved, tile.moved)
      .addIf(tile.network != TileNetwork::Squares, PlanField::Network,
             tile.network == TileNetwork::Interleave ? "interleaved" : "deinterleaved")
      .addIf(!plan.problem.isCopy, PlanField::Body, tile.bodyInColumns ? "after" : "before")
      .addIf(tile.throughRows, PlanField::RowsInScratch)
      .addIf(tile.repeat.lanes() > 1, PlanField::Adjacent, tile.repeat.lanes())
      .addIf(tile.throughColumns, PlanField::ColumnsInScratch)
      .addIf(tile.prefetch != 0, PlanField::PrefetchAhead, tile.prefetch);
}

PlanAttr MapPlan::attribute() const {
  if (problem.hasOpenSizes())
    return attributeOfOpen(*this);
  PlanBuilder fields(problem.function, Recipe::Map);
  const char *kinds[] = {"lines", "tiles", "points"};
  fields.add(PlanField::Kind, kinds[static_cast<int>(kind)]).add(PlanField::Space, space);
  if (kind == MapKind::Line)
    fields.add(PlanField::Run, run.lanes())
        .add(PlanField::Lanes, lanes)
        .add(PlanField::Unroll, unroll)
        .addIf(jamFactor > 1, PlanField::Jam, jamFactor)
        .addIf(prefetchDistance != 0, PlanField::PrefetchAhead, prefetchDistance)
        .addIf(!isContiguousAlong(source(), run.parts[0].axis), PlanField::Collects);
  else if (kind == MapKind::Tile)
    addTile(fields, *this);
  std::string axes, nest;
  for (auto [a, axis] : llvm::enumerate(problem.axes)) {
    axes += (a ? " " : "") + axis.extent.text();
    axes += axis.isNonlinear ? "(nonlinear)"
                             : "(" + source().strides[a].text() + "->" + destination().strides[a].text() + ")";
  }
  for (auto [i, loop] : llvm::enumerate(loops)) {
    nest += i == outer ? (i ? " | " : "| ") : (i ? " " : "");
    nest += std::to_string(loop.trip) + (loop.step > 1 ? " by " + std::to_string(loop.step) : "");
  }
  return fields.add(PlanField::Axes, axes)
      .addIf(!nest.empty(), PlanField::Loops, nest)
      .addIf(!problem.limits.empty(), PlanField::Limits, problem.limits.size())
      .addIf(problem.writesPadding(), PlanField::WritesPadding)
      .addIf(streams, streamsFullCallsOnly ? PlanField::StreamsAlone : PlanField::Streams,
             peels ? "from a boundary on" : "where aligned")
      .get();
}
