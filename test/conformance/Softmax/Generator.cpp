//===- Generator.cpp - Random softmax problems ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Softmax/Generator.h"

#include "Primitives/Arguments.h"

#include <algorithm>
#include <numeric>

namespace quern::cases::softmax {
namespace {

struct Shape {
  std::vector<int64_t> dims;
  int axis = 0;
};

/// Problems with post-ops are small: the reference is slow, and the code of post-ops does not depend on the size.
int64_t drawBudget(Random &random, const Cell &cell) {
  bool hasPostOps = cell.attribute >= AttributeClass::Eltwise;
  if (hasPostOps)
    return random.pick<int64_t>({64, 64, 1024, 4096});
  return random.oneIn(24) ? 1 << 17 : random.pick<int64_t>({64, 1024, 2048, 16384});
}

Shape drawShape(Random &random, const Cell &cell) {
  Shape shape;
  // A block off the axis needs a second dim.
  int minRank = cell.family == LayoutFamily::BlockedOffAxis ? 2 : 1;
  int rank = static_cast<int>(random.oneIn(4) ? random.between(5, 12) : random.between(minRank, 4));
  shape.dims.assign(static_cast<size_t>(rank), 1);
  shape.axis = static_cast<int>(random.oneIn(2) ? rank - 1 : random.between(0, rank - 1));
  std::vector<int64_t> order(shape.dims.size());
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  int64_t budget = drawBudget(random, cell);
  if (random.oneIn(4)) { // a short axis: several rows share a vector
    int64_t length = random.between(2, 64);
    shape.dims[static_cast<size_t>(shape.axis)] = length;
    budget /= length;
    std::erase(order, shape.axis);
  }
  for (int64_t dim : order) {
    shape.dims[static_cast<size_t>(dim)] = drawExtent(random, budget);
    budget /= shape.dims[static_cast<size_t>(dim)];
  }
  if (random.oneIn(50))
    shape.dims[static_cast<size_t>(random.between(0, rank - 1))] = 0;
  return shape;
}

/// Draws enough rows for each kind to occur; a long row is the only row.
Shape drawShapeOf(Random &random, Path path) {
  switch (path) {
  case Path::Contiguous:
    return {{random.between(90, 120), random.between(65, 300)}, 1};
  case Path::Strided:
    return {{random.between(2, 5), random.between(2, 70), random.between(60, 99)}, 1};
  case Path::ShortAxis:
    return {{random.between(100, 300), random.between(2, 64)}, 1};
  case Path::LongRow:
    return {{1, longRow + random.between(0, 5000)}, 1};
  }
  return {};
}

int64_t drawPostOpCount(Random &random, AttributeClass attribute) {
  if (attribute != AttributeClass::Mixed)
    return random.between(1, 3);
  return random.oneIn(8)   ? static_cast<int64_t>(maxPostOps)
         : random.oneIn(4) ? random.between(5, 31)
                           : random.between(2, 4);
}

AttributesDraw drawAttributes(Random &random, AttributeClass attribute, const OperandShape &shape) {
  AttributesDraw drawn;
  Attributes &open = drawn.open;
  bool isMixed = attribute == AttributeClass::Mixed;
  if (attribute == AttributeClass::Modes || (isMixed && random.oneIn(2)))
    drawModes(random, open);
  if (attribute == AttributeClass::Scratchpad || (isMixed && random.oneIn(4)))
    open.scratchpadMode = ScratchpadMode::User;
  if (attribute == AttributeClass::Scales || isMixed) {
    int64_t which = random.between(isMixed ? 0 : 1, 3);
    if (which & 1)
      open.scales[arg::src] = drawScale(random);
    if (which & 2)
      open.scales[arg::dst] = drawScale(random);
  }
  bool isEltwise = attribute == AttributeClass::Eltwise, isBinary = attribute == AttributeClass::Binary;
  if (isEltwise || isBinary || isMixed)
    for (int64_t i = 0, count = drawPostOpCount(random, attribute); i < count; ++i)
      isEltwise || (isMixed && random.oneIn(2)) ? appendEltwise(random, drawn) : appendBinary(random, shape, drawn);
  return drawn;
}

void place(const Cell &cell, const std::vector<TensorDesc> &tensors, SoftmaxDesc &op) {
  if (cell.backward) {
    op.dst = tensors[0], op.diffDst = tensors[1], op.diffSrc = tensors[2];
  } else {
    op.src = tensors[0], op.dst = tensors[1];
  }
}

/// Sets the layout of the output to `any`; in half of the backward cases also that of diff_dst.
void drawAny(Random &random, const Cell &cell, SoftmaxDesc &op) {
  auto open = [&](TensorDesc &desc) {
    TensorDesc any = *TensorDesc::fromTag(desc.shape(), desc.dataType, "any");
    desc = any;
  };
  if (!cell.backward)
    return open(op.dst);
  if (random.oneIn(2))
    open(op.diffDst);
  open(op.diffSrc);
}

/// Finds a seed whose special data has a row of this kind, with one short row: the length of a row does not matter.
uint64_t seedFor(Random &random, const Case &drawn, DataType type, RowKind kind) {
  const SoftmaxDesc &op = std::get<SoftmaxDesc>(drawn.desc.op);
  constexpr int64_t length = 64;
  TensorDesc tiny = *TensorDesc::dense(std::vector<int64_t>{1, length}, type);
  std::vector<char> buffer(static_cast<size_t>(tiny.bytes()));
  int32_t argument = isForward(op.prop) ? arg::src : arg::diffDst;
  uint64_t seed = random.bits() % 1000000;
  for (int tries = 0; tries < 1000; ++tries, ++seed) {
    fillInput(drawn.desc, argument, tiny, FillKind::Special, seed, buffer.data());
    if (countRowKinds(tiny, 1, buffer.data())[static_cast<size_t>(kind)] > 0)
      break;
  }
  return seed;
}

Case drawOfCell(Random &random, const Cell &cell, const Shape &shape) {
  Case drawn;
  SoftmaxDesc op;
  op.prop =
      cell.backward ? PropKind::BackwardData : random.pick({PropKind::ForwardInference, PropKind::ForwardTraining});
  op.alg = random.pick({Alg::SoftmaxAccurate, Alg::SoftmaxLog, Alg::SoftmaxAccurateInfAsZero});
  op.axis = shape.axis;
  std::vector<DataType> types = {cell.from, cell.to};
  if (cell.backward)
    types.insert(types.begin(),
                 random.pick({DataType::F32, DataType::BF16, DataType::F16, DataType::F64, cell.from, cell.to}));
  OperandShape operands{shape.dims, std::vector<bool>(shape.dims.size(), false)};
  std::vector<TensorDesc> actual;
  if (cell.family == LayoutFamily::Runtime) {
    RuntimeTensors tensors = drawRuntimeTensors(random, shape.dims, types);
    place(cell, tensors.open, op);
    actual = tensors.actual;
    operands.isOpen = tensors.isOpen;
    for (size_t i = 0; i < actual.size(); ++i)
      if (!cell.backward)
        appendSizes(tensors.open[i], actual[i], drawn.sizes);
    if (cell.backward) // the text has diff_src before diff_dst
      for (size_t i : {0, 2, 1})
        appendSizes(tensors.open[i], actual[i], drawn.sizes);
  } else {
    place(cell, drawTensors(random, cell.family, shape.dims, shape.axis, types), op);
  }
  AttributesDraw attributes = drawAttributes(random, cell.attribute, operands);
  appendSizes(attributes, drawn.sizes);
  drawn.desc = {op, attributes.open};
  drawData(random, drawn.data);
  const TensorDesc &in = cell.backward ? op.diffDst : op.src, &out = cell.backward ? op.diffSrc : op.dst;
  drawn.data.inPlace = in == out && drawn.sizes.empty() && random.oneIn(3);
  if (!cell.backward)
    drawDropout(random, op.dst, drawn.desc.attr);
  return drawn;
}

Case drawSpecial(Random &random, const SpecialCell &special) {
  Cell cell{special.backward, special.type, special.type, LayoutFamily::Dense, AttributeClass::None};
  Case drawn = drawOfCell(random, cell, drawShapeOf(random, special.path));
  if (cell.backward)
    std::get<SoftmaxDesc>(drawn.desc.op).dst.dataType = special.type;
  drawn.data.fill = FillKind::Special;
  if (special.path == Path::LongRow)
    drawn.data.seed = seedFor(random, drawn, special.type, special.kind);
  return drawn;
}

} // namespace

std::optional<SpecialCell> specialCellOf(int64_t number) {
  const std::vector<SpecialCell> &special = specialCells();
  if (number >= static_cast<int64_t>(special.size()))
    return std::nullopt;
  return special[static_cast<size_t>(number)];
}

const Cell &cellOf(int64_t number) {
  const std::vector<Cell> &cells = allCells();
  return cells[(static_cast<size_t>(number) - specialCells().size()) % cells.size()];
}

Case drawCase(uint64_t seed, int64_t number) {
  Random random(seed * 1000003 + static_cast<uint64_t>(number));
  std::optional<SpecialCell> special = specialCellOf(number);
  const Cell *cell = special ? nullptr : &cellOf(number);
  Case drawn = special ? drawSpecial(random, *special) : drawOfCell(random, *cell, drawShape(random, *cell));
  drawn.number = number;
  if (cell && cell->family != LayoutFamily::Runtime && !drawn.data.inPlace && random.oneIn(12))
    drawAny(random, *cell, std::get<SoftmaxDesc>(drawn.desc.op));
  return drawn;
}

} // namespace quern::cases::softmax
