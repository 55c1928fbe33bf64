//===- Emitter.cpp - The kernel of a map and its loops -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One loop over the iteration space, whose index is divided into the indices of the outer loops, and the inner loops
// inside it. Addresses and limits are sums to which each loop adds.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Emitter.h"

#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Build/FrameBuffers.h"

#include <functional>
#include <limits>
#include <numeric>
#include <optional>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

MapEmitter::MapEmitter(MapPlan &plan) : KernelBuilder(plan.problem.function), plan(plan), problem(plan.problem) {
  loc = problem.op->getLoc();
}

void MapEmitter::begin(const IterationSpace &space, double nsPerIteration) {
  KernelTraits traits;
  traits.name = (problem.function.getName() + "_kernel").str();
  traits.plan = plan.attribute();
  traits.space = space;
  traits.nsPerIteration = nsPerIteration;
  beginKernel(problem.function, problem.function, traits, problem.prologue);
  for (const Operand &operand : problem.operands)
    flat.push_back(operand.isIndex() ? Value() : kernel.arguments.lookup(operand.base));
}

MapEmitter::MapPlace MapEmitter::origin() {
  MapPlace place;
  for (const Operand &operand : problem.operands)
    place.bases.push_back(index(operand.offset));
  for (const Limit &limit : problem.limits)
    place.left.push_back(index(limit.read));
  return place;
}

func::FuncOp MapEmitter::emit() {
  begin(plan.space, plan.nsPerIteration);
  Value iteration = beginSpace().getInductionVar();
  emitLoops(ArrayRef(plan.loops).drop_front(plan.outer), startOf(origin(), iteration));
  limitFrame(finishKernel());
  return kernel.function;
}

/// Returns the place at which an iteration starts: divides it into the indices of the outer loops, innermost first.
MapEmitter::MapPlace MapEmitter::startOf(MapPlace place, Value iteration) {
  for (unsigned i = plan.outer; i-- > 0;) {
    const MapLoop &loop = plan.loops[i];
    Value at = iteration;
    if (i) {
      at = mod(iteration, loop.trip);
      iteration = floorDiv(iteration, loop.trip);
    }
    if (i + 1 < plan.loops.size() && plan.loops[i + 1].partOf)
      block = at;
    place = advance(place, loop, at);
  }
  return place;
}

void MapEmitter::emitLoops(ArrayRef<MapLoop> nest, MapPlace place) {
  if (nest.empty()) {
    if (plan.kind == MapKind::Line)
      return emitLine(place);
    return plan.kind == MapKind::Tile ? emitTile(place) : emitPoint(place);
  }
  const MapLoop &loop = nest.front();
  Value end = index(loop.trip);
  if (loop.partOf % loop.trip)
    end = min(end, sub(loop.partOf, mul(block, loop.trip)));
  int64_t jamFactor = nest.size() == 1 && plan.kind == MapKind::Line ? plan.jamFactor : 1;
  auto body = [&](Value at) {
    MapPlace here = advance(place, loop, at);
    if (nest.size() == 1 && plan.kind == MapKind::Line)
      prefetchRuns(here, loop);
    for (int64_t i = 0; i < jamFactor; ++i)
      emitLoops(nest.drop_front(), advanceBy(here, loop, i));
  };
  if (jamFactor == loop.trip && !loop.partOf)
    return body(index(0));
  forRange(0, end, body, jamFactor);
}

/// Returns the place `by` steps further; `by` is a constant, unlike in advance().
MapEmitter::MapPlace MapEmitter::advanceBy(MapPlace place, const MapLoop &loop, int64_t by) {
  for (auto [operand, base] : llvm::zip_equal(problem.operands, place.bases)) {
    base = add(base, by * loop.step * operand.strides[loop.axis].known());
    for (auto &[axis, function] : operand.nonlinear)
      if (axis == loop.axis && by)
        base =
            add(base, *function.advance(
                          by, plan.jamFactor == loop.trip ? 0 : plan.jamFactor)); // planning has checked that it exists
  }
  for (auto [limit, left] : llvm::zip_equal(problem.limits, place.left))
    left = addTo(left, -by * loop.step * limit.weights[loop.axis]);
  return place;
}

/// Prefetches later runs of the source.
void MapEmitter::prefetchRuns(const MapPlace &place, const MapLoop &loop) {
  int64_t bytes = plan.source().bytes();
  for (int64_t i = 0; i < plan.jamFactor && plan.prefetchDistance; ++i) {
    int64_t next = (plan.prefetchDistance * plan.jamFactor + i) * loop.step * plan.source().strides[loop.axis].known();
    for (int64_t byte = 0; byte < plan.run.lanes() * bytes; byte += lineBytes)
      prefetch(flat[problem.source], add(place.bases[problem.source], next + byte / bytes), /*locality=*/3);
  }
}

MapEmitter::MapPlace MapEmitter::advance(MapPlace place, const MapLoop &loop, Index by) {
  for (auto [operand, base] : llvm::zip_equal(problem.operands, place.bases)) {
    base = add(base, mul(by, operand.strides[loop.axis] * loop.step));
    for (auto &[axis, function] : operand.nonlinear)
      if (axis == loop.axis)
        base = add(base, addressAt(index(by), function));
  }
  for (auto [limit, left] : llvm::zip_equal(problem.limits, place.left))
    if (int64_t weight = limit.weights[loop.axis])
      left = create<arith::SubIOp>(left, index(mul(by, weight * loop.step)), arith::IntegerOverflowFlags::nsw);
  return place;
}

