//===- DeviceMapEmitter.cpp - Maps of a device ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The index of the group is taken apart into boxes, the index of the work-item into a point of the box. Of a work-item's points those
// digits that a group's size is a multiple of are the same, and computed once. All of this is counted in 32 bits where they suffice, since
// devices divide and multiply longer numbers piece by piece.
//
//===----------------------------------------------------------------------===//
#include "Recipes/DeviceMapEmitter.h"

#include "Recipes/Bodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::maps;

/// Neighbouring groups take neighbouring boxes of the destination.
void DeviceMapEmitter::emitBox(Value box) {
  SmallVector<unsigned> axes = llvm::to_vector(llvm::seq<unsigned>(0, problem.axes.size()));
  auto lead = [&](unsigned a) {
    int64_t stride = problem.destination().strides[a];
    for (auto &[axis, walk] : problem.destination().curves)
      if (axis == a)
        stride = walk.digits().back().stride;
    return stride;
  };
  llvm::sort(axes, [&](unsigned x, unsigned y) { return std::make_pair(lead(x), x) < std::make_pair(lead(y), y); });
  firsts.assign(axes.size(), Value());
  for (const Operand &operand : problem.operands)
    bases.push_back(index(operand.offset));
  for (const Limit &limit : problem.limits)
    left.push_back(number(limit.read));
  int64_t rest = plan.space;
  for (unsigned a : axes) {
    int64_t boxes = plan.boxes(a);
    rest /= boxes;
    if (boxes == 1)
      continue;
    Value at = rest == 1 ? box : modulo(box, boxes);
    box = divided(box, boxes);
    firsts[a] = scaled(at, plan.counts[a]);
    for (auto [operand, base] : llvm::zip_equal(problem.operands, bases)) {
      if (operand.strides[a])
        base = add(base, scaled(wide(at), plan.counts[a] * operand.strides[a]));
      for (auto &[axis, way] : operand.curves)
        if (axis == a)
          base = add(base, walk(at, way));
    }
    for (auto [limit, own] : llvm::zip_equal(problem.limits, left))
      if (limit.weights[a])
        own = create<arith::SubIOp>(own, scaled(firsts[a], limit.weights[a]), arith::IntegerOverflowFlags::nsw);
  }
}

/// Of the point's place, with `first` for the work-item's: floordiv unit, mod count unless that is the last digit.
Value DeviceMapEmitter::digitOfPlace(const Point &point, Value first, int64_t unit, int64_t count, bool isLast) {
  if (point.loopAt) {
    Value digit = divided(add(first, point.loopAt), unit);
    return isLast ? digit : modulo(digit, count);
  }
  int64_t at = point.at;
  bool isAligned = at % unit == 0;
  Value &own = digitsOfItem[{first.getAsOpaquePointer(), isAligned ? 0 : at, unit}];
  if (!own) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(box);
    own = divided(isAligned ? first : add(first, number(at)), unit);
  }
  int64_t further = !isAligned ? 0 : isLast ? at / unit : at / unit % count;
  int64_t end = static_cast<int64_t>(llvm::divideCeil(plan.group, unit)) + further;
  Value digit = add(own, number(further));
  return !isLast && (!isAligned || end > count) ? modulo(digit, count) : digit;
}

/// Of a point's index in its order: floordiv unit, mod count.
DeviceMapEmitter::Piece DeviceMapEmitter::digitOf(const Point &point, int64_t unit, int64_t count) {
  const BoxOrder &order = point.order;
  int64_t points = order.axes.lanes();
  bool isLast = unit * count == points;
  if (unit == 1 && isLast)
    return {point.loopAt ? point.loopAt : number(point.at), item};
  if (!order.isByLane())
    return {digitOfPlace(point, local, unit, count, isLast), Value()};
  if (unit >= order.run)
    return {digitOfPlace(point, firstLane, unit / order.run * order.filled, count, isLast), Value()};
  Value first = digitOfPlace(point, firstLane, 1, order.filled, /*isLast=*/false);
  if (unit == 1 && count == order.run)
    return {first, lane};
  Value digit = divided(add(first, narrow(lane)), unit);
  return {unit * count == order.run ? digit : modulo(digit, count), Value()};
}

/// Whether there is such a point; null: always.
Value DeviceMapEmitter::inOrder(const Point &point) {
  const BoxOrder &order = point.order;
  Value exists, at = point.loopAt ? point.loopAt : number(point.at);
  if (point.loopAt ? order.places() % plan.group : point.at + plan.group > order.places())
    exists = create<arith::CmpIOp>(arith::CmpIPredicate::ult, add(local, at), number(order.places()));
  if (!order.isByLane() || order.filled == order.run)
    return exists;
  Piece inRun = digitOf(point, 1, order.run);
  return both(exists,
              create<arith::CmpIOp>(arith::CmpIPredicate::ult, add(inRun.number, narrow(inRun.neighbour)), number(order.run)).getResult());
}

