//===- Cells.cpp - Coverage goals of softmax ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Softmax/Cells.h"

#include "Random.h"
#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>

namespace quern::cases::softmax {
namespace {

/// Returns each pair of types with each family, in a fixed random order.
std::vector<Cell> firstRound() {
  std::vector<Cell> cells;
  auto add = [&](bool backward, auto &types, int attributes) {
    int from = 0;
    for (DataType fromType : types) {
      int to = 0;
      for (DataType toType : types) {
        for (LayoutFamily family : allFamilies)
          cells.push_back({backward, fromType, toType, family,
                           allAttributes[(from + 2 * to + static_cast<int>(family)) % attributes]});
        ++to;
      }
      ++from;
    }
  };
  add(false, forwardTypes, static_cast<int>(std::size(allAttributes)));
  add(true, backwardTypes, backwardAttributes);
  Random random(1);
  random.shuffle(cells);
  return cells;
}

std::vector<Cell> makeCells() {
  std::vector<Cell> first = firstRound(), cells = first;
  for (int round = 1; round < static_cast<int>(std::size(allAttributes)); ++round)
    for (Cell cell : first) {
      int attributes = cell.backward ? backwardAttributes : static_cast<int>(std::size(allAttributes));
      cell.attribute = allAttributes[(static_cast<int>(cell.attribute) + round) % attributes];
      if (round < attributes)
        cells.push_back(cell);
    }
  return cells;
}

std::vector<SpecialCell> makeSpecialCells() {
  std::vector<SpecialCell> cells;
  for (bool backward : {false, true})
    for (DataType type : specialTypes)
      for (Path path : allPaths)
        for (RowKind kind : allRowKinds)
          if (path == Path::LongRow || kind == RowKind::NaN)
            cells.push_back({backward, type, path, kind});
  return cells;
}

/// Returns true if elements along the axis are contiguous and the layout has no blocks.
bool isInnermost(const TensorDesc &desc, int axis) { return desc.innerBlockCount == 0 && desc.strides[axis] == 1; }

/// Returns the kinds of a row; empty if it has none.
std::vector<RowKind> kindsOf(const std::vector<double> &values, size_t start, size_t length, size_t step,
                             DataType type) {
  bool hasNaN = false, hasPlus = false, hasDenormal = false;
  size_t minusInfinities = 0;
  double low = HUGE_VAL, high = -HUGE_VAL;
  double minNormal = type == DataType::F64 ? 0x1p-1022 : type == DataType::F16 ? 0x1p-14 : 0x1p-126;
  for (size_t i = 0; i < length; ++i) {
    double value = values[start + i * step];
    hasNaN = hasNaN || std::isnan(value);
    hasPlus = hasPlus || value == HUGE_VAL;
    minusInfinities += value == -HUGE_VAL;
    hasDenormal = hasDenormal || (value != 0 && std::fabs(value) < minNormal);
    if (std::isfinite(value))
      low = std::min(low, value), high = std::max(high, value);
  }
  constexpr double expOverflows = 88.8; // for f32
  std::vector<RowKind> kinds;
  auto add = [&](bool holds, RowKind kind) {
    if (holds)
      kinds.push_back(kind);
  };
  add(hasNaN, RowKind::NaN);
  add(hasPlus, RowKind::PlusInf);
  add(minusInfinities > 0 && minusInfinities < length && !hasNaN && !hasPlus, RowKind::SomeMinusInf);
  add(minusInfinities == length, RowKind::AllMinusInf);
  add(high > expOverflows && !hasNaN && !hasPlus, RowKind::Overflow);
  add(hasDenormal, RowKind::Denormal);
  return kinds;
}

} // namespace

std::string_view nameOf(LayoutFamily family) {
  constexpr std::string_view names[] = {"dense",    "permuted", "gapped", "mixed",     "broadcast", "on-axis",
                                        "off-axis", "blocks",   "padded", "submemory", "runtime"};
  return names[static_cast<size_t>(family)];
}

std::string_view nameOf(AttributeClass attribute) {
  constexpr std::string_view names[] = {"none", "modes", "scratchpad", "scales", "eltwise", "binary", "mixed"};
  return names[static_cast<size_t>(attribute)];
}

std::string_view nameOf(Path path) {
  constexpr std::string_view names[] = {"contiguous", "strided", "short axis", "long row"};
  return names[static_cast<size_t>(path)];
}

std::string_view nameOf(RowKind kind) {
  constexpr std::string_view names[] = {"NaN", "+inf", "some -inf", "all -inf", "overflow", "denormal"};
  return names[static_cast<size_t>(kind)];
}

const std::vector<Cell> &allCells() {
  static const std::vector<Cell> cells = makeCells();
  return cells;
}

int64_t cellsOfFirstRound() {
  constexpr size_t pairs =
      std::size(forwardTypes) * std::size(forwardTypes) + std::size(backwardTypes) * std::size(backwardTypes);
  return static_cast<int64_t>(pairs * std::size(allFamilies));
}

const std::vector<SpecialCell> &specialCells() {
  static const std::vector<SpecialCell> cells = makeSpecialCells();
  return cells;
}

Path pathOf(const SoftmaxDesc &softmax) {
  bool forward = isForward(softmax.prop);
  const TensorDesc &in = forward ? softmax.src : softmax.diffDst, &out = forward ? softmax.dst : softmax.diffSrc;
  int64_t length = out.dims[softmax.axis];
  if (!isInnermost(in, softmax.axis) || !isInnermost(out, softmax.axis))
    return Path::Strided;
  if (length >= longRow && length == out.elements())
    return Path::LongRow;
  return length >= 2 && length <= 64 ? Path::ShortAxis : Path::Contiguous;
}

std::vector<int64_t> countRowKinds(const TensorDesc &desc, int axis, const void *buffer) {
  std::vector<int64_t> counts(std::size(allRowKinds));
  std::vector<double> values = gather(desc, buffer);
  if (values.empty())
    return counts;
  size_t inner = 1, length = static_cast<size_t>(desc.dims[axis]);
  for (int dim = axis + 1; dim < desc.ndims; ++dim)
    inner *= static_cast<size_t>(desc.dims[dim]);
  for (size_t start = 0; start < values.size(); start += start % inner == inner - 1 ? 1 + (length - 1) * inner : 1)
    for (RowKind kind : kindsOf(values, start, length, inner, desc.dataType))
      ++counts[static_cast<size_t>(kind)];
  return counts;
}

} // namespace quern::cases::softmax
