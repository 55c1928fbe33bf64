//===- Generator.cpp - Random reorder problems ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reorder/Generator.h"

#include "Primitives/Arguments.h"
#include "Reference/Elements.h"

namespace quern::cases::reorder {
namespace {

struct RankRange {
  int64_t min, max;
};

RankRange ranksOf(AttributeClass attribute) {
  switch (attribute) {
  case AttributeClass::Groups:
    return {2, 12};
  case AttributeClass::RnnData:
    return {3, 4};
  case AttributeClass::RnnWeights:
    return {4, 5};
  default:
    return {1, 12};
  }
}

/// Problems with post-ops are small: the reference is slow, and the code of post-ops does not depend on the size.
int64_t drawBudget(Random &random, AttributeClass attribute) {
  if (attribute == AttributeClass::Eltwise || attribute == AttributeClass::Binary || attribute == AttributeClass::Mixed)
    return random.pick<int64_t>({64, 64, 512, 2048});
  return random.oneIn(40) ? 1 << 17 : random.pick<int64_t>({64, 512, 2048, 8192});
}

} // namespace

Dims drawShape(Random &random, const Cell &cell) {
  RankRange ranks = ranksOf(cell.attribute);
  return quern::drawShape(random, ranks.min, ranks.max, static_cast<double>(drawBudget(random, cell.attribute)));
}

const Cell &cellOf(int64_t number) { return allCells()[static_cast<size_t>(number) % allCells().size()]; }

Case drawCase(uint64_t seed, int64_t number) {
  Random random(seed * 1000033 + static_cast<uint64_t>(number));
  const Cell &cell = cellOf(number);
  Case drawn;
  drawn.number = number;
  OperandShape shape{drawShape(random, cell), {}};
  shape.isOpen.assign(shape.dims.size(), false);
  Sides sides, actual;
  if (cell.family == LayoutFamily::Runtime) {
    RuntimeTensors tensors = drawRuntimeTensors(random, shape.dims, {cell.from, cell.to});
    sides = {tensors.open[0], tensors.open[1]};
    actual = {tensors.actual[0], tensors.actual[1]};
    shape.isOpen = tensors.isOpen;
    appendSizes(sides.src, actual.src, drawn.sizes);
    appendSizes(sides.dst, actual.dst, drawn.sizes);
  } else {
    sides = drawSides(random, cell.family, shape.dims, cell.from, cell.to);
  }
  AttributesDraw attributes = drawAttributes(random, cell.attribute, sides, shape);
  appendSizes(attributes, drawn.sizes);
  drawn.desc = {ReorderDesc{sides.src, sides.dst}, attributes.open};
  drawData(random, drawn.data);
  drawn.data.inPlace = sides.src == sides.dst && drawn.sizes.empty() && random.oneIn(2);
  return drawn;
}

void adaptToPeer(Case &drawn) {
  auto &reorder = std::get<ReorderDesc>(drawn.desc.op);
  Attributes &attr = drawn.desc.attr;
  Random random(static_cast<uint64_t>(drawn.number) * 7919 + drawn.data.seed);
  const bool isPlain = attr.rnn == RnnQuantization() && !reorder.src.extras.flags && !reorder.dst.extras.flags;
  if (!isPlain || !drawn.sizes.empty() || random.oneIn(2))
    return;
  for (TensorDesc *tensor : {&reorder.src, &reorder.dst})
    if (bitsOf(tensor->dataType) >= 8)
      tensor->dataType =
          random.pick({DataType::F32, DataType::F32, DataType::BF16, DataType::S32, DataType::S8, DataType::U8});
  std::erase_if(attr.postOps, [](const PostOp &post) { return post.kind != PostOp::Kind::Sum; });
  for (PostOp &sum : attr.postOps)
    sum.dataType = DataType::Undef;
  auto isOfPostOp = [](const auto &entry) { return entry.first >= arg::postOpBase; };
  std::erase_if(attr.scales, isOfPostOp);
  std::erase_if(attr.zeroPoints, [&](const auto &entry) {
    return isOfPostOp(entry) || isFloating(entry.first == arg::src ? reorder.src.dataType : reorder.dst.dataType);
  });
  for (auto &[argument, scale] : attr.scales)
    scale.dataType = DataType::F32, scale.groups.clear();
  for (auto &[argument, point] : attr.zeroPoints)
    point = QuantParams{0, DataType::S32, {}, false};
  drawn.data.inPlace = drawn.data.inPlace && reorder.src == reorder.dst;
}

void drawEngines(uint64_t seed, Case &drawn) {
  Random random(seed * 1299709 + static_cast<uint64_t>(drawn.number));
  if (random.oneIn(2))
    return;
  auto &reorder = std::get<ReorderDesc>(drawn.desc.op);
  (random.oneIn(2) ? reorder.srcEngine : reorder.dstEngine) = EngineKind::Gpu;
  drawn.data.inPlace = false;
}

} // namespace quern::cases::reorder
