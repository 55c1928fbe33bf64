//===- MapPlan.cpp - How a map is carried out -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The kind first, then the loops around it, then how many of them make an iteration of the kernel's space: one that is worth handing to a
// thread, or the whole map where it is small.
//
//===----------------------------------------------------------------------===//
#include "Recipes/MapPlan.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace quern;
using namespace quern::maps;

int64_t Group::sum(int64_t lane, ArrayRef<int64_t> perAxis) const {
  int64_t sum = 0;
  for (const Part &part : parts) {
    sum += lane % part.count * perAxis[part.axis];
    lane /= part.count;
  }
  return sum;
}

int64_t MapPlan::bodyOps() const { return opsOf(problem.op); }

namespace {

int64_t pointsOf(const MapProblem &problem) {
  int64_t points = 1;
  for (const Axis &axis : problem.axes)
    points *= axis.extent;
  return points;
}

/// Bytes that the operand has in all of the space.
int64_t footprint(const MapProblem &problem, const Operand &operand) {
  int64_t bytes = operand.bytes();
  for (auto [a, axis] : llvm::enumerate(problem.axes))
    bytes *= operand.strides[a] || llvm::any_of(operand.curves, [&](auto &curve) { return curve.first == a; }) ? axis.extent : 1;
  return bytes;
}

int64_t bytesMoved(const MapProblem &problem) {
  int64_t bytes = 0;
  for (const Operand &operand : problem.operands)
    bytes += footprint(problem, operand);
  return bytes;
}

/// Bits of the widest type that the lanes of a vector take.
int64_t widestBits(const MapPlan &plan) {
  int64_t bits = 8;
  auto see = [&](Type type) { bits = std::max<int64_t>(bits, type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0); };
  for (const Operand &operand : plan.problem.operands)
    if (&operand != &plan.destination() || plan.problem.readsOld)
      see(operand.element());
  see(plan.destination().element());
  for (Operation &op : plan.problem.op.getBlock()->without_terminator())
    for (Type type : op.getResultTypes())
      see(type);
  return bits;
}

/// Adds axes to the run of a line for as long as every operand goes on as it is: contiguous, one element for all lanes, or a pattern that
/// each vector repeats.
class RunBuilder {
public:
  explicit RunBuilder(MapPlan &plan) : plan(plan), axes(plan.problem.axes) {}

