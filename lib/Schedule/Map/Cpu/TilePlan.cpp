//===- TilePlan.cpp - The shape of tiles and the order of their loops ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tile reads a cache line of each of its rows and writes whole cache lines of its columns. If tiles do not divide an
// axis, the last tile is moved back to end with the axis, which computes some elements twice but keeps vectors whole.
// If that is not allowed, lanes are masked.
//
//===----------------------------------------------------------------------===//
#include "IR/Strides.h"
#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Build/Transpose.h"
#include "Schedule/Map/Cpu/Plan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

namespace {

class TilePlanner {
public:
  explicit TilePlanner(MapPlan &plan) : plan(plan), problem(plan.problem), tile(plan.tile) {}

  bool run() {
    if (problem.source + 1 >= problem.operands.size())
      return false;
    int from = contiguousAxis(plan.source()), to = contiguousAxis(plan.destination());
    if (from < 0 || to < 0 || from == to)
      return false;
    tile.bodyInColumns = !problem.isCopy && isBodyLate(to);
    tile.moved = tile.bodyInColumns ? plan.source().element() : plan.destination().element();
    int64_t unit = transposeUnit(tile.moved), movedBytes = pieceBytes / unit;
    mayShift = !problem.readsOld && !problem.mayBeInPlace;
    if (planInterleaving(from, to, plan.destination(), plan.rows, plan.columns)) {
      tile.network = TileNetwork::Interleave;
      return true;
    }
    if (planInterleaving(to, from, plan.source(), plan.columns, plan.rows)) {
      tile.network = TileNetwork::Deinterleave;
      return true;
    }
    chooseGroups(from, to, unit, movedBytes);
    chooseRegisters(unit, movedBytes);
    if (!chooseStages())
      return false;
    chooseRun(unit);
    return true;
  }

private:
  int contiguousAxis(const Operand &operand) const {
    for (auto [a, axis] : llvm::enumerate(problem.axes))
      if (operand.strides[a] == 1 && !axis.isNonlinear)
        return static_cast<int>(a);
    return -1;
  }
  bool isLimited(unsigned axis) const {
    return llvm::any_of(problem.limits, [&](const Limit &limit) { return limit.weights[axis] != 0; });
  }

  /// Returns true if the body runs after the transposition: if the destination is read or is wider than the source, or
  /// if it is equally wide and another operand is contiguous along the destination's axis.
  bool isBodyLate(unsigned to) const {
    int64_t before = plan.source().bytes(), after = plan.destination().bytes();
    if (problem.readsOld || after != before)
      return problem.readsOld || after > before;
    for (auto [i, operand] : llvm::enumerate(ArrayRef(problem.operands).drop_back()))
      if (i != problem.source && operand.strides[to] == 1)
        return true;
    return false;
  }

  /// Plans a tile of a few lanes, `few`, that are contiguous in `packed` and followed there by the axis `along`, with
  /// vectors along that axis, `many`. Returns false if the map does not have such lanes.
  bool planInterleaving(unsigned along, unsigned first, const Operand &packed, LaneGroup &few, LaneGroup &many) {
    constexpr int64_t most = 8;
    int64_t extent = problem.axes[along].extent.known(), lanes = 1, bytes = pieceBytes / transposeUnit(tile.moved);
    if (!problem.limits.empty())
      return false;
    for (int axis = static_cast<int>(first); axis >= 0 && lanes <= most;) {
      few.parts.push_back({static_cast<unsigned>(axis), problem.axes[axis].extent.known()});
      lanes *= problem.axes[axis].extent.known();
      axis = -1;
      for (auto [a, next] : llvm::enumerate(problem.axes))
        if (packed.strides[a] == lanes && a != along && !next.isNonlinear && !few.has(a))
          axis = static_cast<int>(a);
    }
    int64_t width = plan.strategy.vectorBytes / bytes;
    if (!problem.isCopy)
      width = std::min(width, plan.lanes);
    while (width > extent)
      width /= 2;
    bool fits = lanes <= most && packed.strides[along] == lanes && !problem.axes[along].isNonlinear &&
                width * bytes >= pieceBytes / 2;
    if (!fits || (extent % width && !mayShift) || (lanes == most && transposeUnit(tile.moved) <= most)) {
      few = LaneGroup();
      return false;
    }
    many.parts = {{along, width}};
    if (extent % width)
      tile.shifted.push_back(along);
    tile.lanes = width;
    return true;
  }

