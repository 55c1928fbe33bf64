//===- Sums.cpp - Sums over K on a device --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lane l reads row l / steps of lhs at step l % steps, so lanes read runs of lhs and one load covers several rows. For
// rhs, each lane reads its column, or its share of the panel copy: along columns if they are contiguous, otherwise
// along K.
//
// The ends of loops are hidden from the device's compiler: if it unrolled them completely, the addresses of all steps
// would use up its registers.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Device/Emitter.h"

#include "Schedule/Contraction/PointValues.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <functional>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

static Type wordOf(const Product &product, Type element) {
  return IntegerType::get(element.getContext(),
                          static_cast<unsigned>(element.getIntOrFloatBitWidth() * product.packed));
}

/// Returns true if lanes exchange the packed elements as one word.
static bool isWordOfLhs(const Product &product) {
  return product.packed > 1 && product.taken == product.packed &&
         product.lhs.element().getIntOrFloatBitWidth() * product.packed == 32;
}

Type contractions::panelElement(const Product &product) {
  return product.packed == 1 ? product.sumType() : wordOf(product, product.rhs.element());
}

static Size stepOf(const Product &product, bool isLhs) {
  return product.reduced.empty() ? Size() : isLhs ? product.reduced.back().lhs : product.reduced.back().rhs;
}

void DeviceEmitter::emitProduct(unsigned number, Values &sums) {
  const Product &product = chain.products[number];
  const AtOperation scope(*this, product.loc());
  Current own{product, plan.products[number], {}, {}, {}, {}, {}, {}, index(0)};
  own.length = index(innerSteps(product));
  if (plan.parts > 1)
    own.length = mul(index(ceilDiv(own.length, plan.parts * own.plan.unit)), own.plan.unit);
  findFactors(own);
  ArrayRef<Product::Reduced> outer = product.reduced;
  outer = outer.empty() ? outer : outer.drop_back();
  std::function<void(unsigned)> nest = [&](unsigned depth) {
    if (depth == outer.size())
      return emitPart(own, sums);
    carry(index(0), index(outer[depth].extent), 1, sums, [&](Value at) {
      own.outer.push_back(at);
      nest(depth + 1);
      own.outer.pop_back();
    });
  };
  nest(0);
}

/// Emits a minimum as a compare and a select, because some device compilers do not treat the minimum of uniform values
/// as uniform.
Value DeviceEmitter::least(Value x, Value y) { return create<arith::SelectOp>(isLess(x, y), x, y); }

/// Returns `row`, limited to the last row if it may be past that.
Value DeviceEmitter::rowOf(Value row, bool mayBeBeyond) {
  return mayBeBeyond || plan.hasRowTail() ? least(row, linear(-1, {{rowCount, 1}})) : row;
}

void DeviceEmitter::findFactors(Current &own) {
  const Product &product = own.product;
  int64_t steps = own.plan.steps, rowsOfLoad = plan.subGroup / steps;
  bool isOneRow = steps == plan.subGroup;
  Value laneRow = isOneRow ? index(0) : floorDiv(lane, steps);
  Value laneStep = isOneRow ? lane : mod(lane, steps);
  for (int64_t row = 0; row < plan.rows; row += rowsOfLoad) {
    Value at = rowOf(linear(row, {{firstRow, 1}, {laneRow, 1}}), row + rowsOfLoad > plan.rows);
    own.lhsOfLane.push_back(linear(product.lhs.offset, {{at, product.lhsRow}, {laneStep, stepOf(product, true)}}));
  }
  for (int64_t v = 0; v < plan.vectors; ++v)
    own.rhsOfColumn.push_back(columnOfLane(product, v));
  if (!own.plan.panel)
    return;
  own.panel = panels[panelElement(product)];
  own.inPanel = linear(0, {{part, own.plan.panel * own.plan.pitch}, {product.isStrided() ? index(0) : lane, 1}});
}

/// Returns the addresses of the rows of lhs for single steps. They are computed here, because registers are scarce in
/// the loop before.
DeviceEmitter::Values DeviceEmitter::lhsOfRows(const Product &product) {
  Values rows;
  for (int64_t row = 0; row < plan.rows; ++row)
    rows.push_back(linear(product.lhs.offset, {{rowOf(linear(row, {{firstRow, 1}}), false), product.lhsRow}}));
  return rows;
}

