//===- Variants.cpp - Decisions of a map at execution --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Decisions compare numbers that the call reads or computes: sizes, strides, bytes and addresses.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Variants.h"

#include "Schedule/Build/FrameBuffers.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

VariantEmitter::VariantEmitter(MapPlan &plan)
    : MapEmitter(plan), along((plan.kind == MapKind::Line ? plan.run : plan.rows).parts[0].axis),
      across(plan.kind == MapKind::Line ? along : plan.columns.parts[0].axis) {}

static double nsOf(const MapPlan &plan) {
  constexpr int64_t typical = 1024;
  int64_t points = 1, bytes = 0;
  for (const MapLoop &loop : plan.loops)
    points *= plan.problem.axes[loop.axis].extent.cappedAt(loop.step);
  points = plan.kind == MapKind::Line ? std::min(points, typical) : points;
  for (const Operand &operand : plan.problem.operands)
    bytes += operand.bytes();
  const double ops = static_cast<double>(opsOf(plan.problem.op)) / static_cast<double>(plan.lanes);
  return static_cast<double>(points) *
         (static_cast<double>(bytes) * plan.strategy.nsPerByte + ops * plan.strategy.nsPerOperation);
}

func::FuncOp VariantEmitter::emit() {
  IterationSpace space;
  for (const MapLoop &loop : plan.loops)
    space.addLoop(extentOf(loop.axis), loop.step);
  begin(space, nsOf(plan));
  auto any = create<scf::IfOp>(isLess(kernel.begin(), kernel.end()), /*withElseRegion=*/false);
  create<func::ReturnOp>();
  entry = any;
  b.setInsertionPointToStart(any.thenBlock());
  if (plan.kind == MapKind::Line)
    emitLines();
  else
    emitTiles();
  limitFrame(finishKernel());
  return kernel.function;
}

/// Returns the number of bytes that non-temporal stores keep out of the caches in a call of the whole map.
Index VariantEmitter::bytesMoved() {
  Index bytes = 0;
  for (const Operand &operand : problem.operands) {
    Index own = operand.bytes();
    for (auto [a, axis] : llvm::enumerate(problem.axes))
      if (operand.strides[a] != 0)
        own = mul(own, axis.extent);
    // A destination that is read is cached in any case.
    bytes = problem.readsOld ? own : add(bytes, own);
  }
  return bytes;
}

/// A partial call means several threads, which together have more cache.
Value VariantEmitter::movesMuch(int64_t least) {
  Value isWhole =
      computesAll(llvm::map_to_vector(plan.loops, [&](const MapLoop &loop) { return index(tripOf(loop)); }));
  Value from = create<arith::SelectOp>(isWhole, index(least), index(std::max(least, plan.strategy.streamAlwaysBytes)));
  return isAtMost(from, bytesMoved());
}

/// Returns whether the destination's address and all its strides except along `along` are multiples of `multiple`
/// bytes.
Value VariantEmitter::startsOn(int64_t multiple) {
  const Operand &destination = plan.destination();
  Value places = addressOf(flat.back(), 0);
  auto include = [&](Size size) { places = create<arith::OrIOp>(places, index(size * destination.bytes())); };
  include(destination.offset);
  for (auto [a, stride] : llvm::enumerate(destination.strides))
    if (a != along)
      include(stride);
  return isEqual(create<arith::AndIOp>(places, index(multiple - 1)), 0);
}
