//===- Cases.cpp - Problems with padded rows of the result ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Draws a contiguous source and a destination whose innermost dim ends within a block: the last vector of a row is
// loaded with one mask and stored with another, and the rest of the block is zeroed. Every function of post-ops is
// combined with every primitive that writes such a destination. The other sets draw this combination too rarely.
//
//===----------------------------------------------------------------------===//
#include "Cases.h"
#include "DrawAttributes.h"
#include "Layouts.h"
#include "Primitives/Arguments.h"

#include <algorithm>
#include <map>
#include <ostream>

namespace quern {
namespace {

enum class Writer { Eltwise, Reorder, Binary, Softmax, Sum, Concat };
constexpr std::string_view writerNames[] = {"eltwise", "reorder", "binary", "softmax", "sum", "concat"};

/// A primitive and the first function that it applies. Sum and concat have no function and draw scales.
struct Cell {
  Writer writer = Writer::Eltwise;
  Alg alg = Alg::Undef;
  auto operator<=>(const Cell &) const = default;
};

std::vector<Cell> makeCells() {
  std::vector<Cell> cells;
  auto addRange = [&](Writer writer, Alg first, Alg last) {
    for (int32_t alg = static_cast<int32_t>(first); alg <= static_cast<int32_t>(last); ++alg)
      cells.push_back({writer, static_cast<Alg>(alg)});
  };
  for (Writer writer : {Writer::Eltwise, Writer::Reorder, Writer::Binary, Writer::Softmax}) {
    cells.insert(cells.end(), 5, {writer, Alg::EltwiseLinear}); // a single instruction, which may have a memory operand
    addRange(writer, Alg::EltwiseRelu, Alg::EltwiseHardswish);
    addRange(writer, Alg::BinaryAdd, Alg::BinarySelect);
  }
  for (int i = 0; i < 8; ++i)
    cells.insert(cells.end(), {{Writer::Sum}, {Writer::Concat}});
  Random random(1);
  random.shuffle(cells);
  return cells;
}

const std::vector<Cell> &allCells() {
  static const std::vector<Cell> cells = makeCells();
  return cells;
}

const Cell &cellOf(int64_t number) { return allCells()[static_cast<size_t>(number) % allCells().size()]; }

bool isBinary(Alg alg) { return alg >= Alg::BinaryAdd && alg <= Alg::BinarySelect; }

/// The innermost dim ends within its first, second or third block of `block` elements.
Dims drawRows(Random &random, int64_t block) {
  Dims dims(static_cast<size_t>(random.between(1, 4)), 1);
  for (int64_t &dim : dims)
    dim = random.between(1, 6);
  dims.back() = block * random.between(0, 2) + random.between(1, block - 1);
  return dims;
}

TensorDesc drawPaddedRows(Random &random, const Dims &dims, DataType type, int64_t block) {
  Blocks blocks = {{static_cast<int>(dims.size()) - 1, block}};
  if (random.oneIn(4)) // like weights
    blocks.insert(blocks.begin(), {drawDim(random, dims), random.pick<int64_t>({2, 4, 16})});
  return drawBlocked(random, dims, type, blocks);
}

DataType drawType(Random &random) {
  return random.pick({DataType::F32, DataType::F32, DataType::F32, DataType::F32, DataType::F32, DataType::BF16,
                      DataType::F16, DataType::F64, DataType::S32, DataType::S8, DataType::U8});
}

/// Sources usually have the type of the destination, so that no conversion separates the load from the function.
DataType drawSourceType(Random &random, DataType dst) { return random.oneIn(3) ? drawType(random) : dst; }

TensorDesc source(Random &random, const Dims &dims, DataType dst) {
  return legalLayout(TensorDesc::dense(dims, drawSourceType(random, dst)));
}

SumDesc drawSum(Random &random, const Dims &dims, TensorDesc dst) {
  SumDesc sum;
  for (int64_t i = random.between(1, 4); i > 0; --i) {
    sum.scales.push_back(random.pick({1.0f, 2.0f, 0.5f, -3.0f}));
    sum.srcs.push_back(source(random, dims, dst.dataType));
  }
  sum.dst = dst;
  return sum;
}

/// Draws two sources along any dim, including the rows.
ConcatDesc drawConcat(Random &random, const Dims &dims, TensorDesc dst, Attributes &attributes) {
  ConcatDesc concat;
  concat.axis = drawDim(random, dims);
  const auto axis = static_cast<size_t>(concat.axis);
  Dims first = dims, second = dims;
  first[axis] = random.between(0, dims[axis]), second[axis] -= first[axis];
  concat.srcs = {source(random, first, dst.dataType), source(random, second, dst.dataType)};
  concat.dst = dst;
  for (size_t i = 0; i < concat.srcs.size(); ++i)
    if (random.oneIn(2))
      attributes.scales[arg::sourceAt(i)] = drawScale(random);
  return concat;
}

/// Draws a chain of post-ops that starts with the function of the cell, unless eltwise itself applies it.
AttributesDraw drawPostOps(Random &random, const Cell &cell, const Dims &dims) {
  const OperandShape shape{dims, std::vector<bool>(dims.size(), false)};
  AttributesDraw drawn;
  if (isBinary(cell.alg)) {
    appendBinary(random, shape, drawn, cell.alg);
  } else if (cell.writer != Writer::Eltwise) {
    drawn.open.postOps.push_back(drawEltwise(random, cell.alg));
    drawn.actualPostOps.push_back(drawn.open.postOps.back());
  }
  for (int64_t more = std::max<int64_t>(0, random.between(-2, 2)); more > 0; --more)
    random.oneIn(3) ? appendBinary(random, shape, drawn) : appendEltwise(random, drawn);
  return drawn;
}

class PaddedRowsCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "padded rows"; }
  int64_t firstRound() const override { return static_cast<int64_t>(allCells().size()); }
  int64_t allRounds() const override { return 8 * firstRound(); }
  Case draw(uint64_t seed, int64_t number) const override;
  std::span<const Mistake> mistakes() const override { return {}; }
  std::span<const DataType> refusedTypes() const override { return {}; }
  void count(const Case &drawn, const PrimitiveDesc &, ProblemData *) override { ++counts[cellOf(drawn.number)]; }
  void print(std::ostream &os) const override;
  std::vector<std::string> missing(int64_t cases) const override;

private:
  PrimitiveDesc drawDesc(Random &random, const Cell &cell) const;