/// Returns `column`, limited to the last column of rhs.
Value DeviceEmitter::readable(const Product &product, Value column) {
  return least(column, linear(-1, {{index(product.readable), 1}}));
}

/// Returns the address of the lane's column in rhs. If possible, it is a uniform value plus the lane's offset, a form
/// that device compilers recognize.
Value DeviceEmitter::columnOfLane(const Product &product, int64_t vector) {
  if (plan.readsBeyond(product))
    return columnAddress(product, readable(product, columns[vector]));
  if (product.columns.empty() || (product.columns.size() > 1 && !product.columns[0].extent.isMultipleOf(plan.subGroup)))
    return columnAddress(product, columns[vector]);
  Value first = columnAddress(product, linear(vector * plan.subGroup, {{tile, plan.width()}}));
  return linear(0, {{first, 1}, {lane, product.columns[0].stride}});
}

Value DeviceEmitter::columnAddress(const Product &product, Value column) {
  Value address = index(0);
  for (auto [i, dim] : llvm::enumerate(product.columns)) {
    bool isLast = i + 1 == product.columns.size();
    Value digit = isLast ? column : mod(column, dim.extent);
    address = linear(0, {{address, 1}, {digit, dim.stride}});
    if (!isLast)
      column = floorDiv(column, dim.extent);
  }
  return address;
}

/// Emits the steps of this part of the innermost loop over K.
void DeviceEmitter::emitPart(Current &own, Values &sums) {
  Value begin = index(0), end = index(innerSteps(own.product));
  if (plan.parts > 1) {
    bool isEven = own.plan.length * plan.parts == innerSteps(own.product);
    begin = shared<arith::MulIOp>(part, own.length);
    begin = isEven ? begin : least(begin, end);
    Value next = linear(0, {{begin, 1}, {own.length, 1}});
    end = isEven ? next : least(next, end);
  }
  if (own.plan.panel)
    return emitPanels(own, begin, end, sums);
  emitSteps(own, begin, end, sums);
}

void DeviceEmitter::emitPanels(Current &own, Value begin, Value end, Values &sums) {
  int64_t steps = own.plan.panel;
  carry(index(0), own.length, steps, sums, [&](Value at) {
    own.first = linear(0, {{begin, 1}, {at, 1}});
    Value count = index(steps);
    if (!hasWholePanels(own))
      count = sub(least(linear(steps, {{own.first, 1}}), end), least(own.first, end));
    if (own.product.isStrided())
      copyColumns(own, count);
    else
      copySteps(own, count);
    create<gpu::BarrierOp>();
    emitSteps(own, index(0), count, sums);
    create<gpu::BarrierOp>();
  });
  own.first = index(0);
}

bool DeviceEmitter::hasWholePanels(const Current &own) const {
  return own.plan.length % own.plan.panel == 0 && own.plan.length * plan.parts == innerSteps(own.product);
}

/// Copies a panel with lanes along columns.
void DeviceEmitter::copySteps(const Current &own, Value count) {
  const Product &product = own.product;
  auto copyStep = [&](Value step) {
    for (size_t sum = 0; sum < product.sums.size(); ++sum)
      for (int64_t v = 0; v < plan.vectors; ++v) {
        llvm::SmallVector<Term> terms{
            {own.rhsOfColumn[v], 1}, {own.first, stepOf(product, false)}, {step, stepOf(product, false)}};
        for (auto [at, loop] : llvm::zip(own.outer, product.reduced))
          terms.push_back({at, loop.rhs});
        Value word = loadRhs(product, linear(product.sums[sum].offset, terms));
        int64_t place = (static_cast<int64_t>(sum) * plan.vectors + v) * plan.subGroup;
        create<memref::StoreOp>(word, own.panel, ValueRange{linear(place, {{own.inPanel, 1}, {step, own.plan.pitch}})});
      }
  };
  forRange(block, hidden(count), copyStep, plan.blocks);
}

