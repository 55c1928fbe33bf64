//===- Addressing.cpp - The addresses of the points of a map --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The group's index is divided into a box, the work-item's index into a point of the box. A digit whose unit times
// count divides the group's size is the same for all points of a work-item and is computed once.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Device/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

/// Returns the address of index `at` of a non-linear axis, relative to the axis' start.
Value DeviceMapEmitter::addressAt(Value at, const AccessFunction &function) {
  Value sum = index(-function.start());
  at = add(at, like(at, function.shift()));
  for (const Digit &digit : function.digits()) {
    Value term = divided(at, digit.unit);
    sum = add(sum, scaled(wide(digit.modulus ? modulo(term, digit.modulus) : term), digit.stride));
  }
  return sum;
}

/// Divides the index of a box into indices along the axes, and computes its addresses and limits. Neighboring groups
/// process neighboring boxes of the destination.
void DeviceMapEmitter::emitBox(Value box) {
  SmallVector<unsigned> axes = llvm::to_vector(llvm::seq<unsigned>(0, problem.axes.size()));
  auto lead = [&](unsigned a) {
    Size stride = problem.destination().strides[a];
    for (auto &[axis, function] : problem.destination().nonlinear)
      if (axis == a)
        stride = function.digits().back().stride;
    return stride;
  };
  llvm::sort(axes, [&](unsigned x, unsigned y) { return std::make_pair(lead(x), x) < std::make_pair(lead(y), y); });
  firsts.assign(axes.size(), Value());
  rooms = firsts;
  for (const Operand &operand : problem.operands)
    bases.push_back(index(operand.offset));
  for (const Limit &limit : problem.limits)
    left.push_back(number(limit.read));
  int64_t rest = plan.space.number;
  size_t open = plan.space.factors.size() / 2;
  for (unsigned a : axes) {
    const int64_t count = plan.counts[a];
    Value at = box;
    if (plan.isOpen(a)) {
      Value size = index(problem.axes[a].extent), boxes = size;
      if (count > 1)
        boxes = divided(add(size, index(count - 1)), count);
      if (--open || rest > 1) {
        at = create<arith::RemUIOp>(box, boxes);
        box = create<arith::DivUIOp>(box, boxes);
      }
      rooms[a] = narrow(create<arith::MinUIOp>(create<arith::SubIOp>(size, scaled(at, count)), index(count)));
    } else {
      const int64_t boxes = plan.boxes(a);
      rest /= boxes;
      if (boxes == 1)
        continue;
      if (open || rest > 1)
        at = modulo(box, boxes);
      box = divided(box, boxes);
      if (!plan.space.factors.empty())
        at = narrow(at);
      firsts[a] = scaled(at, count);
    }
    for (auto [operand, base] : llvm::zip_equal(problem.operands, bases)) {
      if (const Size stride = operand.strides[a]; stride != 0)
        base = add(base, mul(wide(at), stride * count));
      for (auto &[axis, function] : operand.nonlinear)
        if (axis == a)
          base = add(base, addressAt(at, function));
    }
    for (auto [limit, own] : llvm::zip_equal(problem.limits, left))
      if (limit.weights[a])
        own = create<arith::SubIOp>(own, scaled(firsts[a], limit.weights[a]), arith::IntegerOverflowFlags::nsw);
  }
}

