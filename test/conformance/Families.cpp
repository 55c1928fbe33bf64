//===- Families.cpp - Families of layouts ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Families.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quern {

std::string_view nameOf(LayoutFamily family) {
  constexpr std::string_view names[] = {"plain",  "permuted", "gapped", "submemory", "blocked", "blocks",
                                        "nested", "uneven",   "padded", "broadcast", "runtime"};
  return names[static_cast<size_t>(family)];
}

Dims drawShape(Random &random, int64_t minRank, int64_t maxRank, double budget) {
  int64_t rank =
      random.oneIn(3) ? random.between(minRank, maxRank) : random.between(minRank, std::min<int64_t>(maxRank, 5));
  Dims dims(static_cast<size_t>(rank), 1);
  std::vector<size_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  for (int64_t left = rank; size_t dim : order) {
    // Leaves part of the budget for a random number of later dims; otherwise the first would use all of it.
    double share = std::pow(budget, 1.0 / static_cast<double>(random.between(1, left--)));
    dims[dim] = drawExtent(random, static_cast<int64_t>(std::min(budget, 1.5 * share)));
    budget /= static_cast<double>(dims[dim]);
  }
  if (random.oneIn(50))
    dims[static_cast<size_t>(drawDim(random, dims))] = 0;
  return dims;
}

namespace {

/// Returns another dim if there is one.
int drawOther(Random &random, const Dims &dims, int dim) {
  int64_t rank = static_cast<int64_t>(dims.size());
  return rank == 1 ? dim : static_cast<int>((dim + random.between(1, rank - 1)) % rank);
}

/// Draws blocks like those of weights: 4b16a4b, 8a16b2a, 16a16b2a, and others.
Blocks drawNested(Random &random, const Dims &dims) {
  int dim = drawDim(random, dims), other = drawOther(random, dims, dim);
  int64_t outer = random.pick<int64_t>({4, 8, 16, 2, 3}), middle = random.pick<int64_t>({16, 8, 4, 32, 48}),
          inner = random.pick<int64_t>({4, 2, 4, 8});
  switch (random.between(0, 3)) {
  case 0:
    return {{dim, outer}, {dim, inner}};
  case 1:
    return {{other, random.pick<int64_t>({2, 4})}, {dim, outer}, {other, middle}, {dim, inner}};
  default:
    return {{dim, outer}, {other, middle}, {dim, inner}};
  }
}

} // namespace

UnevenBlocks drawUneven(Random &random) {
  return random.pick<UnevenBlocks>(
      {{48, 32}, {32, 48}, {3, 2}, {24, 16}, {6, 4}, {5, 8}, {12, 16}, {40, 16}, {16, 24}, {64, 48}});
}

/// Draws a tensor with a block of `dim`, and sometimes a block of another dim inside or around it.
TensorDesc drawUnevenSide(Random &random, const Dims &dims, DataType type, int dim, int64_t block) {
  Blocks blocks = {{dim, block}};
  int other = drawOther(random, dims, dim);
  if (other != dim && random.oneIn(3))
    blocks.insert(random.oneIn(2) ? blocks.begin() : blocks.end(), {other, random.pick<int64_t>({2, 4, 16})});
  return drawBlocked(random, dims, type, blocks);
}

TensorDesc drawSimple(Random &random, const Dims &dims, DataType type) {
  switch (random.between(0, 6)) {
  case 0:
  case 1:
    return drawPlain(random, dims, type, {true, false, false});
  case 2:
    return drawPlain(random, dims, type, {random.oneIn(2), bitsOf(type) >= 8, false});
  case 3:
    return drawBlocked(random, dims, type, {{drawDim(random, dims), drawBlock(random)}});
  case 4:
    return drawBlocked(random, dims, type, drawNested(random, dims));
  default:
    return drawPlain(random, dims, type, {});
  }
}

bool hasGaps(LayoutFamily family) { return family == LayoutFamily::Gapped || family == LayoutFamily::Submemory; }

TensorDesc drawSide(Random &random, LayoutFamily family, const Dims &dims, DataType type, bool isWritten) {
  int dim = drawDim(random, dims);
  if (bitsOf(type) < 8 && hasGaps(family) && isWritten)
    return drawSimple(random, dims, type);
  switch (family) {
  case LayoutFamily::Permuted:
    return drawPlain(random, dims, type, {true, false, false});
  case LayoutFamily::Gapped:
    return drawPlain(random, dims, type, {random.oneIn(2), true, false});
  case LayoutFamily::Submemory:
    return drawSubmemory(random, dims, type, random.oneIn(2) ? Blocks{} : Blocks{{dim, drawBlock(random)}});
  case LayoutFamily::Blocked:
    return drawBlocked(random, dims, type, {{dim, drawBlock(random)}});
  case LayoutFamily::Blocks:
    return drawBlocked(random, dims, type, drawSeveralBlocks(random, dim, drawOther(random, dims, dim)));
  case LayoutFamily::Nested:
    return drawBlocked(random, dims, type, drawNested(random, dims));
  case LayoutFamily::Uneven:
    return drawUnevenSide(random, dims, type, dim, drawUneven(random).src);
  case LayoutFamily::Padded:
    return drawPadded(random, dims, type);
  default:
    return drawPlain(random, dims, type, {});
  }
}

} // namespace quern
