//===- Emitter.cpp - Emission of maps for a device ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Boxes and points are counted in 32 bits if that is sufficient, because devices emulate longer division and
// multiplication.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Device/Emitter.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Device/Access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

/// Calls f for each point of a work-item, in a loop if there are many.
void DeviceMapEmitter::forPoints(const BoxOrder &order, bool isRolled, function_ref<void(const Point &)> f) {
  constexpr int64_t maxUnrolled = 8; // points of a work-item; the addresses of more do not fit the registers
  OpBuilder::InsertionGuard guard(b);
  if ((isRolled && order.places() > plan.group) || order.places() > maxUnrolled * plan.group) {
    auto loop = create<scf::ForOp>(number(0), number(order.places()), number(plan.group));
    b.setInsertionPointToStart(loop.getBody());
    return f({order, 0, loop.getInductionVar()});
  }
  for (int64_t at = 0; at < order.places(); at += plan.group)
    f({order, at, Value()});
}

DeviceMapEmitter::Values DeviceMapEmitter::loadFromMemory(const Point &point, int64_t count) {
  Values elements;
  Value at = addressInMemory(point);
  Type element = plan.source().element();
  for (int64_t i = 0; i < count; ++i) {
    Value stored = loadScalar(memory, add(at, index(i * plan.inMemory[point.order.axes.parts.front().axis])));
    elements.push_back(stored.getType() == element ? stored : create<arith::BitcastOp>(element, stored).getResult());
  }
  return elements;
}

/// Returns the element that the body reads from an operand at an address; for a loop index, the address.
Value DeviceMapEmitter::elementAt(unsigned operand, Value at) {
  return problem.operands[operand].isIndex() ? at : loadScalar(flat[operand], at);
}

/// Loads `count` elements, starting at the point. If `isRead` is false at run time, the point is padding, and the first
/// element of the buffer is loaded instead.
DeviceMapEmitter::Values DeviceMapEmitter::load(unsigned operand, const Point &point, int64_t count, Value isRead) {
  if (kept[operand])
    return Values(count, kept[operand]);
  const Operand &from = problem.operands[operand];
  Value at = addressOf(operand, point);
  if (isRead)
    at = create<arith::SelectOp>(isRead, at, index(from.offset));
  const Size stride = count > 1 ? from.strides[point.order.axes.parts.front().axis] : Size(0);
  if (stride == 0)
    return Values(count, elementAt(operand, at));
  if (plan.inVectors[operand])
    return loadVector(b, loc, flat[operand], at, count);
  Values elements;
  for (int64_t i = 0; i < count; ++i) {
    elements.push_back(elementAt(operand, add(at, stride * i)));
  }
  return elements;
}

Value DeviceMapEmitter::areAligned() {
  Values inVectors, sizes;
  for (unsigned i = 0; i < problem.operands.size(); ++i)
    if (plan.inVectors[i] || (plan.read.width > 1 && i == problem.source)) {
      const Operand &operand = problem.operands[i];
      inVectors.push_back(flat[i]);
      Sizes strides = operand.strides;
      strides.push_back(operand.offset);
      // Along the vector the stride is 1, and planning has checked the other numbers.
      for (Size stride : strides)
        if (operand.bytes() < deviceWordBytes && stride != 1 && !stride.isMultipleOf(deviceWordBytes / operand.bytes()))
          sizes.push_back(index(stride * operand.bytes()));
    }
  return areWordAligned(b, loc, inVectors, sizes);
}

void DeviceMapEmitter::forVector(const Point &point, function_ref<void(const Point &)> vector,
                                 function_ref<void(const Point &)> one) {
  choose(inOrder(point), [&] {
    const int64_t width = point.order.width;
    Point last = point;
    last.indexInVector = number(width - 1);
    auto forEach = [&] {
      auto loop = create<scf::ForOp>(number(0), number(width), number(1));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Point each = point;
      each.indexInVector = loop.getInductionVar();
      one(each);
    };
    Value isWhole = both(insideAxes(last), insideLimits(last, /*write=*/false));
    choose(both(aligned, isWhole), [&] { vector(point); }, forEach);
  });
}