Value DeviceMapEmitter::digitAlong(const Point &point, unsigned axis) {
  int64_t unit = 1;
  for (const Part &part : point.order.axes.parts) {
    if (part.axis == axis) {
      Piece digit = digitOf(point, unit, part.count);
      return digit.neighbour ? add(digit.number, narrow(digit.neighbour)) : digit.number;
    }
    unit *= part.count;
  }
  return Value();
}

/// f for each point of a work-item, in a loop if there are many.
void DeviceMapEmitter::forPoints(const BoxOrder &order, bool isRolled, function_ref<void(const Point &)> f) {
  constexpr int64_t mostUnrolled = 8; // points of a work-item; addresses of more do not stay in registers
  OpBuilder::InsertionGuard guard(b);
  if ((isRolled && order.places() > plan.group) || order.places() > mostUnrolled * plan.group) {
    auto loop = create<scf::ForOp>(number(0), number(order.places()), number(plan.group));
    b.setInsertionPointToStart(loop.getBody());
    return f({order, 0, loop.getInductionVar()});
  }
  for (int64_t at = 0; at < order.places(); at += plan.group)
    f({order, at, Value()});
}

Value DeviceMapEmitter::insideAxes(const Point &point) {
  Value inside;
  for (auto [a, axis] : llvm::enumerate(problem.axes)) {
    // A limit that the axis counts for, up to its end, says so already.
    bool isLimited = llvm::any_of(problem.limits, [&](const Limit &limit) { return limit.weights[a] * axis.extent >= limit.write; });
    if (axis.extent % plan.counts[a] == 0 || isLimited || plan.counts[a] == 1)
      continue;
    Value digit = digitAlong(point, a), at = firsts[a] ? add(firsts[a], digit) : digit;
    inside = both(inside, create<arith::CmpIOp>(arith::CmpIPredicate::ult, at, number(axis.extent)));
  }
  return inside;
}

Value DeviceMapEmitter::insideLimits(const Point &point, bool write) {
  Value inside;
  for (auto [limit, own] : llvm::zip_equal(problem.limits, left)) {
    int64_t highest = 0;
    for (auto [a, weight] : llvm::enumerate(limit.weights))
      highest += weight * (plan.boxes(a) * plan.counts[a] - 1);
    if (highest < (write ? limit.write : limit.read))
      continue;
    Value sum = number(0);
    for (auto [a, weight] : llvm::enumerate(limit.weights))
      if (Value digit = weight ? digitAlong(point, a) : Value())
        sum = add(sum, scaled(digit, weight));
    Value room = write ? add(own, number(limit.write - limit.read)) : own;
    inside = both(inside, create<arith::CmpIOp>(arith::CmpIPredicate::slt, sum, room));
  }
  return inside;
}

/// Axes that follow each other in memory as they do in the order are one digit.
Value DeviceMapEmitter::addressOf(const Point &point, ArrayRef<int64_t> strides, Value base) {
  int64_t highest = 0;
  for (auto [count, stride] : llvm::zip_equal(plan.counts, strides))
    highest += (count - 1) * stride;
  bool isShort = highest < INT32_MAX;
  Value sum = isShort ? number(0) : index(0), apart = index(0);
  int64_t unit = 1;
  ArrayRef<Part> parts = point.order.axes.parts;
  while (!parts.empty()) {
    int64_t stride = strides[parts.front().axis], count = 1;
    while (!parts.empty() && strides[parts.front().axis] == stride * count && (count == 1 || unit * count != point.order.run)) {
      count *= parts.front().count;
      parts = parts.drop_front();
    }
    if (stride) {
      Piece digit = digitOf(point, unit, count);
      sum = add(sum, scaled(isShort ? digit.number : wide(digit.number), stride));
      if (digit.neighbour)
        apart = add(apart, scaled(digit.neighbour, stride));
    }
    unit *= count;
  }
  return add(add(base ? base : index(0), wide(sum)), apart);
}

/// Narrow floats are moved as what they are made of, which every device has.
static Type inMemory(Type element) {
  bool isNarrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isNarrow ? Type(IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth())) : element;
}

Value DeviceMapEmitter::fromMemory(const Point &point) {
  Value stored = create<memref::LoadOp>(memory, ValueRange{addressOf(point, plan.inMemory, Value())});
  Type element = plan.source().element();
  return stored.getType() == element ? stored : create<arith::BitcastOp>(element, stored).getResult();
}

