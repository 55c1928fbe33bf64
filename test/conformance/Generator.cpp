//===- Generator.cpp - Random legal problems ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Generator.h.
//
//===----------------------------------------------------------------------===//
#include "Generator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace quern {
namespace {

constexpr int64_t mostElements = 1 << 17;

/// Extents around every vector width of every instruction set, and around the blocks of long sums.
int64_t drawExtent(Random &random, int64_t most) {
  int64_t extent;
  switch (random.between(0, 5)) {
  case 0:
    extent = random.between(1, 4);
    break;
  case 1:
    extent = random.pick<int64_t>({4, 8, 16, 32, 64, 128, 256}) + random.between(-1, 1);
    break;
  case 2:
    extent = random.between(1, 70);
    break;
  case 3:
    extent = random.pick<int64_t>({512, 1000, 1024, 2048, 4096, 16384}) + random.between(-1, 1);
    break;
  case 4:
    extent = random.between(1, 2000);
    break;
  default:
    extent = random.pick<int64_t>({1, 2, 3, 5, 7, 10, 19, 21, 33, 100});
  }
  return std::clamp<int64_t>(extent, 1, std::max<int64_t>(most, 1));
}

std::vector<int64_t> drawDims(Random &random, int rank) {
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1), order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  int64_t budget = random.pick<int64_t>({64, 2048, 16384, mostElements});
  for (int64_t dim : order) {
    dims[static_cast<size_t>(dim)] = drawExtent(random, budget);
    budget /= dims[static_cast<size_t>(dim)];
  }
  if (random.oneIn(50))
    dims[static_cast<size_t>(random.between(0, rank - 1))] = 0;
  return dims;
}

struct LayoutDraw {
  bool permuted = false, gaps = false, broadcast = false;
};

TensorDesc drawLayout(Random &random, const std::vector<int64_t> &dims, DataType type, LayoutDraw draw) {
  std::vector<size_t> order(dims.size()); // from the innermost dim outwards
  std::iota(order.rbegin(), order.rend(), 0);
  if (draw.permuted)
    random.shuffle(order);
  std::vector<int64_t> strides(dims.size());
  int64_t stride = draw.gaps && random.oneIn(4) ? random.between(2, 3) : 1;
  size_t repeated = draw.broadcast ? static_cast<size_t>(random.between(0, static_cast<int64_t>(dims.size()) - 1)) : dims.size();
  for (size_t dim : order) {
    strides[dim] = dim == repeated ? 0 : stride;
    stride *= dim == repeated ? 1 : std::max<int64_t>(dims[dim], 1);
    if (draw.gaps && random.oneIn(2))
      stride += random.between(1, 5);
  }
  Result<TensorDesc> desc = TensorDesc::fromStrides(dims, type, strides);
  if (!desc) {
    std::fprintf(stderr, "conformance: the generator drew an illegal layout: %s\n", desc.error().message.c_str());
    std::exit(4);
  }
  if (draw.gaps && random.oneIn(2))
    desc->offset0 = random.between(1, 40);
  return *desc;
}

void drawTensors(Random &random, const Cell &cell, const std::vector<int64_t> &dims, SoftmaxDesc &op) {
  bool permuted = cell.family == LayoutFamily::Permuted, gaps = cell.family == LayoutFamily::Gapped;
  LayoutDraw draw{permuted, gaps, cell.family == LayoutFamily::Broadcast};
  if (cell.family == LayoutFamily::Mixed)
    draw = {true, random.oneIn(2), false};
  op.src = drawLayout(random, dims, cell.src, draw);
  if (permuted || gaps || cell.family == LayoutFamily::Dense) {
    op.dst = op.src;
    op.dst.dataType = cell.dst;
    return;
  }
  draw.broadcast = false;
  draw.gaps = draw.gaps || (cell.family == LayoutFamily::Mixed && random.oneIn(2));
  op.dst = drawLayout(random, dims, cell.dst, draw);
}

Attributes drawAttributes(Random &random) {
  Attributes attributes;
  if (random.oneIn(8))
    attributes.fpmathMode = random.pick({FpmathMode::BF16, FpmathMode::F16, FpmathMode::TF32, FpmathMode::Any});
  if (random.oneIn(8))
    attributes.accumulationMode = random.pick({AccumulationMode::Relaxed, AccumulationMode::Any, AccumulationMode::F32});
  attributes.deterministic = random.oneIn(8);
  return attributes;
}

} // namespace

std::string_view nameOf(LayoutFamily family) {
  constexpr std::string_view names[] = {"dense", "permuted", "gapped", "mixed", "broadcast"};
  return names[static_cast<size_t>(family)];
}

std::vector<Cell> allCells() {
  std::vector<Cell> cells;
  for (LayoutFamily family : allFamilies)
    for (Alg alg : allAlgs)
      for (DataType src : allTypes)
        for (DataType dst : allTypes)
          cells.push_back({src, dst, family, alg});
  return cells;
}

Case drawCase(uint64_t seed, int64_t number) {
  static const std::vector<Cell> cells = allCells();
  Random random(seed * 1000003 + static_cast<uint64_t>(number));
  Case drawn;
  drawn.cell = cells[static_cast<size_t>(number) % cells.size()];
  int rank = static_cast<int>(random.oneIn(4) ? random.between(5, 12) : random.between(1, 4));
  std::vector<int64_t> dims = drawDims(random, rank);
  SoftmaxDesc op;
  op.prop = random.pick({PropKind::ForwardInference, PropKind::ForwardTraining});
  op.alg = drawn.cell.alg;
  op.axis = static_cast<int32_t>(random.between(0, rank - 1));
  drawTensors(random, drawn.cell, dims, op);
  drawn.desc = {op, drawAttributes(random)};
  drawn.data.fill = random.pick({FillKind::Dense, FillKind::Dense, FillKind::Designed, FillKind::Special});
  drawn.data.seed = random.bits() % 1000000;
  drawn.data.misalignment = random.oneIn(3) ? random.between(1, 15) : 0;
  drawn.data.inPlace = op.src == op.dst && random.oneIn(3);
  return drawn;
}

} // namespace quern