void DeviceMapEmitter::readElements(const Point &point, bool asVector) {
  Value from = addressOf(problem.source, point), to = addressInMemory(point);
  const int64_t count = asVector ? point.order.width : 1;
  Values elements = count > 1 ? loadVector(b, loc, flat[problem.source], from, count)
                              : Values{loadScalar(flat[problem.source], from)};
  for (Value &element : elements)
    if (Type stored = groupMemoryType(element.getType()); stored != element.getType())
      element = create<arith::BitcastOp>(stored, element);
  if (count > 1 && plan.storesVectors)
    return storeVector(b, loc, elements, memory, to);
  for (auto [i, element] : llvm::enumerate(elements))
    storeScalar(element, memory, add(to, index(static_cast<int64_t>(i))));
}

/// Reads the box into group memory, in the order of the source.
void DeviceMapEmitter::readBox() {
  memory = groupMemory(b, kernel, plan.memoryElements, groupMemoryType(plan.source().element()), 0);
  auto readPoint = [&](const Point &point) {
    Value exists = both(both(point.indexInVector ? Value() : inOrder(point), insideAxes(point)),
                        insideLimits(point, /*write=*/false));
    choose(exists, [&] { readElements(point, /*asVector=*/false); });
  };
  forPoints(plan.read, /*isRolled=*/false, [&](const Point &point) {
    if (plan.read.width == 1)
      return readPoint(point);
    forVector(point, [&](const Point &first) { readElements(first, /*asVector=*/true); }, readPoint);
  });
  create<gpu::BarrierOp>();
}

/// Loads elements that all points of a work-item share, such as a scale, before the points: later compilers cannot
/// prove that the stores in between do not overwrite them.
void DeviceMapEmitter::keepElements() {
  kept.assign(problem.operands.size(), Value());
  if (plan.written.places() <= plan.group)
    return;
  for (unsigned i = 0; i + 1 < problem.operands.size(); ++i)
    if (!(plan.isThroughMemory && i == problem.source) && isOfItem(problem.operands[i]))
      kept[i] = elementAt(i, addressOf(i, {plan.written, 0, Value()}));
}

void DeviceMapEmitter::writeElements(const Point &point, bool asVector, Value isRead) {
  const int64_t count = asVector ? point.order.width : 1;
  SmallVector<Values> elements(count);
  for (unsigned i = 0; i < problem.operands.size(); ++i) {
    bool isNeeded = i + 1 < problem.operands.size() || problem.readsOld;
    bool isInMemory = plan.isThroughMemory && i == problem.source;
    Values own = !isNeeded ? Values(count) : isInMemory ? loadFromMemory(point, count) : load(i, point, count, isRead);
    for (auto [list, element] : llvm::zip_equal(elements, own))
      list.push_back(element);
  }
  Values results;
  for (const Values &list : elements) {
    results.push_back(emitBody(*this, problem, list));
    if (isRead)
      results.back() = create<arith::SelectOp>(isRead, results.back(), constant(problem.padding));
  }
  Value to = addressOf(problem.operands.size() - 1, point);
  return asVector ? storeVector(b, loc, results, flat.back(), to) : storeScalar(results.front(), flat.back(), to);
}

void DeviceMapEmitter::writePoint(const Point &point) {
  Value exists = both(point.indexInVector ? Value() : inOrder(point), insideAxes(point));
  if (problem.writesPadding())
    exists = both(exists, insideLimits(point, /*write=*/true));
  Value isRead = insideLimits(point, /*write=*/false);
  if (!problem.writesPadding()) {
    exists = both(exists, isRead);
    isRead = Value();
  }
  // Points of the padding also run the body, and their result is dropped: a branch would make the work-items of a
  // sub-group diverge.
  choose(exists, [&] { writeElements(point, /*asVector=*/false, isRead); });
}

/// Returns the size of the sub-groups from which work-items compute their index, or 0. They do if one condition may
/// enclose the whole kernel: Intel's OpenCL runtime for CPUs turns conditions on the index in the group into loop
/// bounds, and then computes wrong results or aborts.
int64_t DeviceMapEmitter::subGroupOfItems() const {
  if (plan.subGroup || plan.isThroughMemory || (plan.space.number > 1 && plan.written.places() % plan.group == 0))
    return plan.subGroup;
  auto *divides =
      llvm::find_if(plan.strategy.subGroupSizes, [&](int64_t size) { return size > 1 && plan.group % size == 0; });
  return divides == plan.strategy.subGroupSizes.end() ? 0 : *divides;
}

