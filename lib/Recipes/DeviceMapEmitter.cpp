//===- DeviceMapEmitter.cpp - Maps of a device ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The index of the group is taken apart into boxes, the index of the work-item into a point of the box. Of a work-item's points those
// digits that a group's size is a multiple of are the same, and computed once.
//
//===----------------------------------------------------------------------===//
#include "Recipes/DeviceMapEmitter.h"

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
    left.push_back(index(limit.read));
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
        base = add(base, scaled(firsts[a], operand.strides[a]));
      for (auto &[axis, way] : operand.curves)
        if (axis == a)
          base = add(base, walk(at, way));
    }
    for (auto [limit, own] : llvm::zip_equal(problem.limits, left))
      if (limit.weights[a])
        own = create<arith::SubIOp>(own, scaled(firsts[a], limit.weights[a]), arith::IntegerOverflowFlags::nsw);
  }
}

/// Of the point `at` behind the work-item's first: its index floordiv unit, mod count unless it is the last digit. Where sub-groups have
/// pieces of runs, a lane is a summand of the first digit and of none else.
Value DeviceMapEmitter::digitOf(int64_t at, int64_t unit, int64_t count, bool isLast) {
  bool isAligned = at % unit == 0;
  Value item = lane ? firstLane : local;
  Value &own = digitsOfItem[{isAligned ? 0 : at, unit}];
  if (!own)
    own = divided(isAligned ? item : add(item, index(at)), unit);
  int64_t further = !isAligned ? 0 : isLast ? at / unit : at / unit % count;
  int64_t end = static_cast<int64_t>(llvm::divideCeil(plan.group, unit)) + further;
  Value digit = add(own, index(further));
  if (!isLast && (!isAligned || end > count))
    digit = modulo(digit, count);
  return lane && unit == 1 ? add(digit, lane) : digit;
}

/// f for each point of a work-item; its second argument says whether there is one, where not all work-items have as many.
void DeviceMapEmitter::forPoints(const Group &order, bool isRolled, function_ref<void(const Digits &, Value)> f) {
  int64_t points = order.lanes();
  constexpr int64_t mostUnrolled = 8; // points of a work-item; addresses of more do not stay in registers
  if ((isRolled && points > plan.group) || points > mostUnrolled * plan.group)
    return forPointsInLoop(order, f);
  for (int64_t at = 0; at < points; at += plan.group) {
    Value inBox;
    if (at + plan.group > points)
      inBox = create<arith::CmpIOp>(arith::CmpIPredicate::ult, add(local, index(at)), index(points));
    Digits digits(problem.axes.size());
    int64_t unit = 1;
    for (const Part &part : order.parts) {
      digits[part.axis] = digitOf(at, unit, part.count, unit * part.count == points);
      unit *= part.count;
    }
    f(digits, inBox);
  }
}

void DeviceMapEmitter::forPointsInLoop(const Group &order, function_ref<void(const Digits &, Value)> f) {
  int64_t points = order.lanes(), unit = 1;
  auto loop = create<scf::ForOp>(index(0), index(points), index(plan.group));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar(), point = add(lane ? firstLane : local, at), inBox;
  if (points % plan.group)
    inBox = create<arith::CmpIOp>(arith::CmpIPredicate::ult, add(local, at), index(points));
  Digits digits(problem.axes.size());
  for (const Part &part : order.parts) {
    Value digit = divided(point, unit);
    unit *= part.count;
    digits[part.axis] = unit == points ? digit : modulo(digit, part.count);
    if (lane && unit == part.count)
      digits[part.axis] = add(digits[part.axis], lane);
  }
  f(digits, inBox);
}

Value DeviceMapEmitter::insideAxes(const Digits &digits) {
  Value inside;
  for (auto [a, axis] : llvm::enumerate(problem.axes)) {
    // A limit that the axis counts for, up to its end, says so already.
    bool isLimited = llvm::any_of(problem.limits, [&](const Limit &limit) { return limit.weights[a] * axis.extent >= limit.write; });
    if (axis.extent % plan.counts[a] == 0 || isLimited || !digits[a])
      continue;
    Value at = firsts[a] ? add(firsts[a], digits[a]) : digits[a];
    inside = both(inside, create<arith::CmpIOp>(arith::CmpIPredicate::ult, at, index(axis.extent)));
  }
  return inside;
}

Value DeviceMapEmitter::insideLimits(const Digits &digits, bool write) {
  Value inside;
  for (auto [limit, own] : llvm::zip_equal(problem.limits, left)) {
    int64_t highest = 0;
    for (auto [a, weight] : llvm::enumerate(limit.weights))
      highest += weight * (plan.boxes(a) * plan.counts[a] - 1);
    if (highest < (write ? limit.write : limit.read))
      continue;
    Value sum = index(0);
    for (auto [digit, weight] : llvm::zip_equal(digits, limit.weights))
      if (digit && weight)
        sum = add(sum, scaled(digit, weight));
    Value room = write ? add(own, index(limit.write - limit.read)) : own;
    inside = both(inside, create<arith::CmpIOp>(arith::CmpIPredicate::slt, sum, room));
  }
  return inside;
}

Value DeviceMapEmitter::addressOf(unsigned operand, const Digits &digits) {
  Value at = bases[operand];
  for (auto [digit, stride] : llvm::zip_equal(digits, problem.operands[operand].strides))
    if (digit && stride)
      at = add(at, scaled(digit, stride));
  return at;
}

