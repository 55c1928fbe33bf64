//===- Emitter.cpp - The kernel of products and its points ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sums start from zero, because those of several parts of K are added, and the initial value of an accumulator is added
// at the end. Adjacent groups have adjacent tiles and the same rows.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Device/Emitter.h"

#include "Schedule/Contraction/PointValues.h"
#include "Schedule/Device/GroupMemory.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

DeviceEmitter::DeviceEmitter(const DevicePlan &plan)
    : ContractionBuilder(plan.chain.problem), plan(plan), chain(plan.chain), problem(plan.chain.problem) {}

func::FuncOp DeviceEmitter::emit() {
  KernelTraits traits;
  traits.name = (problem.getName() + "_kernel").str();
  traits.plan = plan.attribute();
  traits.space.addLoop(chain.rows, plan.rowsOfGroup());
  traits.space.addLoop(chain.columns, plan.width());
  traits.groupSize = plan.group();
  traits.subGroupSize = plan.subGroup == 1 ? 0 : plan.subGroup;
  kernel = makeKernel(problem, problem, traits);
  b.setInsertionPointToStart(&kernel.function.getBody().front());
  entry = create<func::ReturnOp>();
  b.setInsertionPoint(entry);
  // Sub-groups of one work-item do not exist on the device.
  Value item = plan.subGroup == 1 ? create<gpu::ThreadIdOp>(gpu::Dimension::x).getResult()
                                  : create<gpu::LaneIdOp>(IntegerAttr()).getResult();
  entry = item.getDefiningOp();
  lane = plan.subGroup == 1 ? index(0) : item;
  clonePrologue(problem, chain.prologue);
  emitPlace(item);
  makePanels();
  Values sums(static_cast<size_t>(plan.rows * plan.perRow()),
              constant(cast<TypedAttr>(b.getZeroAttr(chain.sumType()))));
  for (unsigned product = 0; product < chain.products.size(); ++product)
    emitProduct(product, sums);
  finish(sums);
  return kernel.function;
}

/// Computes the rows, columns and part of K of the work-item.
void DeviceEmitter::emitPlace(Value item) {
  block = part = tile = index(0);
  zero = create<gpu::BlockIdOp>(gpu::Dimension::y); // groups are along x, so this is 0
  if (plan.blocks * plan.parts > 1) {
    Value subGroup = item;
    if (plan.subGroup > 1) { // the broadcast makes it visibly uniform for the device's compiler
      Value own = create<arith::IndexCastOp>(b.getI32Type(), create<gpu::SubgroupIdOp>(IntegerAttr()));
      subGroup = create<arith::IndexCastOp>(b.getIndexType(), ofLane(own, 0));
    }
    block = plan.parts == 1 ? subGroup : plan.blocks == 1 ? block : mod(subGroup, plan.blocks);
    if (plan.parts > 1)
      part = floorDiv(subGroup, plan.blocks);
  }
  Value group = create<gpu::BlockIdOp>(gpu::Dimension::x), rowGroup = index(0);
  rowCount = index(chain.rows);
  columnCount = index(chain.columns);
  const bool hasRowGroups = chain.rows.mayExceed(plan.rowsOfGroup());
  if (chain.columns.mayExceed(plan.width())) {
    Value tiles = index(ceilDiv(columnCount, plan.width()));
    tile = hasRowGroups ? mod(group, tiles) : group;
    group = hasRowGroups ? floorDiv(group, tiles) : index(0);
  }
  if (hasRowGroups)
    rowGroup = group;
  firstRow = linear(0, {{rowGroup, plan.rowsOfGroup()}, {block, plan.rows}});
  for (int64_t v = 0; v < plan.vectors; ++v)
    columns.push_back(linear(v * plan.subGroup, {{tile, plan.width()}, {lane, 1}}));
}

void DeviceEmitter::makePanels() {
  for (auto [type, count] : plan.panels())
    panels[type] = groupMemory(b, kernel, count, type, memories++);
}