func::FuncOp DeviceMapEmitter::emit() {
  KernelTraits traits;
  traits.name = (problem.function.getName() + "_kernel").str();
  traits.plan = plan.attribute();
  traits.space = plan.space;
  traits.groupSize = plan.group;
  const int64_t subGroup = subGroupOfItems();
  traits.subGroupSize = subGroup;
  kernel = makeKernel(problem.function, problem.function, traits);
  b.setInsertionPointToStart(&kernel.function.getBody().front());
  entry = create<func::ReturnOp>();
  b.setInsertionPoint(entry);
  numbers = isSmall() ? Type(b.getI32Type()) : Type(b.getIndexType());
  item = create<gpu::ThreadIdOp>(gpu::Dimension::x);
  entry = item.getDefiningOp();
  if (subGroup) {
    Value neighbor = create<gpu::LaneIdOp>(IntegerAttr()), own = create<gpu::SubgroupIdOp>(IntegerAttr());
    if (plan.subGroup)
      lane = neighbor, firstLane = scaled(narrow(own), subGroup);
    else
      item = add(scaled(own, subGroup), neighbor);
  }
  local = narrow(item);
  clonePrologue(problem.function, problem.prologue);
  for (const Operand &operand : problem.operands)
    flat.push_back(operand.isIndex() ? Value() : kernel.arguments.lookup(operand.base));
  auto block = create<gpu::BlockIdOp>(gpu::Dimension::x);
  box = block;
  emitBox(plan.space.factors.empty() ? narrow(block) : block);
  aligned = areAligned();
  if (plan.isThroughMemory)
    readBox();
  keepElements();
  constexpr int64_t shortBody = 6; // operations
  // Points are not in a loop if there is a condition like `lane < 1`: Intel's OpenCL runtime for CPUs then treats
  // values selected by it as uniform.
  bool isOnePointRead =
      llvm::any_of(problem.limits, [](const Limit &limit) { return llvm::is_contained(limit.weights, limit.read); });
  bool isRolled = opsOf(problem.op) * plan.written.width > shortBody && !isOnePointRead;
  forPoints(plan.written, isRolled, [&](const Point &point) {
    if (plan.written.width == 1)
      return writePoint(point);
    forVector(
        point, [&](const Point &first) { writeElements(first, /*asVector=*/true, /*isRead=*/Value()); },
        [&](const Point &each) { writePoint(each); });
  });
  return kernel.function;
}

Value DeviceMapEmitter::number(int64_t value) { return constant(b.getIntegerAttr(numbers, value)); }

Value DeviceMapEmitter::narrow(Value v) {
  return numbers.isIndex() ? v : create<arith::IndexCastUIOp>(numbers, v).getResult();
}

Value DeviceMapEmitter::wide(Value v) {
  if (v.getType().isIndex())
    return v;
  APInt value;
  return matchPattern(v, m_ConstantInt(&value)) ? index(value.getSExtValue())
                                                : create<arith::IndexCastUIOp>(b.getIndexType(), v).getResult();
}

/// Returns true if boxes, indices and limits, including those past the ends of axes, fit 32 bits.
bool DeviceMapEmitter::isSmall() const {
  int64_t highest =
      std::max({plan.space.number, 2 * (plan.written.places() + plan.group), 2 * (plan.read.places() + plan.group)});
  for (auto [a, axis] : llvm::enumerate(problem.axes))
    highest = std::max(highest, (plan.isOpen(a) ? 0 : axis.extent.known()) + plan.counts[a]);
  for (const Limit &limit : problem.limits) {
    int64_t sum = limit.write;
    for (auto [a, weight] : llvm::enumerate(limit.weights))
      sum += weight ? weight * plan.boxes(a) * plan.counts[a] : 0;
    highest = std::max(highest, sum);
  }
  return highest < INT32_MAX;
}

Value DeviceMapEmitter::scaled(Value v, Size by) { return mul(by.isOpen() ? wide(v) : v, by); }

/// Returns v / by. Powers of two use a shift, because no vector unit has integer division.
Value DeviceMapEmitter::divided(Value v, int64_t by) {
  if (by == 1)
    return v;
  return llvm::isPowerOf2_64(by) ? create<arith::ShRUIOp>(v, like(v, llvm::Log2_64(by))).getResult()
                                 : create<arith::DivUIOp>(v, like(v, by)).getResult();
}

Value DeviceMapEmitter::modulo(Value v, int64_t by) {
  return llvm::isPowerOf2_64(by) ? create<arith::AndIOp>(v, like(v, by - 1)).getResult()
                                 : create<arith::RemUIOp>(v, like(v, by)).getResult();
}