MapEmitter::MapPlace MapEmitter::advance(const MapPlace &place, const LaneGroup &group, ArrayRef<Value> digits) {
  MapPlace next = place;
  for (auto [part, digit] : llvm::zip_equal(group.parts, digits))
    next = advance(next, part.axis, digit);
  return next;
}

Value MapEmitter::mayStream() {
  if (!plan.streamsFullCallsOnly)
    return Value();
  return atEntry([&] { return isEqual(sub(kernel.end(), kernel.begin()), plan.space); });
}

void MapEmitter::forLanes(const LaneGroup &group, int64_t unroll, function_ref<void(ArrayRef<Value>, Value)> f) {
  Values digits(group.parts.size());
  std::function<void(int, Value)> nest = [&](int part, Value lane) {
    int64_t count = group.parts[part].count, stride = 1, step = part ? 1 : std::gcd(count, unroll);
    for (int inner = 0; inner < part; ++inner)
      stride *= group.parts[inner].count;
    auto body = [&](Value at) {
      Value first = lane ? add(lane, mul(at, stride)) : mul(at, stride);
      if (part) {
        digits[part] = at;
        return nest(part - 1, first);
      }
      for (int64_t u = 0; u < step; ++u) {
        digits[0] = add(at, u);
        f(digits, add(first, u));
      }
    };
    forRange(0, count, body, step);
  };
  if (group.parts.empty())
    return f(digits, index(0));
  nest(static_cast<int>(group.parts.size()) - 1, Value());
}

// Limits.

Value MapEmitter::room(const MapPlace &place, unsigned limit, bool write) {
  const Limit &own = problem.limits[limit];
  return addTo(place.left[limit], write ? own.write - own.read : 0);
}

Value MapEmitter::addTo(Value left, int64_t number) {
  return number ? create<arith::AddIOp>(left, index(number), arith::IntegerOverflowFlags::nsw).getResult() : left;
}

Value MapEmitter::hasRoom(const MapPlace &place, unsigned limit, bool write, int64_t least) {
  return create<arith::CmpIOp>(arith::CmpIPredicate::sgt, room(place, limit, write), index(least));
}

bool MapEmitter::mayExceed(unsigned limit, bool write) const {
  return problem.limits[limit].shifted < 0 && (!write || plan.highest[limit] >= problem.limits[limit].write);
}

static bool movesAlong(const Limit &limit, const LaneGroup &group) {
  return llvm::any_of(group.parts, [&](const Part &part) { return part.count > 1 && limit.weights[part.axis]; });
}

Value MapEmitter::isInside(const MapPlace &place, const LaneGroup &lanesOf, bool write) {
  Value inside;
  for (auto [i, limit] : llvm::enumerate(problem.limits))
    if (!movesAlong(limit, lanesOf) && mayExceed(i, write))
      inside = both(inside, hasRoom(place, i, write));
  return inside;
}

Value MapEmitter::laneMask(const MapPlace &place, const LaneGroup &group, int64_t first, int64_t count, bool write) {
  Value mask;
  auto type = vec(count, b.getI32Type());
  for (auto [i, limit] : llvm::enumerate(problem.limits)) {
    if (!movesAlong(limit, group) || !mayExceed(i, write))
      continue;
    SmallVector<int32_t> at;
    for (int64_t lane = first; lane < first + count; ++lane)
      at.push_back(static_cast<int32_t>(group.sum(lane, limit.weights)));
    bool mayBeginBeyond = !write && problem.writesPadding();
    if (llvm::all_equal(at) && at[0] == 0 && !mayBeginBeyond)
      continue;
    Value lanes = constant(DenseElementsAttr::get(type, ArrayRef<int32_t>(at)));
    Value splatRoom = create<vector::BroadcastOp>(type, narrowed(room(place, i, write)));
    mask = both(mask, create<arith::CmpIOp>(arith::CmpIPredicate::slt, lanes, splatRoom));
  }
  return mask;
}

Value MapEmitter::anyLane(const MapPlace &place, const LaneGroup &group, int64_t first, int64_t count, bool write,
                          bool begins, Value mask) {
  bool mayBeginBeyond = !write && problem.writesPadding();
  if (!mask || (begins && !mayBeginBeyond))
    return Value();
  std::optional<unsigned> only;
  for (auto [i, limit] : llvm::enumerate(problem.limits)) {
    if (!movesAlong(limit, group) || !mayExceed(i, write))
      continue;
    if (only)
      return create<vector::ReductionOp>(vector::CombiningKind::OR, mask);
    only = i;
  }
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t lane = first; lane < first + count; ++lane)
    least = std::min(least, group.sum(lane, problem.limits[*only].weights));
  return hasRoom(place, *only, write, least);
}

/// Returns the remainder of a limit as an i32, clamped if it may not fit; no group has that many lanes.
Value MapEmitter::narrowed(Value left) {
  bool isLong = llvm::any_of(problem.limits,
                             [](const Limit &limit) { return limit.write > std::numeric_limits<int32_t>::max(); }) ||
                llvm::any_of(plan.run.parts,
                             [&](const Part &) { return plan.run.lanes() > std::numeric_limits<int32_t>::max(); });
  if (isLong)
    left = min(left, std::numeric_limits<int32_t>::max());
  return create<arith::IndexCastOp>(b.getI32Type(), left);
}
