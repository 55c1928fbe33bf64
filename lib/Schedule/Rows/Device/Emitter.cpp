//===- Emitter.cpp - Emission of rows for a device ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shuffles and barriers must be executed by all work-items of the sub-group or group that share a row. Whether a row
// exists is therefore uniform for them, and positions past its end are not read, not accumulated and not written.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Device/Emitter.h"

#include "Schedule/Device/Access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

/// Divides the row's index into indices of the dims of known extent, in 32 bits if that is sufficient, because devices
/// emulate longer division.
void DeviceRowEmitter::emitStaticIndices(Value row) {
  bool isShort = (plan.order.size() > 1 || isNarrow) && llvm::alignTo(plan.count, plan.rows) < INT32_MAX;
  Type type = isShort ? Type(b.getI32Type()) : Type(b.getIndexType());
  if (isShort && row.getType() != type)
    row = create<arith::IndexCastUIOp>(type, row);
  for (size_t i = plan.order.size(); i-- > 0;) {
    unsigned d = plan.order[i];
    Value extent = constant(b.getIntegerAttr(type, chain.dims[d].extent.known()));
    Value at = i == 0 ? row : create<arith::RemUIOp>(row, extent).getResult();
    parallel[d] = isShort && !isNarrow ? create<arith::IndexCastUIOp>(b.getIndexType(), at).getResult() : at;
    if (i)
      row = create<arith::DivUIOp>(row, extent);
  }
  if (plan.rowsFollowLanes())
    parallel[plan.order.back()] = add(parallel[plan.order.back()], narrowed(laneOfItem()));
}

/// Returns the work-item's index in its sub-group; 0 for a sub-group of one, which does not exist on the device.
Value DeviceRowEmitter::laneOfItem() {
  return plan.subGroup == 1 ? index(0) : create<gpu::LaneIdOp>(IntegerAttr()).getResult();
}

Value DeviceRowEmitter::subGroupOfItem() {
  return plan.subGroup == 1 ? local : create<gpu::SubgroupIdOp>(IntegerAttr()).getResult();
}

Value DeviceRowEmitter::narrowed(Value v) {
  return isNarrow ? create<arith::IndexCastUIOp>(b.getI32Type(), v).getResult() : v;
}

/// Computes the row of a work-item and its position along the row.
void DeviceRowEmitter::emitPlace() {
  local = create<gpu::ThreadIdOp>(gpu::Dimension::x);
  // Constants and values that all rows need are inserted before the check that the row exists.
  entry = local.getDefiningOp();
  Value block = create<gpu::BlockIdOp>(gpu::Dimension::x), inGroup;
  group = block;
  // The lane is used even if the group is one sub-group: if all effects of a kernel depend on the local index, Intel's
  // OpenCL runtime for CPUs runs it only for those work-items, as if no shuffle read from the others.
  bool isOfSubGroup = plan.share == RowShare::SubGroup;
  item = mul(isOfSubGroup ? laneOfItem() : plan.items == 1 ? index(0) : local, plan.width);
  if (plan.rowsFollowLanes()) // uniform in a sub-group: whether the row exists, and all of its index except the lane
    inGroup = mul(subGroupOfItem(), plan.subGroup);
  else if (plan.rows > 1)
    inGroup = isOfSubGroup ? subGroupOfItem() : local;
  parallel.assign(chain.dims.size(), Value());
  auto rowOf = [&](Value of) {
    return plan.rows > 1 ? add(mul(narrowed(of), plan.rows), narrowed(inGroup)) : narrowed(of);
  };
  Value rest = block;
  if (plan.openDim < 0) {
    bool hasOpen = !plan.open.empty();
    Value own = hasOpen ? create<arith::RemUIOp>(block, index(plan.space.number)).getResult() : block;
    if (hasOpen)
      rest = create<arith::DivUIOp>(block, index(plan.space.number));
    Value row = rowOf(own);
    if (plan.count % plan.rows)
      exists = create<arith::CmpIOp>(arith::CmpIPredicate::ult, row, like(row, plan.count));
    emitStaticIndices(row);
  } else {
    emitStaticIndices(index(0));
  }
  for (unsigned d : llvm::reverse(plan.open)) {
    const bool isOfGroup = static_cast<int>(d) == plan.openDim;
    const Size extent = chain.dims[d].extent;
    Value count = index(extent);
    if (isOfGroup && plan.rows > 1)
      count = create<arith::DivUIOp>(add(count, index(plan.rows - 1)), index(plan.rows));
    Value at = create<arith::RemUIOp>(rest, count);
    rest = create<arith::DivUIOp>(rest, count);
    parallel[d] = isOfGroup ? rowOf(at) : at;
    if (isOfGroup && plan.rows > 1)
      exists = create<arith::CmpIOp>(arith::CmpIPredicate::ult, parallel[d], index(extent));
  }
}