/// Copies a panel with lanes along K; steps past the last one repeat it. Their addresses differ from step to step, so
/// copying a whole panel at once would need many registers.
void DeviceEmitter::copyColumns(const Current &own, Value count) {
  const Product &product = own.product;
  bool isWhole = hasWholePanels(own);
  int64_t together = own.plan.panel;
  while (!isWhole && together > 4 * plan.subGroup && together % (2 * plan.subGroup) == 0)
    together /= 2;
  auto copyColumn = [&](Value column) {
    Value at = linear(0, {{tile, plan.width()}, {column, 1}});
    if (plan.readsBeyond(product))
      at = readable(product, at);
    llvm::SmallVector<Term> terms{{columnAddress(product, at), 1}};
    for (auto [outer, loop] : llvm::zip(own.outer, product.reduced))
      terms.push_back({outer, loop.rhs});
    Value start = linear(0, terms);
    auto copy = [&](Value first) {
      for (int64_t step = 0; step < together; step += plan.subGroup) {
        Value inPanel = linear(step, {{lane, 1}, {first, 1}});
        Value k = linear(0, {{own.first, 1}, {inPanel, 1}});
        if (!isWhole)
          k = least(k, linear(-1, {{index(innerSteps(product)), 1}}));
        for (size_t sum = 0; sum < product.sums.size(); ++sum) {
          Value word = loadRhs(product, linear(product.sums[sum].offset, {{start, 1}, {k, stepOf(product, false)}}));
          Value place = linear(static_cast<int64_t>(sum) * plan.width(),
                               {{own.inPanel, 1}, {inPanel, own.plan.pitch}, {column, 1}});
          create<memref::StoreOp>(word, own.panel, ValueRange{place});
        }
      }
    };
    isWhole ? copy(index(0)) : forRange(index(0), hidden(count), copy, together);
  };
  forRange(block, hidden(index(plan.width())), copyColumn, plan.blocks);
}

/// Emits the steps from `begin` to `end`, relative to own.first.
void DeviceEmitter::emitSteps(const Current &own, Value begin, Value end, Values &sums) {
  int64_t steps = own.plan.steps;
  Value whole = end;
  if (!innerSteps(own.product).isMultipleOf(steps))
    whole = sub(end, create<arith::RemUIOp>(sub(end, begin), index(steps)));
  carry(begin, whole, steps, sums, [&](Value k) { emitStep(own, k, steps, sums); });
  if (whole != end)
    carry(whole, end, 1, sums, [&](Value k) { emitStep(own, k, 0, sums); });
}

void DeviceEmitter::carry(Value begin, Value end, int64_t step, Values &sums, function_ref<void(Value)> body) {
  auto loop = create<scf::ForOp>(begin, hidden(end), index(step), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    sums.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    body(loop.getInductionVar());
    create<scf::YieldOp>(sums);
  }
  sums.assign(loop.getResults().begin(), loop.getResults().end());
}

void DeviceEmitter::emitStep(const Current &own, Value k, int64_t count, Values &sums) {
  const Product &product = own.product;
  bool isFma = isa<FloatType>(product.sumType()) && product.mayContract;
  const Size ofLhs = stepOf(product, true);
  int64_t rowsOfLoad = count ? plan.subGroup / count : 1;
  SmallVector<Values, 8> lhs;
  for (Value start : count ? own.lhsOfLane : lhsOfRows(product)) {
    llvm::SmallVector<Term> terms{{start, 1}, {own.first, ofLhs}, {k, ofLhs}};
    for (auto [at, loop] : llvm::zip(own.outer, product.reduced))
      terms.push_back({at, loop.lhs});
    lhs.push_back(loadLhs(product, linear(0, terms)));
  }
  for (int64_t step = 0; step < std::max<int64_t>(count, 1); ++step) {
    SmallVector<Values> rhs;
    for (size_t sum = 0; sum < product.sums.size(); ++sum)
      for (int64_t v = 0; v < plan.vectors; ++v)
        rhs.push_back(elementsOf(product, product.rhs, readRhs(own, sum, v, k, step)));
    for (int64_t row = 0; row < plan.rows; ++row) {
      Values words = lhs[row / rowsOfLoad];
      for (Value &word : words)
        word = count ? ofLane(word, row % rowsOfLoad * count + step) : word;
      Values elements = isWordOfLhs(product) ? elementsOf(product, product.lhs, words[0]) : words;
      for (auto [n, ofRhs] : llvm::enumerate(rhs)) {
        Value &into =
            sums[sumIndex(row, product.sums[n / plan.vectors].accumulator, static_cast<int64_t>(n) % plan.vectors)];
        for (auto [x, y] : llvm::zip_equal(elements, ofRhs))
          into = multiplyAdd(b, product.loc(), isFma, x, y, into);
      }
    }
  }
}

