//===- Generator.cpp - Random binary problems -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Binary/Generator.h"

#include "Primitives/Arguments.h"

#include <algorithm>

namespace quern::cases::binary {
namespace {

/// Problems with post-ops are small: the reference is slow, and the code of post-ops does not depend on the size.
int64_t drawBudget(Random &random, AttributeClass attribute) {
  if (attribute == AttributeClass::Eltwise || attribute == AttributeClass::Binary || attribute == AttributeClass::Mixed)
    return random.pick<int64_t>({64, 64, 512, 2048});
  return random.oneIn(40) ? 1 << 16 : random.pick<int64_t>({64, 512, 2048, 8192});
}

/// Dims of each source.
struct Shapes {
  Dims src, src1, src2;
};

/// Returns true for each dim along which src_1 has all elements of dst.
std::vector<bool> drawKept(Random &random, Broadcast broadcast, size_t rank) {
  std::vector<bool> kept(rank, broadcast == Broadcast::None || broadcast == Broadcast::First);
  if (broadcast == Broadcast::Channel)
    kept[static_cast<size_t>(random.between(0, static_cast<int64_t>(rank) - 1))] = true;
  if (broadcast == Broadcast::Some || broadcast == Broadcast::Both)
    for (size_t d = 0; d < rank; ++d)
      kept[d] = random.oneIn(2);
  return kept;
}

Shapes drawShapes(Random &random, Broadcast broadcast, const Dims &dims) {
  const std::vector<bool> kept = drawKept(random, broadcast, dims.size());
  Shapes shapes{dims, dims, dims};
  bool repeatsAll = random.oneIn(3);
  for (size_t d = 0; d < dims.size(); ++d) {
    shapes.src1[d] = kept[d] ? dims[d] : 1;
    if (broadcast == Broadcast::First && (repeatsAll || random.oneIn(2)))
      shapes.src[d] = 1;
    if (broadcast == Broadcast::Both && kept[d] && random.oneIn(2))
      shapes.src[d] = 1;
    if (random.oneIn(6))
      shapes.src2[d] = 1;
  }
  return shapes;
}

DataType drawConditionType(Random &random) {
  return random.oneIn(3)
             ? allTypes[static_cast<size_t>(random.between(0, static_cast<int64_t>(std::size(allTypes)) - 1))]
             : random.pick({DataType::S8, DataType::U8});
}

TensorDesc drawTensor(Random &random, LayoutFamily family, const Dims &dims, DataType type, bool isWritten) {
  if (family == LayoutFamily::Broadcast)
    return isWritten ? drawSimple(random, dims, type) : drawPlain(random, dims, type, {random.oneIn(3), false, true});
  return drawSide(random, family, dims, type, isWritten);
}

/// Draws tensors of a family without open sizes. Some have the layout of dst, as in programs, and some have layout
/// `any`.
BinaryDesc drawTensors(Random &random, const Cell &cell, const Types &types, const Dims &dims, const Shapes &shapes) {
  BinaryDesc binary;
  binary.alg = cell.alg;
  binary.dst = drawTensor(random, cell.family, dims, types.dst, /*isWritten=*/true);
  auto source = [&](const Dims &shape, DataType type) {
    TensorDesc desc = random.oneIn(4) ? drawSimple(random, shape, type)
                                      : drawTensor(random, cell.family, shape, type, /*isWritten=*/false);
    if (shape == dims && random.oneIn(2))
      desc = binary.dst, desc.dataType = type;
    return desc;
  };
  binary.src = source(shapes.src, types.src);
  binary.src1 = source(shapes.src1, types.src1);
  if (cell.alg == Alg::BinarySelect)
    binary.src2 = source(shapes.src2, drawConditionType(random));
  for (TensorDesc *desc : {&binary.dst, &binary.src1, &binary.src2})
    if (!desc->isZero() && random.oneIn(8))
      *desc = legalLayout(TensorDesc::fromTag(desc->shape(), desc->dataType, "any"));
  return binary;
}

/// Returns the open tensor of a source that broadcasts along some dims, with its sizes in `actual`.
TensorDesc openPart(const Dims &shape, const std::vector<bool> &isOpen, DataType type, TensorDesc &actual) {
  std::string tag;
  Dims dims = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    tag += static_cast<char>('a' + d);
    if (isOpen[d] && shape[d] != 1)
      dims[d] = runtimeDim;
  }
  actual = legalLayout(TensorDesc::fromTag(shape, type, tag));
  return legalLayout(TensorDesc::fromTag(dims, type, tag));
}

/// Draws tensors with open sizes. A dim that is 1 in this execution looks like a broadcast dim, so it stays known.
BinaryDesc drawOpenTensors(Random &random, const Cell &cell, const Types &types, const Dims &dims, const Shapes &shapes,
                           OperandShape &operands, std::vector<int64_t> &sizes) {
  BinaryDesc binary;
  binary.alg = cell.alg;
  RuntimeTensors tensors = drawRuntimeTensors(random, dims, {types.src, types.dst});
  operands.isOpen = tensors.isOpen;
  binary.src = tensors.open[0];
  binary.dst = tensors.open[1];
  appendSizes(binary.src, tensors.actual[0], sizes);
  TensorDesc actual;
  binary.src1 = openPart(shapes.src1, tensors.isOpen, types.src1, actual);
  appendSizes(binary.src1, actual, sizes);
  if (cell.alg == Alg::BinarySelect) {
    binary.src2 = openPart(shapes.src2, tensors.isOpen, drawConditionType(random), actual);
    appendSizes(binary.src2, actual, sizes);
  }
  appendSizes(binary.dst, tensors.actual[1], sizes);
  return binary;
}

void addScales(Random &random, const BinaryDesc &binary, Attributes &attributes) {
  int64_t which = random.between(1, 3);
  for (int32_t argument : {arg::src, arg::src1}) {
    const TensorDesc &tensor = argument == arg::src ? binary.src : binary.src1;
    if (!(which & argument))
      continue;
    std::vector<bool> isOpen;
    for (int64_t dim : tensor.shape())
      isOpen.push_back(dim == runtimeDim);
    QuantParams &scale = attributes.scales[argument] = drawScale(random);
    scale.mask = random.oneIn(2) ? 0 : drawMask(random, isOpen);
    if (random.oneIn(6))
      scale.dataType = DataType::E8M0;
  }
}

AttributesDraw drawAttributes(Random &random, AttributeClass attribute, const BinaryDesc &binary,
                              const OperandShape &shape) {
  AttributesDraw drawn;
  bool isMixed = attribute == AttributeClass::Mixed;
  if (attribute == AttributeClass::Scales || isMixed)
    addScales(random, binary, drawn.open);
  int64_t count = isMixed                            ? random.between(1, 4)
                  : attribute == AttributeClass::Sum ? 1
                                                     : random.between(1, 3),
          sum = random.between(0, 4);
  for (int64_t i = 1; i <= count; ++i) {
    if (attribute == AttributeClass::Sum || (isMixed && i == sum))
      appendSum(random, binary.dst.dataType, drawn);
    else if (attribute == AttributeClass::Eltwise || (isMixed && random.oneIn(2)))
      appendEltwise(random, drawn);
    else if (attribute == AttributeClass::Binary || isMixed)
      appendBinary(random, shape, drawn);
  }
  if (random.oneIn(6))
    drawModes(random, drawn.open);
  if (random.oneIn(6))
    drawn.open.scratchpadMode = ScratchpadMode::User;
  return drawn;
}

} // namespace