  std::map<Cell, int64_t> counts;
};

PrimitiveDesc PaddedRowsCases::drawDesc(Random &random, const Cell &cell) const {
  const int64_t block = random.pick<int64_t>({4, 8, 16, 16, 16, 32, 64});
  const Dims dims = drawRows(random, block);
  TensorDesc dst = drawPaddedRows(random, dims, drawType(random), block), src = source(random, dims, dst.dataType);
  PrimitiveDesc desc;
  if (cell.writer == Writer::Sum)
    return {drawSum(random, dims, dst), {}};
  if (cell.writer == Writer::Concat) {
    desc.op = drawConcat(random, dims, dst, desc.attr);
    return desc;
  }
  desc.attr = drawPostOps(random, cell, dims).open;
  if (cell.writer == Writer::Eltwise) {
    const PostOp eltwise = drawEltwise(random, isBinary(cell.alg) ? Alg::EltwiseLinear : cell.alg);
    desc.op = EltwiseDesc{PropKind::ForwardInference, eltwise.alg, eltwise.alpha, eltwise.beta, src, dst, {}, {}};
  } else if (cell.writer == Writer::Binary) {
    const bool hasTwoSources = isBinary(cell.alg) && cell.alg != Alg::BinarySelect;
    desc.op = BinaryDesc{hasTwoSources ? cell.alg : Alg::BinaryMul, src, source(random, dims, dst.dataType), {}, dst};
  } else if (cell.writer == Writer::Softmax) {
    for (TensorDesc *tensor : {&src, &dst}) // softmax does not support s32
      tensor->dataType = tensor->dataType == DataType::S32 ? DataType::F32 : tensor->dataType;
    desc.op = SoftmaxDesc{PropKind::ForwardInference, Alg::SoftmaxAccurate, src, dst, {}, {}, drawDim(random, dims)};
  } else {
    desc.op = ReorderDesc{src, dst};
  }
  return desc;
}

Case PaddedRowsCases::draw(uint64_t seed, int64_t number) const {
  Random random(seed * 1000037 + static_cast<uint64_t>(number));
  Case drawn;
  drawn.number = number;
  drawn.desc = drawDesc(random, cellOf(number));
  drawData(random, drawn.data);
  return drawn;
}

void PaddedRowsCases::print(std::ostream &os) const {
  std::map<Writer, int64_t> sums;
  for (const auto &[cell, count] : counts)
    sums[cell.writer] += count;
  for (const auto &[writer, sum] : sums)
    os << writerNames[static_cast<size_t>(writer)] << ' ' << sum << "  ";
  os << '\n';
}

std::vector<std::string> PaddedRowsCases::missing(int64_t cases) const {
  std::vector<std::string> lines;
  for (int64_t number = 0; number < std::min(cases / firstRound(), int64_t(1)) * firstRound(); ++number)
    if (const Cell &cell = cellOf(number); !counts.contains(cell))
      lines.push_back(concat(writerNames[static_cast<size_t>(cell.writer)], " with ", nameOf(cell.alg)));
  return lines;
}

} // namespace

std::unique_ptr<PrimitiveCases> makePaddedRowsCases() { return std::make_unique<PaddedRowsCases>(); }

} // namespace quern
