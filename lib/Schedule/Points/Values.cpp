//===- Values.cpp - Intermediates computed where they are read -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What was computed once is known by the op and the values of its loops, in the loop where it was computed and in those within. A sum whose
// order is free carries what rounding lost along, so that a long row does not ask for several accumulators.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Points/Values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::points;

PointValues::PointValues(const PointChain &chain, Kernel &kernel, OpBuilder &builder)
    : chain(chain), kernel(kernel), builder(builder), loc(kernel.function.getLoc()), scopes(1) {}

Value PointValues::index(int64_t size) {
  Value &known = indices[size];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.function.getBody().front());
  if (!rows::isOpen(size))
    return known = arith::ConstantIndexOp::create(builder, loc, size);
  Value at = arith::ConstantIndexOp::create(builder, loc, rows::indexOfOpen(size));
  return known = memref::LoadOp::create(builder, loc, kernel.sizes, at);
}

const SmallVector<Value, 1> *PointValues::find(const Key &key) const {
  for (const Scope &scope : llvm::reverse(scopes))
    if (auto found = scope.known.find(key); found != scope.known.end())
      return &found->second;
  return nullptr;
}

template <typename Op> Value PointValues::binary(Value x, Value y) {
  std::optional<int64_t> a = getConstantIntValue(x), b = getConstantIntValue(y);
  Key key{TypeID::get<Op>().getAsOpaquePointer(), x.getAsOpaquePointer(), y.getAsOpaquePointer()};
  if (const auto *known = find(key))
    return known->front();
  if (a && b) {
    if constexpr (std::is_same_v<Op, arith::AddIOp>)
      return index(*a + *b);
    else if constexpr (std::is_same_v<Op, arith::MulIOp>)
      return index(*a * *b);
    else if (*a >= 0 && *b > 0)
      return index(std::is_same_v<Op, arith::DivUIOp> ? *a / *b : *a % *b);
  }
  Value result = Op::create(builder, loc, x, y);
  scopes.back().known[key] = {result};
  return result;
}

Value PointValues::add(Value x, Value y) {
  if (isConstantIntValue(x, 0))
    return y;
  return isConstantIntValue(y, 0) ? x : binary<arith::AddIOp>(x, y);
}

Value PointValues::mul(Value x, Value y) {
  if (isConstantIntValue(x, 0) || isConstantIntValue(y, 0))
    return index(0);
  if (isConstantIntValue(x, 1))
    return y;
  return isConstantIntValue(y, 1) ? x : binary<arith::MulIOp>(x, y);
}

Value PointValues::div(Value x, Value y) { return isConstantIntValue(y, 1) ? x : binary<arith::DivUIOp>(x, y); }
Value PointValues::mod(Value x, Value y) { return isConstantIntValue(y, 1) ? index(0) : binary<arith::RemUIOp>(x, y); }

Value PointValues::apply(AffineExpr expr, ArrayRef<Value> loops) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return index(constant.getValue());
  auto both = cast<AffineBinaryOpExpr>(expr);
  Value x = apply(both.getLHS(), loops), y = apply(both.getRHS(), loops);
  if (!x || !y)
    return {};
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(x, y);
  case AffineExprKind::Mul:
    return mul(x, y);
  case AffineExprKind::FloorDiv:
    return div(x, y);
  case AffineExprKind::CeilDiv:
    return div(add(x, add(y, index(-1))), y);
  default:
    return mod(x, y);
  }
}

SmallVector<Value> PointValues::apply(AffineMap map, ArrayRef<Value> loops) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) { return apply(expr, loops); });
}

