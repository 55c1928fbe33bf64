//===- Cells.cpp - Coverage goals of eltwise ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Eltwise/Cells.h"

#include "Random.h"

namespace quern::cases::eltwise {
namespace {

constexpr int backwardAlgs = 27;
/// Every algorithm; the last one has no backward.
constexpr Alg algs[] = {Alg::EltwiseRelu,        Alg::EltwiseTanh,     Alg::EltwiseElu,       Alg::EltwiseSquare,
                        Alg::EltwiseAbs,         Alg::EltwiseSqrt,     Alg::EltwiseLinear,    Alg::EltwiseSoftRelu,
                        Alg::EltwiseHardsigmoid, Alg::EltwiseLogistic, Alg::EltwiseExp,       Alg::EltwiseGeluTanh,
                        Alg::EltwiseSwish,       Alg::EltwiseLog,      Alg::EltwiseClip,      Alg::EltwiseClipV2,
                        Alg::EltwisePow,         Alg::EltwiseGeluErf,  Alg::EltwiseMish,      Alg::EltwiseHardswish,
                        Alg::EltwiseReluDst,     Alg::EltwiseTanhDst,  Alg::EltwiseEluDst,    Alg::EltwiseSqrtDst,
                        Alg::EltwiseLogisticDst, Alg::EltwiseExpDst,   Alg::EltwiseClipV2Dst, Alg::EltwiseRound};
static_assert(std::size(algs) == backwardAlgs + 1);

/// Returns each pair of types with each family. The other properties are counted up within each family, so that each
/// family has all of them.
std::vector<Cell> firstRound(bool backward) {
  std::vector<Cell> cells;
  const size_t types = backward ? backwardTypes : std::size(allTypes),
               attributes = backward ? backwardAttributes : std::size(allAttributes);
  for (LayoutFamily family : allFamilies) {
    size_t count = static_cast<size_t>(family);
    for (size_t from = 0; from < types; ++from)
      for (size_t to = 0; to < types; ++to, ++count) {
        std::span<const Alg> supported = algsOf(backward);
        cells.push_back({backward, allTypes[from], allTypes[to], family, supported[count % supported.size()],
                         allAttributes[count % attributes]});
      }
  }
  return cells;
}

std::vector<Cell> makeCells() {
  std::vector<Cell> first = firstRound(false), backward = firstRound(true), cells;
  first.insert(first.end(), backward.begin(), backward.end());
  Random random(1);
  random.shuffle(first);
  for (size_t round = 0; round < std::size(algs); ++round)
    for (Cell cell : first) {
      std::span<const Alg> supported = algsOf(cell.backward);
      if (round >= supported.size())
        continue;
      size_t at = 0;
      while (supported[at] != cell.alg)
        ++at;
      cell.alg = supported[(at + round) % supported.size()];
      const size_t attributes = cell.backward ? backwardAttributes : std::size(allAttributes);
      cell.attribute = allAttributes[(static_cast<size_t>(cell.attribute) + round) % attributes];
      cells.push_back(cell);
    }
  return cells;
}

} // namespace

std::string_view nameOf(AttributeClass attribute) {
  constexpr std::string_view names[] = {"none", "modes", "eltwise", "binary", "mixed"};
  return names[static_cast<size_t>(attribute)];
}

std::span<const Alg> algsOf(bool backward) { return std::span(algs).first(backward ? backwardAlgs : std::size(algs)); }

const std::vector<Cell> &allCells() {
  static const std::vector<Cell> cells = makeCells();
  return cells;
}

int64_t cellsOfFirstRound() {
  constexpr size_t pairs = std::size(allTypes) * std::size(allTypes) + backwardTypes * backwardTypes;
  return static_cast<int64_t>(pairs * std::size(allFamilies));
}

} // namespace quern::cases::eltwise