  /// Returns the number of indices of an axis in a tile, ideally `most`. Candidates in this order: all, if there are at
  /// most `most` or `whole`; a divisor that is whole registers; if the last tile may be shifted, an even share of whole
  /// registers; `most` or its half, quarter, … if that is a divisor; `most`.
  int64_t countOf(unsigned axis, int64_t most, int64_t whole, int64_t unit) {
    int64_t extent = problem.axes[axis].extent.known();
    if (extent <= std::max(most, whole))
      return extent;
    int64_t lanes = plan.strategy.vectorBytes / (pieceBytes / unit);
    for (int64_t count = most / lanes * lanes; count * 2 >= most && count > 0; count -= lanes)
      if (extent % count == 0)
        return count;
    if (mayShift && !isLimited(axis))
      return std::min<int64_t>(most, llvm::alignTo(llvm::divideCeil(extent, llvm::divideCeil(extent, most)), lanes));
    for (int64_t count = most; count >= unit; count /= 2)
      if (extent % count == 0)
        return count;
    return most;
  }

  static int64_t divisorOf(int64_t extent, int64_t most) {
    int64_t divisor = std::clamp<int64_t>(most, 1, extent);
    while (extent % divisor)
      --divisor;
    return divisor;
  }

  /// Returns lanes that are contiguous in the operand, about `wanted`: whole axes, then a part of one. If whole axes
  /// are not a multiple of a square, more lanes are added until the next axis makes them one.
  LaneGroup grow(const Operand &operand, unsigned first, unsigned taken, int64_t wanted, int64_t whole, int64_t unit) {
    constexpr int64_t largest = 160;
    LaneGroup group;
    int64_t lanes = 1;
    for (int axis = static_cast<int>(first); axis >= 0;) {
      bool isOdd = !group.parts.empty() && lanes % unit;
      int64_t extent = problem.axes[axis].extent.known();
      int64_t count = isOdd                 ? divisorOf(extent, largest / lanes)
                      : group.parts.empty() ? countOf(axis, wanted, whole, unit)
                                            : countOf(axis, wanted / lanes, 0, 1);
      if (!group.parts.empty() && isLimited(axis) && extent % count)
        break;
      group.parts.push_back({static_cast<unsigned>(axis), count});
      lanes *= count;
      if (extent % count && mayShift && !isLimited(axis))
        tile.shifted.push_back(axis);
      if (count < extent || (lanes * 2 > wanted && (lanes % unit == 0 || plan.rows.lanes() * wanted > largest * unit)))
        break;
      axis = -1;
      for (auto [a, next] : llvm::enumerate(problem.axes))
        if (operand.strides[a] == lanes && !next.isNonlinear && a != taken && !group.has(a) && !plan.rows.has(a))
          axis = static_cast<int>(a);
    }
    return group;
  }

  /// A tile has one cache line of each row and whole cache lines of the columns. Both are larger if L1 sets are
  /// crowded: rows are then copied, as they are read, to scratch that fills L1, and partly written lines of the
  /// destination are completed before they are evicted. The tile stays small if the second cache cannot hold the
  /// prefetched lines.
  void chooseGroups(unsigned from, unsigned to, int64_t unit, int64_t movedBytes) {
    constexpr int64_t tall = 8, wide = 4;
    int64_t line = std::max(lineBytes / plan.source().bytes(), unit),
            lanes = std::max(plan.strategy.vectorBytes, lineBytes) / movedBytes;
    auto choose = [&](int64_t rows, int64_t columns) {
      tile.shifted.clear();
      plan.rows = plan.columns = LaneGroup();
      plan.rows = grow(plan.destination(), to, from, rows, 0, unit);
      plan.columns = grow(plan.source(), from, to, columns, wide * line, unit);
    };
    choose(lanes, line);
    bool crowdsRows = this->crowdsRows(plan.strategy.l1Bytes);
    if (!crowdsRows && !crowdsColumns())
      return;
    int64_t columns = crowdsRows ? wide * line : line;
    choose(std::min(tall * lanes, plan.strategy.l1Bytes / (columns * movedBytes)), columns);
    tile.isLarge = !crowdsRows || !this->crowdsRows(plan.strategy.l2Bytes);
    if (!tile.isLarge)
      choose(lanes, line);
  }