/// The box of the source, in the order of its memory.
void DeviceMapEmitter::readBox() {
  memory = groupMemory(b, kernel, plan.memoryElements, inMemory(plan.source().element()), 0);
  forPoints(plan.read, /*isRolled=*/false, [&](const Point &point) {
    Value exists = both(both(inOrder(point), insideAxes(point)), insideLimits(point, /*write=*/false));
    choose(exists, [&] {
      Value element = loadElement(problem.source, addressOf(problem.source, point));
      Type stored = inMemory(element.getType());
      if (stored != element.getType())
        element = create<arith::BitcastOp>(stored, element);
      create<memref::StoreOp>(element, memory, ValueRange{addressOf(point, plan.inMemory, Value())});
    });
  });
  create<gpu::BarrierOp>();
}

void DeviceMapEmitter::writePoint(const Point &point) {
  Value exists = both(inOrder(point), insideAxes(point));
  if (problem.writesPadding())
    exists = both(exists, insideLimits(point, /*write=*/true));
  Value isRead = insideLimits(point, /*write=*/false);
  if (!problem.writesPadding()) {
    exists = both(exists, isRead);
    isRead = Value();
  }
  // Points of the padding compute something, too, and drop it: a branch would part the work-items of a sub-group.
  choose(exists, [&] {
    Values elements;
    for (unsigned i = 0; i < problem.operands.size(); ++i) {
      bool isNeeded = i + 1 < problem.operands.size() || problem.readsOld;
      bool isInMemory = plan.isThroughMemory && i == problem.source;
      auto load = [&] {
        Value at = addressOf(i, point);
        return loadElement(i, isRead ? create<arith::SelectOp>(isRead, at, index(problem.operands[i].offset)).getResult() : at);
      };
      elements.push_back(!isNeeded ? Value() : isInMemory ? fromMemory(point) : load());
    }
    Value result = emitBody(elements);
    if (isRead)
      result = create<arith::SelectOp>(isRead, result, constant(problem.padding));
    storeElement(result, addressOf(problem.operands.size() - 1, point));
  });
}

/// Size of the sub-groups that say where work-items are, or 0. Where one condition may stand around all of a kernel, they do: of what is
/// conditional on the index in the group Intel's OpenCL runtime for CPUs makes bounds of its own loops, and is wrong or ends the process.
int64_t DeviceMapEmitter::subGroupOfItems() const {
  if (plan.subGroup || plan.isThroughMemory || (plan.space > 1 && plan.written.places() % plan.group == 0))
    return plan.subGroup;
  auto *divides = llvm::find_if(plan.strategy.subGroupSizes, [&](int64_t size) { return plan.group % size == 0; });
  return divides == plan.strategy.subGroupSizes.end() ? 0 : *divides;
}

func::FuncOp DeviceMapEmitter::emit() {
  KernelTraits traits;
  traits.name = (problem.function.getName() + "_kernel").str();
  traits.plan = plan.text();
  traits.space = plan.space;
  traits.groupSize = plan.group;
  const int64_t subGroup = subGroupOfItems();
  traits.subGroupSize = subGroup;
  kernel = makeKernel(problem.function, problem.function, traits);
  b.setInsertionPointToStart(&kernel.function.getBody().front());
  first = create<func::ReturnOp>();
  b.setInsertionPoint(first);
  numbers = isSmall() ? Type(b.getI32Type()) : Type(b.getIndexType());
  item = create<gpu::ThreadIdOp>(gpu::Dimension::x);
  first = item.getDefiningOp();
  if (subGroup) {
    Value neighbour = create<gpu::LaneIdOp>(IntegerAttr()), own = create<gpu::SubgroupIdOp>(IntegerAttr());
    if (plan.subGroup)
      lane = neighbour, firstLane = scaled(narrow(own), subGroup);
    else
      item = add(scaled(own, subGroup), neighbour);
  }
  local = narrow(item);
  for (const Operand &operand : problem.operands)
    flat.push_back(kernel.arguments.lookup(operand.base));
  clonePrologue(b, kernel, problem.function, problem.prologue, [&](int64_t value) { return index(value); });
  auto block = create<gpu::BlockIdOp>(gpu::Dimension::x);
  box = block;
  emitBox(narrow(block));
  if (plan.isThroughMemory)
    readBox();
  constexpr int64_t shortBody = 6; // operations
  // Not around a condition `lane < 1`: Intel's OpenCL runtime for CPUs then takes what is chosen by it for the same in all lanes.
  bool isOnePointRead = llvm::any_of(problem.limits, [](const Limit &limit) { return llvm::is_contained(limit.weights, limit.read); });
  bool isRolled = opsOf(problem.op) > shortBody && !isOnePointRead;
  forPoints(plan.written, isRolled, [&](const Point &point) { writePoint(point); });
  return kernel.function;
}