SmallVector<Value> PointValues::throughViews(Value &memref, ArrayRef<Value> at) {
  SmallVector<Value> indices(at);
  while (auto view = memref.getDefiningOp<memref::SubViewOp>()) {
    llvm::SmallBitVector dropped = view.getDroppedDims();
    SmallVector<Value> outer;
    auto valueOf = [&](OpFoldResult size) -> Value {
      std::optional<int64_t> number = getConstantIntValue(size);
      if (!number)
        failure = "a view has an open offset or step";
      return index(number.value_or(0));
    };
    for (unsigned d = 0, own = 0; d < dropped.size(); ++d) {
      Value offset = valueOf(view.getMixedOffsets()[d]);
      Value inner = dropped[d] ? index(0) : indices[own++];
      outer.push_back(inner ? add(offset, mul(inner, valueOf(view.getMixedStrides()[d]))) : Value());
    }
    indices = std::move(outer);
    memref = view.getSource();
  }
  return indices;
}

Value PointValues::addressOf(Value memref, ArrayRef<Value> at) {
  if (!isa<BlockArgument>(memref))
    return at.front(); // flat
  rows::ArgumentSizes::Layout layout = chain.sizes.layoutOf(memref);
  Value address = index(layout.offset);
  for (auto [i, stride] : llvm::zip_equal(at, layout.strides))
    address = add(address, mul(i, index(stride)));
  return address;
}

Value PointValues::load(Value memref, ArrayRef<Value> at, unsigned before) {
  SmallVector<Value> inner = throughViews(memref, at);
  if (memref.getDefiningOp<memref::AllocOp>())
    return loadIntermediate(memref, inner, before);
  Value base = kernel.arguments.lookup(memref);
  SmallVector<Value, 1> address;
  if (cast<MemRefType>(base.getType()).getRank())
    address.push_back(addressOf(memref, inner));
  return memref::LoadOp::create(builder, loc, base, address);
}

void PointValues::store(Value value, Value memref, ArrayRef<Value> at) {
  SmallVector<Value> inner = throughViews(memref, at);
  Value base = kernel.arguments.lookup(memref);
  SmallVector<Value, 1> address;
  if (cast<MemRefType>(base.getType()).getRank())
    address.push_back(addressOf(memref, inner));
  memref::StoreOp::create(builder, loc, value, base, address);
}

SmallVector<Value> PointValues::loopsAt(const Writer &writer, Value alloc, ArrayRef<Value> at, Value *exists) {
  linalg::LinalgOp op = chain.ops[writer.position];
  SmallVector<Value> loops(op.getNumLoops());
  SmallVector<SmallVector<LoopDigit, 2>> digits;
  if (failed(chain.digitsOf(op, writer.result, digits, failure)))
    return loops;
  auto demand = [&](Value condition) { *exists = *exists ? Value(arith::AndIOp::create(builder, loc, *exists, condition)) : condition; };
  Value written = op.getDpsInitOperand(writer.result)->get();
  auto view = written.getDefiningOp<memref::SubViewOp>();
  if (view && (view.getSource() != alloc || view.getDroppedDims().any() || !view.hasUnitStride())) {
    failure = "an intermediate is written through a view that drops or skips elements";
    return loops;
  }
  bool isPartial = exists && chain.isPartial(op, writer.result, alloc);
  for (unsigned d = 0; d < digits.size(); ++d) {
    Value own = at[d];
    if (!own)
      continue;
    std::optional<int64_t> offset = view ? getConstantIntValue(view.getMixedOffsets()[d]) : std::optional<int64_t>(0);
    if (!offset) {
      failure = "an intermediate is written from an open offset on";
      return loops;
    }
    own = add(own, index(-*offset));
    if (digits[d].empty() && isPartial)
      demand(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, own, index(0)));
    int64_t room = 0;
    for (const LoopDigit &digit : digits[d]) {
      Value value = div(room ? mod(own, index(room)) : own, index(digit.weight));
      loops[digit.loop] = digit.extent == 1 && !isPartial ? index(0) : value;
      if (isPartial) // an index below the offset has wrapped around
        demand(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, value, index(digit.extent)));
      room = digit.weight;
    }
    if (isPartial && room > 1)
      demand(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, mod(own, index(room)), index(0)));
  }
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel && !loops[loop] && chain.loopExtent(op, loop) == 1)
      loops[loop] = index(0);
  return loops;
}