  /// Chooses the width of registers: as few as hold the rows, and no wider than needed. The last one is shifted if the
  /// rows do not fill it. Less than a register, or than a square, is rounded up.
  void chooseRegisters(int64_t unit, int64_t movedBytes) {
    int64_t rows = plan.rows.lanes(), columns = plan.columns.lanes();
    tile.lanes = plan.strategy.vectorBytes / movedBytes;
    auto registers = [&](int64_t lanes) { return llvm::divideCeil(rows, lanes); };
    while (tile.lanes > unit && (registers(tile.lanes / 2) == registers(tile.lanes) || tile.lanes > rows))
      tile.lanes /= 2;
    tile.rows =
        rows < tile.lanes || (rows % tile.lanes && plan.rows.parts.size() > 1) ? llvm::alignTo(rows, tile.lanes) : rows;
    tile.columns = std::max(columns, unit);
  }

  enum Along { Rows = 1, Columns = 2, Outside = 4 };
  int movesAlong(const Limit &limit) const {
    auto along = [&](const LaneGroup &group) {
      return llvm::any_of(group.parts, [&](const Part &part) { return part.count > 1 && limit.weights[part.axis]; });
    };
    int where = (along(plan.rows) ? Rows : 0) | (along(plan.columns) ? Columns : 0);
    return where ? where : Outside;
  }
  /// Returns true if every address that the axes reach, even past limits, is in the operand's memory.
  bool isWhole(const Operand &operand) const {
    if (!operand.nonlinear.empty())
      return false; // the last block of a non-linear axis may exceed the memory
    if (operand.isIndex())
      return true;
    auto memref = cast<MemRefType>(operand.base.getType());
    auto [strides, end] = stridesOf(memref);
    for (auto [stride, extent] : llvm::zip_equal(strides, memref.getShape()))
      end += (extent - 1) * stride;
    int64_t highest = operand.offset.known();
    for (auto [a, axis] : llvm::enumerate(problem.axes))
      highest += (axis.extent.known() - 1) * operand.strides[a].known();
    return highest <= end;
  }
  /// Returns true if isWhole() holds for all operands that the row stage reads.
  bool isSourceWhole() const {
    return llvm::all_of(llvm::drop_end(problem.operands), [&](const Operand &operand) { return isWhole(operand); });
  }

  /// Chooses whether tiles go through scratch on the way in and out. They do if a row or column needs a body, a
  /// condition or a mask, if the lanes are not a power of two, or if rows would evict each other before all of their
  /// pieces are read. Returns false if a limit varies along both, or if the target does not have a mask that is needed.
  bool chooseStages() {
    bool hasBody = !problem.isCopy, hasRest = tile.columns != plan.columns.lanes();
    tile.throughRows = (hasBody && !tile.bodyInColumns) || tile.rows != plan.rows.lanes() || hasRest ||
                       !plan.rows.splitsAtPowers() || crowdsRows(plan.strategy.l1Bytes);
    tile.throughColumns = tile.bodyInColumns || tile.rows != plan.rows.lanes();
    auto see = [&](int where, bool read, bool write) {
      if (where == (Rows | Columns))
        return false;
      tile.throughRows |= read && where != Columns;
      tile.throughColumns |= write && where != Rows;
      if (where == Columns && read && !isSourceWhole())
        tile.throughRows = tile.masksColumns = true;
      if (where == Rows && write)
        tile.throughColumns = tile.masksRows = true;
      return true;
    };
    for (const Limit &limit : problem.limits)
      if (!see(movesAlong(limit), true,
               limit.highest(problem.axes) >= limit.write || !problem.writesPadding() || movesAlong(limit) == Columns))
        return false;
    for (const LaneGroup *group : {&plan.rows, &plan.columns})
      for (const Part &part : group->parts)
        if (problem.axes[part.axis].extent.known() % part.count && !llvm::is_contained(tile.shifted, part.axis)) {
          tile.throughRows = tile.throughColumns = true;
          (group == &plan.rows ? tile.masksRows : tile.masksColumns) = true;
        }
    return !(tile.masksColumns && !plan.takesMask(plan.source().element())) &&
           !(tile.masksRows && !plan.takesMask(plan.destination().element()));
  }

