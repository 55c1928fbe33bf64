//===- Generator.cpp - Random eltwise problems ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The tensors of a problem share a layout, or each has its own layout, of the family or a simple one.
//
//===----------------------------------------------------------------------===//
#include "Eltwise/Generator.h"

#include <algorithm>

namespace quern::cases::eltwise {
namespace {

/// `types[i]` is the type of tensor i; the last tensor is the output.
std::vector<TensorDesc> drawTensors(Random &random, LayoutFamily family, const Dims &dims,
                                    const std::vector<DataType> &types) {
  std::vector<TensorDesc> tensors;
  const bool isBroadcast = family == LayoutFamily::Broadcast, isUneven = family == LayoutFamily::Uneven;
  const bool isShared = family == LayoutFamily::Plain || (!isBroadcast && !isUneven && random.oneIn(2));
  const TensorDesc shared =
      isBroadcast ? TensorDesc() : drawSide(random, family, dims, types.back(), /*isWritten=*/true);
  const int dim = drawDim(random, dims);
  const UnevenBlocks blocks = drawUneven(random);
  // At least one tensor is of the family: the output if it is about padding, else any.
  const size_t last = types.size() - 1;
  const size_t sure =
      family == LayoutFamily::Padded ? last : static_cast<size_t>(random.between(0, static_cast<int64_t>(last)));
  for (size_t i = 0; i < types.size(); ++i) {
    if (isShared)
      tensors.push_back(shared);
    else if (isUneven)
      tensors.push_back(drawUnevenSide(random, dims, types[i], dim, i == last ? blocks.dst : blocks.src));
    else if (isBroadcast && i < last)
      tensors.push_back(drawPlain(random, dims, types[i], {random.oneIn(3), false, true}));
    else if (isBroadcast || (i != sure && random.oneIn(2)))
      tensors.push_back(drawSimple(random, dims, types[i]));
    else
      tensors.push_back(drawSide(random, family, dims, types[i], i == last));
    tensors.back().dataType = types[i];
  }
  return tensors;
}

AttributesDraw drawAttributes(Random &random, AttributeClass attribute, const OperandShape &shape) {
  AttributesDraw drawn;
  const bool isMixed = attribute == AttributeClass::Mixed, isEltwise = attribute == AttributeClass::Eltwise;
  if (attribute == AttributeClass::Modes || (isMixed && random.oneIn(2)))
    drawModes(random, drawn.open);
  if (attribute < AttributeClass::Eltwise)
    return drawn;
  for (int64_t i = 0, count = random.between(1, isMixed ? 6 : 3); i < count; ++i)
    isEltwise || (isMixed && random.oneIn(2)) ? appendEltwise(random, drawn) : appendBinary(random, shape, drawn);
  return drawn;
}

/// Returns the tensors in the order of the text: src and dst, or src or dst, diff_src and diff_dst.
std::vector<TensorDesc *> placesOf(EltwiseDesc &op) {
  if (isForward(op.prop))
    return {&op.src, &op.dst};
  return {usesDst(op.alg) ? &op.dst : &op.src, &op.diffSrc, &op.diffDst};
}

/// Sets layouts to `any`.
void drawAny(Random &random, EltwiseDesc &op) {
  auto open = [](TensorDesc &desc) { desc = TensorDesc(*TensorDesc::fromTag(desc.shape(), desc.dataType, "any")); };
  if (isForward(op.prop))
    return open(op.dst);
  if (random.oneIn(2))
    open(op.diffDst);
  open(op.diffSrc);
}

} // namespace

const Cell &cellOf(int64_t number) { return allCells()[static_cast<size_t>(number) % allCells().size()]; }

Case drawCase(uint64_t seed, int64_t number) {
  Random random(seed * 1000003 + static_cast<uint64_t>(number));
  const Cell &cell = cellOf(number);
  Case drawn;
  drawn.number = number;
  EltwiseDesc op;
  op.prop = !cell.backward ? random.pick({PropKind::ForwardInference, PropKind::ForwardTraining})
                           : random.pick({PropKind::BackwardData, PropKind::BackwardData, PropKind::Backward});
  const PostOp parameters = drawEltwise(random, cell.alg);
  op.alg = cell.alg, op.alpha = parameters.alpha, op.beta = parameters.beta;
  const double budget = cell.attribute >= AttributeClass::Eltwise ? 4096 : random.oneIn(24) ? 1 << 17 : 16384;
  const Dims dims = drawShape(random, 1, maxDims, budget);
  std::vector<DataType> types = {cell.from, cell.to};
  if (cell.backward)
    types = {random.pick({DataType::F32, DataType::BF16, DataType::F16, DataType::F8E5M2, cell.from, cell.to}),
             cell.from, cell.to};
  OperandShape operands{dims, std::vector<bool>(dims.size(), false)};
  RuntimeTensors tensors;
  if (cell.family == LayoutFamily::Runtime) {
    tensors = drawRuntimeTensors(random, dims, types);
    operands.isOpen = tensors.isOpen;
  } else {
    tensors.open = tensors.actual = drawTensors(random, cell.family, dims, types);
  }
  if (cell.backward) { // the text has diff_src before diff_dst
    std::swap(tensors.open[1], tensors.open[2]);
    std::swap(tensors.actual[1], tensors.actual[2]);
  }
  const std::vector<TensorDesc *> places = placesOf(op);
  for (size_t i = 0; i < places.size(); ++i) {
    *places[i] = tensors.open[i];
    appendSizes(tensors.open[i], tensors.actual[i], drawn.sizes);
  }
  AttributesDraw attributes = drawAttributes(random, cell.attribute, operands);
  appendSizes(attributes, drawn.sizes);
  drawData(random, drawn.data);
  const TensorDesc &in = cell.backward ? op.diffDst : op.src, &out = cell.backward ? op.diffSrc : op.dst;
  drawn.data.inPlace = in == out && drawn.sizes.empty() && random.oneIn(3);
  if (cell.family != LayoutFamily::Runtime && !drawn.data.inPlace && random.oneIn(12))
    drawAny(random, op);
  if (!cell.backward)
    drawDropout(random, op.dst, attributes.open);
  drawn.desc = {op, attributes.open};
  return drawn;
}

void adaptToPeer(Case &drawn) {
  EltwiseDesc &op = std::get<EltwiseDesc>(drawn.desc.op);
  std::vector<TensorDesc *> places = placesOf(op);
  const TensorDesc written = isForward(op.prop) ? op.dst : op.diffSrc;
  const bool isChosen = std::any_of(places.begin(), places.end(), [](const TensorDesc *desc) { return desc->isAny(); });
  for (TensorDesc *desc : places) {
    if (drawn.sizes.empty() && !isChosen)
      *desc = written;
    desc->dataType = written.dataType;
  }
}

} // namespace quern::cases::eltwise
