//===- OpenPlan.cpp - Lines and tiles with open sizes ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An iteration is a tile, or a part of a line that is worth a call. Other maps (an operand that is strided along the
// vectors, blocks combined with open sizes) are left to other recipes.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Plan.h"

#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Build/Transpose.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

namespace {

constexpr int64_t lineBytesOfIteration = 16 << 10;

class OpenMapPlanner {
public:
  OpenMapPlanner(MapPlan &plan, std::string &whyNot)
      : plan(plan), problem(plan.problem), tile(plan.tile), whyNot(whyNot) {}

  LogicalResult run() {
    if (!problem.limits.empty() || problem.writesPadding() ||
        llvm::any_of(problem.axes, [](const Axis &axis) { return axis.isNonlinear; }))
      return fail("there are blocks or padding, and sizes are known only at execution");
    if (llvm::any_of(problem.operands, [](const Operand &operand) { return operand.isIndex(); }))
      return fail("an index is read, and sizes are known only at execution");
    std::optional<unsigned> to = contiguousAxis(plan.destination());
    if (!to)
      return fail("the destination is not contiguous along any axis");
    along = *to;
    plan.lanes = plan.strategy.vectorBytes * 8 / problem.widestBits();
    if (allInVectors(along, problem.operands.size())) {
      planLine();
      return success();
    }
    return planTile();
  }

private:
  LogicalResult fail(const Twine &why) {
    whyNot = why.str();
    return failure();
  }
  std::optional<unsigned> contiguousAxis(const Operand &operand) const {
    for (auto [a, axis] : llvm::enumerate(problem.axes))
      if (operand.strides[a] == 1)
        return a;
    return std::nullopt;
  }
  /// Returns true if every operand that is read, except operand `butFor`, is contiguous or invariant along the axis.
  bool allInVectors(unsigned axis, size_t butFor) const {
    for (unsigned i = 0; i < problem.operands.size(); ++i)
      if (i != butFor && problem.isRead(i) && problem.operands[i].strides[axis] != 1 &&
          problem.operands[i].strides[axis] != 0)
        return false;
    return true;
  }

  /// Adds loops over the axes that are not in `inside`, in the order of the destination.
  void addLoopsAround(ArrayRef<unsigned> inside) {
    for (unsigned a = 0; a < problem.axes.size(); ++a)
      if (!llvm::is_contained(inside, a))
        plan.loops.push_back({a, 1});
    const Operand &destination = plan.destination();
    llvm::sort(plan.loops, [&](const MapLoop &a, const MapLoop &b) {
      const Size ofA = destination.strides[a.axis], ofB = destination.strides[b.axis];
      return ofA != ofB ? ofA > ofB : a.axis < b.axis;
    });
  }

  void planLine() {
    plan.kind = MapKind::Line;
    int64_t widest = 1, ops = plan.bodyOps() + static_cast<int64_t>(problem.operands.size());
    for (const Operand &operand : problem.operands)
      widest = std::max(widest, operand.bytes());
    plan.unroll = llvm::bit_floor(
        static_cast<uint64_t>(std::clamp<int64_t>(plan.strategy.stepOps / ops, 1, plan.strategy.unroll)));
    plan.streamedLanes = lanesStreamed(plan);
    addLoopsAround({along});
    const int64_t step = lineBytesOfIteration / widest;
    plan.run.parts = {{along, step}};
    plan.loops.push_back({along, step});
  }

  /// The narrower one of source and destination is transposed, if the body can be computed there.
  LogicalResult planTile() {
    std::optional<unsigned> from = contiguousAxis(plan.source());
    if (problem.source + 1 >= problem.operands.size() || !from || *from == along)
      return fail("an operand's strides along the destination's axis are known only at execution");
    plan.kind = MapKind::Tile;
    across = *from;
    const bool narrows = plan.destination().bytes() < plan.source().bytes();
    tile.bodyInColumns = !problem.isCopy && (problem.readsOld || !narrows || !allInVectors(across, problem.source));
    if (tile.bodyInColumns && !allInVectors(along, problem.source))
      return fail("an operand's strides along both axes of a tile are known only at execution");
    tile.moved = tile.bodyInColumns ? plan.source().element() : plan.destination().element();
    constexpr int64_t bytesOfColumns = 256, maxRows = 128;
    const int64_t bytes = bytesOf(tile.moved);
    tile.lanes = plan.strategy.vectorBytes / bytes;
    tile.columns = bytesOfColumns / std::max(bytes, plan.source().bytes());
    tile.rows = std::max(tile.lanes, std::min(maxRows, plan.strategy.l1Bytes / (tile.columns * bytes)));
    addLoopsAround({along, across});
    if (interleaves())
      return success();
    plan.rows.parts = {{along, tile.rows}};
    plan.columns.parts = {{across, tile.columns}};
    plan.loops.append({{along, tile.rows}, {across, tile.columns}});
    return success();
  }

