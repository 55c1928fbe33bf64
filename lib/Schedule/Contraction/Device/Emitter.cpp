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

#include "Schedule/Build/Bodies.h"
#include "Schedule/Device/Access.h"
#include "Schedule/Device/GroupMemory.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

DeviceEmitter::DeviceEmitter(const DevicePlan &plan)
    : NumberEmitter(plan.chain.problem), plan(plan), chain(plan.chain), problem(plan.chain.problem) {}

func::FuncOp DeviceEmitter::emit() {
  KernelTraits traits;
  traits.name = (problem.getName() + "_kernel").str();
  traits.plan = plan.text();
  traits.space = (chain.columns.isOpen() ? 1 : plan.tiles) * plan.rowGroups;
  if (chain.rows.isOpen())
    traits.space.addLoop(chain.rows, plan.rowsOfGroup());
  if (chain.columns.isOpen())
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
    block = plan.parts == 1    ? subGroup
            : plan.blocks == 1 ? block
                               : create<arith::RemUIOp>(subGroup, index(plan.blocks)).getResult();
    if (plan.parts > 1)
      part = plan.blocks == 1 ? subGroup : create<arith::DivUIOp>(subGroup, index(plan.blocks)).getResult();
  }
  Value group = create<gpu::BlockIdOp>(gpu::Dimension::x), rowGroup = index(0);
  rowCount = index(chain.rows);
  columnCount = index(chain.columns);
  bool hasRowGroups = chain.rows.isOpen() || plan.rowGroups > 1;
  if (chain.columns.isOpen() || plan.tiles > 1) {
    Value tiles = chain.columns.isOpen() ? ceilDiv(columnCount, plan.width()) : index(plan.tiles);
    tile = hasRowGroups ? create<arith::RemUIOp>(group, tiles).getResult() : group;
    group = hasRowGroups ? create<arith::DivUIOp>(group, tiles).getResult() : index(0);
  }
  if (hasRowGroups)
    rowGroup = group;
  firstRow = linear(0, {{rowGroup, plan.rowsOfGroup()}, {block, plan.rows}});
  for (int64_t v = 0; v < plan.vectors; ++v)
    columns.push_back(linear(v * plan.subGroup, {{tile, plan.width()}, {lane, 1}}));
}

Value DeviceEmitter::ceilDiv(Value x, int64_t y) { return create<arith::DivUIOp>(linear(y - 1, {{x, 1}}), index(y)); }

/// Products whose panels have the same element type use the same memory, one after another.
void DeviceEmitter::makePanels() {
  llvm::MapVector<Type, int64_t> elements;
  for (auto [product, own] : llvm::zip_equal(chain.products, plan.products))
    if (own.panel) {
      int64_t &most = elements[panelElement(product)];
      most = std::max(most, plan.parts * own.panel * own.pitch);
    }
  for (auto [type, count] : elements)
    panels[type] = groupMemory(b, kernel, count, type, memories++);
}

/// Emits the condition that a point is within the matrix. Returns null if all points are.
Value DeviceEmitter::exists(const Point &point) {
  Value inRows, inColumns;
  if (plan.hasRowTail())
    inRows = create<arith::CmpIOp>(arith::CmpIPredicate::ult, point.row, rowCount);
  if (plan.hasColumnTail())
    inColumns = create<arith::CmpIOp>(arith::CmpIPredicate::ult, point.column, columnCount);
  return !inRows ? inColumns : !inColumns ? inRows : create<arith::AndIOp>(inRows, inColumns).getResult();
}

void DeviceEmitter::finish(ArrayRef<Value> sums) {
  if (!plan.isOverMemory) {
    for (int64_t r = 0; r < plan.rows; ++r)
      for (int64_t v = 0; v < plan.vectors; ++v) {
        Point point{linear(r, {{firstRow, 1}}), columns[v]};
        choose(exists(point),
               [&] { emitPoint(point, [&](unsigned accumulator) { return sums[sumIndex(r, accumulator, v)]; }); });
      }
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
      row = create<arith::DivUIOp>(at, index(plan.vectors));
      column = linear(0, {{columns[0], 1}, {create<arith::RemUIOp>(at, index(plan.vectors)), plan.subGroup}});
    }
    Point point{linear(0, {{firstRow, 1}, {row, 1}}), column};
    auto sumOf = [&](unsigned accumulator) {
      Value sum, first = linear(0, {{base, 1}, {at, accumulators * plan.subGroup}});
      for (int64_t g = 0; g < plan.parts; ++g) {
        int64_t before = g * plan.blocks * plan.rows * plan.perRow() * plan.subGroup;
        Value own = loadElement(b, loc, memory, linear(before + accumulator * plan.subGroup, {{first, 1}}));
        sum = !sum                              ? own
              : isa<FloatType>(chain.sumType()) ? create<arith::AddFOp>(sum, own).getResult()
                                                : create<arith::AddIOp>(sum, own).getResult();
      }
      return sum;
    };
    choose(exists(point), [&] { emitPoint(point, sumOf); });
  };
  forRange(part, hidden(index(plan.rows * plan.vectors)), body, plan.parts);
}

void DeviceEmitter::emitPoint(const Point &point, function_ref<Value(unsigned)> sum) {
  KnownValues known;
  for (auto [n, accumulator] : llvm::enumerate(chain.accumulators)) {
    Value own = sum(n);
    if (!accumulator.startsAtZero()) {
      Value start = startOf(accumulator, point);
      own = isa<FloatType>(own.getType()) ? create<arith::AddFOp>(start, own).getResult()
                                          : create<arith::AddIOp>(start, own).getResult();
    }
    known.set(accumulator.at, own);
    if (accumulator.isStored)
      store(own, accumulator.at, point);
  }
  for (const PointOp &op : chain.epilogue) {
    const AtOperation scope(*this, locationOf(op));
    for (auto [out, value] : llvm::zip_equal(op.outs, evaluate(op, point, known))) {
      known.set(out, value);
      if (out.isArgument())
        store(value, out, point);
    }
  }
}

Value DeviceEmitter::startOf(const Accumulator &accumulator, const Point &point) {
  if (accumulator.start)
    return evaluate(*accumulator.start, point, {})[0];
  return accumulator.fill ? constant(accumulator.fill) : load(accumulator.at, point);
}

DeviceEmitter::Values DeviceEmitter::evaluate(const PointOp &op, const Point &point, const KnownValues &known) {
  return contractions::evaluate(b, op, known,
                                {.captured = [&](Value scalar) { return captured(scalar); },
                                 .load = [&](const TileAccess &access) { return load(access, point); }});
}

Value DeviceEmitter::addressOf(const TileAccess &access, const Point &point) {
  return linear(access.offset, {{point.row, access.row}, {point.column, access.column}});
}

Value DeviceEmitter::load(const TileAccess &access, const Point &point) {
  return loadElement(b, loc, kernel.arguments.lookup(access.base), addressOf(access, point));
}

void DeviceEmitter::store(Value v, const TileAccess &access, const Point &point) {
  storeElement(b, loc, v, kernel.arguments.lookup(access.base), addressOf(access, point));
}