Value PointValues::loadIntermediate(Value alloc, ArrayRef<Value> at, unsigned before) {
  const Writer *writer = chain.writerOf(alloc, before);
  if (!writer) {
    failure = "an intermediate is read before it is written";
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(cast<MemRefType>(alloc.getType()).getElementType()));
  }
  Key key{alloc.getAsOpaquePointer(), writer};
  for (Value i : at)
    key.push_back(i.getAsOpaquePointer());
  if (const auto *known = find(key))
    return known->front();
  Value exists;
  SmallVector<Value> loops = loopsAt(*writer, alloc, at, &exists);
  Value element;
  if (!exists) {
    element = compute(writer->position, loops)[writer->result];
  } else {
    auto choice = scf::IfOp::create(builder, loc, cast<MemRefType>(alloc.getType()).getElementType(), exists, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    for (bool isNew : {true, false}) {
      builder.setInsertionPointToStart(isNew ? choice.thenBlock() : choice.elseBlock());
      scopes.emplace_back();
      Value one = isNew ? compute(writer->position, loops)[writer->result] : loadIntermediate(alloc, at, writer->position);
      scf::YieldOp::create(builder, loc, one);
      scopes.pop_back();
    }
    element = choice.getResult(0);
  }
  scopes.back().known[key] = {element};
  return element;
}

bool PointValues::readsOld(linalg::LinalgOp op, unsigned result) {
  return !op.getMatchingBlockArgument(op.getDpsInitOperand(result)).use_empty();
}

void PointValues::prepareElement(Value memref, ArrayRef<Value> at, unsigned before) {
  SmallVector<Value> inner = throughViews(memref, at);
  const Writer *writer = memref.getDefiningOp<memref::AllocOp>() ? chain.writerOf(memref, before) : nullptr;
  if (!writer || isa<linalg::FillOp>(chain.ops[writer->position]))
    return;
  if (llvm::all_of(inner, [](Value i) { return i != Value(); })) {
    (void)loadIntermediate(memref, inner, before);
    return;
  }
  prepare(writer->position, loopsAt(*writer, memref, inner, nullptr));
  if (readsOld(chain.ops[writer->position], writer->result))
    prepareElement(memref, inner, writer->position);
}

void PointValues::prepare(unsigned position, ArrayRef<Value> loops) {
  linalg::LinalgOp op = chain.ops[position];
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isa<MemRefType>(operand->get().getType()) && !op.getMatchingBlockArgument(operand).use_empty())
      prepareElement(operand->get(), apply(op.getMatchingIndexingMap(operand), loops), position);
}

void PointValues::loop(Value extent, llvm::function_ref<void(Value)> body) {
  if (isConstantIntValue(extent, 1))
    return body(index(0));
  auto loop = scf::ForOp::create(builder, loc, index(0), extent, index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  scopes.emplace_back();
  body(loop.getInductionVar());
  scopes.pop_back();
}

/// The op's body at one point. `accumulators` stand for what it reads of the elements that it writes.
SmallVector<Value> PointValues::body(unsigned position, ArrayRef<Value> loops, ValueRange accumulators) {
  linalg::LinalgOp op = chain.ops[position];
  IRMapping map(kernel.arguments);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument element = op.getMatchingBlockArgument(operand);
    if (element.use_empty())
      continue;
    bool isMemory = isa<MemRefType>(operand->get().getType());
    map.map(element, isMemory ? load(operand->get(), apply(op.getMatchingIndexingMap(operand), loops), position)
                              : kernel.arguments.lookup(operand->get()));
  }
  for (auto [i, old] : llvm::enumerate(accumulators))
    if (old)
      map.map(op.getMatchingBlockArgument(op.getDpsInitOperand(i)), old);
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto number = dyn_cast<linalg::IndexOp>(inner))
      map.map(number.getResult(), loops[number.getDim()]);
    else
      builder.clone(inner, map);
  }
  return llvm::map_to_vector(op.getBlock()->getTerminator()->getOperands(), [&](Value v) { return map.lookup(v); });
}

