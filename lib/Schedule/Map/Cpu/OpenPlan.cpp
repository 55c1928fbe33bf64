//===- OpenPlan.cpp - Lines and tiles with open sizes ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An iteration is a tile, or a part of a line that is worth a call. Other maps (an operand that is strided along the
// vectors, blocks combined with open sizes) are left to other recipes.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Open.h"

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
  OpenMapPlanner(OpenMapPlan &plan, std::string &whyNot) : plan(plan), problem(plan.problem), whyNot(whyNot) {}

  LogicalResult run() {
    if (!problem.limits.empty() || problem.writesPadding() ||
        llvm::any_of(problem.axes, [](const Axis &axis) { return axis.isNonlinear; }))
      return fail("there are blocks or padding, and sizes are known only at execution");
    if (llvm::any_of(problem.operands, [](const Operand &operand) { return operand.isIndex(); }))
      return fail("an index is read, and sizes are known only at execution");
    std::optional<unsigned> to = contiguousAxis(plan.destination());
    if (!to)
      return fail("the destination is not contiguous along any axis");
    plan.along = *to;
    plan.lanes = plan.strategy.vectorBytes * 8 / problem.widestBits();
    plan.isMasked = llvm::all_of(problem.operands, [&](const Operand &operand) {
      return plan.strategy.narrowestMask && operand.bytes() * 8 >= plan.strategy.narrowestMask;
    });
    if (allInVectors(plan.along, problem.operands.size())) {
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
      if (i != butFor && plan.isRead(i) && problem.operands[i].strides[axis] != 1 &&
          problem.operands[i].strides[axis] != 0)
        return false;
    return true;
  }

  /// Adds loops over the other axes, in the order of the destination.
  void addLoopsAround(ArrayRef<unsigned> inside) {
    for (unsigned a = 0; a < problem.axes.size(); ++a)
      if (!llvm::is_contained(inside, a))
        plan.loops.push_back({a, 1});
    const Operand &destination = plan.destination();
    llvm::sort(plan.loops, [&](const OpenMapPlan::MapLoop &a, const OpenMapPlan::MapLoop &b) {
      const Size ofA = destination.strides[a.axis], ofB = destination.strides[b.axis];
      return ofA != ofB ? ofA > ofB : a.axis < b.axis;
    });
  }

  void planLine() {
    plan.kind = MapKind::Line;
    int64_t widest = 1, ops = opsOf(problem.op) + static_cast<int64_t>(problem.operands.size());
    for (const Operand &operand : problem.operands)
      widest = std::max(widest, operand.bytes());
    plan.unroll = llvm::bit_floor(
        static_cast<uint64_t>(std::clamp<int64_t>(plan.strategy.stepOps / ops, 1, plan.strategy.unroll)));
    const int64_t most = plan.strategy.vectorBytes / plan.destination().bytes();
    for (plan.streamedLanes = plan.lanes;
         plan.streamedLanes * 2 <= most && plan.unroll * plan.lanes % (plan.streamedLanes * 2) == 0;)
      plan.streamedLanes *= 2;
    addLoopsAround({plan.along});
    plan.loops.push_back({plan.along, lineBytesOfIteration / widest});
  }

  /// The narrower one of source and destination is transposed, if the body can be computed there.
  LogicalResult planTile() {
    std::optional<unsigned> from = contiguousAxis(plan.source());
    if (problem.source + 1 >= problem.operands.size() || !from || *from == plan.along)
      return fail("an operand's strides along the destination's axis are known only at execution");
    plan.kind = MapKind::Tile;
    plan.across = *from;
    const bool narrows = plan.destination().bytes() < plan.source().bytes();
    plan.bodyIsLate = !problem.isCopy && (problem.readsOld || !narrows || !allInVectors(plan.across, problem.source));
    if (plan.bodyIsLate && !allInVectors(plan.along, problem.source))
      return fail("an operand's strides along both axes of a tile are known only at execution");
    plan.moved = plan.bodyIsLate ? plan.source().element() : plan.destination().element();
    constexpr int64_t bytesOfColumns = 256, maxRows = 128;
    const int64_t bytes = bytesOf(plan.moved);
    plan.tileLanes = plan.strategy.vectorBytes / bytes;
    plan.columns = bytesOfColumns / std::max(bytes, plan.source().bytes());
    plan.rows = std::max(plan.tileLanes, std::min(maxRows, plan.strategy.l1Bytes / (plan.columns * bytes)));
    addLoopsAround({plan.along, plan.across});
    if (interleaves())
      return success();
    plan.loops.push_back({plan.along, plan.rows});
    plan.loops.push_back({plan.across, plan.columns});
    return success();
  }

  /// Chooses a tile of a few lanes, such as color channels, that are packed on one side, with vectors along the other
  /// axis.
  bool interleaves() {
    constexpr int64_t most = 8, bytesOfIteration = 4 << 10;
    auto isPacked = [&](const Operand &operand, unsigned few, unsigned many) {
      const Size extent = problem.axes[few].extent;
      return extent.isBelow(most + 1) && operand.strides[many] == extent;
    };
    auto isStill = [&](unsigned operand) {
      const Operand &own = problem.operands[operand];
      return operand == problem.source || operand + 1 == problem.operands.size() ||
             (own.strides[plan.along] == 0 && own.strides[plan.across] == 0);
    };
    if (!llvm::all_of(llvm::seq<unsigned>(0, problem.operands.size()), isStill))
      return false;
    if (isPacked(plan.destination(), plan.along, plan.across))
      plan.network = TileNetwork::Interleave;
    else if (isPacked(plan.source(), plan.across, plan.along))
      plan.network = TileNetwork::Deinterleave;
    else
      return false;
    const unsigned many = plan.network == TileNetwork::Interleave ? plan.across : plan.along;
    plan.tileLanes = problem.isCopy ? plan.tileLanes : std::min(plan.tileLanes, plan.lanes);
    plan.loops.push_back({many, bytesOfIteration / bytesOf(plan.moved)});
    return true;
  }

  OpenMapPlan &plan;
  const MapProblem &problem;
  std::string &whyNot;
};

} // namespace

LogicalResult quern::schedule::maps::planOpen(OpenMapPlan &plan, std::string &whyNot) {
  return OpenMapPlanner(plan, whyNot).run();
}

std::string OpenMapPlan::text() const {
  std::string line;
  llvm::raw_string_ostream os(line);
  os << "map: " << (kind == MapKind::Line ? "lines" : "tiles") << " of open sizes";
  if (kind == MapKind::Line)
    os << ", " << lanes << " lanes, unroll " << unroll;
  else if (network == TileNetwork::Squares)
    os << ", " << columns << " x " << rows << " of " << moved;
  else
    os << ", " << tileLanes << " lanes of " << moved
       << (network == TileNetwork::Interleave ? " interleaved" : " deinterleaved");
  if (kind == MapKind::Tile && !problem.isCopy)
    os << ", body " << (bodyIsLate ? "after" : "before") << " the transposition";
  os << (isMasked ? ", masked ends" : ", ends without masks") << ", axes";
  for (auto [a, axis] : llvm::enumerate(problem.axes))
    os << ' ' << axis.extent.text() << '(' << source().strides[a].text() << "->" << destination().strides[a].text()
       << ')';
  os << ", loops";
  for (const MapLoop &loop : loops)
    os << ' ' << loop.axis << (loop.step > 1 ? " by " + std::to_string(loop.step) : "");
  return line;
}