/// Computes whether narrow elements can be moved as words, which depends on the caller's pointers.
void DeviceRowEmitter::emitAlignment() {
  llvm::SmallSetVector<Value, 4> inVectors;
  if (plan.width > 1)
    chain.forEachAccess([&](Stage &, Access &access) {
      if (access.producer < 0 && plan.isInVectors(access))
        inVectors.insert(kernel.arguments.lookup(access.base));
    });
  aligned = areWordAligned(b, loc, inVectors.getArrayRef());
}

/// Returns whether the work-item has a row; null: always. Work-items after the last row or past the limit of a padded
/// loop do not.
Value DeviceRowEmitter::isRow() {
  Value is = exists;
  for (auto [limit, extent] : llvm::enumerate(chain.limits)) {
    Value sum;
    for (auto [d, dim] : llvm::enumerate(chain.dims))
      if (dim.limit == static_cast<int>(limit)) {
        Value term = mul(parallel[d], dim.weight);
        sum = sum ? add(sum, term) : term;
      }
    if (!sum)
      continue;
    Value within = create<arith::CmpIOp>(arith::CmpIPredicate::ult, sum, like(sum, extent));
    is = both(is, within);
  }
  return is;
}

bool DeviceRowEmitter::isCompensated(Operation *like) { return plan.compensates() && isa<arith::AddFOp>(like); }

/// Emits the positions of a step: `count` positions of each work-item from `at` on, or from its first one if that is
/// null. `endsInRow`: the row ends within the last ones.
void DeviceRowEmitter::emitStep(Value at, int64_t count, bool endsInRow, Values &accumulators) {
  if (!plan.isInRegisters) {
    ofStep = {};
    cutFrom = -1;
  }
  position = !at ? item : plan.items == 1 ? at : add(at, item);
  if (endsInRow && cutFrom < 0) {
    cutFrom = count - plan.width;
    inRowAtEnd = create<arith::CmpIOp>(arith::CmpIPredicate::ult, positionOf(cutFrom), index(chain.rowExtent));
  }
  for (int64_t slot = 0; slot < count; ++slot) {
    MutableArrayRef<Value> rest(accumulators);
    for (Stage &stage : chain.stages)
      if (stage.reduces && stage.sweep == sweep)
        accumulate(stage, slot, rest);
  }
  if (sweep == plan.sweeps - 1)
    writeElements(count);
}

/// Computes all values of slots that are moved together before it stores any, so that no read follows a write to memory
/// that may alias.
void DeviceRowEmitter::writeElements(int64_t count) {
  for (int64_t slot = 0; slot < count; slot += plan.width) {
    struct Result {
      const Access *access;
      Location of;
      Values elements;
    };
    SmallVector<Result> results;
    for (auto [i, stage] : llvm::enumerate(chain.stages)) {
      if (!stage.writesArgument || !stage.isElementwise())
        continue;
      for (auto [k, access] : llvm::enumerate(stage.outs))
        if (access.isArgument()) {
          results.push_back({&access, stage.op.getLoc(), {}});
          for (int64_t next = slot; next < slot + plan.width; ++next) {
            if (!boxOf(access, /*isWritten=*/true))
              place(access, next);
            results.back().elements.push_back(values(i, next)[k]);
          }
        }
    }
    if (results.empty())
      continue;
    choose(inRow(slot), [&] {
      for (auto &[access, of, elements] : results) {
        const AtOperation scope(*this, of);
        write(*access, slot, elements);
      }
    });
  }
}

void DeviceRowEmitter::emitLoop(Value from, Value to, int64_t by, int64_t count, Values &accumulators) {
  accumulators = loop(from, to, index(by), accumulators, [&](Value at, Values inner) {
    sweepLoop = b.getInsertionBlock()->getParentOp();
    emitStep(at, count, /*endsInRow=*/false, inner);
    return inner;
  });
  sweepLoop = nullptr;
}

void DeviceRowEmitter::emitSweep() {
  Values accumulators = freshAccumulators();
  if (plan.isInRegisters) {
    emitStep(Value(), plan.slots, !chain.rowExtent.isMultipleOf(plan.step()), accumulators);
  } else {
    const Index whole = mul(floorDiv(chain.rowExtent, plan.step()), plan.step());
    const int64_t run = plan.items * plan.width, rest = chain.rowExtent.knownOr(plan.step() - 1) % plan.step();
    if (whole != 0)
      emitLoop(index(0), index(whole), plan.step(), plan.slots, accumulators);
    if (rest)
      emitStep(index(whole), llvm::divideCeil(rest, run) * plan.width, rest % run, accumulators);
  }
  finishReductions(accumulators);
}

/// Combines the values of the work-items of a row; all of them get the result.
void DeviceRowEmitter::combineParts(MutableArrayRef<Reduction> reductions) {
  if (plan.isAlongRow())
    for (auto &[like, parts] : reductions) {
      const AtOperation scope(*this, like->getParentOp()->getLoc());
      parts[0] = reduceSubGroup(like, parts[0], plan.subGroup);
    }
  if (plan.share == RowShare::Group && plan.items > plan.subGroup && !reductions.empty())
    reduceGroup(reductions);
}