Value DeviceMapEmitter::memoryAt(const Digits &digits) {
  Value at = index(0);
  for (auto [digit, stride] : llvm::zip_equal(digits, plan.inMemory))
    if (digit && stride)
      at = add(at, scaled(digit, stride));
  return at;
}

/// Narrow floats are moved as what they are made of, which every device has.
static Type inMemory(Type element) {
  bool isNarrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isNarrow ? Type(IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth())) : element;
}

Value DeviceMapEmitter::fromMemory(const Digits &digits) {
  Value stored = create<memref::LoadOp>(memory, ValueRange{memoryAt(digits)});
  Type element = plan.source().element();
  return stored.getType() == element ? stored : create<arith::BitcastOp>(element, stored).getResult();
}

/// The box of the source, in the order of its memory.
void DeviceMapEmitter::readBox() {
  memory = groupMemory(b, kernel, plan.memoryElements, inMemory(plan.source().element()), 0);
  forPoints(plan.read, /*isRolled=*/false, [&](const Digits &digits, Value inBox) {
    Value exists = both(both(inBox, insideAxes(digits)), insideLimits(digits, /*write=*/false));
    choose(exists, [&] {
      Value element = loadElement(problem.source, addressOf(problem.source, digits));
      Type stored = inMemory(element.getType());
      if (stored != element.getType())
        element = create<arith::BitcastOp>(stored, element);
      create<memref::StoreOp>(element, memory, ValueRange{memoryAt(digits)});
    });
  });
  create<gpu::BarrierOp>();
}

void DeviceMapEmitter::writePoint(const Digits &digits, Value inBox) {
  Value exists = both(inBox, insideAxes(digits));
  if (problem.writesPadding())
    exists = both(exists, insideLimits(digits, /*write=*/true));
  Value isRead = insideLimits(digits, /*write=*/false);
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
        Value at = addressOf(i, digits);
        return loadElement(i, isRead ? create<arith::SelectOp>(isRead, at, index(problem.operands[i].offset)).getResult() : at);
      };
      elements.push_back(!isNeeded ? Value() : isInMemory ? fromMemory(digits) : load());
    }
    Value result = emitBody(elements);
    if (isRead)
      result = create<arith::SelectOp>(isRead, result, constant(problem.padding));
    storeElement(result, addressOf(problem.operands.size() - 1, digits));
  });
}

func::FuncOp DeviceMapEmitter::emit() {
  KernelTraits traits;
  traits.name = (problem.function.getName() + "_kernel").str();
  traits.plan = plan.text();
  traits.space = plan.space;
  traits.groupSize = plan.group;
  traits.subGroupSize = plan.subGroup;
  kernel = makeKernel(problem.function, problem.function, traits);
  b.setInsertionPointToStart(&kernel.function.getBody().front());
  first = create<func::ReturnOp>();
  b.setInsertionPoint(first);
  local = create<gpu::ThreadIdOp>(gpu::Dimension::x);
  first = local.getDefiningOp();
  if (plan.subGroup) {
    lane = create<gpu::LaneIdOp>(IntegerAttr());
    firstLane = scaled(create<gpu::SubgroupIdOp>(IntegerAttr()), plan.subGroup);
  }
  for (const Operand &operand : problem.operands)
    flat.push_back(kernel.arguments.lookup(operand.base));
  clonePrologue(b, kernel, problem.function, problem.prologue, [&](int64_t value) { return index(value); });
  emitBox(create<gpu::BlockIdOp>(gpu::Dimension::x));
  if (plan.isThroughMemory)
    readBox();
  constexpr int64_t shortBody = 6; // operations
  forPoints(plan.written, opsOf(problem.op) > shortBody, [&](const Digits &digits, Value inBox) { writePoint(digits, inBox); });
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
  for (Operation &op : body->without_terminator()) {
    if (matchPattern(&op, m_Constant()))
      continue; // captured where it is used
    for (Value v : op.getOperands())
      if (!map.contains(v))
        map.map(v, captured(v));
    b.clone(op, map);
  }
  Value result = body->getTerminator()->getOperand(0);
  return map.contains(result) ? map.lookup(result) : captured(result);
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
  return by == 1 || isZero(v) ? v : create<arith::MulIOp>(v, index(by), arith::IntegerOverflowFlags::nsw).getResult();
}

/// By powers of two without a division, which no vector unit has.
Value DeviceMapEmitter::divided(Value v, int64_t by) {
  if (by == 1)
    return v;
  return llvm::isPowerOf2_64(by) ? create<arith::ShRUIOp>(v, index(llvm::Log2_64(by))).getResult()
                                 : create<arith::DivUIOp>(v, index(by)).getResult();
}

Value DeviceMapEmitter::modulo(Value v, int64_t by) {
  return llvm::isPowerOf2_64(by) ? create<arith::AndIOp>(v, index(by - 1)).getResult() : create<arith::RemUIOp>(v, index(by)).getResult();
}

/// Where index `at` of a curved axis lies, from the axis' start.
Value DeviceMapEmitter::walk(Value at, const Walk &way) {
  Value sum = index(-way.start());
  at = add(at, index(way.shift()));
  for (const Digit &digit : way.digits()) {
    Value term = divided(at, digit.unit);
    sum = add(sum, scaled(digit.modulus ? modulo(term, digit.modulus) : term, digit.stride));
  }
  return sum;
}

Value DeviceMapEmitter::both(Value x, Value y) { return !x ? y : !y ? x : create<arith::AndIOp>(x, y).getResult(); }