/// A sum whose order is free, of something else than products, which are summed as they are.
static bool isCompensated(linalg::LinalgOp op, unsigned result) {
  auto sum = op.getBlock()->getTerminator()->getOperand(result).getDefiningOp<arith::AddFOp>();
  BlockArgument accumulator = op.getMatchingBlockArgument(op.getDpsInitOperand(result));
  if (!sum || !accumulator.hasOneUse() || !bitEnumContainsAll(sum.getFastmath(), arith::FastMathFlags::reassoc))
    return false;
  Value term = sum.getLhs() == accumulator ? sum.getRhs() : sum.getLhs();
  return (sum.getLhs() == accumulator || sum.getRhs() == accumulator) && !term.getDefiningOp<arith::MulFOp>();
}

/// sum + term and what the rounding of it lost; nothing is lost where the sum is not finite.
static std::pair<Value, Value> addCompensated(OpBuilder &b, Location loc, Value sum, Value lost, Value term) {
  Value wanted = arith::SubFOp::create(b, loc, term, lost), total = arith::AddFOp::create(b, loc, sum, wanted);
  Value grown = arith::SubFOp::create(b, loc, total, sum), error = arith::SubFOp::create(b, loc, grown, wanted);
  Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, error, error);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(sum.getType()));
  return {total, arith::SelectOp::create(b, loc, isNumber, error, zero)};
}

/// The reduced loops from `from` on; `carried` has the accumulators, then what the compensated ones lost.
SmallVector<Value> PointValues::reduce(unsigned position, SmallVector<Value> loops, unsigned from, ValueRange carried) {
  linalg::LinalgOp op = chain.ops[position];
  while (from < loops.size() && loops[from])
    ++from;
  const unsigned count = op.getNumDpsInits();
  if (from < loops.size()) {
    prepare(position, loops);
    auto loop = scf::ForOp::create(builder, loc, index(0), index(chain.loopExtent(op, from)), index(1), carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    scopes.emplace_back();
    loops[from] = loop.getInductionVar();
    scf::YieldOp::create(builder, loc, reduce(position, loops, from + 1, loop.getRegionIterArgs()));
    scopes.pop_back();
    return llvm::to_vector(ValueRange(loop.getResults()));
  }
  SmallVector<Value> next = body(position, loops, carried.take_front(count));
  for (unsigned i = 0, at = count; i < count; ++i) {
    if (!isCompensated(op, i))
      continue;
    auto sum = next[i].getDefiningOp<arith::AddFOp>();
    Value term = sum.getLhs() == carried[i] ? sum.getRhs() : sum.getLhs();
    auto [total, lost] = addCompensated(builder, loc, carried[i], carried[at++], term);
    next[i] = total;
    next.push_back(lost);
    if (sum->use_empty())
      sum.erase();
  }
  return next;
}

SmallVector<Value> PointValues::compute(unsigned position, ArrayRef<Value> loops) {
  linalg::LinalgOp op = chain.ops[position];
  SmallVector<Value> all(loops);
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction && chain.loopExtent(op, loop) == 1)
      all[loop] = index(0);
  SmallVector<Value> carried;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    OpOperand *init = op.getDpsInitOperand(i);
    carried.push_back(readsOld(op, i) ? load(init->get(), apply(op.getMatchingIndexingMap(init), loops), position) : Value());
  }
  if (llvm::all_of(all, [](Value loop) { return loop != Value(); }))
    return body(position, all, carried);
  if (llvm::is_contained(carried, Value())) {
    failure = "a reduction does not read what it has reduced so far";
    return SmallVector<Value>(carried.size(), index(0));
  }
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
    if (isCompensated(op, i))
      carried.push_back(arith::ConstantOp::create(builder, loc, builder.getZeroAttr(carried[i].getType())));
  return llvm::to_vector(ArrayRef<Value>(reduce(position, all, 0, carried)).take_front(op.getNumDpsInits()));
}