/// Reduces `width` neighboring work-items, all of which get the result, by exchanges with the one that differs in one
/// bit.
Value DeviceRowEmitter::reduceSubGroup(Operation *like, Value v, int64_t width) {
  Value all = constant(b.getI32IntegerAttr(plan.subGroup));
  for (int64_t distance = width / 2; distance; distance /= 2) {
    Value apart = constant(b.getI32IntegerAttr(distance));
    Value other = create<gpu::ShuffleOp>(v, apart, all, gpu::ShuffleMode::XOR).getShuffleResult();
    v = combine(like, other, v);
  }
  return v;
}

/// Combines the results of sub-groups, which are exchanged in group memory. Each reduction has its own memory, so that
/// one barrier serves all reductions of a sweep.
void DeviceRowEmitter::reduceGroup(MutableArrayRef<Reduction> reductions) {
  int64_t subGroups = plan.items / plan.subGroup;
  Value lane = laneOfItem(), subGroup = subGroupOfItem();
  Values buffers;
  for (const Reduction &reduction : reductions)
    buffers.push_back(groupMemory(b, kernel, subGroups, reduction.parts[0].getType(), memories++));
  Value isFirst = create<arith::CmpIOp>(arith::CmpIPredicate::eq, lane, index(0));
  choose(isFirst, [&] {
    for (auto [buffer, reduction] : llvm::zip_equal(buffers, reductions)) {
      const AtOperation scope(*this, reduction.like->getParentOp()->getLoc());
      create<memref::StoreOp>(reduction.parts[0], buffer, ValueRange{subGroup});
    }
  });
  create<gpu::BarrierOp>();
  int64_t width = std::min(subGroups, plan.subGroup);
  Value at = width < plan.subGroup ? create<arith::RemUIOp>(lane, index(width)).getResult() : lane;
  for (auto [buffer, reduction] : llvm::zip_equal(buffers, reductions)) {
    auto &[like, parts] = reduction;
    const AtOperation scope(*this, like->getParentOp()->getLoc());
    Value &v = parts[0];
    v = create<memref::LoadOp>(buffer, ValueRange{at});
    for (int64_t i = width; i < subGroups; i += width)
      v = combine(like, create<memref::LoadOp>(buffer, ValueRange{add(at, index(i))}), v);
    v = reduceSubGroup(like, v, width);
  }
}

/// Returns true if the output may share memory with values of the row that all work-items read.
bool DeviceRowEmitter::mayOverwriteRead(const Access &output) {
  bool mayBe = false;
  chain.forEachAccess([&](Stage &, Access &access) { mayBe |= access.isMemoryRead() && access.mayAlias(output); });
  return mayBe;
}

void DeviceRowEmitter::storeRowOutputs(ArrayRef<RowOutput> outputs) {
  if (outputs.empty())
    return;
  for (const RowOutput &output : outputs)
    rowBase(*output.access);
  // The lanes of a sub-group run in lockstep, but sub-groups do not.
  if (plan.items > plan.subGroup &&
      llvm::any_of(outputs, [&](auto &output) { return mayOverwriteRead(*output.access); }))
    create<gpu::BarrierOp>();
  Value isFirst;
  if (plan.isAlongRow())
    isFirst = create<arith::CmpIOp>(arith::CmpIPredicate::eq, item, index(0));
  choose(isFirst, [&] {
    for (const RowOutput &output : outputs)
      write(*output.access, 0, output.value);
  });
}

func::FuncOp DeviceRowEmitter::emit(Operation *after) {
  KernelTraits traits;
  traits.name = (chain.problem.getName() + "_kernel").str();
  traits.plan = plan.attribute();
  traits.space = plan.space;
  traits.groupSize = plan.group;
  traits.subGroupSize = plan.subGroup == 1 ? 0 : plan.subGroup;
  kernel = makeKernel(chain.problem, after, traits);
  b.setInsertionPointToStart(&kernel.function.getBody().front());
  entry = create<func::ReturnOp>();
  b.setInsertionPoint(entry);
  isNarrow = plan.share == RowShare::Item && plan.open.empty() &&
             llvm::all_of(kernel.function.getArgumentTypes(), [](Type argument) {
               auto type = dyn_cast<MemRefType>(argument);
               return !type || (type.hasStaticShape() && type.getNumElements() < INT32_MAX);
             });
  emitPlace();
  clonePrologue(chain.problem, chain.prologue);
  emitAlignment();
  if (plan.isBoxed)
    readBoxes();
  choose(isRow(), [&] {
    for (sweep = 0; sweep < plan.sweeps; ++sweep)
      emitSweep();
    writeRowOutputs();
  });
  if (plan.isBoxed)
    writeBoxes();
  return kernel.function;
}