/// Returns (place floordiv unit) mod count for the point's place, where `first` is the place of the work-item's first
/// point. The last digit has no mod.
Value DeviceMapEmitter::digitOfPlace(const Point &point, Value first, int64_t unit, int64_t count, bool isLast) {
  if (point.loopAt && (isLast || plan.group % (unit * count))) {
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

/// Returns true if all points of a work-item have the same address in the operand, in every box, including boxes that
/// are partly padding.
bool DeviceMapEmitter::isOfItem(const Operand &operand) const {
  const BoxOrder &order = plan.written;
  auto isWhole = [&](unsigned a) {
    bool isLimited = llvm::any_of(problem.limits, [&](const Limit &limit) { return limit.weights[a]; });
    return !isLimited && problem.axes[a].extent.isMultipleOf(plan.counts[a]);
  };
  for (const auto &[axis, function] : operand.nonlinear)
    if (!isWhole(axis))
      return false;
  int64_t unit = 1;
  for (const Part &part : order.axes.parts) {
    const bool isInRun = order.isByLane() && unit < order.run, isLast = unit * part.count == order.axes.lanes();
    const int64_t places = !order.isByLane() ? unit * part.count
                           : isInRun         ? order.filled
                                             : unit / order.run * order.filled * part.count;
    const bool isEmpty = isInRun && order.filled != order.run; // some places have no point, but would be read
    if (operand.strides[part.axis] != 0 && (isLast || isEmpty || plan.group % places || !isWhole(part.axis)))
      return false;
    unit *= part.count;
  }
  for (auto [a, stride] : llvm::enumerate(operand.strides))
    if (stride != 0 && !isWhole(a))
      return false;
  return order.width == 1 || operand.strides[order.axes.parts.front().axis] == 0;
}

/// Returns (index floordiv unit) mod count for the point's index in its order.
DeviceMapEmitter::Piece DeviceMapEmitter::digitOf(const Point &point, int64_t unit, int64_t count) {
  const BoxOrder &order = point.order;
  int64_t points = order.axes.lanes();
  bool isLast = unit * count == points;
  if (unit == 1 && isLast) {
    Value at = point.loopAt ? point.loopAt : number(point.at);
    return order.isByLane() ? Piece{add(firstLane, at), lane} : Piece{at, item};
  }
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

/// Returns whether the point exists; null: always. The device assigns work-items to sub-groups, so places by lane
/// differ from places by item.
Value DeviceMapEmitter::inOrder(const Point &point) {
  const BoxOrder &order = point.order;
  Value exists, at = point.loopAt ? point.loopAt : number(point.at);
  if (point.loopAt ? order.places() % plan.group : point.at + plan.group > order.places())
    exists =
        create<arith::CmpIOp>(arith::CmpIPredicate::ult,
                              add(order.isByLane() ? add(firstLane, narrow(lane)) : local, at), number(order.places()));
  if (!order.isByLane() || order.filled == order.run)
    return exists;
  Piece inRun = digitOf(point, 1, order.run);
  return both(exists, create<arith::CmpIOp>(arith::CmpIPredicate::ult, add(inRun.number, narrow(inRun.neighbor)),
                                            number(order.run))
                          .getResult());
}

Value DeviceMapEmitter::digitAlong(const Point &point, unsigned axis) {
  int64_t unit = 1;
  for (const Part &part : point.order.axes.parts) {
    if (part.axis == axis) {
      Piece digit = digitOf(point, unit, part.count);
      Value index = digit.neighbor ? add(digit.number, narrow(digit.neighbor)) : digit.number;
      const int64_t step = point.order.step(axis);
      index = scaled(index, step);
      return point.indexInVector && step > 1 ? add(index, point.indexInVector) : index;
    }
    unit *= part.count;
  }
  return Value();
}

Value DeviceMapEmitter::insideAxes(const Point &point) {
  Value inside;
  for (auto [a, axis] : llvm::enumerate(problem.axes)) {
    if (plan.counts[a] == 1)
      continue;
    if (plan.isOpen(a)) {
      inside = both(inside, create<arith::CmpIOp>(arith::CmpIPredicate::ult, digitAlong(point, a), rooms[a]));
      continue;
    }
    // A limit along this axis that is not beyond its end implies the check.
    bool isLimited = llvm::any_of(
        problem.limits, [&](const Limit &limit) { return limit.weights[a] * axis.extent.known() >= limit.write; });
    if (axis.extent.isMultipleOf(plan.counts[a]) || isLimited)
      continue;
    Value digit = digitAlong(point, a), at = firsts[a] ? add(firsts[a], digit) : digit;
    inside = both(inside, create<arith::CmpIOp>(arith::CmpIPredicate::ult, at, number(axis.extent.known())));
  }
  return inside;
}

Value DeviceMapEmitter::insideLimits(const Point &point, bool write) {
  Value inside;
  for (auto [limit, own] : llvm::zip_equal(problem.limits, left)) {
    int64_t highest = 0;
    for (auto [a, weight] : llvm::enumerate(limit.weights))
      highest += weight ? weight * (plan.boxes(a) * plan.counts[a] - 1) : 0;
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

/// Consecutive axes of the order that are contiguous in memory are one digit.
Value DeviceMapEmitter::addressOf(const Point &point, ArrayRef<Size> strides, Value base) {
  int64_t highest = 0;
  bool isShort = true;
  for (auto [count, stride] : llvm::zip_equal(plan.counts, strides)) {
    isShort &= !stride.mayExceed(INT32_MAX);
    highest += (count - 1) * stride.cappedAt(INT32_MAX);
  }
  isShort &= highest < INT32_MAX;
  Value sum = isShort ? number(0) : index(0), apart = index(0);
  int64_t unit = 1;
  ArrayRef<Part> parts = point.order.axes.parts;
  if (point.indexInVector)
    sum = add(sum, scaled(isShort ? point.indexInVector : wide(point.indexInVector), strides[parts.front().axis]));
  while (!parts.empty()) {
    const Size stride = point.order.stride(strides, parts.front().axis);
    int64_t count = 1;
    do {
      count *= parts.front().count;
      parts = parts.drop_front();
    } while (!parts.empty() && point.order.stride(strides, parts.front().axis) == stride * count &&
             (count == 1 || unit * count != point.order.run));
    if (stride != 0) {
      Piece digit = digitOf(point, unit, count);
      sum = add(sum, scaled(isShort ? digit.number : wide(digit.number), stride));
      if (digit.neighbor)
        apart = add(apart, scaled(digit.neighbor, stride));
    }
    unit *= count;
  }
  return add(add(base ? base : index(0), wide(sum)), apart);
}

Value DeviceMapEmitter::addressInMemory(const Point &point) {
  Value at = addressOf(point, Sizes(plan.inMemory.begin(), plan.inMemory.end()), Value());
  if (!plan.skew)
    return at;
  Value vector = divided(digitAlong(point, plan.written.axes.parts.front().axis), plan.written.width);
  return add(at, scaled(wide(vector), plan.skew));
}
