//===- Pieces.cpp - Vectors over blocks that are shorter -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A row in blocks of 8 has runs of 8 contiguous elements, so a vector of 16 lanes is two loads that are joined in
// registers. Pieces that the end of the row cuts move lane by lane in straight-line code, because their number of lanes
// is known.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

/// Calls f(first lane, lanes that exist, address) for each piece of a slot; the address is null if no lane exists.
template <typename F> void VectorEmitter::forEachPiece(const Access &access, int64_t slot, F f) {
  const SlotLanes &lanes = lanesOf(slot);
  int64_t run = access.row.run(), end = lanes.all() ? vectors.lanes : lanes.fixed;
  Value base = rowBase(access), start;
  for (int64_t first = 0; first < vectors.lanes; first += run) {
    int64_t count = std::clamp<int64_t>(end - first, 0, run), at = slot * vectors.lanes + first;
    std::optional<int64_t> apart = access.row.advance(first, vectors.lanes);
    Value place;
    if (count && first && apart)
      place = add(start, index(*apart));
    else if (count)
      place = add(base, addressAt(at ? add(position, index(at)) : position, access.row));
    start = first ? start : place;
    f(first, count, place);
  }
}

Value VectorEmitter::joinPieces(const Access &access, int64_t slot) {
  auto type = VectorType::get({access.row.run()}, access.elementType());
  Value memref = kernel.arguments.lookup(access.base);
  Values pieces;
  forEachPiece(access, slot, [&](int64_t, int64_t count, Value at) {
    if (count == type.getNumElements()) {
      pieces.push_back(load(memref, at, access.row.run()));
      return;
    }
    Value piece = constant(cast<TypedAttr>(b.getZeroAttr(type)));
    for (int64_t lane = 0; lane < count; ++lane) {
      Value element = loadScalar(memref, add(at, lane));
      piece = create<vector::InsertOp>(element, piece, lane);
    }
    pieces.push_back(piece);
  });
  for (; pieces.size() > 1; pieces.resize(pieces.size() / 2)) {
    auto lanes = llvm::to_vector(llvm::seq<int64_t>(0, 2 * cast<VectorType>(pieces[0].getType()).getNumElements()));
    for (size_t i = 0; 2 * i < pieces.size(); ++i)
      pieces[i] = create<vector::ShuffleOp>(pieces[2 * i], pieces[2 * i + 1], lanes);
  }
  return pieces[0];
}

void VectorEmitter::storePieces(const Access &access, int64_t slot, Value v) {
  Value memref = kernel.arguments.lookup(access.base);
  forEachPiece(access, slot, [&](int64_t first, int64_t count, Value at) {
    if (count == access.row.run()) {
      auto lanes = llvm::to_vector(llvm::seq<int64_t>(first, first + count));
      store(create<vector::ShuffleOp>(v, v, lanes), memref, at);
      return;
    }
    for (int64_t lane = 0; lane < count; ++lane)
      storeScalar(create<vector::ExtractOp>(v, first + lane), memref, add(at, lane));
  });
}