  /// Chooses a tile of a few lanes, such as color channels, that are packed on one side, with vectors along the other
  /// axis. Returns false if neither side is packed, or if another operand varies along the tile.
  bool interleaves() {
    constexpr int64_t most = 8, bytesOfIteration = 4 << 10;
    auto isPacked = [&](const Operand &operand, unsigned few, unsigned many) {
      const Size extent = problem.axes[few].extent;
      return extent.isBelow(most + 1) && operand.strides[many] == extent;
    };
    auto isStill = [&](unsigned operand) {
      const Operand &own = problem.operands[operand];
      return operand == problem.source || operand + 1 == problem.operands.size() ||
             (own.strides[along] == 0 && own.strides[across] == 0);
    };
    if (!llvm::all_of(llvm::seq<unsigned>(0, problem.operands.size()), isStill))
      return false;
    if (isPacked(plan.destination(), along, across))
      tile.network = TileNetwork::Interleave;
    else if (isPacked(plan.source(), across, along))
      tile.network = TileNetwork::Deinterleave;
    else
      return false;
    const bool packs = tile.network == TileNetwork::Interleave;
    tile.lanes = problem.isCopy ? tile.lanes : std::min(tile.lanes, plan.lanes);
    plan.rows.parts = {{along, packs ? problem.axes[along].extent.known() : tile.lanes}};
    plan.columns.parts = {{across, packs ? tile.lanes : problem.axes[across].extent.known()}};
    plan.loops.push_back({packs ? across : along, bytesOfIteration / bytesOf(tile.moved)});
    return true;
  }

  MapPlan &plan;
  const MapProblem &problem;
  TilePlan &tile;
  std::string &whyNot;
  unsigned along = 0, across = 0; ///< axes along which the destination, and a tile's source, are contiguous
};

} // namespace

LogicalResult quern::schedule::maps::planOpen(MapPlan &plan, std::string &whyNot) {
  return OpenMapPlanner(plan, whyNot).run();
}

PlanAttr quern::schedule::maps::attributeOfOpen(const MapPlan &plan) {
  const TilePlan &tile = plan.tile;
  PlanBuilder fields(plan.problem.function, Recipe::Map);
  fields.add(PlanField::Kind, plan.kind == MapKind::Line ? "lines" : "tiles").add(PlanField::IsOpen);
  if (plan.kind == MapKind::Line)
    fields.add(PlanField::Lanes, plan.lanes).add(PlanField::Unroll, plan.unroll);
  else if (tile.network == TileNetwork::Squares)
    fields.add(PlanField::TileColumns, tile.columns)
        .add(PlanField::TileRows, tile.rows)
        .add(PlanField::Moved, tile.moved);
  else
    fields.add(PlanField::Lanes, tile.lanes)
        .add(PlanField::Moved, tile.moved)
        .add(PlanField::Network, tile.network == TileNetwork::Interleave ? "interleaved" : "deinterleaved");
  std::string axes, nest;
  for (auto [a, axis] : llvm::enumerate(plan.problem.axes))
    axes += (a ? " " : "") + axis.extent.text() + "(" + plan.source().strides[a].text() + "->" +
            plan.destination().strides[a].text() + ")";
  for (auto [i, loop] : llvm::enumerate(plan.loops))
    nest += (i ? " " : "") + std::to_string(loop.axis) + (loop.step > 1 ? " by " + std::to_string(loop.step) : "");
  const bool hasBody = plan.kind == MapKind::Tile && !plan.problem.isCopy;
  return fields.addIf(hasBody, PlanField::Body, tile.bodyInColumns ? "after" : "before")
      .add(PlanField::Ends, plan.masksEnds() ? "masked ends" : "ends without masks")
      .add(PlanField::Axes, axes)
      .add(PlanField::Loops, nest)
      .get();
}