  bool isLimitedAlong(const Part &part) const {
    return llvm::any_of(problem.limits, [&](const Limit &limit) { return limit.weights[part.axis] != 0; });
  }

  /// Extends rows that are short or odd by the elements that follow them in the source, which are read with them.
  void chooseRun(int64_t unit) {
    constexpr int64_t maxBytes = 16 << 10, unrolledOps = 2048;
    const int64_t bodyOps = problem.isCopy || tile.bodyInColumns ? 1 : std::max<int64_t>(1, plan.bodyOps());
    // The maximum number of vectors of a run that cannot be a loop.
    const int64_t maxUnrolled = std::min<int64_t>(32, unrolledOps / bodyOps);
    tile.run = plan.columns;
    tile.outside = plan.rows;
    tile.inScratch.assign(problem.axes.size(), 0);
    int64_t rest = tile.columns - plan.columns.lanes(), lanes = plan.columns.lanes(), rowsLeft = plan.rows.lanes();
    bool isShort = rest || lanes % (problem.isCopy || tile.bodyInColumns ? unit : plan.lanes);
    bool goesOn = tile.throughRows && isShort && tile.rows == plan.rows.lanes() && plan.rows.splitsAtPowers() &&
                  !tile.masksColumns && llvm::all_of(plan.columns.parts, [&](const Part &part) {
                    return part.count == problem.axes[part.axis].extent;
                  });
    for (const Part &part : plan.columns.parts)
      goesOn &= !isLimitedAlong(part);
    while (goesOn) {
      goesOn = false;
      for (auto [a, axis] : llvm::enumerate(problem.axes)) {
        if (plan.source().strides[a] != lanes || axis.isNonlinear || plan.columns.has(a))
          continue;
        Part *row = llvm::find_if(tile.outside.parts, [&](const Part &part) { return part.axis == a; });
        bool isRow = row != tile.outside.parts.end();
        if (isRow && axis.extent.known() % row->count && !llvm::is_contained(tile.shifted, a))
          continue; // the last tile has fewer rows than the run would read
        int64_t bytes = pieceBytes / unit, fits = maxBytes / (bytes * lanes * rowsLeft);
        Part part{static_cast<unsigned>(a), isRow ? row->count : divisorOf(axis.extent.known(), fits)};
        if (isLimitedAlong(part) || part.count == 1)
          continue;
        LaneGroup longer = tile.run;
        longer.parts.push_back(part);
        if (longer.lanes() > maxUnrolled * plan.lanes && !plan.isStraight(longer))
          continue;
        tile.run = longer;
        tile.inScratch[a] = lanes;
        lanes *= part.count;
        goesOn = part.count == axis.extent;
        if (!isRow) {
          tile.repeat.parts.push_back(part);
        } else {
          rowsLeft /= part.count;
          tile.outside.parts.erase(row);
        }
        break;
      }
    }
    int64_t stride = llvm::alignTo(lanes + rest, unit);
    for (const Part &part : tile.outside.parts) {
      tile.inScratch[part.axis] = stride;
      stride *= part.count;
    }
    tile.scratchRows = stride + llvm::alignTo(lanes + rest, unit) * (tile.rows - plan.rows.lanes());
  }

  /// Returns true if more of `lines` cache lines, `stride` bytes from each other, map to one set than it can hold next
  /// to other data.
  static bool crowdsSets(int64_t cacheBytes, int64_t stride, int64_t lines) {
    llvm::SmallDenseMap<int64_t, int64_t, 64> taken;
    int64_t sets = std::max<int64_t>(1, cacheBytes / (cacheWays * lineBytes)), most = 0;
    for (int64_t i = 0; i < lines; ++i)
      most = std::max(most, ++taken[i * std::abs(stride) / lineBytes % sets]);
    return most > cacheWays / 2;
  }
  /// Returns true if rows of a tile evict each other before all of their pieces are read.
  bool crowdsRows(int64_t cacheBytes) const {
    int64_t bytes = plan.source().strides[plan.rows.parts[0].axis].known() * plan.source().bytes();
    return plan.columns.lanes() * plan.source().bytes() > pieceBytes &&
           crowdsSets(cacheBytes, bytes, plan.rows.parts[0].count);
  }
  /// Returns true if columns whose cache lines are only partly written evict each other.
  bool crowdsColumns() const {
    int64_t bytes = plan.destination().strides[plan.columns.parts[0].axis].known() * plan.destination().bytes();
    return bytes % lineBytes && crowdsSets(plan.strategy.l1Bytes, bytes, plan.columns.parts[0].count);
  }

