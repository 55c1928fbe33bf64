//===- Body.cpp - Memory and the body of a map on vectors ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The body is cloned with vectors instead of scalars. The strides of an operand determine how a group of lanes is read:
// as a contiguous vector, a broadcast element, a shuffle of a short run, or one lane at a time.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

/// Reads lanes one by one, which read() does if no vector access is possible. Masked lanes read the buffer's first
/// element.
Value MapEmitter::collect(unsigned operand, ArrayRef<int64_t> offsets, Value at, Value mask) {
  SmallVector<Value> elements;
  for (auto [lane, offset] : llvm::enumerate(offsets)) {
    Value there = add(at, offset);
    if (mask)
      there = create<arith::SelectOp>(create<vector::ExtractOp>(mask, static_cast<int64_t>(lane)), there, index(0));
    elements.push_back(elementAt(operand, there));
  }
  return create<vector::FromElementsOp>(vec(offsets.size(), problem.operands[operand].element()), elements);
}

Value MapEmitter::read(unsigned operand, const LaneGroup &group, int64_t first, int64_t count, Value at, Value mask) {
  const Operand &own = problem.operands[operand];
  SmallVector<int64_t> offsets;
  for (int64_t lane = first; lane < first + count; ++lane)
    offsets.push_back(group.sum(lane, own.strides));
  int64_t start = offsets[0];
  bool isContiguous = true;
  for (auto [lane, offset] : llvm::enumerate(offsets))
    isContiguous &= offset - start == static_cast<int64_t>(lane);
  VectorType type = vec(count, own.element());
  if (llvm::all_equal(offsets)) // the caller ensures that some lane exists
    return create<vector::BroadcastOp>(type, elementAt(operand, add(at, start)));
  if (own.isIndex()) {
    auto lanes = DenseElementsAttr::get(
        type, llvm::map_to_vector(offsets, [&](int64_t offset) { return llvm::APInt(64, offset); }));
    return create<arith::AddIOp>(create<vector::BroadcastOp>(type, at), constant(lanes));
  }
  if (isContiguous && (!mask || plan.takesMask(own.element())))
    return load(flat[operand], add(at, start), count, mask);
  int64_t length = *llvm::max_element(offsets) + 1;
  if (mask || length > count || *llvm::min_element(offsets) < 0)
    return collect(operand, offsets, at, mask);
  // All elements of the run exist, because every lane exists, and so do the run's first and last element.
  Value run = load(flat[operand], at, length, Value());
  return create<vector::ShuffleOp>(run, run, offsets);
}

Value MapEmitter::compute(const MapPlace &place, const LaneGroup &group, int64_t first, int64_t count, Value mask,
                          Value known) {
  Values elements;
  for (unsigned i = 0; i < problem.operands.size(); ++i)
    if (known && i == problem.source)
      elements.push_back(known);
    else
      elements.push_back(problem.isRead(i) ? read(i, group, first, count, place.bases[i], mask) : Value());
  return emitBody(elements, count);
}

Value MapEmitter::computeElement(const MapPlace &place, Value known) {
  Values elements;
  for (unsigned i = 0; i < problem.operands.size(); ++i)
    if (known && i == problem.source)
      elements.push_back(known);
    else
      elements.push_back(problem.isRead(i) ? elementAt(i, place.bases[i]) : Value());
  return emitBody(elements, 0);
}

void MapEmitter::writeWhereAligned(Value vector, Value at, Value aligned) {
  if (aligned)
    choose(aligned, [&] { write(vector, at, Value(), true); }, [&] { write(vector, at); });
  else
    write(vector, at);
}

Value MapEmitter::paddingValue(int64_t lanes) { return splat(problem.padding, lanes); }