Value DeviceEmitter::ofLane(Value v, int64_t lane) {
  if (plan.subGroup == 1)
    return v;
  Value from = constant(b.getI32IntegerAttr(static_cast<int32_t>(lane))),
        all = constant(b.getI32IntegerAttr(static_cast<int32_t>(plan.subGroup)));
  return create<gpu::ShuffleOp>(v, from, all, gpu::ShuffleMode::IDX).getShuffleResult();
}

/// Returns the factor of the lane's column at step k + unrollIndex.
Value DeviceEmitter::readRhs(const Current &own, size_t sum, int64_t vector, Value k, int64_t unrollIndex) {
  const Product &product = own.product;
  if (own.panel) {
    int64_t place = (static_cast<int64_t>(sum) * plan.vectors + vector) * plan.subGroup + unrollIndex * own.plan.pitch;
    llvm::SmallVector<Term> terms{{own.inPanel, 1}, {k, own.plan.pitch}};
    if (product.isStrided())
      terms.push_back({lane, 1});
    return loadScalar(own.panel, linear(place, terms));
  }
  llvm::SmallVector<Term> terms{{own.rhsOfColumn[vector], 1}, {k, stepOf(product, false)}};
  for (auto [at, loop] : llvm::zip(own.outer, product.reduced))
    terms.push_back({at, loop.rhs});
  if (const Size step = stepOf(product, false); !step.isOpen())
    return loadRhs(product, linear(product.sums[sum].offset + unrollIndex * step.known(), terms));
  terms[1].value = linear(unrollIndex, {{k, 1}});
  return loadRhs(product, linear(product.sums[sum].offset, terms));
}

Value DeviceEmitter::converted(const Product::Factor &factor, Value v) {
  for (Operation *op : factor.conversions) {
    IRMapping map;
    map.map(op->getOperand(0), v);
    for (Value scalar : op->getOperands().drop_front())
      map.map(scalar, captured(scalar));
    v = b.clone(*op, map)->getResult(0);
  }
  return v;
}

/// Loads contiguous elements as one integer.
static Value asWord(OpBuilder &b, Location loc, Value memref, Value at, int64_t count, Type word) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  Value packed = vector::LoadOp::create(b, loc, VectorType::get({count}, element), memref, ValueRange{at});
  Value whole = vector::BitCastOp::create(b, loc, VectorType::get({1}, word), packed);
  return vector::ExtractOp::create(b, loc, whole, int64_t(0));
}

/// Returns the lhs operands of a step: converted elements, or a word of the packed elements.
DeviceEmitter::Values DeviceEmitter::loadLhs(const Product &product, Value at) {
  Value memref = kernel.arguments.lookup(product.lhs.base);
  if (isWordOfLhs(product))
    return {asWord(b, loc, memref, at, product.packed, b.getI32Type())};
  Values elements;
  for (int64_t i = 0; i < product.taken; ++i)
    elements.push_back(converted(product.lhs, loadScalar(memref, linear(i, {{at, 1}}))));
  return elements;
}

Value DeviceEmitter::loadRhs(const Product &product, Value at) {
  Value memref = kernel.arguments.lookup(product.rhs.base);
  if (product.packed > 1)
    return asWord(b, loc, memref, at, product.packed, panelElement(product));
  return converted(product.rhs, loadScalar(memref, at));
}

DeviceEmitter::Values DeviceEmitter::elementsOf(const Product &product, const Product::Factor &factor, Value word) {
  if (product.packed == 1)
    return {word};
  Type element = factor.element();
  unsigned bits = element.getIntOrFloatBitWidth();
  Values elements;
  for (int64_t i = 0; i < product.taken; ++i) {
    Value own = word;
    if (i)
      own = create<arith::ShRUIOp>(own, constant(b.getIntegerAttr(word.getType(), i * bits)));
    own = create<arith::TruncIOp>(b.getIntegerType(bits), own);
    elements.push_back(
        converted(factor, isa<IntegerType>(element) ? own : create<arith::BitcastOp>(element, own).getResult()));
  }
  return elements;
}
