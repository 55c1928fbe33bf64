//===- Cases.cpp - Products of matrices -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cell is one kernel of the functions, with known or open sizes. There are few cells: the first round is a third of
// them, in an order that reaches every pair of properties.
//
//===----------------------------------------------------------------------===//
#include "Cases.h"
#include "Layouts.h"

#include "Primitives/Arguments.h"

#include <algorithm>
#include <array>
#include <ostream>

namespace quern {
namespace {

enum Property { Type, Transposes, Scales, Offsets, DstOffset, Sizes, propertyCount };
/// Types: f32, u8, s8. Transposes: bit 0 src, bit 1 weights. Scales: bit 0 alpha, bit 1 beta. Sizes: known, open.
using Cell = std::array<int, propertyCount>;
constexpr int valuesOf[] = {3, 4, 4, 2, 4, 2};
constexpr const char *names[] = {"type", "transposes", "scales", "offsets", "dst_offset", "sizes"};

bool isLegal(const Cell &cell) { return cell[Type] != 0 || (cell[Offsets] == 0 && cell[DstOffset] == 0); }

const std::vector<Cell> &allCells() {
  static const std::vector<Cell> cells = [] {
    std::vector<Cell> all;
    int product = 1;
    for (int values : valuesOf)
      product *= values;
    for (int number = 0; number < product; ++number) {
      Cell cell;
      int rest = number;
      for (int property = 0; property < propertyCount; rest /= valuesOf[property++])
        cell[static_cast<size_t>(property)] = rest % valuesOf[property];
      if (isLegal(cell))
        all.push_back(cell);
    }
    Random random(1);
    random.shuffle(all);
    // There are few cells of floats compared with bytes, so all of them are in the first round.
    std::partition(all.begin(), all.end(), [](const Cell &cell) { return cell[Type] == 0; });
    return all;
  }();
  return cells;
}

const Cell &cellOf(int64_t number) { return allCells()[static_cast<size_t>(number) % allCells().size()]; }

int64_t drawSize(Random &random) {
  return random.oneIn(30) ? 0 : random.oneIn(3) ? random.between(1, 260) : random.between(1, 40);
}

/// Draws a matrix, sometimes with gaps between its rows (its columns if transposed) and sometimes with an offset.
TensorDesc drawMatrix(Random &random, DataType type, int64_t rows, int64_t columns, bool isTransposed) {
  const int64_t dims[] = {rows, columns};
  const int64_t lead =
      std::max<int64_t>(isTransposed ? rows : columns, 1) + (random.oneIn(2) ? random.between(1, 9) : 0);
  const int64_t strides[] = {isTransposed ? 1 : lead, isTransposed ? lead : 1};
  TensorDesc desc = *TensorDesc::fromStrides(dims, type, strides);
  if (random.oneIn(4))
    desc.offset0 = random.between(1, 50);
  return desc;
}

/// Returns the matrix with every size open except the stride of 1.
TensorDesc opened(TensorDesc desc) {
  for (int d = 0; d < 2; ++d) {
    desc.dims[d] = desc.paddedDims[d] = runtimeDim;
    if (desc.strides[d] != 1)
      desc.strides[d] = runtimeDim;
  }
  return desc;
}

constexpr Mistake allMistakes[] = {
    {"no dst", "gemm src=f32:@nx@m:ab weights=f32:@mx@n:ab", "C2"},
    {"rank 3", "gemm src=f32:@nx@mx1:abc weights=f32:@mx@n:ab dst=f32:@nx@n:ab", "C2"},
    {"layout any", "gemm src=f32:@nx@m:ab weights=f32:@mx@n:any dst=f32:@nx@n:ab", "C2"},
    {"depths differ", "gemm src=f32:@nx1@m:ab weights=f32:@mx@n:ab dst=f32:@nx@n:ab", "C3"},
    {"dst of other rows", "gemm src=f32:@nx@m:ab weights=f32:@mx@n:ab dst=f32:1@nx@n:ab", "C3"},
    {"a dim open on one side", "gemm src=f32:@nx?:ab weights=f32:@mx@n:ab dst=f32:@nx@n:ab", "C3"},
    {"dst with stride 0", "gemm src=f32:1@nx@m:ab weights=f32:@mx@n:ab dst=f32:1@nx@n:s0x1", "C4"},
    {"offsets of floats", "gemm src=f32:@nx@m:ab weights=f32:@mx@n:ab dst=f32:@nx@n:ab offsets=true", "C5"},
    {"an unsupported type", "gemm src=@t:@nx@m:ab weights=s8:@mx@n:ab dst=s32:@nx@n:ab", "C6"},
    {"blocks", "gemm src=f32:@nx@m:aB8b weights=f32:@mx@n:ab dst=f32:@nx@n:ab", "C7"},
    {"post-ops", "gemm src=f32:@nx@m:ab weights=f32:@mx@n:ab dst=f32:@nx@n:ab attr.post_ops=eltwise(alg=relu)", "C8"},
    {"a propagation kind", "gemm fwd_i src=f32:@nx@m:ab weights=f32:@mx@n:ab dst=f32:@nx@n:ab"},
    {"an unknown offset", "gemm src=u8:@nx@m:ab weights=s8:@mx@n:ab dst=s32:@nx@n:ab dst_offset=diagonal"},
};

class GemmCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "gemm"; }
  int64_t firstRound() const override { return allRounds() / 3; }
  int64_t allRounds() const override { return static_cast<int64_t>(allCells().size()); }
  Case draw(uint64_t seed, int64_t number) const override;
  std::span<const Mistake> mistakes() const override { return allMistakes; }
  std::span<const DataType> refusedTypes() const override {
    static constexpr DataType types[] = {DataType::F64, DataType::BF16, DataType::S32, DataType::S4, DataType::Boolean};
    return types;
  }
  void count(const Case &drawn, const PrimitiveDesc &, ProblemData *) override { ++cells[cellOf(drawn.number)]; }
  void print(std::ostream &os) const override;
  std::vector<std::string> missing(int64_t cases) const override;

private:
  std::map<Cell, int64_t> cells;
};

