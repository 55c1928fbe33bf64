//===- Tile.cpp - The columns of a tile, and its vectors of rhs -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

Value contractions::columnMask(ContractionBuilder &ir, const ColumnPlan &plan, Value first, int64_t perColumn) {
  Value left = ir.create<arith::SubIOp>(ir.index(plan.columns * perColumn), ir.linear(0, {{first, perColumn}}));
  return ir.prefixMask(left, plan.lanes * perColumn);
}

Value contractions::clampToColumns(ContractionBuilder &ir, int64_t lane, const ColumnLanes &lanes,
                                   std::optional<int64_t> columns) {
  Value own = ir.index(std::min(lane, lanes.count - 1));
  return lanes.mask && columns ? ir.min(own, ir.linear(*columns - 1 - lanes.offset, {{lanes.first, -1}})) : own;
}

Value contractions::loadStrided(ContractionBuilder &ir, Value buffer, Value at, const ColumnLanes &lanes, int64_t width,
                                Size stride, std::optional<int64_t> columns) {
  Values elements;
  for (int64_t lane = 0; lane < width; ++lane)
    elements.push_back(
        ir.loadScalar(buffer, ir.linear(0, {{at, 1}, {clampToColumns(ir, lane, lanes, columns), stride}})));
  return ir.create<vector::FromElementsOp>(
      VectorType::get({width}, cast<MemRefType>(buffer.getType()).getElementType()), elements);
}

Tile::Tile(ContractionBuilder &ir, const Chain &chain, const ColumnPlan &plan, Value number, bool isLast)
    : isMasked(plan.tail == Tail::Masked), ir(ir), chain(chain), plan(plan) {
  first = isLast ? ir.index(plan.firstOfLast()) : ir.linear(0, {{number, plan.width()}});
  count = isLast ? plan.columns - plan.firstOfLast() : plan.width();
  scratch = ir.index(0);
  placeVectors(number);
}

ColumnLanes Tile::lanesOf(int64_t vector) const {
  ColumnLanes lanes{first, vector * plan.lanes, {}, plan.lanes};
  if (isMasked)
    lanes.mask = columnMask(ir, plan, ir.linear(lanes.offset, {{first, 1}}), 1);
  else
    lanes.count = std::clamp<int64_t>(count - lanes.offset, 0, plan.lanes);
  return lanes;
}

/// Computes the addresses of the vectors. A vector without columns reads the tile's first vector in rhs, and the last
/// whole vector elsewhere.
void Tile::placeVectors(Value number) {
  SmallVector<ColumnLanes, 4> ofRhs;
  Values exist;
  for (int64_t v = 0; v < plan.columnVectors; ++v) {
    ColumnLanes lanes = lanesOf(v), read = lanes;
    Value exists;
    if (mayMiss(v)) {
      Value column = ir.linear(lanes.offset, {{first, 1}});
      exists = ir.isLess(column, plan.columns);
      read = {ir.create<arith::SelectOp>(exists, column, first), 0,
              ir.create<arith::SelectOp>(exists, lanes.mask, ofRhs[0].mask), plan.lanes};
      lanes = {ir.create<arith::SelectOp>(exists, column, ir.index(plan.columns - plan.lanes)), 0, lanes.mask,
               plan.lanes};
    }
    exist.push_back(exists);
    ofRhs.push_back(read);
    vectors.push_back(lanes);
  }
  for (auto [n, product] : llvm::enumerate(chain.products)) {
    Value base = addressOf(n, number);
    auto &places = rhs.emplace_back();
    for (int64_t v = 0; v < plan.columnVectors; ++v) {
      RhsAddress place{base, ofRhs[v].count ? product.rhsAt(v * plan.lanes) : 0, ofRhs[v]};
      if (exist[v]) {
        place.base = ir.create<arith::SelectOp>(exist[v], ir.linear(place.offset, {{base, 1}}), base);
        place.offset = 0;
      }
      places.push_back(place);
    }
  }
}

/// Returns the address of the tile in rhs.
Value Tile::addressOf(unsigned product, Value number) const {
  if (int64_t stride = plan.strides[product])
    return ir.linear(0, {{number, stride}});
  ArrayRef<Product::Column> columns = chain.products[product].columns;
  int64_t width = plan.width();
  for (; columns.size() > 1 && width % columns[0].extent.known() == 0;
       columns = columns.drop_front()) // a digit that is zero for every tile
    width /= columns[0].extent.known();
  Value rest = width == plan.width() ? first : ir.linear(0, {{number, width}}), address = ir.index(0);
  for (auto [i, dim] : llvm::enumerate(columns)) {
    bool isLast = i + 1 == columns.size();
    Value digit = isLast ? rest : ir.mod(rest, dim.extent);
    address = ir.linear(0, {{address, 1}, {digit, dim.stride}});
    if (!isLast)
      rest = ir.floorDiv(rest, dim.extent);
  }
  return address;
}

Value Tile::rhsAt(unsigned product, size_t sum, int64_t vector, int64_t offset,
                  ArrayRef<ContractionBuilder::Term> terms) const {
  const RhsAddress &place = rhs[product][vector];
  SmallVector<ContractionBuilder::Term> all{{place.base, 1}};
  all.append(terms.begin(), terms.end());
  return ir.linear(chain.products[product].sums[sum].offset + place.offset + offset, all);
}

Value Tile::rhsAt(unsigned product, ArrayRef<Value> k, size_t sum, int64_t vector, int64_t offset) const {
  SmallVector<ContractionBuilder::Term> terms;
  for (auto [step, loop] : llvm::zip_equal(k, chain.products[product].reduced))
    terms.push_back({step, loop.rhs});
  return rhsAt(product, sum, vector, offset, terms);
}

Value Tile::loadRhs(unsigned number, Value buffer, ArrayRef<Value> k, size_t sum, int64_t vector,
                    int64_t offset) const {
  const Product &product = chain.products[number];
  Value at = rhsAt(number, k, sum, vector, offset);
  const ColumnLanes &lanes = rhs[number][vector].lanes;
  int64_t wide = plan.lanes * product.packed;
  if (product.isStrided())
    return loadStrided(ir, buffer, at, lanes, plan.lanes, product.columnStride,
                       plan.readsPastEnd(product) ? std::optional(product.readable.known()) : std::nullopt);
  if (!plan.masksRhs(product))
    return ir.load(buffer, at, wide);
  Value mask = lanes.mask && product.packed > 1
                   ? columnMask(ir, plan, ir.linear(lanes.offset, {{lanes.first, 1}}), product.packed)
                   : lanes.mask;
  return ir.loadLanes(buffer, at, wide, mask, lanes.count * product.packed);
}