  bool build() {
    int first = -1;
    for (auto [a, axis] : llvm::enumerate(axes))
      if (plan.destination().strides[a] == 1 && !axis.isCurved)
        first = a;
    if (first < 0)
      return false;
    plan.run.parts = {{static_cast<unsigned>(first), axes[first].extent}};
    while (extend()) {}
    return true;
  }

private:
  bool isContiguous(const Operand &operand) const { return plan.run.isContiguousIn(operand.strides); }
  bool isStill(ArrayRef<int64_t> perAxis) const {
    return llvm::all_of(plan.run.parts, [&](const Part &part) { return !perAxis[part.axis]; });
  }
  bool goesOn(unsigned axis, int64_t length) const {
    bool repeats = plan.lanes % length == 0 && plan.strategy.narrowestMask == 8;
    for (const Operand &operand : plan.problem.operands) {
      int64_t stride = operand.strides[axis];
      if (!(isContiguous(operand) && stride == length) && !(!stride && (repeats || isStill(operand.strides))))
        return false;
    }
    return llvm::all_of(plan.problem.limits,
                        [&](const Limit &limit) { return isStill(limit.weights) || (!limit.weights[axis] && repeats); });
  }
  bool extend() {
    int64_t length = plan.run.lanes();
    for (auto [a, axis] : llvm::enumerate(axes)) {
      bool follows = plan.destination().strides[a] == length && !axis.isCurved && !plan.run.has(a);
      if (!follows || !goesOn(a, length))
        continue;
      plan.run.parts.push_back({static_cast<unsigned>(a), axis.extent});
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

/// A run that is shorter than a register takes as much of one as it needs, without masks if that is a power of two.
void narrowLanes(MapPlan &plan) {
  constexpr int64_t fewest = 4;
  uint64_t length = plan.run.lanes();
  int64_t enough = static_cast<int64_t>(takesMasks(plan) ? llvm::PowerOf2Ceil(length) : llvm::bit_floor(length));
  plan.lanes = std::min(plan.lanes, std::max(enough, fewest));
}

/// Vectors in a step: as many as hide latency, fewer if the body is long; a count that leaves few vectors over is better.
void chooseUnroll(MapPlan &plan) {
  int64_t vectors = plan.run.lanes() / plan.lanes, ops = plan.bodyOps() + static_cast<int64_t>(plan.problem.operands.size());
  int64_t most = std::clamp<int64_t>(plan.strategy.stepOps / ops, 1, plan.strategy.unroll), best = most;
  for (int64_t count = most; count * 2 > most; --count)
    if (vectors >= count && count + vectors % count < best + vectors % best)
      best = count;
  plan.unroll = vectors ? std::min(best, vectors) : 1;
}

/// Loops over what the groups leave of the axes, in the order of the destination, and limits where groups do not divide axes.
void makeLoops(MapPlan &plan) {
  MapProblem &problem = plan.problem;
  Strides chunks(problem.axes.size(), 1);
  for (const Group *group : {&plan.run, &plan.rows, &plan.columns, &plan.tile.repeat})
    for (const Part &part : group->parts)
      chunks[part.axis] = part.count;
  for (auto [a, axis] : llvm::enumerate(problem.axes)) {
    int64_t trip = llvm::divideCeil(axis.extent, chunks[a]);
    if (trip > 1)
      plan.loops.push_back({static_cast<unsigned>(a), chunks[a], trip});
    bool isLimited = llvm::any_of(problem.limits, [&](const Limit &limit) { return limit.weights[a] * axis.extent >= limit.write; });
    if (axis.extent % chunks[a] == 0 || isLimited)
      continue;
    Limit limit{Strides(problem.axes.size(), 0), axis.extent, axis.extent};
    limit.weights[a] = 1;
    if (llvm::is_contained(plan.tile.shifted, a))
      limit.shifted = static_cast<int>(a);
    problem.limits.push_back(limit);
  }
  for (const Limit &limit : problem.limits) {
    int64_t sum = 0;
    for (auto [axis, chunk, weight] : llvm::zip_equal(problem.axes, chunks, limit.weights))
      sum += weight * (static_cast<int64_t>(llvm::alignTo(axis.extent, chunk)) - 1);
    plan.highest.push_back(sum);
  }
  auto lead = [&](const Loop &loop) {
    int64_t stride = plan.destination().strides[loop.axis];
    for (auto &[axis, walk] : plan.destination().curves)
      if (axis == loop.axis)
        stride = walk.digits().back().stride;
    return stride;
  };
  llvm::sort(plan.loops, [&](const Loop &a, const Loop &b) { return std::make_pair(-lead(a), a.axis) < std::make_pair(-lead(b), b.axis); });
}

/// Whether the operand's next run follows the last one along the axis, be it up to the next block only.
bool followsRun(const MapPlan &plan, const Operand &operand, const Loop &loop) {
  int64_t stride = operand.strides[loop.axis] * loop.step;
  for (auto &[axis, way] : operand.curves)
    if (axis == loop.axis)
      stride = way.step();
  return stride == plan.run.lanes();
}

/// What the destination's lines are short of, the source's may have: the axis that goes on from the run in the source comes innermost, so
/// that a cache line of the source is read at one go. A curved axis does too, along which the blocks of both end.
void keepLines(MapPlan &plan) {
  constexpr int64_t lineBytes = 64, followed = 2048;
  int64_t bytes = plan.run.lanes() * plan.source().bytes();
  for (auto [i, loop] : llvm::enumerate(plan.loops)) {
    bool isCurved = plan.problem.axes[loop.axis].isCurved;
    bool follows = followsRun(plan, plan.source(), loop) || (isCurved && followsRun(plan, plan.destination(), loop));
    if (follows && bytes < (isCurved ? followed : lineBytes) && loop.trip <= lineBytes) {
      std::rotate(plan.loops.begin() + i, plan.loops.begin() + i + 1, plan.loops.end());
      return;
    }
  }
}

/// Every run of the destination is whole cache lines if its buffer begins with one.
bool streamsWholeLines(const MapPlan &plan) {
  constexpr int64_t lineBytes = 64;
  const Operand &destination = plan.destination();
  auto isWhole = [&](int64_t elements) { return elements * destination.bytes() % lineBytes == 0; };
  return plan.streams && plan.problem.limits.empty() && isWhole(destination.offset) && isWhole(plan.run.lanes()) &&
         llvm::all_of(plan.loops, [&](const Loop &loop) { return isWhole(destination.strides[loop.axis] * loop.step); });
}

/// Whether a line is worth a store of its own in front, so that all others are aligned wherever it begins.
bool peelsLines(const MapPlan &plan) {
  constexpr int64_t vectors = 16, leastStreamed = 16;
  return plan.streams && plan.run.parts.size() == 1 && plan.run.lanes() >= vectors * plan.lanes && !plan.problem.writesPadding() &&
         plan.lanes * plan.destination().bytes() >= leastStreamed && takesMasks(plan);
}

/// Stores past the caches need no order of their own, but the source is read best as it lies: the hardware follows it then.
void orderBySource(MapPlan &plan) {
  constexpr int64_t pageBytes = 4096;
  if (plan.run.lanes() * plan.source().bytes() >= pageBytes)
    return;
  auto lead = [&](const Loop &loop) { return plan.source().strides[loop.axis]; };
  llvm::sort(plan.loops, [&](const Loop &a, const Loop &b) { return std::make_pair(-lead(a), a.axis) < std::make_pair(-lead(b), b.axis); });
}

/// Cuts a loop in two: blocks of about `count` indices, and the indices within one, as even as those of the whole.
void splitLoop(MapPlan &plan, unsigned at, int64_t count) {
  Loop &loop = plan.loops[at], inner = loop;
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

constexpr double nsWorthAThread = 8000;

void estimate(MapPlan &plan) {
  double bytes = static_cast<double>(bytesMoved(plan.problem)), points = static_cast<double>(pointsOf(plan.problem));
  const MapStrategy &strategy = plan.strategy;
  double perPoint = plan.kind == MapKind::Scalar ? strategy.nsPerScalar : plan.bodyOps() * strategy.nsPerOperation / plan.lanes;
  plan.ns = std::max(1.0, bytes * strategy.nsPerByte + points * perPoint);
}

/// What an iteration should take: a microsecond at least, and more where there is enough for many threads. All, if it feeds one thread
/// only.
double nsWanted(const MapPlan &plan) {
  constexpr double least = 1000, most = 20000, share = 512;
  return plan.ns < 2 * nsWorthAThread ? plan.ns : std::clamp(plan.ns / share, least, most);
}

/// A run that takes longer than an iteration should is cut.
void cutRun(MapPlan &plan) {
  Part &last = plan.run.parts.back();
  double nsPerIndex = plan.ns / pointsOf(plan.problem) * plan.run.lanes() / last.count;
  int64_t perIndex = plan.run.lanes() / last.count, step = plan.lanes * plan.unroll;
  int64_t whole = step / std::gcd(step, perIndex); // indices that end with a step
  int64_t wanted = llvm::alignTo(std::max<int64_t>(1, static_cast<int64_t>(nsWanted(plan) / nsPerIndex)), whole);
  if (wanted * 2 <= last.count)
    last.count = wanted;
}

void chooseSpace(MapPlan &plan) {
  double wanted = nsWanted(plan), left = plan.ns;
  while (plan.outer < plan.loops.size() && left > wanted) {
    Loop &loop = plan.loops[plan.outer];
    double each = left / loop.trip;
    int64_t together = each < wanted ? static_cast<int64_t>(wanted / each) : 1;
    if (together > 1 && together * 2 > loop.trip)
      break; // what is left is less than two iterations should take
    if (together > 1 && !plan.problem.axes[loop.axis].isCurved) {
      splitLoop(plan, plan.outer, together);
      each *= together;
    }
    plan.space *= plan.loops[plan.outer].trip;
    ++plan.outer;
    left = each;
  }
  plan.nsPerIteration = left;
}

/// Whether the addresses of `count` runs lie equally far from that of the first in every iteration.
bool repeats(const MapPlan &plan, const Loop &loop, int64_t count) {
  for (const Operand &operand : plan.problem.operands)
    for (auto &[axis, way] : operand.curves)
      for (int64_t i = 1; axis == loop.axis && i < count; ++i)
        if (!way.advance(i, count == loop.trip ? 0 : count))
          return false;
  return true;
}

/// Short runs: several in one iteration of the innermost loop, and, where the source's lie apart, the next ones are asked for ahead, since
/// no hardware follows them.
void pairRuns(MapPlan &plan) {
  constexpr int64_t followed = 2048, ahead = 1024, lineBytes = 64;
  if (plan.loops.size() == plan.outer)
    return;
  const Loop &loop = plan.loops.back();
  int64_t vectors = llvm::divideCeil(plan.run.lanes(), plan.lanes),
          ops = plan.bodyOps() + static_cast<int64_t>(plan.problem.operands.size());
  int64_t most = std::min(2 * plan.strategy.unroll / vectors, 2 * plan.strategy.stepOps / (vectors * ops));
  if (plan.problem.axes[loop.axis].isCurved)
    most *= 2; // else every run divides
  bool isSimple = plan.problem.limits.empty() || vectors == 1;
  for (int64_t count = most; isSimple && count > 1 && plan.abreast == 1; --count)
    if (loop.trip % count == 0 && loop.partOf % count == 0 && repeats(plan, loop, count))
      plan.abreast = count;
  int64_t bytes = plan.run.lanes() * plan.source().bytes(), apart = plan.source().strides[loop.axis] * loop.step * plan.source().bytes();
  if (bytes >= lineBytes && bytes < followed && apart != bytes && apart)
    plan.asksAhead = std::max<int64_t>(1, ahead / (bytes * plan.abreast));
}

/// Lines: where the source is contiguous as the destination is, or nowhere.
bool planLine(MapPlan &plan) {
  plan.lanes = plan.strategy.vectorBytes * 8 / widestBits(plan);
  return RunBuilder(plan).build();
}

bool isContiguousAlong(const Operand &operand, unsigned axis) { return operand.strides[axis] == 1 || operand.strides[axis] == 0; }

void chooseKind(MapPlan &plan) {
  bool hasRun = planLine(plan);
  if (hasRun && isContiguousAlong(plan.source(), plan.run.parts[0].axis)) {
    plan.kind = MapKind::Line;
    return;
  }
  Group run = std::exchange(plan.run, Group());
  if (planTile(plan)) {
    plan.kind = MapKind::Tile;
    return;
  }
  plan.run = run;
  plan.kind = hasRun ? MapKind::Line : MapKind::Scalar;
}

} // namespace

void quern::maps::planMap(MapPlan &plan) {
  chooseKind(plan);
  plan.streams = bytesMoved(plan.problem) >= plan.strategy.streamBytes;
  if (plan.kind == MapKind::Line) {
    narrowLanes(plan);
    chooseUnroll(plan);
  }
  estimate(plan);
  if (plan.kind == MapKind::Line)
    cutRun(plan);
  makeLoops(plan);
  if (plan.kind == MapKind::Tile)
    orderTileLoops(plan);
  else if (plan.kind == MapKind::Line && plan.source().curves.empty() && streamsWholeLines(plan))
    orderBySource(plan);
  else if (plan.kind == MapKind::Line)
    keepLines(plan);
  chooseSpace(plan);
  if (plan.kind == MapKind::Line) {
    plan.peels = peelsLines(plan);
    pairRuns(plan);
  }
}

std::string MapPlan::text() const {
  std::string line;
  llvm::raw_string_ostream os(line);
  const char *kinds[] = {"lines", "tiles", "points"};
  os << "map: " << kinds[static_cast<int>(kind)] << ", space " << space;
  if (kind == MapKind::Line) {
    os << ", runs of " << run.lanes() << ", " << lanes << " lanes, unroll " << unroll;
    if (abreast > 1)
      os << ", " << abreast << " abreast";
    if (asksAhead)
      os << ", asks " << asksAhead << " ahead";
    if (!isContiguousAlong(source(), run.parts[0].axis))
      os << ", lanes of the source are collected";
  } else if (kind == MapKind::Tile) {
    os << ", " << columns.lanes() << " x " << rows.lanes() << " of " << tile.moved;
    if (tile.network != TileNetwork::Squares)
      os << (tile.network == TileNetwork::Interleave ? " interleaved" : " taken apart");
    if (!problem.isCopy)
      os << ", body " << (tile.bodyInColumns ? "after" : "before") << " the transposition";
    if (tile.throughRows)
      os << ", rows through scratch";
    if (tile.repeat.lanes() > 1)
      os << " with " << tile.repeat.lanes() << " side by side";
    if (tile.throughColumns)
      os << ", columns through scratch";
    if (tile.prefetch)
      os << ", asks " << tile.prefetch << " ahead";
  }
  os << ", axes";
  for (auto [a, axis] : llvm::enumerate(problem.axes)) {
    os << ' ' << axis.extent << '(';
    if (axis.isCurved)
      os << "curved)";
    else
      os << source().strides[a] << "->" << destination().strides[a] << ')';
  }
  if (!loops.empty()) {
    os << ", loops";
    for (auto [i, loop] : llvm::enumerate(loops))
      os << (i == outer ? " | " : " ") << loop.trip << (loop.step > 1 ? " by " + std::to_string(loop.step) : "");
  }
  if (!problem.limits.empty())
    os << ", " << problem.limits.size() << (problem.limits.size() == 1 ? " limit" : " limits");
  if (problem.writesPadding())
    os << ", writes padding";
  if (streams)
    os << (peels ? ", streams from a boundary on" : ", streams where aligned");
  return line;
}
