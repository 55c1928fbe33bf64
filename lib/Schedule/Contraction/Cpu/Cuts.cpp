//===- Cuts.cpp - One part of K after the other --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All blocks of a chunk take a part of K before any takes the next. What a tile reads of rhs meanwhile is a copy
// whose vectors lie one behind the other, in the second level of the cache. Sums wait in scratch; each is taken
// in the order of K as ever.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::contractions;

/// Returns the rows whose sums are in scratch.
Emitter::RowRange Emitter::emitCutSums(function_ref<RowRange(BlockBody)> forBlocks) {
  ArrayRef<Plan::Step> turns = plan.loops[0]; // the only one, of one product
  RowRange all = forBlocks([&](Value row, int64_t rows) { storeSums(row, startSums(row, rows)); });
  Value firstRow = chunkRow;
  auto addPart = [&](Value begin) {
    cut = {begin, smaller(linear(plan.stepsOfCut, {{begin, 1}}), index(chain.products[0].steps())), {}};
    copyRhs(turns[0][0]);
    forBlocks([&](Value row, int64_t rows) {
      Values sums;
      for (int64_t n = 0; n < rows * plan.perRow; ++n)
        sums.push_back(create<vector::LoadOp>(vec(chain.sumType()), scratch,
                                              ValueRange{linear(n * plan.lanes, {{scratchAt(row), 1}})}));
      emitSums(turns, row, rows, sums);
      storeSums(row, sums);
    });
    cut = {};
    chunkRow = firstRow; // outside of the loop around this
  };
  forRange(index(0), index(chain.products[0].steps()), addPart, plan.stepsOfCut);
  return all;
}

void Emitter::copyRhs(unsigned product) {
  Type element = chain.products[product].rhs.element();
  Value copy = atEntry([&] {
    auto type = MemRefType::get({plan.stepsOfCut * plan.elementsOfStep(chain.products[product])}, element);
    return create<memref::ViewOp>(type, kernel.scratch, index(plan.rhsCopy), ValueRange()).getResult();
  });
  Value source = kernel.arguments.lookup(chain.products[product].rhs.base);
  forRange(cut.begin, cut.end, [&](Value k) {
    for (size_t sum = 0; sum < chain.products[product].sums.size(); ++sum)
      for (int64_t v = 0; v < plan.columnVectors && tile.vectors[v].count; ++v)
        create<vector::StoreOp>(loadRhs(product, source, k, sum, v), copy, ValueRange{copyAt(product, k, sum, v)});
  });
  cut.copy = copy;
}

Value Emitter::copyAt(unsigned number, Value k, size_t sum, int64_t vector) {
  const Product &product = chain.products[number];
  int64_t ofStep = plan.elementsOfStep(product), ofVector = plan.lanes * product.packed;
  return linear((static_cast<int64_t>(sum) * plan.columnVectors + vector) * ofVector,
                {{k, ofStep}, {cut.begin, -ofStep}});
}

Value Emitter::loadCopy(unsigned number, Value k, size_t sum, int64_t vector) {
  const Product &product = chain.products[number];
  auto type = VectorType::get({plan.lanes * product.packed}, product.rhs.element());
  return create<vector::LoadOp>(type, cut.copy, ValueRange{copyAt(number, k, sum, vector)});
}