  MapPlan &plan;
  MapProblem &problem;
  TilePlan &tile;
  bool mayShift = false;
};

} // namespace

bool quern::schedule::maps::planTile(MapPlan &plan) {
  if (TilePlanner(plan).run())
    return true;
  plan.rows = plan.columns = LaneGroup();
  plan.tile = TilePlan();
  return false;
}

/// Returns true if every store writes whole cache lines: every step of the destination is a multiple of one.
static bool writesWholeLines(const MapPlan &plan) {
  const Operand &destination = plan.destination();
  int64_t bytes = destination.bytes();
  LaneGroup lanes = plan.rows;
  if (plan.tile.network == TileNetwork::Interleave)
    lanes.parts.append(plan.columns.parts);
  bool whole = plan.tile.lanes * bytes % lineBytes == 0 && lanes.lanes() * bytes % lineBytes == 0 &&
               destination.offset.known() * bytes % lineBytes == 0 && !plan.tile.masksRows;
  for (auto [a, axis] : llvm::enumerate(plan.problem.axes)) {
    const Part *part = llvm::find_if(lanes.parts, [&](const Part &part) { return part.axis == a; });
    bool isRow = part != lanes.parts.end();
    whole &= (isRow && part->count == axis.extent) ||
             destination.strides[a].known() * (isRow ? part->count : 1) * bytes % lineBytes == 0;
    whole &= !(isRow && llvm::is_contained(plan.tile.shifted, a));
  }
  return whole;
}

/// The two loops over chunks become the innermost ones, the destination's last, so that whole runs are written. A sweep
/// along the destination touches one cache line of every row. If those fit the cache, the next lines are prefetched;
/// otherwise several tiles that are neighbors along the source are processed together.
void quern::schedule::maps::orderTileLoops(MapPlan &plan) {
  constexpr int64_t sweepBytes = 64 << 10, together = 8, most = 12;
  plan.tile.writesWholeLines = writesWholeLines(plan);
  unsigned from = plan.columns.parts.back().axis, to = plan.rows.parts.back().axis;
  int64_t sweep = plan.rows.lanes() * lineBytes, across = 1;
  MapLoop *along = nullptr;
  for (unsigned axis : {from, to}) {
    auto loop = llvm::find_if(plan.loops, [&](const MapLoop &loop) { return loop.axis == axis; });
    if (loop == plan.loops.end())
      continue;
    std::rotate(loop, loop + 1, plan.loops.end());
    if (axis == to)
      across = plan.loops.back().trip;
  }
  for (MapLoop &loop : plan.loops)
    if (loop.axis == from)
      along = &loop;
  if (!along)
    return;
  int64_t touched = plan.problem.points() * (plan.source().bytes() + plan.destination().bytes());
  bool isBeyondL2 = touched > plan.strategy.l2Bytes;
  if (plan.tile.isLarge) {
    if (isBeyondL2)
      plan.tile.prefetch = along->step * plan.source().strides[from].known();
    std::rotate(along, along + 1, plan.loops.end());
    return;
  }
  if (sweep * across <= sweepBytes) {
    if (isBeyondL2)
      plan.tile.prefetch =
          std::clamp<int64_t>(together / across, 1, 4) * along->step * plan.source().strides[from].known();
    return;
  }
  int64_t block = most;
  while (along->trip % block)
    --block;
  if (block == 1)
    return;
  if (isBeyondL2)
    plan.tile.prefetch = plan.rows.parts.back().count * plan.source().strides[to].known();
  MapLoop inner = *along;
  inner.trip = block;
  along->step *= block;
  along->trip /= block;
  plan.loops.push_back(inner);
}