/// Emits the condition that a point is within the matrix. Returns null if all points are.
Value DeviceEmitter::exists(Value row, Value column) {
  Value inRows, inColumns;
  if (plan.hasRowTail())
    inRows = compare(arith::CmpIPredicate::ult, row, rowCount);
  if (plan.hasColumnTail())
    inColumns = compare(arith::CmpIPredicate::ult, column, columnCount);
  return both(inRows, inColumns);
}

void DeviceEmitter::finish(ArrayRef<Value> sums) {
  if (!plan.isOverMemory) {
    for (int64_t r = 0; r < plan.rows; ++r)
      for (int64_t v = 0; v < plan.vectors; ++v)
        emitPoint(linear(r, {{firstRow, 1}}), columns[v],
                  [&](unsigned accumulator) { return sums[sumIndex(r, accumulator, v)]; });
    return;
  }
  Value memory = groupMemory(b, kernel, plan.sumElements(), chain.sumType(), memories++);
  int64_t ofBlock = plan.rows * plan.perRow() * plan.subGroup;
  Value base = linear(0, {{block, ofBlock}, {lane, 1}});
  for (auto [n, sum] : llvm::enumerate(sums)) {
    Value at = linear(static_cast<int64_t>(n) * plan.subGroup, {{base, 1}, {part, plan.blocks * ofBlock}});
    create<memref::StoreOp>(sum, memory, ValueRange{at});
  }
  if (plan.parts > 1) // otherwise a work-item reads the sums that it wrote
    create<gpu::BarrierOp>();
  emitPointsOfMemory(memory, base);
}

/// The points of a block are divided among the sub-groups that summed its parts.
void DeviceEmitter::emitPointsOfMemory(Value memory, Value base) {
  int64_t accumulators = static_cast<int64_t>(chain.accumulators.size());
  auto body = [&](Value at) {
    Value row = at, column = columns[0];
    if (plan.vectors > 1) {
      row = floorDiv(at, plan.vectors);
      column = linear(0, {{columns[0], 1}, {mod(at, plan.vectors), plan.subGroup}});
    }
    auto sumOf = [&](unsigned accumulator) {
      Value sum, first = linear(0, {{base, 1}, {at, accumulators * plan.subGroup}});
      for (int64_t g = 0; g < plan.parts; ++g) {
        int64_t before = g * plan.blocks * plan.rows * plan.perRow() * plan.subGroup;
        Value own = loadScalar(memory, linear(before + accumulator * plan.subGroup, {{first, 1}}));
        sum = sum ? plus(sum, own) : own;
      }
      return sum;
    };
    emitPoint(linear(0, {{firstRow, 1}, {row, 1}}), column, sumOf);
  };
  forRange(part, hidden(index(plan.rows * plan.vectors)), body, plan.parts);
}

namespace {

/// A column of a work-item in one row.
class DevicePoint : public EpiloguePoint {
public:
  DevicePoint(ContractionBuilder &ir, Value row, Value column)
      : EpiloguePoint(ir, /*lanes=*/0), row(row), column(column) {}
  Value load(const TileAccess &access) override { return ir.loadScalar(ir.buffer(access.base), addressOf(access)); }
  void store(Value v, const TileAccess &access) override {
    ir.storeScalar(v, ir.buffer(access.base), addressOf(access));
  }

private:
  Value addressOf(const TileAccess &access) {
    return ir.linear(access.offset, {{row, access.row}, {column, access.column}});
  }
  Value row, column;
};

} // namespace

void DeviceEmitter::emitPoint(Value row, Value column, function_ref<Value(unsigned)> sum) {
  DevicePoint point(*this, row, column);
  auto startedSum = [&](unsigned n) {
    Value own = sum(n);
    const Accumulator &accumulator = chain.accumulators[n];
    return accumulator.startsAtZero() ? own : plus(point.startOf(accumulator), own);
  };
  choose(exists(row, column), [&] { point.finish(chain, startedSum); });
}