Case GemmCases::draw(uint64_t seed, int64_t number) const {
  Random random(seed * 1000003 + static_cast<uint64_t>(number));
  const Cell &cell = cellOf(number);
  const DataType type = std::array{DataType::F32, DataType::U8, DataType::S8}[static_cast<size_t>(cell[Type])];
  const bool isFloat = type == DataType::F32;
  const int64_t m = drawSize(random), n = drawSize(random), k = drawSize(random);
  GemmDesc gemm;
  gemm.src = drawMatrix(random, type, m, k, cell[Transposes] & 1);
  gemm.weights = drawMatrix(random, isFloat ? type : DataType::S8, k, n, cell[Transposes] & 2);
  gemm.dst = drawMatrix(random, isFloat ? type : DataType::S32, m, n, random.oneIn(6));
  gemm.alpha = cell[Scales] & 1;
  gemm.beta = cell[Scales] & 2;
  gemm.offsets = cell[Offsets];
  gemm.dstOffset = static_cast<GemmOffset>(cell[DstOffset]);
  Case drawn;
  drawn.number = number;
  if (cell[Sizes])
    for (TensorDesc *matrix : {&gemm.src, &gemm.weights, &gemm.dst}) {
      const TensorDesc open = opened(*matrix);
      appendSizes(open, *matrix, drawn.sizes);
      *matrix = open;
    }
  drawn.desc = {gemm, {}};
  drawData(random, drawn.data);
  return drawn;
}

void GemmCases::print(std::ostream &os) const {
  for (size_t property = 0; property < propertyCount; ++property) {
    os << "  " << names[property] << ":";
    for (int value = 0; value < valuesOf[property]; ++value) {
      int64_t sum = 0;
      for (const auto &[cell, count] : cells)
        sum += cell[property] == value ? count : 0;
      os << " " << sum;
    }
    os << "\n";
  }
}

std::vector<std::string> GemmCases::missing(int64_t cases) const {
  std::vector<std::string> all;
  if (cases >= allRounds() && cells.size() < allCells().size())
    all.push_back(concat(allCells().size() - cells.size(), " cells"));
  if (cases < firstRound())
    return all;
  using Pair = std::array<size_t, 4>; // two properties and their values
  const auto addPairs = [](const Cell &cell, std::map<Pair, int64_t> &pairs) {
    for (size_t a = 0; a < propertyCount; ++a)
      for (size_t b = a + 1; b < propertyCount; ++b)
        ++pairs[{a, static_cast<size_t>(cell[a]), b, static_cast<size_t>(cell[b])}];
  };
  std::map<Pair, int64_t> wanted, reached;
  for (const Cell &cell : allCells())
    addPairs(cell, wanted);
  for (const auto &[cell, count] : cells)
    addPairs(cell, reached);
  for (const auto &[pair, count] : wanted)
    if (!reached.contains(pair))
      all.push_back(concat(names[pair[0]], " ", pair[1], " with ", names[pair[2]], " ", pair[3]));
  return all;
}

} // namespace

std::unique_ptr<PrimitiveCases> makeGemmCases() { return std::make_unique<GemmCases>(); }

} // namespace quern