void DeviceMapEmitter::choose(Value condition, function_ref<void()> then) {
  if (!condition)
    return then();
  auto choice = create<scf::IfOp>(condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  then();
}

Value DeviceMapEmitter::captured(Value scalar) {
  TypedAttr attr;
  return matchPattern(scalar, m_Constant(&attr)) ? constant(attr) : kernel.arguments.lookup(scalar);
}

Value DeviceMapEmitter::emitBody(ArrayRef<Value> elements) {
  IRMapping map;
  Block *body = problem.op.getBlock();
  for (auto [operand, element] : llvm::zip_equal(problem.operands, elements))
    if (element)
      map.map(body->getArgument(operand.blockArgument), element);
  for (auto [argument, scalar] : problem.scalars)
    map.map(body->getArgument(argument), captured(scalar));
  return cloneBody(b, *body, map, [&](Value v) { return captured(v); })[0];
}

Value DeviceMapEmitter::loadElement(unsigned operand, Value at) {
  bool isScalar = !cast<MemRefType>(flat[operand].getType()).getRank();
  return create<memref::LoadOp>(flat[operand], isScalar ? ValueRange() : ValueRange(at));
}

void DeviceMapEmitter::storeElement(Value element, Value at) {
  bool isScalar = !cast<MemRefType>(flat.back().getType()).getRank();
  create<memref::StoreOp>(element, flat.back(), isScalar ? ValueRange() : ValueRange(at));
}

Value DeviceMapEmitter::index(int64_t value) { return constant(b.getIndexAttr(value)); }

Value DeviceMapEmitter::number(int64_t value) { return constant(b.getIntegerAttr(numbers, value)); }

Value DeviceMapEmitter::like(Value v, int64_t value) { return constant(b.getIntegerAttr(v.getType(), value)); }

Value DeviceMapEmitter::narrow(Value v) { return numbers.isIndex() ? v : create<arith::IndexCastUIOp>(numbers, v).getResult(); }

Value DeviceMapEmitter::wide(Value v) {
  if (v.getType().isIndex())
    return v;
  APInt value;
  return matchPattern(v, m_ConstantInt(&value)) ? index(value.getSExtValue())
                                                : create<arith::IndexCastUIOp>(b.getIndexType(), v).getResult();
}

/// Whether boxes, indices and limits, those beyond the ends of axes included, can be counted in 32 bits.
bool DeviceMapEmitter::isSmall() const {
  int64_t highest = std::max({plan.space, 2 * (plan.written.places() + plan.group), 2 * (plan.read.places() + plan.group)});
  for (auto [a, axis] : llvm::enumerate(problem.axes))
    highest = std::max(highest, axis.extent + plan.counts[a]);
  for (const Limit &limit : problem.limits) {
    int64_t sum = limit.write;
    for (auto [a, weight] : llvm::enumerate(limit.weights))
      sum += weight * plan.boxes(a) * plan.counts[a];
    highest = std::max(highest, sum);
  }
  return highest < INT32_MAX;
}

Value DeviceMapEmitter::constant(TypedAttr attr) {
  Value &known = constants[attr];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(first);
    known = create<arith::ConstantOp>(attr);
  }
  return known;
}

static bool isZero(Value v) { return matchPattern(v, m_Zero()); }

Value DeviceMapEmitter::add(Value x, Value y) {
  if (isZero(x))
    return y;
  return isZero(y) ? x : create<arith::AddIOp>(x, y, arith::IntegerOverflowFlags::nsw).getResult();
}

Value DeviceMapEmitter::scaled(Value v, int64_t by) {
  return by == 1 || isZero(v) ? v : create<arith::MulIOp>(v, like(v, by), arith::IntegerOverflowFlags::nsw).getResult();
}

/// By powers of two without a division, which no vector unit has.
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

/// Where index `at` of a curved axis lies, from the axis' start.
Value DeviceMapEmitter::walk(Value at, const Walk &way) {
  Value sum = index(-way.start());
  at = add(at, like(at, way.shift()));
  for (const Digit &digit : way.digits()) {
    Value term = divided(at, digit.unit);
    sum = add(sum, scaled(wide(digit.modulus ? modulo(term, digit.modulus) : term), digit.stride));
  }
  return sum;
}

Value DeviceMapEmitter::both(Value x, Value y) { return !x ? y : !y ? x : create<arith::AndIOp>(x, y).getResult(); }
