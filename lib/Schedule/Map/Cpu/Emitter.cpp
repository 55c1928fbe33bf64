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

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

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

func::FuncOp MapEmitter::emit() {
  KernelTraits traits;
  traits.name = (problem.function.getName() + "_kernel").str();
  traits.plan = plan.text();
  traits.space = plan.space;
  traits.nsPerIteration = plan.nsPerIteration;
  kernel = makeKernel(problem.function, problem.function, traits);
  b.setInsertionPointToEnd(&kernel.function.getBody().front());
  clonePrologue(b, kernel, problem.function, problem.prologue,
                [&](Size size) { return create<arith::ConstantIndexOp>(size.known()); });
  auto iterations = create<scf::ForOp>(kernel.begin(), kernel.end(), index(1));
  create<func::ReturnOp>();
  entry = iterations;
  for (const Operand &operand : problem.operands)
    flat.push_back(operand.isIndex() ? Value() : kernel.arguments.lookup(operand.base));
  b.setInsertionPointToStart(iterations.getBody());
  MapPlace place;
  for (const Operand &operand : problem.operands)
    place.bases.push_back(index(operand.offset));
  for (const Limit &limit : problem.limits)
    place.left.push_back(index(limit.read));
  place = startOf(std::move(place), iterations.getInductionVar());
  emitLoops(ArrayRef(plan.loops).drop_front(plan.outer), place);
  kernel.function.walk([](scf::ForOp loop) { moveLoopInvariantCode(loop); });
  limitFrame(kernel.function);
  return kernel.function;
}

/// Divides the iteration into the indices of the outer loops, innermost first.
MapEmitter::MapPlace MapEmitter::startOf(MapPlace place, Value iteration) {
  for (unsigned i = plan.outer; i-- > 0;) {
    const MapLoop &loop = plan.loops[i];
    Value at = iteration;
    if (i) {
      at = create<arith::RemUIOp>(iteration, index(loop.trip));
      iteration = create<arith::DivUIOp>(iteration, index(loop.trip));
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
    end = create<arith::MinSIOp>(end, create<arith::SubIOp>(index(loop.partOf), scaled(block, loop.trip)));
  int64_t jamFactor = nest.size() == 1 && plan.kind == MapKind::Line ? plan.jamFactor : 1;
  auto body = [&](Value at) {
    MapPlace here = advance(place, loop, at);
    if (nest.size() == 1 && plan.kind == MapKind::Line)
      prefetch(here, loop);
    for (int64_t i = 0; i < jamFactor; ++i)
      emitLoops(nest.drop_front(), advanceBy(here, loop, i));
  };
  if (jamFactor == loop.trip && !loop.partOf)
    return body(index(0));
  forRange(index(0), end, body, jamFactor);
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
    left = add(left, -by * loop.step * limit.weights[loop.axis]);
  return place;
}

/// Prefetches later runs of the source. Addresses past the end are harmless: a prefetch may name any memory.
void MapEmitter::prefetch(const MapPlace &place, const MapLoop &loop) {
  int64_t bytes = plan.source().bytes();
  for (int64_t i = 0; i < plan.jamFactor && plan.prefetchDistance; ++i) {
    int64_t next = (plan.prefetchDistance * plan.jamFactor + i) * loop.step * plan.source().strides[loop.axis].known();
    for (int64_t byte = 0; byte < plan.run.lanes() * bytes; byte += lineBytes)
      create<memref::PrefetchOp>(flat[problem.source],
                                 ValueRange{add(place.bases[problem.source], next + byte / bytes)},
                                 /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  }
}

MapEmitter::MapPlace MapEmitter::advance(const MapPlace &place, const MapLoop &loop, Value by) {
  MapPlace next = place;
  for (auto [operand, base] : llvm::zip_equal(problem.operands, next.bases)) {
    if (int64_t stride = operand.strides[loop.axis].known())
      base = add(base, scaled(by, stride * loop.step));
    for (auto &[axis, function] : operand.nonlinear)
      if (axis == loop.axis)
        base = add(base, addressAt(by, function));
  }
  for (auto [limit, left] : llvm::zip_equal(problem.limits, next.left))
    if (int64_t weight = limit.weights[loop.axis])
      left = create<arith::SubIOp>(left, scaled(by, weight * loop.step), arith::IntegerOverflowFlags::nsw);
  return next;
}

MapEmitter::MapPlace MapEmitter::advance(const MapPlace &place, const LaneGroup &group, ArrayRef<Value> digits) {
  MapPlace next = place;
  for (auto [part, digit] : llvm::zip_equal(group.parts, digits))
    next = advance(next, MapLoop{part.axis, 1, part.count}, digit);
  return next;
}

Value MapEmitter::mayStream() {
  if (!plan.streamsFullCallsOnly)
    return Value();
  return atEntry([&] {
    Value count = create<arith::SubIOp>(kernel.end(), kernel.begin());
    return create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, index(plan.space)).getResult();
  });
}

void MapEmitter::forLanes(const LaneGroup &group, int64_t unroll, function_ref<void(ArrayRef<Value>, Value)> f) {
  Values digits(group.parts.size());
  std::function<void(int, Value)> nest = [&](int part, Value lane) {
    int64_t count = group.parts[part].count, stride = 1, step = part ? 1 : std::gcd(count, unroll);
    for (int inner = 0; inner < part; ++inner)
      stride *= group.parts[inner].count;
    auto body = [&](Value at) {
      Value first = lane ? add(lane, scaled(at, stride)) : scaled(at, stride);
      if (part) {
        digits[part] = at;
        return nest(part - 1, first);
      }
      for (int64_t u = 0; u < step; ++u) {
        digits[0] = add(at, u);
        f(digits, add(first, u));
      }
    };
    forRange(index(0), index(count), body, step);
  };
  if (group.parts.empty())
    return f(digits, index(0));
  nest(static_cast<int>(group.parts.size()) - 1, Value());
}

// Limits.

Value MapEmitter::room(const MapPlace &place, unsigned limit, bool write) {
  const Limit &own = problem.limits[limit];
  return add(place.left[limit], write ? own.write - own.read : 0);
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
      inside = both(inside, create<arith::CmpIOp>(arith::CmpIPredicate::sgt, room(place, i, write), index(0)));
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
  return create<arith::CmpIOp>(arith::CmpIPredicate::sgt, room(place, *only, write), index(least));
}

/// Returns the remainder of a limit as an i32, clamped if it may not fit; no group has that many lanes.
Value MapEmitter::narrowed(Value left) {
  bool isLong = llvm::any_of(problem.limits,
                             [](const Limit &limit) { return limit.write > std::numeric_limits<int32_t>::max(); }) ||
                llvm::any_of(plan.run.parts,
                             [&](const Part &) { return plan.run.lanes() > std::numeric_limits<int32_t>::max(); });
  if (isLong)
    left = create<arith::MinSIOp>(left, index(std::numeric_limits<int32_t>::max()));
  return create<arith::IndexCastOp>(b.getI32Type(), left);
}

Value MapEmitter::scratch(int64_t elements, Type element) {
  return atEntry([&] {
    return create<memref::AllocaOp>(MemRefType::get({elements}, element), b.getI64IntegerAttr(64)).getResult();
  });
}