const Cell &cellOf(int64_t number) { return allCells()[static_cast<size_t>(number) % allCells().size()]; }

/// After the first round, which has each triple once, half of the problems without attributes have only integer types:
/// their arithmetic depends on the widths.
const Types &typesOf(int64_t number) {
  constexpr DataType integers[] = {DataType::S32, DataType::S8, DataType::U8};
  static const std::vector<Types> triples = [&] {
    std::vector<Types> all;
    for (DataType src : integers)
      for (DataType src1 : integers)
        for (DataType dst : integers)
          all.push_back({src, src1, dst});
    return all;
  }();
  const auto position = static_cast<size_t>(number) % allCells().size();
  if (position >= allTriples().size() && cellOf(number).attribute == AttributeClass::None && number % 2 == 0)
    return triples[static_cast<size_t>(number) / 2 % triples.size()];
  return allTriples()[static_cast<size_t>(number) % allTriples().size()];
}

Case drawCase(uint64_t seed, int64_t number) {
  Random random(seed * 1000033 + static_cast<uint64_t>(number));
  const Cell &cell = cellOf(number);
  const Types &types = typesOf(number);
  Case drawn;
  drawn.number = number;
  OperandShape shape{drawShape(random, 1, maxDims, static_cast<double>(drawBudget(random, cell.attribute))), {}};
  shape.isOpen.assign(shape.dims.size(), false);
  Shapes shapes = drawShapes(random, cell.broadcast, shape.dims);
  BinaryDesc binary = cell.family == LayoutFamily::Runtime
                          ? drawOpenTensors(random, cell, types, shape.dims, shapes, shape, drawn.sizes)
                          : drawTensors(random, cell, types, shape.dims, shapes);
  AttributesDraw attributes = drawAttributes(random, cell.attribute, binary, shape);
  appendSizes(attributes, drawn.sizes);
  drawData(random, drawn.data);
  drawn.data.inPlace = binary.src == binary.dst && drawn.sizes.empty() && random.oneIn(2);
  drawDropout(random, binary.dst, attributes.open);
  drawn.desc = {std::move(binary), attributes.open};
  return drawn;
}

} // namespace quern::cases::binary
